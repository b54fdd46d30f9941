import type { Diagnostic, Outcome } from '../core/diagnostic.ts';
import { hasInterpolation } from '../core/expression-text.ts';
import type { Sensitive } from '../core/value.ts';
import { assemble, checkOutline } from './assemble.ts';
import { providerConfig } from './blocks.ts';
import { readFolder } from './documents.ts';
import { loadEncryption } from './encryption.ts';
import type { ProviderBlock, StateEncryption, StateLocation } from './environment.ts';
import { diskFiles } from './file-source.ts';
import { FileStore } from './files.ts';
import { environmentName, type LoadOptions, variableSources, withIncludes } from './load.ts';
import { prepareNames } from './prepare.ts';
import { loadProviders } from './providers.ts';
import { Report } from './report.ts';
import type { SecretOptions } from './secrets.ts';
import type { YamlNode } from './source.ts';
import { loadState } from './state-location.ts';
import { openWorkspace } from './workspace.ts';

/** Which environment a folder is of, and where its state is. */
export interface Location {
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
  /** Absolute. */
  readonly workTree: string;
  readonly state: StateLocation;
  /** The key of the secrets that the state keeps; absent when the documents name none. */
  readonly encryption?: StateEncryption;
  /** Those that the state is reached with are open, and no others. */
  readonly secrets: ReadonlyMap<string, Sensitive>;
}

/** The providers that documents with mistakes tell of all the same. */
export interface LocatedProviders {
  readonly blocks: readonly ProviderBlock[];
  /** False when a document can't be read: what stands in it may be another block. */
  readonly isWhole: boolean;
  /** Those that the blocks are made of are open, as far as they could be read. */
  readonly secrets: ReadonlyMap<string, Sensitive>;
}

/**
 * Finds the name and the state of an environment whose other documents may have any mistake: only what stands in `metadata.name` and `state`,
 * and what these read, has to be right.
 */
export async function locateEnvironment(options: LoadOptions): Promise<Outcome<Location>> {
  const read = await readOutline(options, { mode: 'none', stateMode: 'read' });
  if (!read.ok) return read;
  const { assembled, workspace, outline, report, context, name, files } = read.value;
  const earlier = new Set(report.sorted());
  const { state: node } = assembled.single;
  const state = loadState(assembled, context);
  const encryption = loadEncryption(assembled, context);
  files.close();
  // A state that reads nothing is where it is, whatever is wrong with variables and locals.
  const ofState = node !== undefined && readsSomething(node) ? report.sorted() : report.sorted().filter((found) => !earlier.has(found));
  const mistakes = [...outline.sorted().filter(isOfName), ...ofState].filter(({ severity }) => severity === 'error');
  if (mistakes.length > 0) return { ok: false, diagnostics: mistakes };
  const { secrets } = context.fixed;
  return {
    ok: true,
    value: {
      name,
      folder: workspace.folder,
      workTree: workspace.workTree,
      state,
      ...(encryption === undefined ? {} : { encryption }),
      secrets,
    },
    diagnostics: [],
  };
}

/** Finds the provider blocks of such an environment: only what stands in `providers`, and what that reads, has to be right. */
export async function locateProviders(options: LoadOptions): Promise<Outcome<LocatedProviders>> {
  const read = await readOutline(options, { mode: options.secrets, stateMode: 'none' });
  if (!read.ok) return read;
  const { assembled, report, context, files, isWhole } = read.value;
  const earlier = new Set(report.sorted());
  const { providers } = assembled.named;
  const loaded = loadProviders(providers, options.registry, (block) => providerConfig(block, context), report);
  files.close();
  const reads = [...providers.values()].some(({ node }) => readsSomething(node));
  const mistakes = report.sorted().filter((found) => found.severity === 'error' && (reads || !earlier.has(found)));
  if (mistakes.length > 0) return { ok: false, diagnostics: mistakes };
  return { ok: true, value: { blocks: [...loaded.values()], isWhole, secrets: context.fixed.secrets }, diagnostics: [] };
}

/** The documents as far as they can be read, and what expressions in them can read. The files are the caller's to close. */
async function readOutline(options: LoadOptions, secrets: Pick<SecretOptions, 'mode' | 'stateMode'>) {
  const opened = await openWorkspace(options.folder, diskFiles);
  if (!opened.ok) return opened;
  const workspace = opened.value;
  const unheard = new Report();
  const folder = await readFolder(workspace, unheard);
  if (folder.environment === undefined || unheard.sorted().some(({ code }) => code === 'SEVERAL_ENVIRONMENTS')) {
    return { ok: false as const, diagnostics: unheard.sorted() };
  }
  const files = new FileStore(workspace);
  const documents = await withIncludes(folder, folder.environment, { options, workspace, files, report: unheard });
  const isWhole = unheard.sorted().every(({ severity }) => severity !== 'error');
  const assembled = assemble(folder.environment, documents, unheard);
  const outline = new Report();
  checkOutline(folder.environment, outline);
  const name = environmentName(assembled, outline);
  const report = new Report();
  const { context } = await prepareNames(assembled, {
    name,
    registry: options.registry,
    workspace,
    files,
    report,
    sources: variableSources(options),
    secrets: { ...secrets, processEnvironment: options.processEnvironment, signal: options.signal },
    secretFiles: new Set(),
  });
  return { ok: true as const, value: { assembled, workspace, outline, report, context, name, files, isWhole }, diagnostics: [] };
}

function isOfName({ code, path }: Diagnostic): boolean {
  return code === 'EXPRESSION_NOT_ALLOWED' || path?.startsWith('metadata') === true;
}

function readsSomething(node: YamlNode): boolean {
  if (node.kind === 'list') return node.items.some(readsSomething);
  if (node.kind === 'map') return [...node.entries.values()].some(({ value }) => readsSomething(value));
  return typeof node.value === 'string' && hasInterpolation(node.value);
}
