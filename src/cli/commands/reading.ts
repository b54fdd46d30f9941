import { diagnoseBackend } from '../../apply/failure.ts';
import { type Diagnostic, type Outcome, succeed } from '../../core/diagnostic.ts';
import type { Sensitive } from '../../core/value.ts';
import type { StateStore } from '../../state/contract.ts';
import { BackendError } from '../../state/contract.ts';
import type { StoreOptions } from '../../state/open.ts';
import type { EnvironmentArguments } from '../arguments/environment.ts';
import { concealing, knownSecrets, openWorkspace, type Workspace } from '../compose.ts';
import type { ExitCode } from '../exit.ts';
import type { Shell } from '../shell.ts';
import { failWith } from './failing.ts';

/** What a command that only reads the state knows of the environment. */
export interface ReadPlace {
  readonly environment: { readonly name: string; readonly folder: string };
  readonly state: StoreOptions;
  /** Undefined when the documents have mistakes: what is recorded can be read all the same. */
  readonly workspace: Workspace | undefined;
  /** Takes a secret that comes up on the way out of every output. */
  readonly conceal: (secrets: readonly Sensitive[]) => void;
}

/**
 * Opens the environment without reading any secret, and its store; runs `use` and closes both. Documents with mistakes do not keep anybody from
 * what is recorded: they are said to have them. What the store refuses is said.
 */
export async function readingState(
  shell: Shell,
  args: EnvironmentArguments,
  use: (store: StateStore, place: ReadPlace) => Promise<ExitCode>,
): Promise<ExitCode> {
  const opened = await openPlace(shell, args);
  if (!opened.ok) return failWith(shell, opened.diagnostics);
  const { store, place } = opened.value;
  try {
    return await use(store, place);
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return failWith(shell, [diagnoseBackend(error)]);
  } finally {
    await store.close();
  }
}

async function openPlace(
  shell: Shell,
  args: EnvironmentArguments,
): Promise<Outcome<{ readonly store: StateStore; readonly place: ReadPlace }>> {
  const opened = await openWorkspace(shell, args, { secrets: 'none' });
  if (opened.ok) {
    const { context, environment, state } = opened.value;
    const conceal = concealing(shell, knownSecrets(environment));
    return succeed({ store: context.store, place: { environment, state, workspace: opened.value, conceal } });
  }
  const { openLocated } = await import('../past-workspace.ts');
  const located = await openLocated(shell, args);
  if (!located.ok) return opened;
  const { store, location, state } = located.value;
  shell.output.warn([unloadable(opened.diagnostics)]);
  const conceal = concealing(shell, knownSecrets(location));
  return succeed({ store, place: { environment: location, state, workspace: undefined, conceal } });
}

/** The warning that documents with mistakes were not loaded; `but` says what can be done all the same. */
export function unloadable(mistakes: readonly Diagnostic[], but = 'What is recorded is shown all the same.'): Diagnostic {
  const errors = mistakes.filter(({ severity }) => severity === 'error');
  return {
    severity: 'warning',
    code: 'DOCUMENTS_UNREADABLE',
    summary: 'The documents have mistakes',
    detail: `${errors.length === 1 ? 'One mistake keeps' : `${errors.length} mistakes keep`} the documents from being loaded (${errors[0]?.code ?? 'unknown'}). ${but}`,
    next: 'accede validate',
  };
}

/** Says that nothing was ever applied here. */
export function noState(environment: string): Diagnostic {
  return {
    severity: 'error',
    code: 'NO_STATE',
    summary: 'There is no state yet',
    detail: `Nothing was ever applied to ${environment}, so nothing is recorded.`,
    next: 'accede apply',
  };
}
