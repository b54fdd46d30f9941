import { compareText, parseAddress, type ResourceAddress } from '../core/address.ts';
import { type Diagnostic, fail, hasErrors, type Outcome, succeed } from '../core/diagnostic.ts';
import { addressHint } from '../core/naming.ts';
import { holdsCiphertext, type Plain } from '../core/value.ts';
import { type Acquired, BackendError, type Busy, type LockRequest, type Mutation, type WriteSession } from '../state/contract.ts';
import type { StateDocument } from '../state/document.ts';
import { verifyIntegrity } from '../state/integrity.ts';
import type { LockInfo, OperationKind, ResourceRow, Sealed, Snapshot } from '../state/model.ts';
import { preparePush } from '../state/push.ts';
import { Emitter } from './emitter.ts';
import type { EngineContext } from './engine.ts';
import type { AccedeEvent } from './events.ts';
import { diagnoseBackend } from './failure.ts';
import { freshIdentity } from './identity.ts';
import { acquireLock } from './locking.ts';
import { readdressed } from './record.ts';
import { openVault } from './vaults.ts';

/** Who edits the state, why, and how long a busy lock is waited for. */
export interface EditRequest {
  /** `user@host`. */
  readonly actor: string;
  readonly reason: string | null;
  /** Milliseconds. */
  readonly lockTimeout: number;
  /** Ends the wait for the lock; an edit that has begun is finished. */
  readonly stop: AbortSignal;
  /** Told that a busy lock is waited for. */
  emit(event: AccedeEvent): void;
}

/** What an edit did. Without a change no operation was begun, and the serial is the one that was there. */
export interface EditResult {
  readonly serial: number;
  readonly changed: readonly ResourceAddress[];
}

/** What an edit wants written: nothing when the state is as wanted already. */
export interface EditDecision {
  readonly mutations: readonly Mutation[];
  readonly changed: readonly ResourceAddress[];
  readonly summary: Plain;
  readonly sealed?: Omit<Sealed, 'serial'> | null;
  readonly diagnostics?: readonly Diagnostic[];
}

/**
 * Edits the state as one operation under the lock: acquire, read, decide, write, end, release. The result is checked before it is written, so
 * that no edit leaves a state that does not hold together. A busy lock is `LOCK_BUSY`; rejects with the reason of `stop` while waiting.
 */
export async function editState(
  context: EngineContext,
  request: EditRequest,
  edit: {
    readonly kind: OperationKind;
    readonly purpose: string;
    readonly create?: NonNullable<LockRequest['create']>;
    decide(snapshot: Snapshot): Outcome<EditDecision> | Promise<Outcome<EditDecision>>;
  },
): Promise<Outcome<EditResult>> {
  try {
    const acquired = await acquire(context, request, edit.purpose, edit.create);
    if (acquired.kind === 'busy') return fail(busy(acquired.holder));
    try {
      return await underLock(context, request, edit, acquired.session);
    } finally {
      await acquired.session.release();
    }
  } catch (error) {
    return fail(diagnoseBackend(error));
  }
}

async function acquire(
  context: EngineContext,
  request: EditRequest,
  purpose: string,
  create: LockRequest['create'] | undefined,
): Promise<Acquired | Busy> {
  const answer = await acquireLock(
    context.store,
    { who: request.actor, purpose, ...(create === undefined ? {} : { create }) },
    {
      timeout: request.lockTimeout,
      clock: context.clock,
      stop: request.stop,
      emitter: new Emitter(context.clock, (event) => request.emit(event)),
    },
  );
  if (answer.kind === 'busy') request.stop.throwIfAborted();
  return answer;
}

async function underLock(
  context: EngineContext,
  request: EditRequest,
  edit: Parameters<typeof editState>[2],
  session: WriteSession,
): Promise<Outcome<EditResult>> {
  const snapshot = await session.read();
  const decided = await edit.decide(snapshot);
  if (!decided.ok) return decided;
  const { mutations, changed, summary, sealed, diagnostics = [] } = decided.value;
  if (mutations.length === 0) return succeed({ serial: snapshot.head.serial, changed: [] }, diagnostics);
  const problems = verifyIntegrity(after(snapshot, mutations)).filter((problem) => problem.severity === 'error');
  if (hasErrors(problems)) return fail(...problems);
  const operation = await session.begin(
    {
      kind: edit.kind,
      planDigest: null,
      class: null,
      actor: request.actor,
      reason: request.reason,
      startedAt: new Date(context.clock.now()).toISOString(),
    },
    snapshot.head,
  );
  try {
    await session.write(mutations);
  } catch (error) {
    if (error instanceof BackendError && error.code !== 'FENCED') await session.end(operation.serial, 'failed', summary);
    throw error;
  }
  const seal = sealed === undefined || sealed === null ? [] : [{ ...sealed, serial: operation.serial }];
  await session.end(operation.serial, 'done', summary, ...seal);
  return succeed({ serial: operation.serial, changed }, diagnostics);
}

/** Rows and outputs as they will be. */
function after(snapshot: Snapshot, mutations: readonly Mutation[]): Pick<Snapshot, 'resources' | 'outputs'> {
  const resources = new Map(snapshot.resources);
  let outputs = snapshot.outputs;
  for (const mutation of mutations) {
    if (mutation.kind === 'row') resources.set(mutation.row.address, mutation.row);
    else if (mutation.kind === 'drop') resources.delete(mutation.address);
    else if (mutation.kind === 'outputs') outputs = mutation.outputs;
  }
  return { resources, outputs };
}

/** Says that somebody else holds the lock. */
export function busy(holder: LockInfo): Diagnostic {
  return {
    severity: 'error',
    code: 'LOCK_BUSY',
    summary: 'The lock is held by somebody else',
    detail: `${holder.who} on ${holder.host} holds the lock since ${holder.since} for ${holder.purpose}. Nothing was changed. Wait with --lock-timeout, or end a lock whose holder is gone.`,
    next: `accede unlock ${holder.lockId}`,
  };
}

/** Gives a recorded resource another address of the same type. What depends on it follows. */
export function moveResource(
  context: EngineContext,
  request: EditRequest,
  move: { readonly from: ResourceAddress; readonly to: ResourceAddress },
): Promise<Outcome<EditResult>> {
  return editState(context, request, {
    kind: 'state-mv',
    purpose: 'state mv',
    decide: async (snapshot) => {
      const row = find(snapshot, move.from);
      if (!row.ok) return row;
      if (parseAddress(move.to)?.type !== row.value.type) {
        return fail({
          ...refusal(
            'STATE_MOVE_TYPE',
            'A resource can not become one of another type',
            `${move.from} is a ${row.value.type}, and ${move.to} is not.`,
          ),
          expected: `an address of the type ${row.value.type}`,
          observed: move.to,
        });
      }
      if (snapshot.resources.has(move.to)) {
        return fail(
          refusal('STATE_ADDRESS_TAKEN', 'The address is taken', `${move.to} is recorded already. Move or forget that one first.`),
        );
      }
      const followers = [...snapshot.resources.values()].filter(
        (other) => other.dependencies.includes(move.from) && other.address !== move.from,
      );
      return succeed({
        mutations: [
          { kind: 'drop', address: move.from },
          { kind: 'row', row: await movedRow(context, snapshot, row.value, move.to) },
          ...followers.map(
            (other): Mutation => ({ kind: 'row', row: withDependencies(other, (needed) => (needed === move.from ? [move.to] : [needed])) }),
          ),
        ],
        changed: [move.from, move.to],
        summary: { from: move.from, to: move.to },
      });
    },
  });
}

/** The key is needed only for a resource that keeps a secret. One that exists in the state alone has its address for its identity, and goes along. */
async function movedRow(context: EngineContext, snapshot: Snapshot, row: ResourceRow, to: ResourceAddress): Promise<ResourceRow> {
  const isKept = holdsCiphertext(row.attributes) || holdsCiphertext(row.computed);
  const vault = isKept ? await openVault(context, snapshot.identity) : undefined;
  const moved = readdressed(row, to, Buffer.from(snapshot.identity.fingerprintKey, 'hex'), vault);
  return row.identity === row.address ? { ...moved, identity: to } : moved;
}

/** Forgets a recorded resource. Its object stays, and belongs to nobody. */
export function forgetResource(context: EngineContext, request: EditRequest, address: ResourceAddress): Promise<Outcome<EditResult>> {
  return editState(context, request, {
    kind: 'state-rm',
    purpose: 'state rm',
    decide: (snapshot) => {
      const row = find(snapshot, address);
      if (!row.ok) return row;
      const followers = [...snapshot.resources.values()].filter(
        (other) => other.dependencies.includes(address) && other.address !== address,
      );
      return succeed({
        mutations: [
          { kind: 'drop', address },
          ...followers.map(
            (other): Mutation => ({ kind: 'row', row: withDependencies(other, (needed) => (needed === address ? [] : [needed])) }),
          ),
        ],
        changed: [address],
        summary: { forgotten: address, ref: row.value.ref },
      });
    },
  });
}

/** Marks a resource for replacement, or takes the mark away. One that is in that status already is left, and nothing is written. */
export function taintResource(
  context: EngineContext,
  request: EditRequest,
  taint: { readonly address: ResourceAddress; readonly tainted: boolean },
): Promise<Outcome<EditResult>> {
  return editState(context, request, {
    kind: taint.tainted ? 'taint' : 'untaint',
    purpose: taint.tainted ? 'taint' : 'untaint',
    decide: (snapshot) => {
      const row = find(snapshot, taint.address);
      if (!row.ok) return row;
      const wanted = taint.tainted ? 'tainted' : 'ready';
      const isRight = taint.tainted ? row.value.status === 'tainted' : row.value.status !== 'tainted';
      return succeed({
        mutations: isRight ? [] : [{ kind: 'row', row: { ...row.value, status: wanted } }],
        changed: [taint.address],
        summary: { address: taint.address, status: wanted },
      });
    },
  });
}

/** Replaces the state by a document of the same lineage and serial, or fills an empty store with it. */
export async function pushState(context: EngineContext, request: EditRequest, document: StateDocument): Promise<Outcome<EditResult>> {
  const target = {
    environment: context.environment.name,
    fingerprintKey: freshIdentity(context.environment.name, context.clock, context.ids).fingerprintKey,
  };
  let present: Snapshot | undefined;
  try {
    present = await context.store.read();
  } catch (error) {
    return fail(diagnoseBackend(error));
  }
  const first = preparePush(document, present, target);
  if (!first.ok) return first;
  const { create } = first.value;
  return await editState(context, request, {
    kind: 'state-push',
    purpose: 'state push',
    ...(create === undefined ? {} : { create }),
    decide: (snapshot) => {
      // Into an empty store the plan made before the lock holds: the store was made from it.
      const plan = create === undefined ? preparePush(document, snapshot, target) : first;
      if (!plan.ok) return plan;
      return succeed({
        mutations: plan.value.mutations,
        changed: [...document.resources.keys()].sort(compareText),
        summary: { resources: document.resources.size, digest: document.digest },
        sealed: plan.value.sealed,
        diagnostics: plan.diagnostics,
      });
    },
  });
}

function find(snapshot: Snapshot, address: ResourceAddress): Outcome<ResourceRow> {
  const row = snapshot.resources.get(address);
  if (row !== undefined) return succeed(row);
  return fail(notRecorded(address, snapshot.resources.keys()));
}

/** Says that an address is not in the state, with the one that was probably meant. */
export function notRecorded(address: string, recorded: Iterable<string>): Diagnostic {
  return {
    ...refusal('NOT_RECORDED', 'The address is not in the state', `${address} is not recorded.${addressHint(address, recorded)}`),
    next: 'accede state list',
  };
}

function withDependencies(row: ResourceRow, change: (needed: ResourceAddress) => readonly ResourceAddress[]): ResourceRow {
  return { ...row, dependencies: [...new Set(row.dependencies.flatMap(change))].sort(compareText) };
}

function refusal(code: string, summary: string, detail: string): Diagnostic {
  return { severity: 'error', code, summary, detail };
}
