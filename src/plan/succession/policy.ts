import { type Attributes, isAttributes, isList } from '../../core/value.ts';
import type { Environment } from '../../spec/environment.ts';
import type { Sealed } from '../../state/model.ts';
import type { SuccessionPolicy } from './match.ts';

/** One of the blocks that govern, as it is in force: that of the sealed predecessor, and its own for a first apply. */
export function governingBlock(environment: Environment, sealed: Sealed | null, name: 'policy' | 'hooks'): Attributes {
  if (sealed === null) return environment[name];
  const block = isAttributes(sealed.governance) ? sealed.governance[name] : undefined;
  return isAttributes(block) ? block : {};
}

/** How changes that no class covers are taken, as it is in force. */
export function successionPolicy(policy: Attributes): SuccessionPolicy {
  const allow = policy['allow'];
  return {
    mode: policy['succession'] === 'strict' ? 'strict' : 'permissive',
    allow: isList(allow) ? allow.filter((name) => typeof name === 'string') : null,
  };
}
