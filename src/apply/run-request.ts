import type { ResourceAddress } from '../core/address.ts';
import { type Diagnostic, hasErrors } from '../core/diagnostic.ts';
import { type Attributes, fingerprintOf, type Plain, reveal } from '../core/value.ts';
import { type Assessed, assess } from '../plan/assess.ts';
import { DEFAULT_OPTIONS } from '../plan/inputs.ts';
import type { Effect, Operation, Receipt } from '../providers/contract.ts';
import { type Acquired, BackendError, type Mutation } from '../state/contract.ts';
import type { OperationOutcome, OperationRow, ResourceRow, Snapshot, StepRow } from '../state/model.ts';
import { collectWorld } from './collect.ts';
import { Emitter } from './emitter.ts';
import type { EngineContext, PlanStamp } from './engine.ts';
import type { AccedeEvent, RunResult } from './events.ts';
import { EvidenceRecorder } from './evidence.ts';
import { diagnoseBackend } from './failure.ts';
import { acquireLock } from './locking.ts';
import { encodedAttributes, maskedReceipt } from './record.ts';
import { findRunnable, type Runnable, refuseDifferent, refuseOpen } from './run-refusals.ts';
import { type RunEnd, runKey, walkRun } from './run-steps.ts';
import { effectIo, writeSessions } from './sessions.ts';
import { openedVault } from './vaults.ts';

/** Exit codes of a run beside the program's own; the whole table is in the command contract. */
const EXIT = { done: 0, error: 1, refused: 3, notBegun: 5, open: 6, busy: 75, interrupted: 130 } as const;

export interface RunRequest {
  readonly address: ResourceAddress;
  /** What is asked; absent for what takes no request. */
  readonly document?: Plain;
  /** Runs also where a completed run would stand for this one. */
  readonly again: boolean;
  readonly stamp: PlanStamp;
  /** `user@host`. */
  readonly actor: string;
  readonly reason: string | null;
  /** Milliseconds to wait for a busy lock. */
  readonly lockTimeout: number;
  /** Aborted by the first signal: what waits for the program is broken off, the program itself goes on. */
  readonly stop: AbortSignal;
  emit(event: AccedeEvent): void;
}

/**
 * Runs what is in force at an address once, under the lock, as an operation of its own. What goes wrong stands in the result, never in an
 * exception. A run that broke off is taken to its end by the next one that asks for the same.
 */
export async function runOnRequest(context: EngineContext, request: RunRequest): Promise<RunResult> {
  const run = new OnRequestRun(context, request);
  const result = await run.run();
  run.emitter.emit({ type: result.exitCode === EXIT.done ? 'run.done' : 'run.failed', result });
  return result;
}

/** An earlier run that nobody was told the end of. */
interface Earlier {
  readonly operation: OperationRow;
  readonly runId: string;
  readonly steps: readonly StepRow[];
}

class OnRequestRun {
  readonly emitter: Emitter;
  readonly #context: EngineContext;
  readonly #request: RunRequest;
  readonly #started: number;
  readonly #recorder = new EvidenceRecorder();
  #begun = false;

  constructor(context: EngineContext, request: RunRequest) {
    this.#context = context;
    this.#request = request;
    this.#started = context.clock.monotonic();
    this.emitter = new Emitter(context.clock, (event) => {
      this.#recorder.receive(event);
      request.emit(event);
    });
  }

  async run(): Promise<RunResult> {
    const { store, clock } = this.#context;
    const { actor, lockTimeout, stop } = this.#request;
    try {
      const present = await store.read();
      if (present === undefined) return this.#refused(noState(this.#context.environment.name));
      const found = this.#find(present);
      if ('code' in found) return this.#refused(found);
      const answer = await acquireLock(
        store,
        { who: actor, purpose: `run ${this.#request.address}` },
        { timeout: lockTimeout, clock, stop, emitter: this.emitter },
      );
      if (answer.kind === 'busy') {
        return stop.aborted ? this.#result('interrupted', EXIT.interrupted, []) : this.#result('busy', EXIT.busy, [busy(answer.holder)]);
      }
      const { lock, tookOver } = answer;
      this.emitter.emit({ type: 'lock.acquired', lock: lock.lockId, fence: lock.fence, tookOver: tookOver?.who ?? null });
      try {
        return await this.#locked(answer.session);
      } finally {
        await answer.session.release();
      }
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      return this.#result('failed', this.#begun ? EXIT.open : EXIT.error, [diagnoseBackend(error)]);
    }
  }

  #find(snapshot: Snapshot): Runnable | Diagnostic {
    const { address, document } = this.#request;
    const isDesired = this.#context.environment.resources.some((instance) => instance.address === address);
    return findRunnable(snapshot, this.#context.registry, { address, hasDocument: document !== undefined, isDesired });
  }

  async #locked(state: Acquired['session']): Promise<RunResult> {
    const snapshot = await state.read();
    const found = this.#find(snapshot);
    if ('code' in found) return this.#refused(found);
    const open = snapshot.open?.operation;
    if (open !== undefined && open.kind !== 'run') return this.#refused(refuseOpen(open));
    const sessions = writeSessions(this.#context, () => []);
    try {
      const assessed = await this.#assess(sessions, { ...snapshot, lock: null });
      if (!('address' in assessed)) return this.#result('failed', EXIT.error, assessed.mistakes);
      const refusal = refuseDifferent(assessed, found.row);
      if (refusal !== undefined) return this.#refused(refusal);
      const session = await sessions.get(found.row.provider);
      if (!session.ok) return this.#result('failed', EXIT.error, session.diagnostics);
      return await this.#attempt(state, snapshot, found, assessed, session.value);
    } finally {
      await sessions.close();
    }
  }

  /** What the documents, the record and the live world say of it: as a plan for it alone would. */
  async #assess(
    sessions: ReturnType<typeof writeSessions>,
    snapshot: Snapshot,
  ): Promise<Assessed | { readonly mistakes: readonly Diagnostic[] }> {
    const { environment, registry, version, clock } = this.#context;
    const inputs = {
      environment,
      registry,
      snapshot,
      opened: await openedVault(this.#context, snapshot),
      beginning: false,
      options: { ...DEFAULT_OPTIONS, targets: [this.#request.address] },
      version,
      commit: this.#request.stamp.commit,
      folder: this.#request.stamp.folder,
      createdAt: clock.now(),
      maxAge: 0,
    };
    const world = await collectWorld(this.#context, sessions, inputs);
    const assessment = assess({ ...inputs, world });
    if (hasErrors(assessment.diagnostics)) return { mistakes: assessment.diagnostics };
    const assessed = assessment.resources.get(this.#request.address);
    if (assessed === undefined) throw new Error(`${this.#request.address} was not assessed`);
    return assessed;
  }

  async #attempt(
    state: Acquired['session'],
    snapshot: Snapshot,
    runnable: Runnable,
    assessed: Assessed,
    session: Parameters<typeof walkRun>[0]['session'],
  ): Promise<RunResult> {
    const { row, onRequest } = runnable;
    const key = Buffer.from(snapshot.identity.fingerprintKey, 'hex');
    const desired: Attributes = assessed.evaluated?.normal ?? {};
    const sealed = encodedAttributes(desired, key);
    const { document, again, address } = this.#request;
    const fingerprint = fingerprintOf({ asked: document ?? null, of: sealed }, key);
    const earlier = await this.#earlier(fingerprint);
    const last = onRequest.effects.at(-1);
    const isRecorded = earlier?.steps.some(({ effect, status }) => effect === last?.name && status === 'done') === true;
    const stands = onRequest.takes === 'document' && row.computed[onRequest.asked] === fingerprint;
    if (!again && !isRecorded && stands) return this.#answered(row, onRequest.answer);
    const continued = isRecorded || again ? undefined : earlier;
    const runId = continued?.runId ?? this.#context.ids.id();
    const operation = await state.begin(
      {
        kind: 'run',
        planDigest: null,
        class: null,
        actor: this.#request.actor,
        reason: this.#request.reason,
        startedAt: new Date(this.#context.clock.now()).toISOString(),
      },
      snapshot.head,
    );
    this.#begun = true;
    this.emitter.belongTo(operation.id);
    if (isRecorded && !again) {
      // It had come to its end and into the record, and was killed before it could say so. That is said now, and with this operation it was.
      const told = this.#answered(row, onRequest.answer);
      await this.#end(state, snapshot, operation, told);
      return { ...told, serial: operation.serial };
    }
    this.emitter.emit({ type: 'run.started', address, serial: operation.serial, continues: continued?.operation.id ?? null });
    const settled = snapshot.unsettled
      .filter((step) => step.address === address)
      .map((step): Mutation => ({ kind: 'step', step: { ...step, status: 'settled' } }));
    const end = await walkRun({
      runnable,
      serial: operation.serial,
      runId,
      fingerprint,
      session,
      state,
      emitter: this.emitter,
      clock: this.#context.clock,
      stop: this.#request.stop,
      io: (signal, progress) => effectIo(this.#context, signal, progress),
      operation: (effect, step) => ({
        ...this.#operation(snapshot, runnable, assessed, { operation: operation.id, effect, key: step, sealed }),
        desired: reveal(desired) as Operation['desired'],
        request: { id: runId, fingerprint, ...(document === undefined ? {} : { document }) },
      }),
      conclude: (receipt) => [{ kind: 'row', row: withReceipt(row, receipt, assessed, key) }, ...settled],
    });
    if (end.kind === 'ended' || end.kind === 'wrong') await state.write(settled);
    const result = this.#concluded(end, runnable, assessed, continued === undefined ? 'new' : 'continued', key);
    await this.#end(state, snapshot, operation, result);
    return { ...result, serial: operation.serial };
  }

  #operation(
    snapshot: Snapshot,
    { row, type }: Runnable,
    assessed: Assessed,
    step: { readonly operation: string; readonly effect: Effect; readonly key: string; readonly sealed: Operation['sealed'] },
  ): Omit<Operation, 'desired' | 'request'> {
    return {
      operation: step.operation,
      key: step.key,
      effect: step.effect,
      change: { action: 'start', order: 'destroy-first', paths: [], deposed: false },
      address: row.address,
      type: type.type,
      mark: { environment: snapshot.identity.environment, lineage: snapshot.identity.lineage },
      id: row.id,
      ...(row.ref === null ? {} : { ref: row.ref }),
      sealed: step.sealed,
      computed: row.computed,
      context: assessed.context,
      timeouts: assessed.instance?.timeouts ?? {},
    };
  }

  /** Ends the operation with its evidence. */
  async #end(state: Acquired['session'], snapshot: Snapshot, operation: OperationRow, result: RunResult): Promise<void> {
    const { environment, version, clock } = this.#context;
    const { id, serial, kind, actor, reason, startedAt } = operation;
    const none = { digest: null, class: null, direction: null, sourceDigest: null, releaseDigest: null, commit: null };
    const plan = { ...none, providers: {}, guards: [] };
    const { lineage } = snapshot.identity;
    const subject = {
      operation: id,
      serial,
      kind,
      actor,
      reason,
      startedAt,
      environment: environment.name,
      lineage,
      engine: version,
      plan,
    };
    const evidence = this.#recorder.document(subject, result, new Date(clock.now()).toISOString());
    const errors = result.diagnostics.map(({ code, detail }) => ({ code, message: detail }));
    const summary = { address: result.address, exitCode: result.exitCode, errors };
    await state.end(serial, outcomeOf(result), summary, undefined, evidence);
  }

  /**
   * The latest run at the address, when it was for this very request and nobody was told its end: it was killed, or lost sight of its program.
   * One that was killed in between two steps left none open; an apply since then has seen to what it left.
   */
  async #earlier(fingerprint: string): Promise<Earlier | undefined> {
    const { address } = this.#request;
    const { store } = this.#context;
    let isApplied = false;
    for (const operation of await store.history()) {
      if (operation.kind !== 'run') {
        isApplied ||= (operation.kind === 'apply' || operation.kind === 'destroy') && operation.outcome === 'done';
        continue;
      }
      const steps = (await store.steps(operation.serial)).filter((step) => step.address === address);
      const [first] = steps;
      // One without steps told what another had done; with it that one's end is told.
      if (first === undefined && addressOf(operation) === address) return undefined;
      if (first === undefined) continue;
      const isKilled = operation.outcome === null || operation.outcome === 'abandoned';
      const isUntold = steps.some(({ status }) => status === 'intended' || status === 'unknown') || (isKilled && !isApplied);
      const isOwn = steps.every((step) => step.key === runKey(step.id, fingerprint, address, step.effect));
      return isUntold && isOwn ? { operation, runId: first.id, steps } : undefined;
    }
    return undefined;
  }

  /** What the record says of a completed run that stands for this one. */
  #answered(row: ResourceRow, answer: string): RunResult {
    return { ...this.#result('done', EXIT.done, []), run: 'earlier', programCode: EXIT.done, answer: row.computed[answer] ?? null };
  }

  #concluded(end: RunEnd, runnable: Runnable, assessed: Assessed, run: 'new' | 'continued', key: Buffer): RunResult {
    switch (end.kind) {
      case 'done': {
        const computed = encodedAttributes(maskedComputed(end.receipt, assessed), key);
        const answer = computed[runnable.onRequest.answer] ?? null;
        return { ...this.#result('done', EXIT.done, []), run, programCode: EXIT.done, answer };
      }
      case 'ended':
        return { ...this.#result('failed', end.code, [end.diagnostic]), run, programCode: end.code };
      case 'wrong':
        return { ...this.#result('failed', EXIT.error, [end.diagnostic]), run };
      case 'not-begun':
        return this.#result('failed', EXIT.notBegun, [end.diagnostic]);
      case 'lost':
        return { ...this.#result('failed', EXIT.open, [end.diagnostic]), run };
      case 'stopped':
        return { ...this.#result('interrupted', EXIT.interrupted, []), run: end.begun ? run : 'none' };
      default:
        return end satisfies never;
    }
  }

  #refused(diagnostic: Diagnostic): RunResult {
    return this.#result('refused', EXIT.refused, [diagnostic]);
  }

  #result(outcome: RunResult['outcome'], exitCode: number, diagnostics: readonly Diagnostic[]): RunResult {
    return {
      exitCode,
      outcome,
      address: this.#request.address,
      serial: null,
      run: 'none',
      programCode: null,
      answer: null,
      seconds: (this.#context.clock.monotonic() - this.#started) / 1000,
      diagnostics,
    };
  }
}

function maskedComputed(receipt: Receipt, { type, masks }: Assessed): Attributes {
  // The earlier answer is no pattern for this one.
  return maskedReceipt(receipt, type, { ...masks, recorded: undefined }).computed ?? {};
}

function withReceipt(row: ResourceRow, receipt: Receipt, assessed: Assessed, key: Buffer): ResourceRow {
  return { ...row, computed: { ...row.computed, ...encodedAttributes(maskedComputed(receipt, assessed), key) } };
}

function addressOf({ summary }: OperationRow): unknown {
  return typeof summary === 'object' && summary !== null && 'address' in summary ? summary['address'] : undefined;
}

function outcomeOf(result: RunResult): OperationOutcome {
  return result.outcome === 'done' || result.outcome === 'interrupted' ? result.outcome : 'failed';
}

function noState(environment: string): Diagnostic {
  const detail = `Nothing was ever applied to ${environment}, so nothing can be run.`;
  return { severity: 'error', code: 'NO_STATE', summary: 'There is no state yet', detail, next: 'accede apply' };
}

function busy(holder: {
  readonly who: string;
  readonly host: string;
  readonly since: string;
  readonly purpose: string;
  readonly pid: number;
}): Diagnostic {
  return {
    severity: 'error',
    code: 'LOCK_BUSY',
    summary: 'Somebody else is working on this environment',
    detail: `${holder.who} holds it since ${holder.since} for ${holder.purpose} (pid ${holder.pid} on ${holder.host}). Nothing was run.`,
    next: 'accede status',
  };
}
