import { resolve } from 'node:path';
import { type Outcome, settle } from '../../core/diagnostic.ts';
import { kindOf } from '../paths.ts';
import type { RawInput } from '../shell.ts';
import { type EnvironmentArguments, readEnvironmentFlags } from './environment.ts';
import { Flags } from './values.ts';

export interface ExplainArguments extends EnvironmentArguments {
  /** A code, an address, or a step of a plan. */
  readonly what: string;
  /** A saved plan, as written. */
  readonly plan: string | undefined;
  /** Whether the folder was written; else a plan knows its own. */
  readonly isPlaced: boolean;
}

/** Reads `WHAT [PLAN] [dir]`: of the last two, the folder is the one that is a folder. */
export function parseExplainArguments(input: RawInput, folder: string): Outcome<ExplainArguments> {
  const flags = new Flags(input.options);
  const [what = '', second, third] = input.operands;
  const isFolder = second !== undefined && third === undefined && kindOf(resolve(folder, second)) === 'folder';
  const dir = isFolder ? second : third;
  return settle(
    { ...readEnvironmentFlags(flags, dir), what, plan: isFolder ? undefined : second, isPlaced: dir !== undefined },
    flags.diagnostics,
  );
}
