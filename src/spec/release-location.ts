import path from 'node:path';
import { compareText } from '../core/address.ts';
import { fail, type Outcome, succeed } from '../core/diagnostic.ts';
import { assemble } from './assemble.ts';
import { providerConfig } from './blocks.ts';
import { readFolder } from './documents.ts';
import type { ProviderBlock } from './environment.ts';
import { diskFiles } from './file-source.ts';
import { FileStore } from './files.ts';
import { environmentName, type LoadOptions, variableSources, withIncludes } from './load.ts';
import { prepareNames } from './prepare.ts';
import { loadProviders } from './providers.ts';
import { type Release, readRelease } from './release.ts';
import { Report } from './report.ts';
import { memberOf, nodeRange } from './source.ts';
import { openWorkspace } from './workspace.ts';

/** Which release an environment names, and whom it can ask about images. */
export interface ReleaseLocation {
  /** Absolute path of the release document. */
  readonly file: string;
  /** Absolute path of its signature, where the environment asks for one. */
  readonly signature: string | undefined;
  /** The provider blocks that are written and have no mistake, by alias. */
  readonly providers: readonly ProviderBlock[];
  /** Reads the release and proves its signature. */
  read(): Outcome<Release>;
}

/**
 * Finds the release of an environment whose documents may have mistakes: a release that is about to be changed, locked or signed is no valid one
 * yet. No secret is read.
 */
export async function locateRelease(options: LoadOptions): Promise<Outcome<ReleaseLocation>> {
  const opened = await openWorkspace(options.folder, diskFiles);
  if (!opened.ok) return opened;
  const workspace = opened.value;
  const unheard = new Report();
  const folder = await readFolder(workspace, unheard);
  if (folder.environment === undefined) return { ok: false, diagnostics: unheard.sorted() };
  const files = new FileStore(workspace);
  const documents = await withIncludes(folder, folder.environment, { options, workspace, files, report: unheard });
  const assembled = assemble(folder.environment, documents, unheard);
  const { context } = await prepareNames(assembled, {
    name: environmentName(assembled, unheard),
    registry: options.registry,
    workspace,
    files,
    report: unheard,
    sources: variableSources(options),
    secrets: { mode: 'none', stateMode: 'none', processEnvironment: options.processEnvironment, signal: options.signal },
    secretFiles: new Set(),
  });
  const configured = loadProviders(assembled.named.providers, options.registry, (block) => providerConfig(block, context), unheard);
  files.close();
  const { release: node } = assembled.single;
  const name = node?.kind === 'map' ? memberOf(node, 'file') : node;
  if (node === undefined || name?.kind !== 'scalar' || typeof name.value !== 'string') {
    return fail({
      severity: 'error',
      code: 'RELEASE_NOT_NAMED',
      summary: 'The environment names no release',
      detail: `${folder.environment.file.name} has no release: that names a file. Name the release document itself on the command line, or add release: FILE to the Environment.`,
      source: nodeRange(node ?? folder.environment.root),
    });
  }
  const signature = node.kind === 'map' ? memberOf(node, 'signature') : undefined;
  const resolved = (text: unknown) => (typeof text === 'string' ? path.resolve(workspace.folder, text) : undefined);
  return succeed({
    file: path.resolve(workspace.folder, name.value),
    signature: signature?.kind === 'scalar' ? resolved(signature.value) : undefined,
    providers: [...configured.values()].sort((a, b) => compareText(a.alias, b.alias)),
    read: () => {
      const report = new Report();
      const release = readRelease(node, workspace, report);
      const mistakes = report.sorted();
      return release === undefined || report.hasErrors ? { ok: false, diagnostics: mistakes } : succeed(release, mistakes);
    },
  });
}
