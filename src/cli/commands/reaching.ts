import type { EngineContext } from '../../apply/engine.ts';
import { diagnoseBackend } from '../../apply/failure.ts';
import { findReached, needsSecret, type Reached } from '../../apply/reach.ts';
import type { ResourceAddress } from '../../core/address.ts';
import { fail, type Outcome } from '../../core/diagnostic.ts';
import { BackendError } from '../../state/contract.ts';
import type { EnvironmentArguments } from '../arguments/environment.ts';
import { openWorkspace, type Workspace } from '../compose.ts';
import type { CommandExit } from '../exit.ts';
import type { Shell } from '../shell.ts';
import { failWith } from './failing.ts';
import { noState } from './reading.ts';

/**
 * Opens the environment for reaching into one of its objects. Secrets are read only where the provider block itself holds one: whoever looks
 * for a fault at night need not have them all at hand.
 */
export async function reaching(
  shell: Shell,
  args: EnvironmentArguments & { readonly address: ResourceAddress },
  what: 'logs' | 'exec',
  use: (context: EngineContext, reached: readonly Reached[]) => Promise<CommandExit>,
): Promise<CommandExit> {
  for (const secrets of ['none', 'read'] as const) {
    const opened = await openWorkspace(shell, args, { secrets });
    if (!opened.ok) return failWith(shell, opened.diagnostics);
    try {
      const found = await find(opened.value, args.address, what);
      if (!found.ok) return failWith(shell, found.diagnostics);
      if (secrets === 'none' && needsSecret(opened.value.environment, found.value)) continue;
      return await use(opened.value.context, found.value);
    } finally {
      await opened.value.close();
    }
  }
  throw new Error('an environment was opened with its secrets and without');
}

async function find(workspace: Workspace, address: ResourceAddress, what: 'logs' | 'exec'): Promise<Outcome<readonly Reached[]>> {
  const { store, registry, environment } = workspace.context;
  try {
    const snapshot = await store.read();
    return snapshot === undefined ? fail(noState(environment.name)) : findReached(snapshot, registry, address, what);
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return fail(diagnoseBackend(error));
  }
}
