import { ENVIRONMENT, type ResourceAddress } from '../core/address.ts';
import type { Clock } from '../core/clock.ts';
import { sharedAbort, withDeadline } from '../core/deadline.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { PlannedStep } from '../plan/model.ts';
import type { PreparedPlan } from '../plan/prepared.ts';
import { isBeforeEffects, isFinal } from '../plan/stages.ts';
import { type Effect, type EffectIo, ProviderError } from '../providers/contract.ts';
import { BackendError, type Mutation, type WriteSession } from '../state/contract.ts';
import type { StepRow } from '../state/model.ts';
import type { Emitter } from './emitter.ts';
import { diagnoseProvider } from './failure.ts';
import { relativeFolder } from './record.ts';
import { type Intent, type RunContext, StepRefused } from './run-context.ts';
import { StageEvents } from './stage-events.ts';
import { changeStepRun, type StepRun } from './step-run.ts';
import type { Attempt } from './way-back.ts';

/** What no document limits ends some day all the same. */
const LONGEST_STEP = 24 * 3600 * 1000;

export interface ExecutorOptions {
  readonly prepared: PreparedPlan;
  readonly run: RunContext;
  /** What the environment itself does, beside its resources. */
  readonly environment: StepRun;
  readonly state: WriteSession;
  readonly emitter: Emitter;
  readonly clock: Clock;
  readonly parallelism: number;
  /** Aborted when the run is to stop: nothing new begins, what only waits is broken off, effects under way are finished. */
  readonly stop: AbortSignal;
  /** Whether a failure before the first `forward` step ends the run at once, so that what was done can be taken back. */
  readonly goesBack: boolean;
  /** Looks again, right before the first step of a way back that cannot be taken back, whether the plan's facts hold. `begun`: what the run touched itself. */
  recheck(begun: ReadonlySet<ResourceAddress>): Promise<Diagnostic | undefined>;
  io(signal: AbortSignal, progress: EffectIo['progress']): EffectIo;
}

/** What became of every step of the plan. */
export interface Tally {
  readonly done: readonly string[];
  readonly notDone: readonly string[];
  readonly unknown: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  /** What the operator should know of what was made. */
  readonly notes: readonly Diagnostic[];
  /** Whether all that stopped the run were objects that are not the planned ones, with nothing done yet. */
  readonly onlyMoved: boolean;
  readonly interrupted: boolean;
  /** What the state store threw in the middle: nothing more could be recorded. */
  readonly lost: BackendError | undefined;
  /** Whether any effect after preflight was begun. */
  readonly touched: boolean;
  /** Every step that was begun, when the run ended so that all of them may be taken back; undefined when there is no way back. */
  readonly wayBack: ReadonlyMap<string, Attempt> | undefined;
}

/**
 * Walks the steps of a plan: a step begins when all that it waits for is done, side by side up to the limit. It judges nothing; what is to be
 * done, in which order and why, the plan has settled.
 */
export class Executor {
  readonly #options: ExecutorOptions;
  readonly #steps: ReadonlyMap<string, PlannedStep>;
  readonly #waiting = new Map<string, number>();
  readonly #next = new Map<string, string[]>();
  readonly #free: string[] = [];
  /** Steps that could begin but for their phase. */
  readonly #parked: string[] = [];
  /** How many steps of each phase are not done. */
  readonly #left: number[] = [];
  #phase = 0;
  readonly #runs = new Map<ResourceAddress, StepRun>();
  readonly #done: string[] = [];
  readonly #unknown: string[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  readonly #notes: Diagnostic[] = [];
  readonly #failed = new Set<string>();
  /** Steps that could not begin. */
  readonly #refusedSteps = new Set<string>();
  readonly #stages: StageEvents;
  /** Effects that touch the world are finished whatever happens. */
  readonly #never = sharedAbort().signal;
  /** Aborted at the first failure of a run that goes back: what only waits is broken off, and nothing new begins. */
  readonly #halt = sharedAbort();
  readonly #attempts = new Map<string, Attempt>();
  #crossed = false;
  #facts: Promise<Diagnostic | undefined> | undefined;
  #spent = false;
  #movedOnly = true;
  #interrupted = false;
  #broken = false;
  #active = 0;
  #wake: (() => void)[] = [];

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.#steps = new Map(options.prepared.document.steps.map((step) => [step.id, step]));
    this.#stages = new StageEvents(this.#steps.values(), options.emitter);
    for (const step of this.#steps.values()) {
      this.#waiting.set(step.id, step.after.length);
      for (const before of step.after) {
        const list = this.#next.get(before);
        if (list === undefined) this.#next.set(before, [step.id]);
        else list.push(step.id);
      }
      this.#left[step.phase] = (this.#left[step.phase] ?? 0) + 1;
      if (step.after.length === 0) this.#offer(step.id);
    }
    this.#openPhases();
    options.stop.addEventListener('abort', () => this.#halt.abort(), { once: true });
    if (options.stop.aborted) this.#halt.abort();
    for (const [address, change] of options.prepared.work) this.#runs.set(address, changeStepRun(change, options.run));
    this.#runs.set(ENVIRONMENT, options.environment);
  }

  /** Runs until nothing more can run. Throws only what is a bug; everything else is in the tally. */
  async execute(): Promise<Tally> {
    const workers = Array.from({ length: this.#options.parallelism }, () => this.#work());
    // A lost store or a bug ends the run, but only when the effects under way have come to their end: the lock is not given back before.
    let lost: BackendError | undefined;
    for (const ended of await Promise.allSettled(workers)) {
      if (ended.status !== 'rejected') continue;
      if (!(ended.reason instanceof BackendError)) throw ended.reason;
      lost = ended.reason;
    }
    const ran = [...this.#done, ...this.#unknown, ...this.#failed];
    const touched = ran.some((id) => this.#touches(id));
    const ended = new Set([...this.#done, ...this.#unknown]);
    const notDone = [...this.#steps.keys()].filter((id) => !ended.has(id));
    this.#announceSkipped(notDone);
    return {
      done: [...this.#done].sort(),
      notDone: notDone.sort(),
      unknown: [...this.#unknown].sort(),
      diagnostics: this.#diagnostics,
      notes: this.#notes,
      onlyMoved: this.#movedOnly && this.#diagnostics.length > 0 && !touched,
      interrupted: this.#interrupted,
      lost,
      touched,
      wayBack: this.#hasWayBack(lost) ? this.#attempts : undefined,
    };
  }

  /** Whether a step that was begun may have left anything. What the environment itself does leaves nothing when it fails. */
  #touches(id: string): boolean {
    const step = this.#steps.get(id);
    if (step === undefined || isBeforeEffects(step.stage)) return false;
    return step.address !== ENVIRONMENT || !this.#failed.has(id);
  }

  #hasWayBack(lost: BackendError | undefined): boolean {
    const isStopped = this.#options.stop.aborted || lost !== undefined;
    return this.#options.goesBack && !this.#crossed && !isStopped && this.#diagnostics.length > 0;
  }

  /** What failed ends a run that goes back, before anything that cannot be taken back begins. */
  #haltAtFailure(): void {
    if (this.#options.goesBack && !this.#crossed) this.#halt.abort();
  }

  async #work(): Promise<void> {
    for (;;) {
      const id = this.#halt.signal.aborted || this.#broken ? undefined : this.#free.shift();
      if (id === undefined) {
        if (this.#active === 0) break;
        await new Promise<void>((resolve) => this.#wake.push(resolve));
        continue;
      }
      this.#active += 1;
      try {
        if (await this.#step(id)) this.#release(id);
      } catch (error) {
        this.#broken = true;
        throw error;
      } finally {
        this.#active -= 1;
        this.#wakeAll();
      }
    }
    this.#wakeAll();
    if (this.#options.stop.aborted && this.#free.length + this.#parked.length > 0) this.#interrupted = true;
  }

  #wakeAll(): void {
    const sleeping = this.#wake;
    this.#wake = [];
    for (const wake of sleeping) wake();
  }

  /** What is free but belongs to a later phase waits until that begins. */
  #offer(id: string): void {
    const phase = this.#steps.get(id)?.phase ?? 0;
    if (phase <= this.#phase) this.#free.push(id);
    else this.#parked.push(id);
  }

  #openPhases(): void {
    const last = this.#left.length - 1;
    while (this.#phase < last && (this.#left[this.#phase] ?? 0) === 0) this.#phase += 1;
    const parked = this.#parked.splice(0);
    for (const id of parked) this.#offer(id);
  }

  #release(id: string): void {
    for (const next of this.#next.get(id) ?? []) {
      const left = (this.#waiting.get(next) ?? 1) - 1;
      this.#waiting.set(next, left);
      if (left === 0) this.#offer(next);
    }
    const phase = this.#steps.get(id)?.phase ?? 0;
    this.#left[phase] = (this.#left[phase] ?? 1) - 1;
    this.#openPhases();
  }

  async #step(id: string): Promise<boolean> {
    const step = this.#steps.get(id);
    const run = step === undefined ? undefined : this.#runs.get(step.address);
    const effect = run?.effects.find((candidate) => candidate.name === step?.effect);
    if (step === undefined || run === undefined || effect === undefined) throw new Error(`the plan's step ${id} has no effect`);
    this.#stages.enter(step.stage);
    const outer = effect.waits === true ? this.#halt.signal : this.#never;
    try {
      const limit = limitOf(run.timeouts, effect);
      return await withDeadline(outer, limit, ({ signal }) => this.#walk(step, run, effect, this.#io(step, signal)));
    } finally {
      this.#stages.leave(step.stage);
    }
  }

  /** One step: prove, journal, do, look, journal. True when it is done. */
  async #walk(step: PlannedStep, stepRun: StepRun, effect: Effect, io: EffectIo): Promise<boolean> {
    const { clock, emitter, state } = this.#options;
    const { id, address } = step;
    const { run } = stepRun;
    const started = clock.monotonic();
    const seconds = () => (clock.monotonic() - started) / 1000;
    let intent: Intent;
    try {
      await this.#requireFacts(step);
      intent = await run.prepare(effect, io);
    } catch (error) {
      this.#refused(step, seconds(), error);
      return false;
    }
    const startedAt = new Date(clock.now()).toISOString();
    const row = (status: StepRow['status'], error: StepRow['error']): StepRow => ({
      serial: this.#options.run.serial,
      step: id,
      address,
      type: stepRun.type,
      provider: stepRun.provider,
      effect: effect.name,
      object: effect.object,
      action: stepRun.action,
      part: effect.part,
      stage: step.stage,
      direction: effect.direction,
      after: step.after,
      key: intent.key,
      status,
      id: intent.id,
      ref: this.#attempts.get(id)?.ref ?? intent.ref,
      identity: intent.identity,
      desired: intent.desired,
      preimage: intent.preimage,
      folder: relativeFolder(this.#options.run.environmentFolder, stepRun.folder),
      startedAt,
      endedAt: status === 'intended' ? null : new Date(clock.now()).toISOString(),
      error,
    });
    emitter.emit({ type: 'step.intended', step: id, address, effect: effect.name, stage: step.stage });
    // Nothing that cannot be taken back begins once something has failed.
    if (this.#halt.signal.aborted) {
      this.#interrupted ||= this.#options.stop.aborted;
      this.#refusedSteps.add(id);
      return false;
    }
    if (effect.direction === 'forward' || isFinal(step.stage)) this.#crossed = true;
    await state.write([{ kind: 'step', step: row('intended', null) }, ...this.#spend(step)]);
    const attempt: Attempt = { step, effect, run, intent, row, ref: intent.ref, told: true };
    this.#attempts.set(id, attempt);
    try {
      const receipt = await run.perform(effect, intent, io);
      this.#attempts.set(id, { ...attempt, ref: receipt.ref ?? intent.ref });
      const settled = await run.settle(effect, intent, receipt, io);
      const { failure } = settled;
      const status = failure === undefined ? 'done' : 'failed';
      const error = failure === undefined ? null : { code: failure.code, message: failure.detail };
      await state.write([...settled.mutations, { kind: 'step', step: row(status, error) }]);
      if (failure !== undefined) return this.#fail(step, seconds(), failure, []);
      this.#done.push(id);
      this.#notes.push(...settled.notes);
      emitter.emit({ type: 'step.done', step: id, address, effect: effect.name, seconds: seconds(), figures: settled.figures });
      return true;
    } catch (error) {
      // A wait that was broken off may end with the reason of the signal alone.
      const isBrokenOff = effect.waits === true && this.#halt.signal.aborted;
      if (!(error instanceof ProviderError) && !isBrokenOff) throw error;
      const failure = error instanceof ProviderError ? error : new ProviderError('OTHER', 'The wait was broken off.');
      return this.#providerFailed(step, effect, seconds(), failure, row);
    }
  }

  async #providerFailed(
    step: PlannedStep,
    effect: Effect,
    seconds: number,
    error: ProviderError,
    row: (status: StepRow['status'], error: StepRow['error']) => StepRow,
  ): Promise<boolean> {
    const diagnostic = diagnoseProvider(error, step.address, step.effect);
    const unknown = error.code === 'UNKNOWN_OUTCOME' || (error.code === 'TIMEOUT' && effect.object !== 'keep');
    await this.#options.state.write([
      { kind: 'step', step: row(unknown ? 'unknown' : 'failed', { code: error.code, message: error.message }) },
    ]);
    // What only waits was broken off because the run is to stop: that is no failure of the object.
    if (this.#halt.signal.aborted && effect.waits === true) {
      this.#interrupted = this.#options.stop.aborted;
      this.#movedOnly = false;
      this.#failed.add(step.id);
      return false;
    }
    if (!unknown) return this.#fail(step, seconds, diagnostic, error.lines);
    this.#unknown.push(step.id);
    const attempt = this.#attempts.get(step.id);
    if (attempt !== undefined) this.#attempts.set(step.id, { ...attempt, told: false });
    this.#movedOnly = false;
    this.#diagnostics.push(diagnostic);
    this.#haltAtFailure();
    this.#options.emitter.emit({ type: 'step.unknown', step: step.id, address: step.address, effect: step.effect, diagnostic });
    return false;
  }

  #fail(step: PlannedStep, seconds: number, diagnostic: Diagnostic, lines: readonly string[]): boolean {
    this.#failed.add(step.id);
    this.#movedOnly = false;
    this.#diagnostics.push(diagnostic);
    this.#haltAtFailure();
    const { id, address, effect } = step;
    this.#options.emitter.emit({ type: 'step.failed', step: id, address, effect, seconds, diagnostic, lines });
    return false;
  }

  /** Nothing was done: the step stays not done. */
  #refused(step: PlannedStep, seconds: number, error: unknown): void {
    const known = error instanceof StepRefused || error instanceof ProviderError;
    if (!known) throw error;
    const diagnostic = error instanceof StepRefused ? error.diagnostic : diagnoseProvider(error, step.address, step.effect);
    if (!(error instanceof StepRefused && error.moved)) this.#movedOnly = false;
    this.#diagnostics.push(diagnostic);
    this.#haltAtFailure();
    this.#refusedSteps.add(step.id);
    const { id, address, effect } = step;
    this.#options.emitter.emit({ type: 'step.failed', step: id, address, effect, seconds, diagnostic, lines: [] });
  }

  /** The plan is spent with the intent of its first effect after preflight, in the same transaction. */
  #spend(step: PlannedStep): readonly Mutation[] {
    if (this.#spent || isBeforeEffects(step.stage)) return [];
    this.#spent = true;
    return [{ kind: 'spend', planDigest: this.#options.prepared.document.digest, serial: this.#options.run.serial }];
  }

  /** Before the point of no return the facts that the plan rests on are looked at once more; the first step there looks for all of them. */
  async #requireFacts(step: PlannedStep): Promise<void> {
    if (!this.#options.goesBack || this.#crossed || step.direction !== 'forward' || step.stage === 'retire') return;
    this.#facts ??= this.#options.recheck(new Set([...this.#attempts.values()].map((attempt) => attempt.step.address)));
    const moved = await this.#facts;
    if (moved !== undefined) throw new StepRefused(moved, { moved: true });
  }

  #io(step: PlannedStep, signal: AbortSignal): EffectIo {
    return this.#options.io(signal, (message, figures = {}) => {
      this.#options.emitter.emit({ type: 'step.progress', step: step.id, address: step.address, message, figures });
    });
  }

  #announceSkipped(notDone: readonly string[]): void {
    const done = new Set(this.#done);
    for (const id of notDone) {
      const step = this.#steps.get(id);
      if (step === undefined || this.#failed.has(id) || this.#refusedSteps.has(id)) continue;
      const because = step.after.find((before) => !done.has(before)) ?? 'the run stopped';
      this.#options.emitter.emit({ type: 'step.skipped', step: id, address: step.address, effect: step.effect, because });
    }
  }
}

/** What ends a step early: for everything the time that the documents give it. */
function limitOf(timeouts: StepRun['timeouts'], effect: Effect): number {
  const limit = effect.part !== 'apply' ? timeouts.remove : effect.object === 'keep' ? undefined : (timeouts.create ?? timeouts.replace);
  // Time that the documents give is no part of what an effect may take.
  return effect.lasts !== undefined ? effect.lasts + LONGEST_STEP : (limit ?? LONGEST_STEP);
}
