import { diagnoseBackend } from '../../apply/failure.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import type { StateStore } from '../../state/contract.ts';
import { BackendError } from '../../state/contract.ts';
import type { EnvironmentArguments } from '../arguments/environment.ts';
import { openWorkspace, type Workspace } from '../compose.ts';
import type { ExitCode } from '../exit.ts';
import type { Shell } from '../shell.ts';
import { failWith } from './failing.ts';

/** Opens the environment without reading any secret, and its store; runs `use` and closes both. What the store refuses is said. */
export async function readingState(
  shell: Shell,
  args: EnvironmentArguments,
  use: (store: StateStore, workspace: Workspace) => Promise<ExitCode>,
): Promise<ExitCode> {
  const opened = await openWorkspace(shell, args, { secrets: 'none' });
  if (!opened.ok) return failWith(shell, opened.diagnostics);
  try {
    return await use(opened.value.context.store, opened.value);
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return failWith(shell, [diagnoseBackend(error)]);
  } finally {
    await opened.value.close();
  }
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
