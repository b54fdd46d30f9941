import type { ObjectQuery, Observed, Operation, Receipt } from '../contract.ts';

/** What exists in the state alone is there when it is recorded, as it was recorded. */
export function readRecorded(query: ObjectQuery): Observed {
  if (query.recorded === undefined || query.ref === undefined) return { kind: 'absent' };
  const { attributes, computed } = query.recorded;
  return { kind: 'found', owner: 'ours', ref: query.ref, attributes, computed };
}

/** What was made for which key in this session. A repetition gets the same again; nobody else has seen what an earlier process made and did not record. */
export type Made = Map<string, Receipt>;

/** Does an effect that makes something at random, once for its key. */
export function madeOnce(operation: Operation, made: Made, make: () => NonNullable<Receipt['computed']>): Receipt {
  const known = made.get(operation.key);
  if (known !== undefined) return known;
  const { object } = operation.effect;
  const ref = object === 'create' ? { ref: operation.address } : {};
  const receipt: Receipt = object === 'create' || object === 'update' ? { ...ref, computed: make() } : {};
  made.set(operation.key, receipt);
  return receipt;
}
