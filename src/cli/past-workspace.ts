import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Bundle } from '../core/bundle.ts';
import { type Outcome, succeed } from '../core/diagnostic.ts';
import { diskFiles } from '../spec/file-source.ts';
import { type LoadOptions, loadEnvironment } from '../spec/load.ts';
import { type Location, locateEnvironment } from '../spec/locate.ts';
import { openWorkspace as openFolder } from '../spec/workspace.ts';
import type { StateStore } from '../state/contract.ts';
import { environmentOf, openStore, type StoreOptions } from '../state/open.ts';
import { systemProcessIdentity } from '../state/process.ts';
import type { EnvironmentArguments } from './arguments/environment.ts';
import { DEFAULT_PARALLELISM } from './arguments/plan.ts';
import { concealing, faultsOf, hostFor, knownSecrets, stampOf, stateOptions, type Workspace } from './compose.ts';
import type { Shell } from './shell.ts';
import { maskerFor } from './views/masking.ts';

/** The state of an environment, found without its documents being whole. */
export interface LocatedState {
  readonly location: Location;
  readonly store: StateStore;
  /** What the store was opened with. */
  readonly state: StoreOptions;
  /** How the folder was loaded; another load of it starts from here. */
  readonly options: LoadOptions;
}

/** Where the state is when nobody says otherwise. */
const OWN_STATE = '.accede/state.db';

/**
 * Opens the state that belongs to a folder: the documents say where it is, even where they have mistakes elsewhere. A folder that lost all its
 * documents and has a state of its own still knows its environment by that.
 */
export async function openLocated(shell: Shell, args: EnvironmentArguments): Promise<Outcome<LocatedState>> {
  const options: LoadOptions = {
    folder: resolve(shell.folder, args.folder),
    registry: shell.registry,
    variables: args.variables,
    variableFiles: args.variableFiles.map((file) => resolve(shell.folder, file)),
    processEnvironment: shell.environment,
    secrets: 'none',
    signal: shell.interrupts.reads,
  };
  const found = await locateEnvironment(options);
  const located = found.ok ? found : await locateByState(shell, options.folder, found);
  if (!located.ok) return located;
  shell.output.mask(maskerFor(knownSecrets(located.value)));
  const state = stateOptions(shell, located.value);
  return succeed({ location: located.value, state, store: await openStore(state), options });
}

/** A folder without an environment, and with the state of one. Anything else stays the failure that it is. */
async function locateByState({ clock, ids }: Shell, folder: string, failure: Outcome<Location>): Promise<Outcome<Location>> {
  const path = join(folder, OWN_STATE);
  const isBare = failure.diagnostics.every(({ code }) => code === 'NO_ENVIRONMENT');
  const name =
    isBare && existsSync(path)
      ? await environmentOf({ location: { backend: 'sqlite', path }, clock, ids, host: systemProcessIdentity() })
      : undefined;
  const opened = await openFolder(folder, diskFiles);
  if (name === undefined || !opened.ok) return failure;
  return succeed({
    name,
    folder: opened.value.folder,
    workTree: opened.value.workTree,
    state: { backend: 'sqlite', path },
    secrets: new Map(),
  });
}

/** Loads what was kept of an environment, with today's secrets, over the state that was found. Closing it closes the store. */
export async function openKept(
  shell: Shell,
  located: LocatedState,
  kept: { readonly bundle: Bundle; readonly commit: string | null },
  options: { readonly secrets: LoadOptions['secrets']; readonly parallelism?: number },
): Promise<Outcome<Workspace>> {
  const { store, location, state } = located;
  const loaded = await loadEnvironment({
    ...located.options,
    folder: location.folder,
    bundle: kept.bundle,
    secrets: options.secrets,
    stateSecrets: 'none',
  });
  if (!loaded.ok) return loaded;
  // The state has the key that it has today; documents of then may name a former one.
  const encryption = location.encryption ?? loaded.value.encryption;
  const environment = encryption === undefined ? loaded.value : { ...loaded.value, encryption };
  const conceal = concealing(shell, [...environment.secrets.values(), ...knownSecrets(location)]);
  conceal([]);
  const host = hostFor(shell);
  const context = {
    environment,
    registry: located.options.registry,
    store,
    clock: shell.clock,
    ids: shell.ids,
    host,
    version: shell.version,
    parallelism: options.parallelism ?? DEFAULT_PARALLELISM,
    signal: shell.interrupts.reads,
    conceal,
    ...faultsOf(shell),
  };
  const { folder } = await stampOf(location, host, shell.interrupts.reads);
  return succeed({ context, environment, stamp: { commit: kept.commit, folder }, state, close: () => store.close() }, loaded.diagnostics);
}
