import type { Clock, IdSource } from '../core/clock.ts';
import type { Identity } from '../state/model.ts';

/**
 * The identity of a state that begins now: the lineage that it is to go on with, or one of its own, and a key of its own for the fingerprints
 * of secrets.
 */
export function freshIdentity(environment: string, clock: Clock, ids: IdSource, lineage?: string | null): Identity {
  return {
    format: 1,
    environment,
    lineage: lineage ?? ids.id(),
    fingerprintKey: `${ids.id()}${ids.id()}`,
    encryption: null,
    createdAt: new Date(clock.now()).toISOString(),
  };
}
