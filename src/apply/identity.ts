import type { Clock, IdSource } from '../core/clock.ts';
import type { Identity } from '../state/model.ts';

/** The identity of a state that begins now: a lineage of its own and a key of its own for the fingerprints of secrets. */
export function freshIdentity(environment: string, clock: Clock, ids: IdSource): Identity {
  return {
    format: 1,
    environment,
    lineage: ids.id(),
    fingerprintKey: `${ids.id()}${ids.id()}`,
    encryption: null,
    createdAt: new Date(clock.now()).toISOString(),
  };
}
