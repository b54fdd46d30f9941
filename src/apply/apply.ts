import { compareText } from '../core/address.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { Plain } from '../core/value.ts';
import type { PlanDocument } from '../plan/model.ts';
import type { PreparedPlan } from '../plan/prepared.ts';
import { goesBack } from '../plan/succession/direction.ts';
import type { Admission } from '../policy/admit.ts';
import { sourceOf, storedSource } from '../policy/hold.ts';
import type { Session } from '../providers/contract.ts';
import { type Acquired, BackendError } from '../state/contract.ts';
import type { OperationOutcome, OperationRow, Sealed, Snapshot } from '../state/model.ts';
import { admissionRecord, admitPlan } from './admission.ts';
import { asPlanned } from './as-planned.ts';
import { Emitter } from './emitter.ts';
import type { ApplyRequest, EngineContext } from './engine.ts';
import { EnvironmentPart } from './environment-part.ts';
import type { AccedeEvent, ApplyResult } from './events.ts';
import { EvidenceRecorder, evidenceSubject } from './evidence.ts';
import { Executor, type Tally } from './executor.ts';
import { Exposures } from './exposures.ts';
import { factsThatMoved } from './facts-hold.ts';
import { diagnoseBackend } from './failure.ts';
import { holdFailed, holdsAfter } from './holding.ts';
import { freshIdentity } from './identity.ts';
import { residueOf, settledSteps } from './leftovers.ts';
import { acquireLock } from './locking.ts';
import { renameDependencies } from './moves.ts';
import { planSnapshot } from './prepare.ts';
import { takeBackOpen } from './recover.ts';
import { bundleToKeep, finalOutputs, isWhole, keeping, sealOf } from './seal.ts';
import { secondPart } from './second-part.ts';
import { effectIo, openSession, type Sessions, writeSessions } from './sessions.ts';
import { staleDiagnostic } from './stale.ts';
import { spentAway, type TurnedAway, turnedAway } from './turned-away.ts';
import { beginEncryption } from './vaults.ts';
import { type Attempt, takeBack } from './way-back.ts';

/** Exit codes of a run; the whole table is in the command contract. */
const EXIT = { done: 0, error: 1, refused: 3, stale: 4, asBefore: 5, open: 6, busy: 75, interrupted: 130 } as const;

/** Carries out a plan under the lock. What goes wrong stands in the result, never in an exception. */
export async function applyPlan(context: EngineContext, request: ApplyRequest): Promise<ApplyResult> {
  const run = new ApplyRun(context, request);
  const result = await run.run();
  run.emitter.emit({ type: result.exitCode === EXIT.done ? 'operation.done' : 'operation.failed', result });
  return result;
}

type Summary = { readonly [name: string]: Plain };

/** How a run came to its end. Without `ending` its operation stays open: the next plan goes on from it. */
interface Ended {
  readonly result: ApplyResult;
  readonly ending?: { readonly outcome: OperationOutcome; readonly summary: Summary; readonly sealed?: Sealed | null | undefined };
  /** Whether the store was lost. */
  readonly isLost?: boolean;
}

class ApplyRun {
  readonly emitter: Emitter;
  readonly #context: EngineContext;
  readonly #request: ApplyRequest;
  readonly #plan: PlanDocument;
  readonly #started: number;
  readonly #recorder: EvidenceRecorder;
  #begun = false;

  constructor(context: EngineContext, request: ApplyRequest) {
    this.#context = context;
    this.#request = request;
    this.#plan = request.plan;
    this.#recorder = new EvidenceRecorder(request.plan);
    this.#started = context.clock.monotonic();
    this.emitter = new Emitter(context.clock, (event) => {
      this.#recorder.receive(event);
      request.emit(event);
    });
  }

  async run(): Promise<ApplyResult> {
    try {
      const away = await turnedAway(this.#context, this.#request);
      return away === undefined ? await this.#withLock() : this.#turnedAway(away);
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      // Once the operation has begun, effects may have been done whose record could not be written.
      return this.#result('failed', this.#begun ? EXIT.open : EXIT.error, [diagnoseBackend(error)]);
    }
  }

  #turnedAway({ outcome, exitCode, diagnostics, serial }: TurnedAway): ApplyResult {
    return { ...this.#result(outcome, exitCode, diagnostics), serial };
  }

  async #withLock(): Promise<ApplyResult> {
    const { store, clock, ids, environment } = this.#context;
    const { stop, lockTimeout, actor } = this.#request;
    // A state begins only where the plan saw none: one that was moved away meanwhile is not replaced by an empty one.
    const { lineage, begins } = this.#plan.state;
    const create = lineage === null ? { create: { identity: freshIdentity(environment.name, clock, ids, begins) } } : {};
    const answer = await acquireLock(
      store,
      { who: actor, purpose: 'apply', ...create },
      { timeout: lockTimeout, clock, stop, emitter: this.emitter },
    );
    if (answer.kind === 'busy') {
      if (stop.aborted) return this.#result('interrupted', EXIT.interrupted, []);
      const { holder } = answer;
      const detail = `${holder.who} holds it since ${holder.since} for ${holder.purpose} (pid ${holder.pid} on ${holder.host}). Nothing was changed.`;
      return this.#result('busy', EXIT.busy, [
        { ...diagnostic('LOCK_BUSY', 'Somebody else is working on this environment', detail), next: 'accede status' },
      ]);
    }
    this.emitter.emit({
      type: 'lock.acquired',
      lock: answer.lock.lockId,
      fence: answer.lock.fence,
      tookOver: answer.tookOver?.who ?? null,
    });
    try {
      return await this.#locked(answer);
    } finally {
      await answer.session.release();
    }
  }

  async #locked({ session }: Acquired): Promise<ApplyResult> {
    const { stamp } = this.#request;
    const actual = await session.read();
    const snapshot = await asPlanned(this.#context.store, this.#plan, { ...actual, lock: null });
    // Somebody may have spent the plan while we waited for the lock.
    const spent = await this.#context.store.spentBy(this.#plan.digest);
    if (spent !== undefined) return this.#turnedAway(spentAway(spent, this.#request));
    const sessions = writeSessions(this.#context, (alias) => residueOf(snapshot, alias));
    try {
      // A state that was made a moment ago for this very apply is still no state to the plan.
      const { lineage, begins } = this.#plan.state;
      const isNew = lineage === null && snapshot.head.serial === 0 && (begins === null || begins === snapshot.identity.lineage);
      const planned = isNew ? undefined : snapshot;
      const outcome = await planSnapshot(this.#context, sessions, planned, this.#plan.inputs.options, stamp);
      if (!outcome.ok) return this.#result('failed', EXIT.error, outcome.diagnostics);
      const stale = staleDiagnostic(this.#plan, outcome.value.document);
      for (const guard of outcome.value.document.succession.guards) {
        const planned = this.#plan.succession.guards.find((other) => other.name === guard.name);
        this.emitter.emit({ type: 'guard.checked', name: guard.name, ok: planned?.expected === guard.expected });
      }
      if (stale !== undefined) return this.#result('stale', EXIT.stale, [stale]);
      if (this.#request.stop.aborted) return this.#result('interrupted', EXIT.interrupted, []);
      const admission = await admitPlan(this.#context, actual, this.#request);
      if (admission.refusals.length > 0) return this.#refused(admission);
      const { backsOut } = this.#plan.succession;
      if (backsOut !== null) return await this.#afterBackOut(session, { sessions, admission });
      return await this.#execute(session, actual, outcome.value, { sessions, planned, admission });
    } finally {
      await sessions.close();
    }
  }

  /** Takes the open operation back, and then does what comes after that: exactly what was planned, or nothing more. */
  async #afterBackOut(
    session: Acquired['session'],
    { sessions, admission }: { readonly sessions: Sessions<Session>; readonly admission: Admission },
  ): Promise<ApplyResult> {
    const { actor, lockTimeout, stop, stamp } = this.#request;
    this.#begun = true;
    const emit = (event: AccedeEvent) => this.#request.emit(this.emitter.renumbered(event));
    const back = await takeBackOpen(this.#context, { actor, lockTimeout, stop, emit }, session);
    if (back.exitCode !== EXIT.done) return { ...this.#result(back.outcome, back.exitCode, back.diagnostics), serial: back.serial };
    const fresh = { ...(await session.read()), lock: null };
    const outcome = await planSnapshot(this.#context, sessions, fresh, this.#plan.inputs.options, stamp);
    if (!outcome.ok) return { ...this.#result('compensated', EXIT.asBefore, outcome.diagnostics), serial: back.serial };
    const second = secondPart(this.#plan, outcome.value);
    if (!second.ok) return { ...this.#result('compensated', EXIT.asBefore, [second.diagnostic]), serial: back.serial };
    if (stop.aborted) return { ...this.#result('interrupted', EXIT.interrupted, []), serial: back.serial };
    // What was in force is in force again; there is nothing to put in its place.
    if (this.#plan.succession.class === 'revert' && second.prepared.document.steps.length === 0)
      return { ...this.#result('done', EXIT.done, back.diagnostics), serial: back.serial };
    return await this.#execute(session, fresh, second.prepared, { sessions, planned: fresh, admission });
  }

  async #execute(
    session: Acquired['session'],
    snapshot: Snapshot,
    prepared: PreparedPlan,
    {
      sessions,
      planned,
      admission,
    }: { readonly sessions: Sessions<Session>; readonly planned: Snapshot | undefined; readonly admission: Admission },
  ): Promise<ApplyResult> {
    const { clock, ids, environment, parallelism } = this.#context;
    const { document } = prepared;
    const { rollbackTo } = this.#request;
    const record = admissionRecord(admission);
    const known = {
      ...(rollbackTo === undefined ? {} : { to: rollbackTo }),
      of: storedSource(sourceOf(document)),
      ...record,
      source: environment.sourceDigest,
    };
    const begun = await beginEncryption(this.#context, snapshot.identity);
    const operation = await session.begin(
      {
        kind: rollbackTo !== undefined ? 'rollback' : document.inputs.options.destroy ? 'destroy' : 'apply',
        planDigest: document.digest,
        class: document.succession.class,
        actor: this.#request.actor,
        reason: this.#request.reason,
        startedAt: this.#now(),
        summary: known,
      },
      snapshot.head,
    );
    this.#begun = true;
    this.emitter.belongTo(operation.id);
    const { serial } = operation;
    if (begun !== undefined) await session.write([{ kind: 'encryption', encryption: begun.encryption }]);
    this.emitter.emit({
      type: 'operation.started',
      plan: document.digest,
      class: document.succession.class,
      steps: document.steps.length,
      serial,
    });
    const exposures = new Exposures(prepared.lookup);
    const key = Buffer.from(snapshot.identity.fingerprintKey, 'hex');
    const part = new EnvironmentPart(this.#context, operation, prepared.environmentWork, sessions);
    const executor = new Executor({
      prepared,
      environment: part.stepRun,
      recheck: (begun) => factsThatMoved(this.#context, sessions, { plan: document, snapshot: planned, stamp: this.#request.stamp, begun }),
      state: session,
      emitter: this.emitter,
      clock,
      parallelism,
      stop: this.#request.stop,
      goesBack: goesBack(document.succession),
      io: (signal, progress) => effectIo(this.#context, signal, progress),
      run: {
        environmentName: environment.name,
        environmentFolder: environment.folder,
        lineage: snapshot.identity.lineage,
        operation: operation.id,
        serial,
        key,
        vault: prepared.vault ?? begun?.vault,
        conceal: (secrets) => this.#context.conceal?.(secrets),
        planKey: document.state.lineage === null ? undefined : key,
        exposures,
        fingerprints: document.fingerprints,
        newId: () => ids.id(),
        session: (alias) => openSession(sessions, alias),
      },
    });
    const tally = await executor.execute();
    const ended =
      tally.touched && tally.wayBack !== undefined
        ? await this.#goBack(session, snapshot, operation, tally, tally.wayBack)
        : await this.#settle(session, snapshot, operation, prepared, tally, exposures);
    const { ending, isLost = false } = ended;
    const result = await part.close(ended.result, { serial, state: isLost ? undefined : session });
    const evidence = this.#recorder.document(evidenceSubject(this.#context, operation, snapshot, document, record), result, this.#now());
    if (ending !== undefined) await session.end(serial, ending.outcome, { ...known, ...ending.summary }, ending.sealed, evidence);
    // Nothing more can be written into a store that is lost.
    else if (!isLost) await session.write([{ kind: 'evidence', body: evidence }]);
    return { ...result, serial };
  }

  /** The end of a run that goes forward or was broken off. */
  async #settle(
    session: Acquired['session'],
    snapshot: Snapshot,
    operation: OperationRow,
    prepared: PreparedPlan,
    tally: Tally,
    exposures: Exposures,
  ): Promise<Ended> {
    const { document } = prepared;
    const key = Buffer.from(snapshot.identity.fingerprintKey, 'hex');
    if (tally.lost === undefined && document.changes.some((change) => change.movedFrom !== null)) {
      await session.write(renameDependencies((await session.read()).resources, document));
    }
    const counts = { done: tally.done.length, notDone: tally.notDone.length, unknown: tally.unknown.length };
    const summary: Summary = {
      ...counts,
      untouched: !tally.touched && tally.lost === undefined,
      // What a part leaves is not left on purpose.
      part: !isWhole(document) || document.inputs.options.keepProtected,
      errors: tally.diagnostics.map(({ code, detail }) => ({ code, message: detail })),
    };
    const steps = { done: tally.done, notDone: tally.notDone, unknown: tally.unknown };
    if (tally.lost !== undefined)
      return { result: { ...this.#result('failed', EXIT.open, [...tally.diagnostics, diagnoseBackend(tally.lost)]), steps }, isLost: true };
    if (tally.diagnostics.length === 0 && tally.notDone.length === 0 && tally.unknown.length === 0) {
      const outputs = finalOutputs(this.#context.environment, document, exposures, { recorded: snapshot.outputs, key });
      if (!outputs.ok) return { result: { ...this.#result('failed', EXIT.open, outputs.diagnostics), steps } };
      const { environment, store } = this.#context;
      const bundle = bundleToKeep(environment, document);
      const kept = keeping(bundle, await store.sourceDigests());
      const held = await holdsAfter(this.#context, snapshot, this.#plan, operation);
      await session.write([{ kind: 'outputs', outputs: outputs.value }, ...settledSteps(snapshot, document), ...kept, ...held]);
      const sealed = sealOf(environment, document, { serial: operation.serial, key, bundle });
      const shown = Object.fromEntries(outputs.value.map((output) => [output.name, output.value]));
      const notes = tally.notes.toSorted((a, b) => compareText(a.address ?? '', b.address ?? ''));
      return {
        result: { ...this.#result('done', EXIT.done, notes), steps, outputs: shown },
        ending: { outcome: 'done', summary, sealed },
      };
    }
    if (tally.interrupted && tally.diagnostics.length === 0) {
      const result = { ...this.#result('interrupted', EXIT.interrupted, []), steps };
      // What was begun stays open, so that it can be gone on with or taken back.
      return tally.touched ? { result } : { result, ending: { outcome: 'interrupted', summary } };
    }
    if (!tally.touched) {
      const [outcome, code] = tally.onlyMoved ? (['stale', EXIT.stale] as const) : (['failed', EXIT.asBefore] as const);
      return { result: { ...this.#result(outcome, code, tally.diagnostics), steps }, ending: { outcome: 'failed', summary } };
    }
    return { result: { ...this.#result('failed', tally.interrupted ? EXIT.interrupted : EXIT.open, tally.diagnostics), steps } };
  }

  /** Takes back what was begun. When all of it is, the operation has ended and everything is as before; else it stays open. */
  async #goBack(
    session: Acquired['session'],
    snapshot: Snapshot,
    operation: OperationRow,
    tally: Tally,
    attempts: ReadonlyMap<string, Attempt>,
  ): Promise<Ended> {
    const { clock, parallelism } = this.#context;
    this.emitter.emit({ type: 'compensation.started', steps: attempts.size });
    const back = await takeBack({
      attempts,
      before: snapshot.resources,
      state: session,
      emitter: this.emitter,
      clock,
      parallelism,
      io: (signal, progress) => effectIo(this.#context, signal, progress),
    });
    const stays = new Set([...back.stayed, ...back.stuck]);
    const done = tally.done.filter((step) => stays.has(step));
    const unknown = tally.unknown.filter((step) => stays.has(step));
    const notDone = this.#plan.steps.map((step) => step.id).filter((step) => !done.includes(step) && !unknown.includes(step));
    const steps = { done, notDone, unknown };
    const diagnostics = [...tally.diagnostics, ...back.diagnostics, ...(back.lost === undefined ? [] : [diagnoseBackend(back.lost)])];
    if (diagnostics.length > tally.diagnostics.length) {
      return { result: { ...this.#result('failed', EXIT.open, diagnostics), steps }, isLost: back.lost !== undefined };
    }
    const summary: Summary = {
      done: done.length,
      notDone: notDone.length,
      unknown: unknown.length,
      takenBack: back.taken.length,
      errors: diagnostics.map(({ code, detail }) => ({ code, message: detail })),
    };
    // Advice on an object that is gone again leads nowhere.
    const told = diagnostics.map(({ next, ...rest }) => (rest.code === 'NOT_READY' || next === undefined ? rest : { ...rest, next }));
    const notes = await holdFailed(session, this.#plan, operation, tally, this.#context.clock.now());
    return {
      result: { ...this.#result('compensated', EXIT.asBefore, [...told, ...notes]), steps },
      ending: { outcome: 'compensated', summary },
    };
  }

  #refused({ refusals, notes }: Admission): ApplyResult {
    return this.#result('refused', EXIT.refused, [...refusals, ...notes]);
  }

  #now(): string {
    return new Date(this.#context.clock.now()).toISOString();
  }

  #result(outcome: ApplyResult['outcome'], exitCode: number, diagnostics: readonly Diagnostic[]): ApplyResult {
    return {
      exitCode,
      outcome,
      plan: this.#plan.digest,
      class: this.#plan.succession.class,
      serial: null,
      steps: { done: [], notDone: this.#plan.steps.map((step) => step.id), unknown: [] },
      seconds: (this.#context.clock.monotonic() - this.#started) / 1000,
      outputs: {},
      diagnostics,
    };
  }
}

function diagnostic(code: string, summary: string, detail: string): Diagnostic {
  return { severity: 'error', code, summary, detail };
}
