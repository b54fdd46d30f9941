import { z } from 'zod';
import type { IdSource } from '../../core/clock.ts';
import { randomBytes } from '../../core/random.ts';
import { type Attributes, Sensitive } from '../../core/value.ts';
import type { Operation } from '../contract.ts';
import { attribute, defineType, traitsOf } from '../define.ts';
import { singleStepEffects } from './single-step.ts';

const ENCODINGS = ['hex', 'base64', 'base64url'] as const;

const schema = z.strictObject({
  bytes: attribute(z.int().min(16).max(1024).optional(), 'How many random bytes it has. Default 32. Another number makes a new value.', {
    facet: 'credential',
  }),
  encoding: attribute(z.enum(ENCODINGS).optional(), 'How the bytes are written as text. Default hex. Another one makes a new value.', {
    facet: 'credential',
  }),
  generation: attribute(z.int().min(1).optional(), 'Counts the values: another number makes a new one. Default 1.', {
    facet: 'credential',
  }),
});

const secret = { computed: true, sensitive: true, kept: true, facet: 'credential' } as const;

/** A random secret that is made once and kept encrypted in the state. */
export const secretType = defineType({
  type: 'local.secret',
  summary: 'A random secret, made once and kept encrypted in the state',
  schemaVersion: 1,
  schema,
  traits: {
    value: traitsOf('The secret as text.', secret),
    previous: traitsOf('The value before the last rotation, for what has to take both for a while; null before the first one.', secret),
  },
  role: 'credential',
  stage: 'migrate',
  foreignCode: 'SECRET_FOREIGN',
  example: `state: { backend: sqlite, encryption: { key_file: state.key } }
resources:
  local.secret:
    session:
      bytes: 32
      encoding: base64url
      generation: 1
  local.file:
    env:
      path: out/session.env
      content: "SESSION_KEY=\${local.secret.session.value}\\n"
      mode: "0600"
`,
  normalize: (attributes) => ({
    bytes: attributes['bytes'] ?? 32,
    encoding: attributes['encoding'] ?? 'hex',
    generation: attributes['generation'] ?? 1,
  }),
  identity: (_desired, context) => context.address,
  renews: (paths) => (paths.length > 0 ? ['value', 'previous'] : []),
  effects: (change) => singleStepEffects(change, { createFirst: false, undo: true }),
});

/** A new value; the one before becomes `previous`. */
export function makeSecret(operation: Operation, ids: IdSource): Attributes {
  const { bytes, encoding } = operation.desired;
  if (typeof bytes !== 'number' || !ENCODINGS.some((known) => known === encoding))
    throw new Error(`${operation.address} has no normal form`);
  const value = randomBytes(ids, bytes).toString(encoding as (typeof ENCODINGS)[number]);
  const previous = operation.computed?.['value'];
  return { value: Sensitive.open(value), previous: Sensitive.open(typeof previous === 'string' ? previous : null) };
}
