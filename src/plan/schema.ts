import { z } from 'zod';
import { ACTIONS } from '../core/action.ts';
import { FACETS, ROLES, STAGES } from '../core/facet.ts';
import type { Plain } from '../core/value.ts';
import type { PlanDocument } from './model.ts';

/**
 * Any JSON value. What comes out of JSON.parse is plain already, and what is in it is checked by the digest. It is not walked and not copied: a
 * walk fails on deep nesting, and a copy would lose a key of the name `__proto__`.
 */
const plain = z.custom<Plain>((value) => value !== undefined, 'missing');
const text = z.string();
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'a digest: sha256: and 64 lower-case hexadecimal digits');
const count = z.int().nonnegative();
const names = z.array(text);
const attributes = z
  .custom<{ readonly [name: string]: Plain }>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'not a map of attributes',
  )
  .meta({ type: 'object' });
const time = z.iso.datetime();

const source = z.strictObject({
  file: text,
  line: count,
  column: count,
  endLine: count,
  endColumn: count,
  excerpt: text.optional(),
});

const options = z.strictObject({
  targets: names,
  excludes: names,
  replace: names,
  destroy: z.boolean(),
  refreshOnly: z.boolean(),
  refresh: z.boolean(),
  refreshTags: z.boolean(),
  skipSecrets: z.boolean(),
  keepProtected: z.boolean(),
  includeProtected: z.boolean(),
  recover: z.boolean(),
});

const succession = z.strictObject({
  class: text,
  // `then` is a field of the plan format; objects of the format are never awaited.
  then: text.nullable(),
  chosen: text.nullable(),
  backsOut: z.strictObject({ operation: text, steps: names }).nullable(),
  rule: text,
  outage: text,
  direction: text,
  pointOfNoReturn: text.nullable(),
  stages: z.array(z.enum(STAGES)),
  changedPaths: z.array(
    z.strictObject({
      path: text,
      role: z.enum(ROLES),
      facet: z.enum(FACETS),
      action: z.enum(['changed', 'added', 'removed']),
      admittedBy: text.nullable(),
    }),
  ),
  rejected: z.array(z.strictObject({ class: text, uncovered: names, reason: text })),
  guards: z.array(z.strictObject({ name: text, expected: text, observed: text, ok: z.boolean() })),
  refusals: z.array(
    z.strictObject({
      code: text,
      path: text,
      message: text,
      expected: text.optional(),
      observed: text.optional(),
      next: text.optional(),
      source: source.optional(),
    }),
  ),
});

const change = z.strictObject({
  address: text,
  type: text,
  provider: text,
  role: z.enum(ROLES),
  action: z.enum(ACTIONS),
  replaceOrder: z.enum(['destroy-first', 'create-first']).nullable(),
  cause: z.strictObject({ kind: z.enum(['self', 'follows', 'drift', 'requested']), of: text.optional() }).nullable(),
  reason: text,
  facets: z.array(z.enum(FACETS)),
  paths: z.array(
    z.strictObject({ path: text, facet: z.enum(FACETS), replaces: z.boolean(), cause: z.enum(['change', 'drift', 'follows']) }),
  ),
  before: attributes.nullable(),
  after: attributes.nullable(),
  unknown: names,
  sensitive: names,
  movedFrom: text.nullable(),
  importId: text.nullable(),
  protected: z.boolean(),
  source: source.nullable(),
});

/** The shape of a plan file. Strict: a member that this version does not know makes it another format. */
export const planSchema: z.ZodType<PlanDocument> = z.strictObject({
  format: z.literal('accede.plan/v1'),
  digest,
  environment: text,
  engine: z.strictObject({ version: text }),
  inputs: z.strictObject({
    sourceDigest: digest,
    releaseDigest: digest.nullable(),
    commit: text.nullable(),
    folder: text,
    variables: attributes,
    providers: z.record(text, z.record(text, text)),
    options,
  }),
  state: z.strictObject({ lineage: text.nullable(), epoch: count.nullable(), serial: count, digest, begins: text.nullable() }),
  succession,
  applicable: z.boolean(),
  changes: z.array(change),
  steps: z.array(
    z.strictObject({
      id: text,
      address: text,
      effect: text,
      stage: z.enum(STAGES),
      phase: z
        .int()
        .min(0)
        .max(STAGES.length - 1),
      pulled: z.strictObject({ from: z.enum(STAGES), by: text }).optional(),
      after: names,
      direction: z.enum(['back', 'forward', 'stays']),
      seconds: z.number().nonnegative().optional(),
    }),
  ),
  rolling: z.array(
    z.strictObject({ resource: text, batches: z.array(z.strictObject({ addresses: names, pause: z.number().nonnegative() })) }),
  ),
  fingerprints: z.record(text, text.nullable()),
  outageAddresses: names,
  affected: names,
  secretsChanged: z.array(z.strictObject({ name: text, addresses: names })),
  drift: z.array(
    z.strictObject({
      address: text,
      kind: z.enum(['missing', 'stopped', 'changed', 'unfinished', 'foreign']),
      paths: z.array(z.strictObject({ path: text, recorded: plain, live: plain })),
      answer: text,
      reason: text,
    }),
  ),
  outputs: z.array(
    z.strictObject({ name: text, before: plain, after: plain, changed: z.boolean(), unknown: z.boolean(), sensitive: z.boolean() }),
  ),
  summary: z.strictObject({
    create: count,
    update: count,
    replace: count,
    start: count,
    delete: count,
    adopt: count,
    forget: count,
    move: count,
    noop: count,
    refuse: count,
  }),
  warnings: z.array(z.strictObject({ code: text, message: text, address: text.optional() })),
  createdAt: time,
  expiresAt: time,
}) as unknown as z.ZodType<PlanDocument>;
