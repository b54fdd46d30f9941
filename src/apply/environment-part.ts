import { sharedAbort } from '../core/deadline.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { EnvironmentWork } from '../plan/environment-steps.ts';
import type { Session } from '../providers/contract.ts';
import type { WriteSession } from '../state/contract.ts';
import type { OperationRow } from '../state/model.ts';
import { runClosingHooks } from './closing-hooks.ts';
import type { EngineContext } from './engine.ts';
import { type EnvironmentFacts, EnvironmentRun, environmentStepRun, providerAliases } from './environment-run.ts';
import type { ApplyResult } from './events.ts';
import { effectIo, openSession, type Sessions } from './sessions.ts';
import type { StepRun } from './step-run.ts';

/** What the environment itself does in a run: its steps, and the hooks that are told how it came out. */
export class EnvironmentPart {
  readonly stepRun: StepRun;
  readonly #warnings: Diagnostic[] = [];
  readonly #facts: EnvironmentFacts;
  readonly #context: EngineContext;

  constructor(
    context: EngineContext,
    operation: Pick<OperationRow, 'id' | 'class'>,
    work: readonly EnvironmentWork[],
    sessions: Sessions<Session>,
  ) {
    this.#context = context;
    this.#facts = environmentFacts(context, operation, sessions);
    this.stepRun = environmentStepRun(new EnvironmentRun(work, this.#facts, this.#warnings), work, context.environment.folder);
  }

  /** Runs the hooks `after` or `failed` and answers with the result that says which of them failed. With a lost store nothing can be journalled, so none runs. */
  async close(result: ApplyResult, run: { readonly serial: number; readonly state: WriteSession | undefined }): Promise<ApplyResult> {
    const { environment, clock } = this.#context;
    const warnings: Diagnostic[] = [...this.#warnings];
    if (run.state !== undefined) {
      const io = effectIo(this.#context, sharedAbort().signal, () => undefined);
      const closing = { environment, facts: this.#facts, serial: run.serial, state: run.state, clock, io };
      warnings.push(...(await runClosingHooks(result.outcome, closing)));
    }
    return { ...result, diagnostics: [...result.diagnostics, ...warnings] };
  }
}

/** What the steps of the environment are done with, and taken back with. */
export function environmentFacts(
  { environment }: Pick<EngineContext, 'environment'>,
  operation: Pick<OperationRow, 'id' | 'class'>,
  sessions: Sessions<Session>,
): EnvironmentFacts {
  return {
    operation: operation.id,
    class: operation.class ?? '',
    environment: environment.name,
    folder: environment.folder,
    aliases: providerAliases(environment),
    session: (alias) => openSession(sessions, alias),
  };
}
