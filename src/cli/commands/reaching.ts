import type { EngineContext } from '../../apply/engine.ts';
import { diagnoseBackend } from '../../apply/failure.ts';
import { findReached, needsSecret, type Reached } from '../../apply/reach.ts';
import type { ResourceAddress } from '../../core/address.ts';
import { fail, type Outcome } from '../../core/diagnostic.ts';
import { BackendError } from '../../state/contract.ts';
import type { Snapshot } from '../../state/model.ts';
import type { EnvironmentArguments } from '../arguments/environment.ts';
import { openWorkspace } from '../compose.ts';
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
    const { openRecorded } = await import('../recorded-workspace.ts');
    const place = opened.ok
      ? opened
      : await openRecorded(shell, args, opened.diagnostics, { needed: (snapshot) => providersAt(snapshot, args.address) });
    if (!place.ok) return failWith(shell, place.diagnostics);
    const { context } = place.value;
    try {
      const found = await find(context, args.address, what);
      if (!found.ok) return failWith(shell, found.diagnostics);
      if (opened.ok && secrets === 'none' && needsSecret(context.environment, found.value)) continue;
      return await use(context, found.value);
    } finally {
      await place.value.close();
    }
  }
  throw new Error('an environment was opened with its secrets and without');
}

/** The provider blocks of what is recorded at an address, or at one of its instances. */
function providersAt({ resources }: Snapshot, address: ResourceAddress): readonly string[] {
  const rows = [...resources.values()].filter((row) => row.address === address || row.address.startsWith(`${address}[`));
  return rows.map(({ provider }) => provider);
}

async function find(context: EngineContext, address: ResourceAddress, what: 'logs' | 'exec'): Promise<Outcome<readonly Reached[]>> {
  const { store, registry, environment } = context;
  try {
    const snapshot = await store.read();
    return snapshot === undefined ? fail(noState(environment.name)) : findReached(snapshot, registry, address, what);
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return fail(diagnoseBackend(error));
  }
}
