import { type Bundle, bundleOf, contentsOf, decodeContent, parseManifest } from '../core/bundle.ts';
import { type Digest, isDigest } from '../core/canonical.ts';
import { type Diagnostic, fail, type Outcome, succeed } from '../core/diagnostic.ts';
import { BackendError, type StateStore } from '../state/contract.ts';
import type { OperationRow, Sealed, Sealing, Snapshot } from '../state/model.ts';

/** Serials that a sentence lists before it says that there are more. */
const MOST_LISTED = 20;

/** An environment that an operation put in force, now or once. */
export interface PastEnvironment {
  readonly serial: number;
  readonly sealed: Sealed;
  /** Whether what it was made of is kept, so that it can be gone back to. */
  readonly isKept: boolean;
  readonly isInForce: boolean;
}

/** What was in force, newest first. */
export interface Past {
  readonly environments: readonly PastEnvironment[];
  /** All operations, newest first. */
  readonly operations: readonly OperationRow[];
  /** The operation that has not ended, if there is one. */
  readonly open: Snapshot['open'];
}

/** Reads what was in force. Throws `BackendError`. */
export async function readPast(store: StateStore, snapshot: Snapshot): Promise<Past> {
  const sealings = await store.sealings();
  const kept = await store.sourceDigests();
  const environments = sealings.flatMap(({ serial, sealed }: Sealing, index): readonly PastEnvironment[] => {
    if (sealed === null) return [];
    const source = sourceOf(sealed);
    return [{ serial, sealed, isKept: source !== undefined && kept.has(source), isInForce: index === 0 }];
  });
  return { environments, operations: await store.history(), open: snapshot.open };
}

function sourceOf(sealed: Sealed | null): Digest | undefined {
  const source = sealed?.source;
  return typeof source === 'string' && isDigest(source) ? source : undefined;
}

/**
 * The environment to go back to: that of the serial, or without one the last before the one in force that is another. While an operation is
 * open, that is the one in force itself: what came half-way is not in force. Refused is a serial that put nothing in force or whose
 * environment is not kept.
 */
export function rollbackTarget(past: Past, to: number | undefined): Outcome<PastEnvironment> {
  const found = to === undefined ? before(past) : at(past, to);
  if (!found.ok || found.value.isKept) return found;
  const { serial } = found.value;
  return fail({
    ...refusal(
      'ENVIRONMENT_NOT_KEPT',
      'What the environment was made of is not kept',
      `The documents that op-${serial} put in force are not in the state: they were too large, or came from a document that was pushed. ${reachableText(past)}`,
    ),
    observed: `#${serial}`,
  });
}

function before(past: Past): Outcome<PastEnvironment> {
  const { environments, open } = past;
  const current = environments.find(({ isInForce }) => isInForce);
  if (current !== undefined && open !== null) return succeed(current);
  const found = environments.find(
    ({ sealed, isInForce }) => !isInForce && (current === undefined || sealed.source === null || sealed.source !== current.sealed.source),
  );
  if (found !== undefined) return succeed(found);
  const detail =
    current === undefined
      ? 'No environment was ever put in force here.'
      : `Nothing else was in force before #${current.serial}, as far as it is recorded.`;
  return fail(refusal('NOTHING_BEFORE', 'There is no earlier environment', `${detail} ${reachableText(past)}`));
}

function at(past: Past, serial: number): Outcome<PastEnvironment> {
  const found = past.environments.find((environment) => environment.serial === serial);
  if (found !== undefined) return succeed(found);
  const operation = past.operations.find((row) => row.serial === serial);
  if (operation === undefined) return fail({ ...noSuchSerial(past, serial), observed: `#${serial}` });
  const how = operation.outcome === null ? 'it has not ended' : `it is ${article(operation.kind)} that ended as ${operation.outcome}`;
  return fail({
    ...refusal(
      'NOTHING_PUT_IN_FORCE',
      'The operation put no environment in force',
      `op-${serial} put nothing in force: ${how}. ${reachableText(past)}`,
    ),
    observed: `#${serial}`,
  });
}

function article(kind: string): string {
  return `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;
}

/** Where an operation that is a rollback goes; undefined for any other. */
export function goalOf({ kind, summary }: Pick<OperationRow, 'kind' | 'summary'>): number | undefined {
  const to = typeof summary === 'object' && summary !== null && 'to' in summary ? summary['to'] : undefined;
  return kind === 'rollback' && typeof to === 'number' ? to : undefined;
}

/** Says that there is no such operation, and which is the oldest where older ones were forgotten. */
export function noSuchSerial(past: Pick<Past, 'operations'>, serial: number): Diagnostic {
  const [newest] = past.operations;
  const oldest = past.operations.at(-1);
  const range =
    newest === undefined || oldest === undefined ? 'the state has none' : `the state has #${oldest.serial} to #${newest.serial}`;
  return {
    ...refusal('NO_SUCH_SERIAL', 'The state has no such serial', `There is no operation ${serial}; ${range}.`),
    next: 'accede state history',
  };
}

/** The serials that can be gone back to, in words. */
function reachableText({ environments }: Past): string {
  const serials = environments.filter(({ isKept }) => isKept).map(({ serial }) => `#${serial}`);
  if (serials.length === 0) return 'No serial can be reached.';
  const more = serials.length > MOST_LISTED ? ` and ${serials.length - MOST_LISTED} older ones` : '';
  return `These serials can be reached: ${serials.slice(0, MOST_LISTED).join(', ')}${more}.`;
}

/** What the environment was made of. Throws `BackendError` when a part of it is missing or was altered. */
export async function keptBundle(store: StateStore, sealed: Sealed): Promise<Bundle | undefined> {
  const source = sourceOf(sealed);
  if (source === undefined) return undefined;
  const manifestBody = (await store.sources([source])).get(source);
  if (manifestBody === undefined) return undefined;
  const manifest = parseManifest(decodeContent(manifestBody) ?? new Uint8Array());
  if (manifest === undefined) {
    throw new BackendError(
      'STATE_FORMAT',
      `What op-${sealed.serial} put in force is kept in a form that this version of accede does not know. Use the version that wrote it, or a newer one.`,
    );
  }
  const digests = contentsOf(manifest);
  const bodies = await store.sources(digests);
  const contents = new Map(
    digests.map((digest) => {
      const bytes = decodeContent(bodies.get(digest) ?? '');
      if (bytes === undefined)
        throw new BackendError('STATE_CORRUPT', `A file of what op-${sealed.serial} put in force is missing in the state.`);
      return [digest, bytes] as const;
    }),
  );
  return bundleOf(manifest, contents);
}

function refusal(code: string, summary: string, detail: string): Diagnostic {
  return { severity: 'error', code, summary, detail };
}
