import { compareText, type ResourceAddress } from '../core/address.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import { holdsCiphertext, type Plain } from '../core/value.ts';
import type { Vault } from '../core/vault.ts';
import { placeContext } from '../plan/context.ts';
import { DRAIN, PAUSE, READ, RECORD } from '../plan/steps.ts';
import { noWayBack } from '../plan/succession/open-facts.ts';
import type { Effect, Session } from '../providers/contract.ts';
import { type Acquired, BackendError, type Mutation } from '../state/contract.ts';
import type { OperationRow, ResourceRow, Snapshot, StepRow } from '../state/model.ts';
import { Emitter } from './emitter.ts';
import type { EngineContext } from './engine.ts';
import { environmentFacts } from './environment-part.ts';
import { EnvironmentRun, isOfEnvironment } from './environment-run.ts';
import type { AccedeEvent, ApplyResult } from './events.ts';
import { EvidenceRecorder } from './evidence.ts';
import { diagnoseBackend } from './failure.ts';
import { acquireLock } from './locking.ts';
import { RecordedChange } from './recorded-change.ts';
import { effectIo, openSession, type Sessions, writeSessions } from './sessions.ts';
import { openVault } from './vaults.ts';
import { type Attempt, type Reversible, takeBack } from './way-back.ts';

export interface RecoverRequest {
  /** `user@host`. */
  readonly actor: string;
  /** Milliseconds to wait for a busy lock. */
  readonly lockTimeout: number;
  readonly stop: AbortSignal;
  emit(event: AccedeEvent): void;
}

/**
 * Takes an open operation back from its journal alone: every step that it began, what came last first. Needs neither the plan nor the documents
 * it was made from, nor the command line. What goes wrong stands in the result.
 */
export async function recoverBack(context: EngineContext, request: RecoverRequest): Promise<ApplyResult> {
  const recovery = new Recovery(context, request);
  const result = await recovery.run();
  recovery.emitter.emit({ type: result.exitCode === 0 ? 'operation.done' : 'operation.failed', result });
  return result;
}

/** The same under a lock that is held already, as the first part of another run. */
export async function takeBackOpen(context: EngineContext, request: RecoverRequest, session: Acquired['session']): Promise<ApplyResult> {
  return await new Recovery(context, request).underLock(session);
}

/** Without its state an operation leaves nothing that tells of it. */
const NO_STATE =
  'There is no state, so nothing tells of an operation, and nothing was taken back. If there was a state, put it back first; else a plan finds what bears our mark.';

/** What is recorded, and what opens the secrets in it. */
interface RecordedState {
  readonly snapshot: Snapshot;
  readonly vault: Vault | undefined;
}

class Recovery {
  readonly emitter: Emitter;
  readonly #context: EngineContext;
  readonly #request: RecoverRequest;
  readonly #started: number;
  readonly #recorder = new EvidenceRecorder();
  #operation: OperationRow | undefined;
  /** What could not be put back and stands in nobody's way. */
  readonly #warnings: Diagnostic[] = [];

  constructor(context: EngineContext, request: RecoverRequest) {
    this.#context = context;
    this.#request = request;
    this.#started = context.clock.monotonic();
    this.emitter = new Emitter(context.clock, (event) => {
      this.#recorder.receive(event);
      request.emit(event);
    });
  }

  async run(): Promise<ApplyResult> {
    try {
      const { store, clock } = this.#context;
      const { actor, lockTimeout, stop } = this.#request;
      if ((await store.read()) === undefined) return this.#nothing(NO_STATE);
      const answer = await acquireLock(
        store,
        { who: actor, purpose: 'recover' },
        { timeout: lockTimeout, clock, stop, emitter: this.emitter },
      );
      if (answer.kind === 'busy') {
        if (stop.aborted) return this.#result('interrupted', 130, []);
        const { holder } = answer;
        const detail = `${holder.who} holds it since ${holder.since} for ${holder.purpose} (pid ${holder.pid} on ${holder.host}). Nothing was changed.`;
        const busy = diagnostic('LOCK_BUSY', 'Somebody else is working on this environment', detail);
        return this.#result('busy', 75, [{ ...busy, next: 'accede status' }]);
      }
      const { lock, tookOver } = answer;
      this.emitter.emit({ type: 'lock.acquired', lock: lock.lockId, fence: lock.fence, tookOver: tookOver?.who ?? null });
      try {
        return await this.underLock(answer.session);
      } finally {
        await answer.session.release();
      }
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      return this.#result('failed', this.#operation === undefined ? 1 : 6, [diagnoseBackend(error)]);
    }
  }

  async underLock(session: Acquired['session']): Promise<ApplyResult> {
    const snapshot = await session.read();
    const { open } = snapshot;
    if (open === null) return this.#nothing();
    const barrier = noWayBack(open.steps);
    if (barrier !== undefined) {
      const detail = `${open.operation.id} has crossed its point of no return: ${barrier.step} cannot be taken back. Going forward ends it.`;
      return this.#result('refused', 3, [
        { ...diagnostic('NO_WAY_BACK', 'The operation can only go forward', detail), next: 'accede recover --forward' },
      ]);
    }
    const needed = open.steps.some(({ preimage, desired }) => holdsCiphertext(preimage) || holdsCiphertext(desired));
    const vault = await openVault(this.#context, snapshot.identity, { needed });
    this.#operation = await session.resume(open.operation.serial);
    this.emitter.belongTo(open.operation.id);
    const before = (await this.#context.store.readAt(open.operation.serial - 1))?.resources ?? new Map<ResourceAddress, ResourceRow>();
    const sessions = writeSessions(this.#context, () => []);
    try {
      return await this.#takeBack(session, { snapshot, vault }, open.steps, before, sessions);
    } finally {
      await sessions.close();
    }
  }

  async #takeBack(
    session: Acquired['session'],
    state: RecordedState,
    steps: readonly StepRow[],
    before: ReadonlyMap<ResourceAddress, ResourceRow>,
    sessions: Sessions<Session>,
  ): Promise<ApplyResult> {
    const begun = steps.filter((step) => step.status !== 'compensated' && step.status !== 'settled');
    const attempts = new Map(
      begun.map((step) => [step.step, attemptOf(step, this.#changeOf(step, begun, state, before, sessions))] as const),
    );
    this.emitter.emit({ type: 'compensation.started', steps: attempts.size });
    const { clock, parallelism } = this.#context;
    const back = await takeBack({
      attempts,
      before,
      state: session,
      emitter: this.emitter,
      clock,
      parallelism,
      io: (signal, progress) => effectIo(this.#context, signal, progress),
    });
    const ids = (list: readonly string[]) => list.toSorted(compareText);
    const tally = { done: ids([...back.stayed, ...back.stuck]), notDone: ids(back.taken), unknown: [] };
    const errors = [...back.diagnostics, ...(back.lost === undefined ? [] : [diagnoseBackend(back.lost)])];
    const serial = this.#operation?.serial ?? state.snapshot.head.serial;
    if (errors.length > 0) {
      const stuck = { ...this.#result('failed', 6, errors), steps: tally };
      if (back.lost === undefined) await session.write([{ kind: 'evidence', body: this.#evidence(state.snapshot, stuck) }]);
      return stuck;
    }
    // Records that no step of their own was about: those of addresses that were only renamed.
    const staying = new Set(begun.filter((step) => step.direction === 'stays').map((step) => step.address));
    const rest = restored((await session.read()).resources, before, staying);
    if (rest.length > 0) await session.write(rest);
    const result = { ...this.#result('done', 0, this.#warnings), steps: tally };
    const counts = { done: tally.done.length, notDone: tally.notDone.length, unknown: 0 };
    const summary = { ...counts, takenBack: back.taken.length, errors: [] };
    await session.end(serial, 'compensated', summary, undefined, this.#evidence(state.snapshot, result));
    return result;
  }

  #evidence(snapshot: Snapshot, result: ApplyResult): Plain {
    const { clock, environment, version } = this.#context;
    const operation = this.#operation;
    if (operation === undefined) throw new Error('there is no operation to tell of');
    const { id, serial, planDigest, startedAt } = operation;
    const subject = { operation: id, serial, kind: 'recover', actor: this.#request.actor, reason: null, startedAt, engine: version };
    const plan = { digest: planDigest, class: operation.class, direction: 'back', sourceDigest: null, releaseDigest: null, commit: null };
    const { lineage } = snapshot.identity;
    const about = { ...subject, environment: environment.name, lineage, plan: { ...plan, providers: {}, guards: [] } };
    return this.#recorder.document(about, result, new Date(clock.now()).toISOString());
  }

  #changeOf(
    step: StepRow,
    steps: readonly StepRow[],
    state: RecordedState,
    before: ReadonlyMap<ResourceAddress, ResourceRow>,
    sessions: Sessions<Session>,
  ): Reversible {
    const operation = { id: this.#operation?.id ?? '', class: this.#operation?.class ?? null };
    if (isOfEnvironment(step)) return new EnvironmentRun([], environmentFacts(this.#context, operation, sessions), this.#warnings);
    return this.#resourceOf(step, steps, state, before, sessions);
  }

  #resourceOf(
    { address, type: name, provider, folder }: StepRow,
    steps: readonly StepRow[],
    { snapshot, vault }: RecordedState,
    before: ReadonlyMap<ResourceAddress, ResourceRow>,
    sessions: Sessions<Session>,
  ): Reversible {
    const { environment, registry } = this.#context;
    const type = registry.find(name)?.type;
    if (type === undefined) {
      throw new BackendError('STATE_FORMAT', `The journal tells of ${address} of the type ${name}, which no provider of this version has.`);
    }
    return new RecordedChange({
      address,
      type,
      context: placeContext(environment, { address, provider, folder }),
      row: before.get(address),
      steps: steps.filter((step) => step.address === address),
      operation: this.#operation?.id ?? '',
      mark: { environment: snapshot.identity.environment, lineage: snapshot.identity.lineage },
      key: Buffer.from(snapshot.identity.fingerprintKey, 'hex'),
      vault,
      session: (alias) => openSession(sessions, alias),
    });
  }

  #nothing(detail = 'There is no operation to recover.'): ApplyResult {
    return this.#result('done', 0, [
      { severity: 'warning', code: 'NOTHING_OPEN', summary: 'Nothing is open', detail, next: 'accede plan' },
    ]);
  }

  #result(outcome: ApplyResult['outcome'], exitCode: number, diagnostics: readonly Diagnostic[]): ApplyResult {
    return {
      exitCode,
      outcome,
      plan: this.#operation?.planDigest ?? '',
      class: this.#operation?.class ?? '',
      serial: this.#operation?.serial ?? null,
      steps: { done: [], notDone: [], unknown: [] },
      seconds: (this.#context.clock.monotonic() - this.#started) / 1000,
      outputs: {},
      diagnostics,
    };
  }
}

function attemptOf(row: StepRow, run: Reversible): Attempt {
  const effect: Effect = {
    name: row.effect,
    part: row.part,
    stage: row.stage,
    object: objectOf(row),
    direction: row.direction,
    ...(isWait(row.effect) ? { lasts: 0 } : {}),
  };
  return {
    step: { id: row.step, address: row.address, effect: row.effect, after: row.after },
    effect: row.effect === RECORD || row.effect === READ ? { ...effect, object: 'keep' } : effect,
    run,
    intent: { key: row.key, id: row.id, ref: row.ref, identity: row.identity, desired: row.desired, preimage: row.preimage },
    ref: row.ref,
    told: row.status === 'done' || row.status === 'failed',
    row: (status, error) => ({ ...row, status, error }),
  };
}

function isWait(effect: string): boolean {
  return effect === PAUSE || effect === DRAIN;
}

function objectOf(row: StepRow): Effect['object'] {
  return row.object === 'record' ? 'keep' : row.object;
}

/** What brings the records to those before, but for addresses whose work stays. */
function restored(
  now: ReadonlyMap<ResourceAddress, ResourceRow>,
  before: ReadonlyMap<ResourceAddress, ResourceRow>,
  staying: ReadonlySet<ResourceAddress>,
): readonly Mutation[] {
  const dropped = [...now.keys()].filter((address) => !before.has(address) && !staying.has(address));
  const missing = [...before.values()].filter((row) => !now.has(row.address) && !staying.has(row.address));
  return [...dropped.map((address): Mutation => ({ kind: 'drop', address })), ...missing.map((row): Mutation => ({ kind: 'row', row }))];
}

function diagnostic(code: string, summary: string, detail: string): Diagnostic {
  return { severity: 'error', code, summary, detail };
}
