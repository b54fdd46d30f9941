import pLimit from 'p-limit';
import type { ResourceAddress } from '../core/address.ts';
import type { Clock } from '../core/clock.ts';
import { sharedAbort, withDeadline } from '../core/deadline.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { PlannedStep } from '../plan/model.ts';
import { type Effect, type EffectIo, ProviderError } from '../providers/contract.ts';
import { BackendError, type Mutation, type WriteSession } from '../state/contract.ts';
import type { ResourceRow, StepRow } from '../state/model.ts';
import type { Emitter } from './emitter.ts';
import { diagnoseProvider } from './failure.ts';
import { type Intent, StepRefused } from './run-context.ts';
import { letPass } from './waiting.ts';

/** The longest that taking back one step may last; starting a predecessor again includes its own readiness. */
const LONGEST_UNDO = 15 * 60_000;

/** Milliseconds between tries at a target that does not answer: half a minute in all. */
const FIRST_PAUSE = 500;
const LAST_PAUSE = 16_000;

/** A change that can be taken back: one of the present run, or one that the journal tells of. */
export interface Reversible {
  /** The address that it had before the run, where that is another one. */
  readonly movedFrom: ResourceAddress | null;
  /** It has no record: what it does belongs to no resource. */
  readonly recordless?: boolean;
  /** Takes an effect back, done or not. `ref` is the live id that it left, where it told one. Throws `ProviderError`. */
  undo(effect: Effect, intent: Intent, ref: string | null, io: EffectIo): Promise<void>;
  /** Milliseconds that have to pass before this effect is taken back, so that what used its object has let go of it. */
  drainBefore(effect: Effect): number;
  /** Makes sure that the object is again what it was. Throws `StepRefused` when it is not. */
  requireAsBefore(io: EffectIo): Promise<void>;
}

/** A step that was begun. */
export interface Attempt {
  readonly step: Pick<PlannedStep, 'id' | 'address' | 'effect' | 'after'>;
  readonly effect: Effect;
  readonly run: Reversible;
  readonly intent: Intent;
  /** Live id that the effect left, as far as it told one. */
  readonly ref: string | null;
  /** False when it is not known whether the effect was done. */
  readonly told: boolean;
  row(status: StepRow['status'], error: StepRow['error']): StepRow;
}

export interface WayBackOptions {
  readonly attempts: ReadonlyMap<string, Attempt>;
  /** The records before the run. */
  readonly before: ReadonlyMap<ResourceAddress, ResourceRow>;
  readonly state: WriteSession;
  readonly emitter: Emitter;
  readonly clock: Clock;
  readonly parallelism: number;
  io(signal: AbortSignal, progress: EffectIo['progress']): EffectIo;
}

/** What became of the steps that were begun. */
export interface WayBackTally {
  /** Steps that were taken back, or that had only prepared or looked. */
  readonly taken: readonly string[];
  /** Steps whose work stays by its nature. */
  readonly stayed: readonly string[];
  /** Steps that could not be taken back, or were not tried since what follows them was not. */
  readonly stuck: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  /** What the state store threw: nothing more could be recorded. */
  readonly lost: BackendError | undefined;
}

/**
 * Takes back every step that was begun, what came last first, side by side where nothing hangs together. When all steps of a resource are taken
 * back, its object is looked at once more and its record is what it was.
 */
export async function takeBack(options: WayBackOptions): Promise<WayBackTally> {
  return await new WayBack(options).run();
}

class WayBack {
  readonly #options: WayBackOptions;
  readonly #limit: ReturnType<typeof pLimit>;
  /** By step: the begun steps that waited for it. */
  readonly #followers = new Map<string, string[]>();
  readonly #visits = new Map<string, Promise<boolean>>();
  /** How many steps of an address are still to be taken back. */
  readonly #left = new Map<ResourceAddress, number>();
  /** Addresses where something was done that stays. */
  readonly #staying: ReadonlySet<ResourceAddress>;
  readonly #taken: string[] = [];
  readonly #stayed: string[] = [];
  readonly #stuck: string[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  readonly #never = sharedAbort().signal;
  #lost: BackendError | undefined;

  constructor(options: WayBackOptions) {
    this.#options = options;
    this.#limit = pLimit(options.parallelism);
    const attempts = [...options.attempts.values()];
    this.#staying = new Set(attempts.filter(({ effect }) => effect.direction === 'stays').map(({ step }) => step.address));
    for (const { step } of attempts) {
      this.#left.set(step.address, (this.#left.get(step.address) ?? 0) + 1);
      for (const before of step.after)
        if (options.attempts.has(before)) this.#followers.set(before, [...(this.#followers.get(before) ?? []), step.id]);
    }
  }

  async run(): Promise<WayBackTally> {
    const ids = [...this.#options.attempts.keys()];
    for (const ended of await Promise.allSettled(ids.map((id) => this.#visit(id)))) if (ended.status === 'rejected') throw ended.reason;
    return {
      taken: this.#taken.toSorted(),
      stayed: this.#stayed.toSorted(),
      stuck: this.#stuck.toSorted(),
      diagnostics: this.#diagnostics,
      lost: this.#lost,
    };
  }

  #visit(id: string): Promise<boolean> {
    const known = this.#visits.get(id);
    if (known !== undefined) return known;
    const visit = this.#takeBack(id);
    this.#visits.set(id, visit);
    return visit;
  }

  /** Whether the step and everything that followed it is taken back. */
  async #takeBack(id: string): Promise<boolean> {
    // Long chains go through here one inside the other: not on one stack.
    await Promise.resolve();
    const followers = await Promise.all((this.#followers.get(id) ?? []).map((next) => this.#visit(next)));
    const attempt = this.#options.attempts.get(id);
    if (attempt === undefined) throw new Error(`the step ${id} was never begun`);
    if (this.#lost !== undefined || followers.includes(false)) {
      this.#stuck.push(id);
      return false;
    }
    return await this.#limit(() => this.#undo(attempt));
  }

  async #undo(attempt: Attempt): Promise<boolean> {
    const { step, effect, run } = attempt;
    const { address } = step;
    const left = (this.#left.get(address) ?? 1) - 1;
    this.#left.set(address, left);
    if (this.#staying.has(address)) {
      this.#stayed.push(step.id);
      return true;
    }
    const { state, emitter, clock } = this.#options;
    const started = clock.monotonic();
    const seconds = () => (clock.monotonic() - started) / 1000;
    try {
      await state.write([{ kind: 'step', step: attempt.row('compensating', null) }]);
      const drain = run.drainBefore(effect);
      await withDeadline(this.#never, LONGEST_UNDO + drain, async ({ signal }) => {
        const io = this.#io(step, signal);
        if (drain > 0) await letPass(drain, io);
        // What only prepared left nothing that serves.
        if (effect.part !== 'prepare') await this.#patiently(signal, () => undoOrFind(attempt, io));
        if (left === 0) await this.#patiently(signal, () => run.requireAsBefore(io));
      });
      await state.write([
        ...(left === 0 && run.recordless !== true ? this.#restored(address, run) : []),
        { kind: 'step', step: attempt.row(endOf(attempt), null) },
      ]);
    } catch (error) {
      return this.#failed(attempt, seconds(), error);
    }
    this.#taken.push(step.id);
    emitter.emit({
      type: 'step.compensated',
      step: step.id,
      address,
      effect: step.effect,
      changed: leavesSomething(effect),
      seconds: seconds(),
    });
    return true;
  }

  /** Again, a few times, where the target does not answer: taking back looks first at what is there, and nothing else brings back what served. */
  async #patiently(signal: AbortSignal, act: () => Promise<void>): Promise<void> {
    for (let pause = FIRST_PAUSE; ; pause *= 2) {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof ProviderError) || error.code !== 'UNREACHABLE' || pause > LAST_PAUSE) throw error;
        await this.#options.clock.sleep(pause, signal);
      }
    }
  }

  /** The records as they were, at the address and at the one that it had before. */
  #restored(address: ResourceAddress, run: Reversible): readonly Mutation[] {
    return [...new Set([address, run.movedFrom ?? address])].map((at): Mutation => {
      const row = this.#options.before.get(at);
      return row === undefined ? { kind: 'drop', address: at } : { kind: 'row', row };
    });
  }

  #failed({ step }: Attempt, seconds: number, error: unknown): boolean {
    this.#stuck.push(step.id);
    if (error instanceof BackendError) {
      this.#lost ??= error;
      return false;
    }
    const diagnostic = this.#diagnose(step, error);
    this.#diagnostics.push(diagnostic);
    const lines = error instanceof ProviderError ? error.lines : [];
    this.#options.emitter.emit({
      type: 'step.failed',
      step: step.id,
      address: step.address,
      effect: step.effect,
      seconds,
      diagnostic,
      lines,
    });
    return false;
  }

  #diagnose(step: Attempt['step'], error: unknown): Diagnostic {
    const about = { severity: 'error', address: step.address, next: 'accede plan' } as const;
    if (error instanceof StepRefused) {
      const { expected, observed } = error.diagnostic;
      const detail = `${step.address} is not what it was before the run, although all of its steps were taken back.`;
      const facts = { ...(expected === undefined ? {} : { expected }), ...(observed === undefined ? {} : { observed }) };
      return { ...about, code: 'NOT_AS_BEFORE', summary: 'A resource is not as before', detail, ...facts };
    }
    if (!(error instanceof ProviderError)) throw error;
    const { detail } = diagnoseProvider(error, step.address, step.effect);
    const next = error.next === undefined ? {} : { next: error.next };
    return { ...about, code: 'NOT_TAKEN_BACK', summary: 'A step could not be taken back', detail, ...next };
  }

  #io(step: Attempt['step'], signal: AbortSignal): EffectIo {
    return this.#options.io(signal, (message, figures = {}) => {
      this.#options.emitter.emit({ type: 'step.progress', step: step.id, address: step.address, message, figures });
    });
  }
}

/**
 * Takes the effect back. What keeps it from that may have kept the effect from happening as well (a full disk, a folder that can't be written): then
 * the object is what it was, and there is nothing to take back. That is looked for where the effect was about the object that was there before.
 */
async function undoOrFind({ effect, run, intent, ref }: Attempt, io: EffectIo): Promise<void> {
  try {
    await run.undo(effect, intent, ref, io);
  } catch (error) {
    const isOfTheSame = effect.object === 'update' || effect.object === 'remove';
    if (!(error instanceof ProviderError) || !isOfTheSame || error.code === 'UNREACHABLE') throw error;
    try {
      await run.requireAsBefore(io);
    } catch (found) {
      if (found instanceof StepRefused || found instanceof ProviderError) throw error;
      throw found;
    }
  }
}

/** Whether the effect may have touched anything: what prepares, waits or lets time pass has not. */
function leavesSomething({ part, waits, lasts }: Effect): boolean {
  return part !== 'prepare' && waits !== true && lasts === undefined;
}

/** A creation whose outcome nobody told may still bring its object about: it is looked for again. */
function endOf({ effect, told }: Attempt): StepRow['status'] {
  return !told && effect.object === 'create' ? 'unknown' : 'compensated';
}
