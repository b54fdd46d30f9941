import type { ResourceAddress } from '../core/address.ts';
import { digestOf } from '../core/canonical.ts';
import type { Clock } from '../core/clock.ts';
import { sharedAbort, withDeadline } from '../core/deadline.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import { stepId } from '../plan/steps.ts';
import { type Effect, type EffectIo, type Operation, ProviderError, type Receipt, type Session } from '../providers/contract.ts';
import type { Mutation, WriteSession } from '../state/contract.ts';
import type { StepRow } from '../state/model.ts';
import type { Emitter } from './emitter.ts';
import { diagnoseProvider } from './failure.ts';
import type { Runnable } from './run-refusals.ts';

/** No step of a run lasts longer, whatever its document says. */
const LONGEST_STEP = 25 * 3600 * 1000;

/** After these it is not known whether the program goes on. */
const LOST: ReadonlySet<ProviderError['code']> = new Set(['UNREACHABLE', 'TIMEOUT', 'UNKNOWN_OUTCOME']);

/** How the steps of a run came out. */
export type RunEnd =
  | { readonly kind: 'done'; readonly receipt: Receipt }
  /** The program ended with this code. */
  | { readonly kind: 'ended'; readonly code: number; readonly diagnostic: Diagnostic }
  /** It ran, and what it left is wrong. */
  | { readonly kind: 'wrong'; readonly diagnostic: Diagnostic }
  /** It was not begun. */
  | { readonly kind: 'not-begun'; readonly diagnostic: Diagnostic }
  /** It may go on. */
  | { readonly kind: 'lost'; readonly diagnostic: Diagnostic }
  /** The caller stops; `begun` says whether the program goes on. */
  | { readonly kind: 'stopped'; readonly begun: boolean };

/** What the steps of a run are done with. */
export interface RunSteps {
  readonly runnable: Runnable;
  readonly serial: number;
  readonly runId: string;
  readonly fingerprint: string;
  readonly session: Session;
  readonly state: WriteSession;
  readonly emitter: Emitter;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  io(signal: AbortSignal, progress: EffectIo['progress']): EffectIo;
  operation(effect: Effect, key: string): Operation;
  /** What is written together with the last step. */
  conclude(receipt: Receipt): readonly Mutation[];
}

/** The key of a step. Equal for every try of one run with one request, so that a later try can tell whether an earlier one was for the same. */
export function runKey(runId: string, fingerprint: string, address: ResourceAddress, effect: string): string {
  return digestOf(['run', runId, fingerprint, address, effect]);
}

/** Does the effects of a run one after the other, each journalled before and after. */
export async function walkRun(run: RunSteps): Promise<RunEnd> {
  const { effects, begins } = run.runnable.onRequest;
  const beginning = effects.findIndex((effect) => effect.name === begins);
  let receipt: Receipt = {};
  for (const [index, effect] of effects.entries()) {
    // Once it runs, somebody has to be told to wait for it: breaking off is then up to the step that waits.
    if (run.stop.aborted && index <= beginning) return { kind: 'stopped', begun: false };
    const isLast = index === effects.length - 1;
    const failed = await takeStep(run, effect, index - beginning, (told) => {
      receipt = told;
      return isLast ? run.conclude(told) : [];
    });
    if (failed !== undefined) return failed;
  }
  return { kind: 'done', receipt };
}

/** One step. `place` is negative before the program begins. */
async function takeStep(
  run: RunSteps,
  effect: Effect,
  place: number,
  settle: (receipt: Receipt) => readonly Mutation[],
): Promise<RunEnd | undefined> {
  const { clock, emitter, state } = run;
  const { address } = run.runnable.row;
  const step = stepId(address, effect.name);
  const key = runKey(run.runId, run.fingerprint, address, effect.name);
  const started = clock.monotonic();
  const startedAt = new Date(clock.now()).toISOString();
  const seconds = () => (clock.monotonic() - started) / 1000;
  const row = (status: StepRow['status'], error: StepRow['error'] = null): StepRow => ({
    serial: run.serial,
    step,
    address,
    type: run.runnable.row.type,
    provider: run.runnable.row.provider,
    effect: effect.name,
    // No step of a run makes or ends an object: what is recorded stays what it is.
    object: 'keep',
    action: 'run',
    part: effect.part,
    stage: effect.stage,
    // What a run did stays.
    direction: 'stays',
    after: [],
    key,
    status,
    id: run.runId,
    ref: null,
    identity: run.runnable.row.identity,
    desired: null,
    preimage: null,
    folder: run.runnable.row.folder,
    startedAt,
    endedAt: status === 'intended' ? null : new Date(clock.now()).toISOString(),
    error,
  });
  emitter.emit({ type: 'step.intended', step, address, effect: effect.name, stage: effect.stage });
  await state.write([{ kind: 'step', step: row('intended') }]);
  const outer = effect.waits === true ? run.stop : sharedAbort().signal;
  let receipt: Receipt;
  try {
    receipt = await withDeadline(outer, LONGEST_STEP, ({ signal }) => {
      const io = run.io(signal, (message, figures = {}) => emitter.emit({ type: 'step.progress', step, address, message, figures }));
      return run.session.perform(run.operation(effect, key), io);
    });
  } catch (error) {
    if (effect.waits === true && run.stop.aborted) {
      await state.write([{ kind: 'step', step: row('unknown') }]);
      return { kind: 'stopped', begun: true };
    }
    if (!(error instanceof ProviderError)) throw error;
    const diagnostic = diagnoseProvider(error, address, effect.name);
    const isLost = LOST.has(error.code) && error.exitCode === undefined;
    await state.write([{ kind: 'step', step: row(isLost ? 'unknown' : 'failed', { code: error.code, message: error.message }) }]);
    if (isLost) emitter.emit({ type: 'step.unknown', step, address, effect: effect.name, diagnostic });
    else emitter.emit({ type: 'step.failed', step, address, effect: effect.name, seconds: seconds(), diagnostic, lines: error.lines });
    return endOf(error, diagnostic, place, isLost);
  }
  await state.write([...settle(receipt), { kind: 'step', step: row('done') }]);
  emitter.emit({ type: 'step.done', step, address, effect: effect.name, seconds: seconds(), figures: receipt.figures ?? {} });
  return undefined;
}

function endOf(error: ProviderError, diagnostic: Diagnostic, place: number, isLost: boolean): RunEnd {
  if (error.exitCode !== undefined) {
    const failed = { ...diagnostic, code: 'RUN_FAILED', summary: 'What was run ended with a failure', detail: error.message };
    return { kind: 'ended', code: error.exitCode, diagnostic: failed };
  }
  if (place < 0 || (place === 0 && !isLost)) return { kind: 'not-begun', diagnostic };
  return isLost ? { kind: 'lost', diagnostic } : { kind: 'wrong', diagnostic };
}
