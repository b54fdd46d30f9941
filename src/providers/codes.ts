import { ENGINE_CODES } from '../core/codes/engine.ts';
import type { CodeTable } from '../core/codes/entry.ts';
import { DOCKER_CODES } from './docker/codes.ts';
import { LOCAL_CODES } from './local/codes.ts';

/** Every code of this build by who gives it, in the order of the published page. */
export const CODE_TABLES: readonly (readonly [owner: string, codes: CodeTable])[] = [
  ['Accede', ENGINE_CODES],
  ['Provider docker', DOCKER_CODES],
  ['Provider local', LOCAL_CODES],
];
