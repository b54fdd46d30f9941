import { z } from 'zod';
import type { ObjectQuery, Observed, Operation, Receipt } from '../contract.ts';
import { attribute, defineType, traitsOf } from '../define.ts';
import { singleStepEffects } from './single-step.ts';

const schema = z.strictObject({
  input: attribute(z.unknown(), 'Any value. It is kept in the state as it was at the last apply.'),
});

/** A value that is kept in the state and nowhere else. */
export const valueType = defineType({
  type: 'local.value',
  summary: 'A value that is kept in the state',
  schemaVersion: 1,
  schema,
  traits: { output: traitsOf('The value of `input` after apply.', { computed: true }) },
  role: 'infrastructure',
  stage: 'migrate',
  foreignCode: 'VALUE_FOREIGN',
  example: `resources:
  local.value:
    limits:
      input: { memory: 512m, regions: [north, south] }
`,
  normalize: (attributes) => ({ input: attributes['input'] ?? null }),
  identity: (_desired, context) => context.address,
  foresee: (desired) => ({ output: desired['input'] ?? null }),
  effects: (change) => singleStepEffects(change, { createFirst: false, undo: true }),
});

/** A value is there when it was recorded; its secrets stay sealed. */
export function readValue(query: ObjectQuery): Observed {
  if (query.recorded === undefined || query.ref === undefined) return { kind: 'absent' };
  const { attributes } = query.recorded;
  return { kind: 'found', owner: 'ours', ref: query.ref, attributes, computed: { output: attributes['input'] ?? null } };
}

/** Nothing is done: the record that the engine keeps is the object. The output is not answered, since it is in clear here and was foreseen. */
export function performValue(operation: Operation): Receipt {
  return operation.effect.object === 'create' ? { ref: operation.address } : {};
}
