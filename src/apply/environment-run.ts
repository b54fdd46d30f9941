import { compareText, ENVIRONMENT, ENVIRONMENT_TYPE } from '../core/address.ts';
import { digestOf } from '../core/canonical.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import { type EnvironmentWork, QUIESCE } from '../plan/environment-steps.ts';
import type { Effect, EffectIo, Receipt, Session } from '../providers/contract.ts';
import type { Environment } from '../spec/environment.ts';
import type { StepRow } from '../state/model.ts';
import { type HookFacts, runHook } from './hooks.ts';
import { bringBackWriters, findWriters, readFound, stopWriters } from './quiesce.ts';
import type { Intent, Settled } from './run-context.ts';
import type { Stepping, StepRun } from './step-run.ts';

/** What the steps of the environment itself are done with. */
export interface EnvironmentFacts extends HookFacts {
  /** Aliases of all provider blocks that the documents write or use, in order. */
  readonly aliases: readonly string[];
  session(alias: string): Promise<Session>;
}

/** Steps of the environment itself on their way: hooks, and stopping old writers. */
export class EnvironmentRun implements Stepping {
  readonly movedFrom = null;
  readonly recordless = true;
  readonly #warnings: Diagnostic[];
  readonly #work: ReadonlyMap<string, EnvironmentWork>;
  readonly #facts: EnvironmentFacts;

  /** `warnings` is told what could not be put back and stands in nobody's way. Without `work` it only takes back. */
  constructor(work: readonly EnvironmentWork[], facts: EnvironmentFacts, warnings: Diagnostic[]) {
    this.#warnings = warnings;
    this.#work = new Map(work.map((one) => [one.effect.name, one]));
    this.#facts = facts;
  }

  async prepare(effect: Effect, io: EffectIo): Promise<Intent> {
    const { act } = this.#workOf(effect);
    const intent = { key: digestOf([this.#facts.operation, ENVIRONMENT, effect.name]), id: '', ref: null, identity: '', desired: null };
    // Who writes is asked before anything is stopped: being unable to ask is a failure that changes nothing.
    const preimage = act.kind === 'quiesce' ? { ...(await findWriters(act.quiesce, this.#facts, io)) } : null;
    return { ...intent, preimage };
  }

  async perform(effect: Effect, intent: Intent, io: EffectIo): Promise<Receipt> {
    const { act } = this.#workOf(effect);
    switch (act.kind) {
      case 'hook':
        return await runHook(act.hook, this.#facts, io);
      case 'quiesce':
        return await stopWriters(act.quiesce, readFound(intent.preimage), this.#facts, io);
    }
    return act satisfies never;
  }

  settle(_effect: Effect, _intent: Intent, receipt: Receipt): Promise<Settled> {
    return Promise.resolve({ mutations: [], figures: receipt.figures ?? {}, failure: undefined, notes: [] });
  }

  async undo(effect: Effect, intent: Intent, _ref: string | null, io: EffectIo): Promise<void> {
    if (effect.name === QUIESCE) this.#warnings.push(...(await bringBackWriters(readFound(intent.preimage), this.#facts, io)));
  }

  drainBefore(): number {
    return 0;
  }

  requireAsBefore(): Promise<void> {
    return Promise.resolve();
  }

  #workOf(effect: Effect): EnvironmentWork {
    const work = this.#work.get(effect.name);
    if (work === undefined) throw new Error(`the environment has no effect ${effect.name}`);
    return work;
  }
}

/** The steps of the environment as the executor runs them. */
export function environmentStepRun(run: EnvironmentRun, work: readonly EnvironmentWork[], folder: string): StepRun {
  return {
    run,
    effects: work.map(({ effect }) => effect),
    type: ENVIRONMENT_TYPE,
    provider: '',
    action: 'update',
    folder,
    timeouts: {},
  };
}

/** Whether a step of the journal is one of the environment itself. */
export function isOfEnvironment({ type }: Pick<StepRow, 'type'>): boolean {
  return type === ENVIRONMENT_TYPE;
}

/** Aliases of all provider blocks that the documents write or use, in order. */
export function providerAliases({ providers, resources }: Pick<Environment, 'providers' | 'resources'>): readonly string[] {
  return [...new Set([...providers.map(({ alias }) => alias), ...resources.map(({ provider }) => provider)])].sort(compareText);
}
