import { z } from 'zod';
import { ENVIRONMENT, ENVIRONMENT_TYPE, isTypeName, parseAddress, type ResourceAddress, type TypeName } from '../core/address.ts';
import { digestBytes } from '../core/canonical.ts';
import { STAGES } from '../core/facet.ts';
import type { Plain } from '../core/value.ts';
import { BackendError } from './contract.ts';
import { type Encryption, encryptionSchema } from './encryption.ts';
import type { EvidenceRow, Hold, Identity, LockInfo, OperationRow, ResourceRow, Sealed, StepRow, StoredOutput } from './model.ts';
import type { SqlRow } from './sql.ts';

const count = z.number().int().nonnegative();
const isAddress = (value: unknown) => typeof value === 'string' && parseAddress(value) !== undefined;
/** Of a step: that of a resource, or of the environment itself. */
const stepAddress = z.custom<ResourceAddress>((value) => value === ENVIRONMENT || isAddress(value), 'not an address');
const stepType = z.custom<TypeName>(
  (value) => value === ENVIRONMENT_TYPE || (typeof value === 'string' && isTypeName(value)),
  'not a type name',
);
const address = z.custom<ResourceAddress>(isAddress, 'not an address');
const typeName = z.custom<TypeName>((value) => typeof value === 'string' && isTypeName(value), 'not a type name');
// What comes out of JSON.parse is plain already; only its outermost form has to be checked.
const plain = z.custom<Plain>((value) => value !== undefined, 'missing');
const attributes = z.custom<{ readonly [name: string]: Plain }>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'not a map of attributes',
);

/** The form of a resource row in `body` and in a state document. */
export const resourceRowSchema = z.strictObject({
  address,
  type: typeName,
  provider: z.string(),
  schemaVersion: count,
  id: z.string().min(1),
  ref: z.string().nullable(),
  identity: z.string(),
  status: z.enum(['ready', 'unfinished', 'tainted']),
  marked: z.boolean(),
  attributes,
  computed: attributes,
  fingerprint: z.string(),
  dependencies: z.array(address),
  protected: z.boolean(),
  role: z.string(),
  deposed: z.array(z.strictObject({ id: z.string().min(1), ref: z.string() })),
  folder: z.string(),
}) satisfies z.ZodType<ResourceRow>;

const stepSchema = z.strictObject({
  serial: count,
  step: z.string(),
  address: stepAddress,
  type: stepType,
  provider: z.string(),
  effect: z.string(),
  object: z.enum(['create', 'update', 'remove', 'depose', 'retire', 'keep', 'record']),
  action: z.string(),
  part: z.enum(['prepare', 'remove', 'apply', 'commit', 'retire']),
  stage: z.enum(STAGES),
  direction: z.enum(['back', 'forward', 'stays']),
  after: z.array(z.string()),
  key: z.string(),
  status: z.enum(['intended', 'done', 'failed', 'unknown', 'compensating', 'compensated', 'settled']),
  id: z.string(),
  ref: z.string().nullable(),
  identity: z.string(),
  desired: attributes.nullable(),
  // A step that was written before there were preimages has none.
  preimage: attributes.nullable().default(null),
  folder: z.string(),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
}) satisfies z.ZodType<StepRow>;

export const holdSchema = z.strictObject({
  kind: z.enum(['source', 'hand']),
  source: z.string().nullable(),
  variables: z.string().nullable(),
  reason: z.string(),
  by: z.string(),
  since: z.string(),
  until: z.string().nullable(),
  serial: count.nullable(),
}) satisfies z.ZodType<Hold>;

const evidenceColumns = z.object({ serial: count, part: count, digest: z.string(), body: z.string() });

export const sealedSchema = z.strictObject({
  serial: count,
  sourceDigest: z.string(),
  releaseDigest: z.string().nullable(),
  governance: plain,
  secrets: z.record(z.string(), z.string()),
  commit: z.string().nullable(),
  source: z.string().nullable().default(null),
}) satisfies z.ZodType<Sealed>;

export const outputsSchema = z.array(z.strictObject({ name: z.string(), value: plain })) satisfies z.ZodType<readonly StoredOutput[]>;

const identityColumns = z.object({
  environment: z.string(),
  format: count,
  lineage: z.string().regex(/^[0-9a-f]{32}$/),
  fingerprint_key: z.string().regex(/^[0-9a-f]{64}$/),
  created_at: z.string(),
});

const lockColumns = z.object({
  lock_id: z.string(),
  fence: count,
  token_digest: z.string(),
  who: z.string(),
  host: z.string(),
  boot_id: z.string(),
  pid: count,
  process_start: z.string(),
  purpose: z.string(),
  since: z.string(),
  lease_clock: z.string(),
  lease_end: z.number().int(),
});

const operationColumns = z.object({
  serial: count,
  kind: z.enum([
    'apply',
    'destroy',
    'run',
    'import',
    'state-mv',
    'state-rm',
    'state-push',
    'state-rekey',
    'taint',
    'untaint',
    'init',
    'rollback',
    'state-prune',
    'state-restore',
  ]),
  plan_digest: z.string().nullable(),
  class: z.string().nullable(),
  fence: count,
  actor: z.string(),
  reason: z.string().nullable(),
  started_at: z.string(),
  ended_at: z.string().nullable(),
  outcome: z.enum(['done', 'failed', 'interrupted', 'abandoned', 'compensated']).nullable(),
  summary: z.string(),
});

const resourceColumns = z.object({ address: z.string(), digest: z.string(), body: z.string() });

/** What says that a row can't be read: names the table and the row, never what stands in it. */
export function damaged(table: string, row: string, problem: string, cause?: unknown): BackendError {
  return new BackendError(
    'STATE_CORRUPT',
    `The state is damaged: ${row} in the table ${table} can't be read (${problem}). Put a copy of the state from before in its place.`,
    { cause },
  );
}

/** How the state keeps its data key; null for a state that keeps none. */
export function parseEncryption(table: string, row: SqlRow | undefined): Encryption | null {
  return row === undefined ? null : parse(encryptionSchema, parseBody(row, table, 'the encryption'), table, 'the encryption');
}

/** The identity but for its encryption. Throws `STATE_FORMAT` for a format that this program does not know. */
export function parseIdentity(table: string, row: SqlRow): Omit<Identity, 'encryption'> {
  const found = parse(identityColumns, row, table, 'the identity');
  if (found.format !== 1) {
    throw new BackendError(
      'STATE_FORMAT',
      `The state of ${found.environment} has the format ${found.format}, and this version of accede knows format 1 alone. Use the version that wrote it, or a newer one.`,
    );
  }
  return {
    format: 1,
    environment: found.environment,
    lineage: found.lineage,
    fingerprintKey: found.fingerprint_key,
    createdAt: found.created_at,
  };
}

/** A lock as it is stored: who holds it, the digest of the holder's token, and until when it is his without being renewed. */
export interface StoredLock {
  readonly info: LockInfo;
  readonly tokenDigest: string;
  readonly lease: { readonly domain: string; readonly end: number };
}

export function parseLock(table: string, row: SqlRow): StoredLock {
  const found = parse(lockColumns, row, table, 'the lock');
  const { fence, who, host, pid, purpose, since } = found;
  const info = { lockId: found.lock_id, fence, who, host, bootId: found.boot_id, pid, processStart: found.process_start, purpose, since };
  return { info, tokenDigest: found.token_digest, lease: { domain: found.lease_clock, end: found.lease_end } };
}

export function parseOperation(table: string, row: SqlRow): OperationRow {
  const name = `the operation ${String(row['serial'])}`;
  const found = parse(operationColumns, row, table, name);
  return {
    serial: found.serial,
    id: `op-${found.serial}`,
    kind: found.kind,
    planDigest: found.plan_digest,
    class: found.class,
    fence: found.fence,
    actor: found.actor,
    reason: found.reason,
    startedAt: found.started_at,
    endedAt: found.ended_at,
    outcome: found.outcome,
    summary: parseJson(found.summary, table, name) as Plain,
  };
}

/** A resource row whose digest and address agree with what stands beside it. */
export function parseResource(table: string, row: SqlRow): { readonly row: ResourceRow; readonly digest: string } {
  const name = `the row of ${String(row['address'])}`;
  const found = parse(resourceColumns, row, table, name);
  if (digestBytes(found.body) !== found.digest) throw damaged(table, name, 'its digest does not match');
  const parsed = parse(resourceRowSchema, parseJson(found.body, table, name), table, name);
  if (parsed.address !== found.address) throw damaged(table, name, 'it is of another address');
  return { row: parsed, digest: found.digest };
}

export function parseStep(table: string, row: SqlRow): StepRow {
  const name = `the step ${String(row['step'])}`;
  return parse(stepSchema, parseBody(row, table, name), table, name);
}

export function parseSealed(table: string, row: SqlRow): Sealed | null {
  return parse(sealedSchema.nullable(), parseBody(row, table, 'the sealed environment'), table, 'the sealed environment');
}

export function parseOutputs(table: string, row: SqlRow | undefined): readonly StoredOutput[] {
  return row === undefined ? [] : parse(outputsSchema, parseBody(row, table, 'the outputs'), table, 'the outputs');
}

/** A row of evidence. Throws `STATE_CORRUPT` when its content does not have its digest. */
export function parseEvidence(table: string, row: SqlRow): EvidenceRow {
  const found = parse(evidenceColumns, row, table, 'a row');
  const name = `the evidence of op-${found.serial}`;
  if (digestBytes(found.body) !== found.digest) throw damaged(table, name, 'its content does not have its digest');
  return { ...found, body: parse(z.json(), parseJson(found.body, table, name), table, name) as Plain };
}

export function parseHold(table: string, row: SqlRow): Hold {
  return parse(holdSchema, parseBody(row, table, 'a hold'), table, 'a hold');
}

/** An approval as it was put in; what is in it, who counts approvals judges. */
export function parseApproval(table: string, row: SqlRow): Plain {
  return parse(z.json(), parseBody(row, table, 'an approval'), table, 'an approval') as Plain;
}

/** The columns of a row that have this form; throws `STATE_CORRUPT` where they have not. */
export function parseColumns<T>(schema: z.ZodType<T>, row: SqlRow, table: string): T {
  return parse(schema, row, table, 'a row');
}

/** A whole number in a column. */
export function parseCount(table: string, row: SqlRow | undefined, column: string): number {
  return parse(count, row?.[column], table, `the column ${column}`);
}

function parseBody(row: SqlRow, table: string, name: string): unknown {
  return parseJson(parse(z.string(), row['body'], table, name), table, name);
}

function parseJson(text: string, table: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw damaged(table, name, 'it is not JSON', error);
  }
}

function parse<T>(schema: z.ZodType<T>, value: unknown, table: string, name: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = issue?.path.map(String).join('.') ?? '';
  throw damaged(table, name, path === '' ? 'it has another form' : `${path} has another form`, result.error);
}
