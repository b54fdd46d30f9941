import { existsSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { relative, resolve } from 'node:path';
import type { EngineContext, PlanStamp } from '../apply/engine.ts';
import { type Outcome, succeed } from '../core/diagnostic.ts';
import type { Sensitive } from '../core/value.ts';
import { failingHost } from '../host/failing-host.ts';
import { localHost } from '../host/local.ts';
import type { Host, Registry } from '../providers/contract.ts';
import type { Environment } from '../spec/environment.ts';
import { type LoadedEnvironment, type LoadOptions, loadEnvironment } from '../spec/load.ts';
import { openStore, type StateLocation, type StoreOptions } from '../state/open.ts';
import { systemProcessIdentity } from '../state/process.ts';
import type { EnvironmentArguments } from './arguments/environment.ts';
import { DEFAULT_PARALLELISM } from './arguments/plan.ts';
import type { Shell } from './shell.ts';
import { maskerFor } from './views/masking.ts';

/** An environment that is loaded, with everything that the engine works with. Closing it closes the store. */
export interface Workspace {
  readonly context: EngineContext;
  readonly environment: LoadedEnvironment;
  readonly stamp: PlanStamp;
  /** What the store was opened with. */
  readonly state: StoreOptions;
  close(): Promise<void>;
}

export interface WorkspaceOptions {
  /** `read` all secrets, `skip` those that cannot be read, or `none` at all. */
  readonly secrets: 'read' | 'skip' | 'none';
  readonly parallelism?: number;
}

/** What programs on the host get of this process's environment: where they are, and where they find the user's settings and keys. */
const HOST_VARIABLES = ['PATH', 'HOME', 'DOCKER_CONFIG', 'SSH_AUTH_SOCK'] as const;

/** The machine that effects happen on. */
export function hostFor(shell: Shell): Host {
  const host = localHost({ environment: Object.fromEntries(HOST_VARIABLES.map((name) => [name, shell.environment[name]])) });
  return shell.faults === undefined ? host : failingHost(host, shell.faults);
}

/** Loads the documents alone, for commands that look at nothing else. From here on known secrets are masked. */
export async function openDocuments(shell: Shell, args: EnvironmentArguments): Promise<Outcome<LoadedEnvironment>> {
  return loadDocuments(shell, args, shell.registry, { secrets: 'none', stateSecrets: 'none' });
}

async function loadDocuments(
  shell: Shell,
  args: EnvironmentArguments,
  registry: Registry,
  secrets: Pick<LoadOptions, 'secrets' | 'stateSecrets'>,
): Promise<Outcome<LoadedEnvironment>> {
  const loaded = await loadEnvironment({
    folder: resolve(shell.folder, args.folder),
    registry,
    variables: args.variables,
    variableFiles: args.variableFiles.map((file) => resolve(shell.folder, file)),
    processEnvironment: shell.environment,
    signal: shell.interrupts.reads,
    ...secrets,
  });
  if (loaded.ok) shell.output.mask(maskerFor(knownSecrets(loaded.value)));
  return loaded;
}

/** The composition root: loads the environment and puts registry, store, host and clock together. From here on known secrets are masked. */
export async function openWorkspace(shell: Shell, args: EnvironmentArguments, options: WorkspaceOptions): Promise<Outcome<Workspace>> {
  const { registry } = shell;
  const host = hostFor(shell);
  const loaded = await loadDocuments(shell, args, registry, { secrets: options.secrets });
  if (!loaded.ok) return loaded;
  const environment = loaded.value;
  const state = stateOptions(shell, environment);
  const conceal = concealing(shell, knownSecrets(environment));
  const store = await openStore(state);
  const context: EngineContext = {
    environment,
    registry,
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
  const stamp = await stampOf(environment, host, shell.interrupts.reads);
  return succeed({ context, environment, stamp, state, close: () => store.close() }, loaded.diagnostics);
}

/** Where the store is. The secrets that it is made of were read, or the load would have failed. */
function locationOf(state: Environment['state']): StateLocation {
  if (state.backend === 'sqlite') return state;
  if (state.server === undefined) throw new Error('the secrets of the state were not read');
  return { backend: 'mysql', server: state.server, prefix: state.prefix };
}

/** A password that stands in the middle of a secret is one by itself. */
export function knownSecrets(environment: Pick<Environment, 'secrets' | 'state'>): readonly Sensitive[] {
  const password = environment.state.backend === 'mysql' ? environment.state.server?.password : undefined;
  return [...environment.secrets.values(), ...(password === undefined ? [] : [password])];
}

/** What takes secrets that come up on the way out of every output, with those that are known already. */
export function concealing(shell: Shell, known: readonly Sensitive[]): (secrets: readonly Sensitive[]) => void {
  const all = [...known];
  return (secrets) => {
    all.push(...secrets);
    shell.output.mask(maskerFor(all));
  };
}

/** What the store of an environment is opened with. */
export function stateOptions(shell: Shell, { name, state }: Pick<Environment, 'name' | 'state'>): StoreOptions {
  const { clock, ids } = shell;
  return { location: locationOf(state), environment: name, clock, ids, host: systemProcessIdentity(), ...faultsOf(shell) };
}

/** What is told of the boundaries of a run, for those who work with it. */
export function faultsOf({ faults }: Shell): Pick<EngineContext, 'faults'> {
  return faults === undefined ? {} : { faults };
}

/** Who acts, for the lock and the journal. In a container without an entry for the user the number stands for the name. */
export function actorOf(shell: Shell): string {
  let name = shell.environment['USER'] ?? shell.environment['LOGNAME'];
  if (name === undefined || name === '') {
    try {
      name = userInfo().username;
    } catch (error) {
      // The system has no name for this user; anything else would be a bug of ours.
      if (!(error instanceof Error) || !('code' in error)) throw error;
      name = String(process.getuid?.() ?? 'unknown');
    }
  }
  return `${name}@${hostname()}`;
}

/** The commit and the place of a folder, for people. */
export async function stampOf(environment: Pick<Environment, 'folder' | 'workTree'>, host: Host, signal: AbortSignal): Promise<PlanStamp> {
  const isGit = existsSync(resolve(environment.workTree, '.git'));
  if (!isGit) return { commit: null, folder: environment.folder };
  const folder = relative(environment.workTree, environment.folder).replaceAll('\\', '/');
  return { commit: await commitOf(environment.folder, host, signal), folder: folder === '' ? '.' : folder };
}

/** The commit that is checked out, with `-dirty` when tracked files of the folder differ from it. Null without git or a commit. */
async function commitOf(folder: string, host: Host, signal: AbortSignal): Promise<string | null> {
  const git = async (...argv: readonly string[]) => {
    try {
      const run = await host.inspect(['git', '-C', folder, ...argv], { signal, timeout: 10_000 });
      return run.code === 0 ? run.stdout.trim() : null;
    } catch (error) {
      // The commit stands outside of the digest and is for people: a machine without git plans as well.
      if (signal.aborted) throw signal.reason;
      if (!(error instanceof Error)) throw error;
      return null;
    }
  };
  const head = await git('rev-parse', '--verify', 'HEAD');
  if (head === null || !/^[0-9a-f]{40,64}$/.test(head)) return null;
  const changed = await git('status', '--porcelain', '--untracked-files=no', '--', '.');
  return changed === '' ? head : `${head}-dirty`;
}
