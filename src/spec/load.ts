import { compareText } from '../core/address.ts';
import type { Bundle } from '../core/bundle.ts';
import { type Diagnostic, type Outcome, settle } from '../core/diagnostic.ts';
import { hasInterpolation } from '../core/expression-text.ts';
import { isPlainName } from '../core/naming.ts';
import type { Expression } from '../core/template.ts';
import { isAttributes, type Plain } from '../core/value.ts';
import type { Registry } from '../providers/contract.ts';
import { type Assembled, assemble, checkOutline } from './assemble.ts';
import { loadOutputs, loadSteering, providerConfig } from './blocks.ts';
import { BUNDLE_BYTES, BundledFiles, bundledBytes, type Loaded, makeBundle } from './bundle.ts';
import { checkReferences, worldOf } from './cross.ts';
import { digestSource } from './digest.ts';
import { type FolderDocuments, readFolder, readIncludes, type SpecDocument } from './documents.ts';
import { loadEncryption } from './encryption.ts';
import type { Environment } from './environment.ts';
import { diskFiles, type FileSource, RecordedFiles } from './file-source.ts';
import { FileStore } from './files.ts';
import { includeEntries } from './includes.ts';
import { loadImports, loadMoved, loadRemoved } from './moves.ts';
import { providerRoots } from './names.ts';
import { refuseNotAvailable } from './not-available.ts';
import { type Prepared, prepareNames } from './prepare.ts';
import { checkHosts, loadProviders } from './providers.ts';
import type { Release } from './release.ts';
import { Report } from './report.ts';
import { expandResources } from './resources.ts';
import { memberOf, type YamlNode } from './source.ts';
import { compileText } from './standalone.ts';
import { loadState } from './state-location.ts';
import type { VariableSources } from './variables.ts';
import { openWorkspace, type Workspace } from './workspace.ts';

export interface LoadOptions {
  readonly folder: string;
  readonly registry: Registry;
  /** `--var`, later ones win. */
  readonly variables: readonly (readonly [string, string])[];
  /** `--var-file`, later ones win. */
  readonly variableFiles: readonly string[];
  readonly processEnvironment: Readonly<Record<string, string | undefined>>;
  /** `skip`: a secret that cannot be read counts as unchanged. `none`: no secret is read. */
  readonly secrets: 'read' | 'skip' | 'none';
  /** Those of `state` are read whatever `secrets` says, unless this is `none`: then the state can't be opened. */
  readonly stateSecrets?: 'none';
  readonly signal: AbortSignal;
  /**
   * Loads what was kept of an earlier load, in place of what is in the folder: its files and the values of its variables. Secrets, and the
   * files that they are read from, are today's.
   */
  readonly bundle?: Bundle;
}

/** An environment that can also try expressions. */
export interface LoadedEnvironment extends Environment {
  /** An expression, without `${` and `}`, with the names that outputs have. */
  compile(text: string): Outcome<Expression>;
}

/**
 * Reads a folder of YAML into a checked and located environment. Every mistake of the run is in the outcome, sorted by place; what follows
 * from a mistake that is reported is not reported again. Reads files and secrets and changes nothing.
 */
export async function loadEnvironment(options: LoadOptions): Promise<Outcome<LoadedEnvironment>> {
  const recorded = new RecordedFiles(options.bundle === undefined ? diskFiles : new BundledFiles(options.bundle));
  const opened = await openWorkspace(options.folder, recorded);
  if (!opened.ok) return opened;
  const workspace = opened.value;
  const report = new Report();
  const folder = await readFolder(workspace, report);
  if (folder.environment === undefined) return { ok: false, diagnostics: report.sorted() };
  const files = new FileStore(workspace);
  const documents = await withIncludes(folder, folder.environment, { options, workspace, files, report });
  // What stands in a document that cannot be read is missing to the others, and that is not their mistake.
  const isWhole = report.sorted().every(({ code }) => STRANGERS.has(code));
  for (const document of documents) {
    checkOutline(document, report);
    refuseNotAvailable(document.root, report);
  }
  const assembled = assemble(folder.environment, documents, report);
  const environment = await build(assembled, { options, workspace, files, report }, { recorded, documents });
  const diagnostics = isWhole ? report.sorted() : report.sorted().filter((diagnostic) => !isAbsence(diagnostic));
  return settle(environment, diagnostics);
}

/** Mistakes about files that hold nothing of this environment. */
const STRANGERS: ReadonlySet<string> = new Set(['NOT_A_DOCUMENT', 'SEVERAL_ENVIRONMENTS', 'INCLUDED_ENVIRONMENT']);

const ABSENCES: ReadonlySet<string> = new Set([
  'DISABLED_RESOURCE',
  'MOVED_NOWHERE',
  'NOTHING_TO_OVERRIDE',
  'UNKNOWN_INSTANCE',
  'UNKNOWN_PROVIDER',
  'UNKNOWN_REFERENCE',
  'UNKNOWN_RESOURCE',
  'UNKNOWN_VARIABLE',
]);

function isAbsence(diagnostic: Diagnostic): boolean {
  return ABSENCES.has(diagnostic.code);
}

export interface Surroundings {
  readonly options: LoadOptions;
  readonly workspace: Workspace;
  readonly files: FileStore;
  readonly report: Report;
}

/** Absolute paths of the documents that a load would count, read from `source`. Mistakes in them are left aside. */
export async function documentPaths(options: LoadOptions, source: FileSource): Promise<readonly string[]> {
  const opened = await openWorkspace(options.folder, source);
  if (!opened.ok) return [];
  const workspace = opened.value;
  const report = new Report();
  const folder = await readFolder(workspace, report);
  if (folder.environment === undefined) return [];
  const documents = await withIncludes(folder, folder.environment, { options, workspace, files: new FileStore(workspace), report });
  return documents.map(({ file }) => file.path);
}

/** All documents, weakest first: includes as listed, fragments by name, the Environment. */
export async function withIncludes(
  folder: FolderDocuments,
  environment: SpecDocument,
  surroundings: Surroundings,
): Promise<readonly SpecDocument[]> {
  const { options, workspace, files, report } = surroundings;
  const own = [...folder.fragments, environment];
  const entries = await includeEntries(environment, own, {
    workspace,
    files,
    roots: providerRoots(options.registry),
    sources: variableSources(options),
    report,
  });
  const included = await readIncludes(entries, workspace, folder.seen, report);
  return [...included, ...own];
}

/** Where the values of variables come from. */
export function variableSources(options: LoadOptions): VariableSources {
  const { bundle } = options;
  if (bundle !== undefined) return { arguments: [], files: [], processEnvironment: {}, kept: bundle.manifest.variables };
  return { arguments: options.variables, files: options.variableFiles, processEnvironment: options.processEnvironment };
}

async function build(
  assembled: Assembled,
  { options, workspace, files, report }: Surroundings,
  read: { readonly recorded: RecordedFiles; readonly documents: readonly SpecDocument[] },
): Promise<LoadedEnvironment> {
  const { registry } = options;
  const secretFiles = new Set<string>();
  const prepared = await prepareNames(assembled, {
    name: environmentName(assembled, report),
    registry,
    workspace,
    files,
    report,
    sources: variableSources(options),
    secrets: {
      mode: options.secrets,
      stateMode: options.stateSecrets ?? 'read',
      processEnvironment: options.processEnvironment,
      signal: options.signal,
    },
    secretFiles,
  });
  const { context, release } = prepared;
  const configured = loadProviders(assembled.named.providers, registry, (block) => providerConfig(block, context), report);
  context.providers = configured;
  const expansion = expandResources(assembled.resources, context);
  const world = worldOf(assembled.resources, expansion);
  checkReferences(world, report);
  const providers = [...new Map([...configured, ...expansion.used]).values()].sort((a, b) => compareText(a.alias, b.alias));
  checkHosts([...expansion.used.values()], registry, report);
  const state = loadState(assembled, context);
  const encryption = loadEncryption(assembled, context);
  const steering = loadSteering(assembled, context);
  const outputs = loadOutputs(assembled, context);
  const moved = loadMoved(assembled, context, world);
  const removed = loadRemoved(assembled, context, world);
  const imports = loadImports(assembled, context, world);
  files.close();
  const loaded: Loaded = {
    name: context.fixed.name,
    workspace,
    recorded: read.recorded,
    counting: new Set([...read.documents.map(({ file }) => file.path), ...files.paths(), ...(release?.paths ?? [])]),
    secretFiles,
    secrets: context.fixed.secrets,
    variables: context.fixed.variables as { readonly [name: string]: Plain },
    release: release?.document,
  };
  warnOfSize(loaded, report);
  return {
    name: context.fixed.name,
    folder: workspace.folder,
    workTree: workspace.workTree,
    sourceDigest: digestSource(assembled, context.fixed.name, release, files.digests()),
    ...(release === undefined ? {} : { release: releaseOf(release) }),
    variables: context.fixed.variables,
    secrets: context.fixed.secrets,
    state,
    ...(encryption === undefined ? {} : { encryption }),
    providers,
    resources: [...expansion.instances].sort((a, b) => compareText(a.address, b.address)),
    outputs,
    moved,
    removed,
    imports,
    ...steering,
    resourcesUnder: (document) => resourcesUnder(assembled, prepared, document),
    bundle: () => makeBundle(loaded),
    compile: (text) => compileText(text, assembled.environment, context),
  };
}

function releaseOf({ digest, document, trust }: Release): NonNullable<Environment['release']> {
  return { digest, document, ...(trust === undefined ? {} : { trust }) };
}

/** The instances over another release, without what a mistake there would say. */
function resourcesUnder(
  assembled: Assembled,
  { context, under }: Prepared,
  document: Plain,
): ReturnType<NonNullable<Environment['resourcesUnder']>> {
  if (!isAttributes(document)) return undefined;
  const report = new Report();
  const other = under(document, report);
  other.providers = context.providers;
  const { instances } = expandResources(assembled.resources, other);
  return report.sorted().some(({ severity }) => severity === 'error') ? undefined : instances;
}

/** Says that there will be no way back to this environment before it is put in force. */
function warnOfSize(loaded: Loaded, report: Report): void {
  const bytes = bundledBytes(loaded);
  if (bytes <= BUNDLE_BYTES) return;
  report.add({
    severity: 'warning',
    code: 'BUNDLE_TOO_LARGE',
    summary: 'The files of the environment are too large to be kept',
    detail: `Together they have ${bytes} bytes; at most ${BUNDLE_BYTES} are kept. An apply is not held up by it, and a later rollback to this environment will not be possible.`,
  });
}

/** The name, which stands in every address of the outside world; without a usable one the load goes on to find other mistakes. */
export function environmentName(assembled: Assembled, report: Report): string {
  const node: YamlNode | undefined = memberOf(memberOf(assembled.environment.root, 'metadata'), 'name');
  const value = node?.kind === 'scalar' ? node.value : undefined;
  if (node !== undefined && typeof value === 'string' && hasInterpolation(value)) {
    report.add(
      {
        code: 'EXPRESSION_NOT_ALLOWED',
        summary: 'An expression stands where none may be',
        detail: 'metadata.name is plain text: it names the environment in the outside world.',
      },
      node,
    );
  }
  return typeof value === 'string' && isPlainName(value) ? value : 'environment';
}
