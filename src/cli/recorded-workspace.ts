import type { EngineContext } from '../apply/engine.ts';
import { diagnoseBackend } from '../apply/failure.ts';
import { digestOf } from '../core/canonical.ts';
import { type Diagnostic, type Outcome, succeed } from '../core/diagnostic.ts';
import type { Environment } from '../spec/environment.ts';
import { locateProviders } from '../spec/locate.ts';
import { BackendError } from '../state/contract.ts';
import type { Snapshot } from '../state/model.ts';
import type { EnvironmentArguments } from './arguments/environment.ts';
import { DEFAULT_PARALLELISM } from './arguments/plan.ts';
import { unloadable } from './commands/reading.ts';
import { concealing, hostFor, knownSecrets } from './compose.ts';
import { openLocated } from './past-workspace.ts';
import type { Shell } from './shell.ts';

/** What works on the record alone: the state and the providers, and no resource of the documents. */
export interface RecordedWorkspace {
  readonly context: EngineContext;
  readonly environment: Pick<Environment, 'folder'>;
  close(): Promise<void>;
}

/**
 * Opens an environment whose documents have these mistakes for a command that needs nothing of them but where its providers are. Refused where
 * the configuration of a provider that `needed` names can't be had: an object would be looked for in the wrong place, and taken for gone.
 */
export async function openRecorded(
  shell: Shell,
  args: EnvironmentArguments,
  mistakes: readonly Diagnostic[],
  options: { readonly parallelism?: number; readonly needed: (snapshot: Snapshot) => readonly string[] },
): Promise<Outcome<RecordedWorkspace>> {
  const located = await openLocated(shell, args);
  if (!located.ok) return { ok: false, diagnostics: mistakes };
  const { store, location, options: loading } = located.value;
  const opened = await open();
  if (!opened.ok) await store.close();
  return opened;

  async function open(): Promise<Outcome<RecordedWorkspace>> {
    let needed: readonly string[];
    try {
      const snapshot = await store.read();
      needed = snapshot === undefined ? [] : [...new Set(options.needed(snapshot))].sort();
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      return { ok: false, diagnostics: [diagnoseBackend(error)] };
    }
    const { registry } = loading;
    const found = await locateProviders({ ...loading, secrets: 'skip' });
    const untold = found.ok ? untoldOf(needed, found.value) : needed;
    if (!found.ok || untold.length > 0) return { ok: false, diagnostics: [...mistakes, unreadable(untold)] };
    const { blocks, secrets } = found.value;
    const conceal = concealing(shell, [...secrets.values(), ...knownSecrets(location)]);
    conceal([]);
    shell.output.warn([unloadable(mistakes, 'What is needed of them, where the providers are, can be read all the same.')]);
    const environment: Environment = {
      ...location,
      secrets,
      sourceDigest: digestOf(null),
      variables: {},
      providers: blocks,
      resources: [],
      outputs: [],
      moved: [],
      removed: [],
      imports: [],
      policy: {},
      hooks: {},
      quiesce: {},
    };
    const context: EngineContext = {
      environment,
      registry,
      store,
      clock: shell.clock,
      ids: shell.ids,
      host: hostFor(shell),
      version: shell.version,
      parallelism: options.parallelism ?? DEFAULT_PARALLELISM,
      signal: shell.interrupts.reads,
      conceal,
    };
    return succeed({ context, environment: location, close: () => store.close() });
  }
}

/** Aliases of which the documents tell nothing, though they may have a block. */
function untoldOf(
  needed: readonly string[],
  { blocks, isWhole }: { readonly blocks: Environment['providers']; readonly isWhole: boolean },
) {
  const written = new Set(blocks.map(({ alias }) => alias));
  return needed.filter((alias) => !written.has(alias) && (!isWhole || alias.includes(':')));
}

function unreadable(aliases: readonly string[]): Diagnostic {
  return {
    severity: 'error',
    code: 'PROVIDERS_UNREADABLE',
    summary: 'It is not known where the recorded objects are',
    detail: `What is recorded was made through ${aliases.join(', ')}, and the mistakes in the documents keep their configuration from being read. Nothing was touched. Correct what is said of providers, or of the document that holds them; the rest may stay as it is.`,
    next: 'accede validate',
  };
}
