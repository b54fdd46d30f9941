import { z } from 'zod';
import { compareText, type ResourceAddress } from '../core/address.ts';
import { type Digest, isDigest } from '../core/canonical.ts';
import { type Diagnostic, fail, type Outcome, settle } from '../core/diagnostic.ts';
import { isPlainName } from '../core/naming.ts';
import type { Plain } from '../core/value.ts';
import { digestOfRows } from './digest.ts';
import { type Encryption, encryptionSchema } from './encryption.ts';
import { missingDependency, verifyIntegrity } from './integrity.ts';
import type { ResourceRow, Sealed, Snapshot, StoredOutput } from './model.ts';
import { outputsSchema, resourceRowSchema, sealedSchema } from './rows.ts';

export const STATE_FORMAT = 'accede.state/v1';

/** What `state pull` gives and `state push` takes: all that is in force, without the key of the fingerprints and without the lock. */
export interface StateDocument {
  readonly environment: string;
  readonly lineage: string;
  readonly createdAt: string;
  /** What opens the ciphertexts in it, itself encrypted; null when it holds none. */
  readonly encryption: Encryption | null;
  readonly serial: number;
  readonly digest: Digest;
  readonly resources: ReadonlyMap<ResourceAddress, ResourceRow>;
  readonly outputs: readonly StoredOutput[];
  readonly sealed: Sealed | null;
}

const documentSchema = z.strictObject({
  format: z.literal(STATE_FORMAT),
  environment: z.string().refine(isPlainName, 'expected the name of an environment'),
  lineage: z.string().regex(/^[0-9a-f]{32}$/, 'expected 32 hexadecimal digits'),
  createdAt: z.iso.datetime(),
  encryption: encryptionSchema.optional(),
  serial: z.number().int().nonnegative(),
  digest: z.custom<Digest>((value) => typeof value === 'string' && isDigest(value), 'expected sha256: and 64 hexadecimal digits'),
  resources: z.array(resourceRowSchema),
  outputs: outputsSchema,
  sealed: sealedSchema.nullable(),
});

/** The document of a snapshot; equal states give equal canonical text. */
export function exportState(snapshot: Snapshot): Plain {
  const { identity, head, resources, outputs, sealed } = snapshot;
  const document = {
    format: STATE_FORMAT,
    environment: identity.environment,
    lineage: identity.lineage,
    createdAt: identity.createdAt,
    ...(identity.encryption === null ? {} : { encryption: identity.encryption }),
    serial: head.serial,
    digest: head.digest,
    resources: [...resources.values()].sort((a, b) => compareText(a.address, b.address)),
    outputs: [...outputs].sort((a, b) => compareText(a.name, b.name)),
    sealed,
  };
  return document as unknown as Plain;
}

/**
 * Reads a document and checks it: form, digest over rows and outputs, no address twice, and all that `verifyIntegrity` checks. Dependencies on
 * addresses that are not in it are dropped with a warning.
 */
export function parseState(text: string): Outcome<StateDocument> {
  const json = parseJson(text);
  if (json instanceof Error) return fail(invalid(`It is not JSON: ${json.message}.`));
  const named = z.looseObject({ format: z.string() }).safeParse(json);
  if (named.success && named.data.format !== STATE_FORMAT) {
    return fail({
      severity: 'error',
      code: 'STATE_DOCUMENT_FORMAT',
      summary: 'The state document has another format',
      detail: 'The document has a format that this version of accede does not know. Use the version that wrote it.',
      expected: STATE_FORMAT,
      observed: named.data.format,
    });
  }
  const parsed = documentSchema.safeParse(json);
  if (!parsed.success) return fail(...parsed.error.issues.map((issue) => invalid(`${placeOf(issue.path)}: ${issue.message}.`)));
  return verified(parsed.data);
}

function verified(data: z.infer<typeof documentSchema>): Outcome<StateDocument> {
  const diagnostics: Diagnostic[] = [];
  const addresses = new Set<ResourceAddress>();
  for (const row of data.resources) {
    if (addresses.has(row.address)) diagnostics.push({ ...invalid(`${row.address} stands in it twice.`), address: row.address });
    addresses.add(row.address);
  }
  const digest = contentDigest(data);
  if (digest === undefined) return fail(...diagnostics, invalid('It holds a number or a text that has no canonical form.'));
  if (digest !== data.digest) {
    diagnostics.push({
      severity: 'error',
      code: 'STATE_DOCUMENT_DIGEST',
      summary: 'The state document was changed or cut',
      detail: 'The digest that stands in the document is not that of its resources and outputs.',
      expected: data.digest,
      observed: digest,
      next: 'accede state pull',
    });
  }
  const resources = new Map<ResourceAddress, ResourceRow>();
  for (const row of data.resources) {
    const missing = row.dependencies.filter((needed) => !addresses.has(needed));
    diagnostics.push(...missing.map((needed) => missingDependency(row.address, needed)));
    resources.set(row.address, { ...row, dependencies: row.dependencies.filter((needed) => addresses.has(needed)) });
  }
  diagnostics.push(...verifyIntegrity({ resources, outputs: data.outputs }));
  const { environment, lineage, createdAt, encryption = null, serial, outputs, sealed } = data;
  return settle({ environment, lineage, createdAt, encryption, serial, digest: data.digest, resources, outputs, sealed }, diagnostics);
}

/** Undefined where a value can be written in JSON but not in canonical JSON, as half of a surrogate pair, or nests too deep. */
function contentDigest(data: z.infer<typeof documentSchema>): Digest | undefined {
  try {
    return digestOfRows(data.resources, data.outputs);
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function placeOf(path: readonly PropertyKey[]): string {
  return path.length === 0 ? 'The document' : `At ${path.map(String).join('.')}`;
}

function invalid(detail: string): Diagnostic {
  return {
    severity: 'error',
    code: 'STATE_DOCUMENT_INVALID',
    summary: 'The state document has a wrong form',
    detail,
    expected: `a document of the format ${STATE_FORMAT}, as accede state pull prints it`,
  };
}
