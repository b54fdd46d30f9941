import type { TypeName } from '../core/address.ts';
import type { Effect, EffectIo, Receipt } from '../providers/contract.ts';
import { ChangeRun } from './change-run.ts';
import type { Intent, RunContext, Settled } from './run-context.ts';
import type { Reversible } from './way-back.ts';

/** What goes through its effects step by step: a change of a resource, or what the environment itself does. */
export interface Stepping extends Reversible {
  /** Throws `StepRefused` or `ProviderError` when the effect must not begin; nothing was done then. */
  prepare(effect: Effect, io: EffectIo): Promise<Intent>;
  /** Does the effect. Throws `ProviderError`. */
  perform(effect: Effect, intent: Intent, io: EffectIo): Promise<Receipt>;
  settle(effect: Effect, intent: Intent, receipt: Receipt, io: EffectIo): Promise<Settled>;
}

/** One address on its way through its effects, with what the journal says of it. */
export interface StepRun {
  readonly run: Stepping;
  readonly effects: readonly Effect[];
  readonly type: TypeName;
  readonly provider: string;
  readonly action: string;
  /** Absolute. */
  readonly folder: string;
  readonly timeouts: { readonly create?: number; readonly replace?: number; readonly remove?: number };
}

export function changeStepRun(change: ChangeRun['change'], context: RunContext): StepRun {
  return {
    run: new ChangeRun(change, context),
    effects: change.effects,
    type: change.type.type,
    provider: change.planned.provider,
    action: change.planned.action,
    folder: change.context.folder,
    timeouts: change.instance?.timeouts ?? {},
  };
}
