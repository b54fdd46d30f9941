import { realpathSync } from 'node:fs';
import path from 'node:path';
import { compareText } from '../core/address.ts';
import { BUNDLE_FORMAT, type Bundle, type BundledFile, bundleOf, type Manifest } from '../core/bundle.ts';
import { canonicalText, type Digest, digestBytes } from '../core/canonical.ts';
import type { Plain, Sensitive } from '../core/value.ts';
import { diskFiles, type FileSource, type RecordedFiles } from './file-source.ts';
import { displayName, type FileRead, isMissing, type Workspace } from './workspace.ts';

/** The most bytes of all files together that are kept. */
export const BUNDLE_BYTES = 32 * 1024 * 1024;
/** A file that holds nothing but a secret is one; shorter secrets may stand in a file by chance. */
const SHORTEST_SECRET = 8;

/** What a load has read and what of it counts. */
export interface Loaded {
  readonly name: string;
  readonly workspace: Workspace;
  readonly recorded: RecordedFiles;
  /** Absolute paths, as read, of the files whose content counts. */
  readonly counting: ReadonlySet<string>;
  /** Absolute paths of the files that secrets are read from. */
  readonly secretFiles: ReadonlySet<string>;
  readonly secrets: ReadonlyMap<string, Sensitive>;
  readonly variables: { readonly [name: string]: Plain };
  readonly release: Plain | undefined;
}

/** How many bytes a bundle of it would hold. */
export function bundledBytes({ recorded, counting }: Loaded): number {
  return [...counting].reduce((sum, file) => sum + (recorded.taken.get(file)?.bytes.length ?? 0), 0);
}

/** Everything that the load read, so that the environment can be loaded again; undefined when it is more than is kept. Nothing is read for it. */
export function makeBundle(loaded: Loaded): Bundle | undefined {
  if (bundledBytes(loaded) > BUNDLE_BYTES) return undefined;
  const { workspace, recorded, counting } = loaded;
  const isSecret = secretTest(loaded);
  const contents = new Map<Digest, Uint8Array>();
  const files = [...recorded.taken].map(([file, { bytes, real }]): BundledFile => {
    const place = { path: displayName(workspace, file), ...(real === file ? {} : { real: displayName(workspace, real) }) };
    if (!counting.has(file)) return { ...place, kind: 'idle' };
    if (isSecret(file, real, bytes)) return { ...place, kind: 'secret' };
    const digest = digestBytes(bytes);
    contents.set(digest, bytes);
    return { ...place, kind: 'kept', digest, bytes: bytes.length };
  });
  const release = loaded.release === undefined ? undefined : Buffer.from(canonicalText(loaded.release), 'utf8');
  if (release !== undefined) contents.set(digestBytes(release), release);
  const manifest: Manifest = {
    format: BUNDLE_FORMAT,
    environment: loaded.name,
    files: files.sort((a, b) => compareText(a.path, b.path)),
    variables: loaded.variables,
    ...(release === undefined ? {} : { release: digestBytes(release) }),
  };
  return bundleOf(manifest, contents);
}

/** Whether a file is one that a secret comes from, however its name is written. */
function secretTest({ secretFiles, secrets }: Loaded): (file: string, real: string, bytes: Uint8Array) => boolean {
  const paths = new Set([...secretFiles].flatMap((file) => [file, realOf(file)]));
  const texts = new Set<string>();
  for (const secret of secrets.values()) {
    const value = secret.isOpen ? secret.reveal() : undefined;
    if (typeof value === 'string' && value.length >= SHORTEST_SECRET) texts.add(value.trim());
  }
  return (file, real, bytes) =>
    paths.has(file) || paths.has(real) || (texts.size > 0 && texts.has(Buffer.from(bytes).toString('utf8').trim()));
}

function realOf(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if (isMissing(error)) return file;
    throw error;
  }
}

/** The files of a bundle, as they stood when it was made. What holds a secret comes from the disk. */
export class BundledFiles implements FileSource {
  readonly #bundle: Bundle;
  readonly #files: ReadonlyMap<string, BundledFile>;

  constructor(bundle: Bundle) {
    this.#bundle = bundle;
    this.#files = new Map(bundle.manifest.files.map((file) => [file.path, file]));
  }

  read(workspace: Workspace, file: string, limit: number): FileRead {
    const absolute = path.resolve(file);
    const found = this.#files.get(displayName(workspace, absolute));
    if (found === undefined) return { ok: false, code: 'FILE_NOT_FOUND', reason: 'It is not among the files that were kept.' };
    if (found.kind === 'secret') return diskFiles.read(workspace, file, limit);
    const real = found.real === undefined ? absolute : path.resolve(workspace.folder, found.real);
    if (found.kind === 'idle') return { ok: true, bytes: new Uint8Array(), path: real };
    const bytes = this.#bundle.contents.get(found.digest);
    if (bytes === undefined) return { ok: false, code: 'FILE_UNREADABLE', reason: 'Its content is missing among those that were kept.' };
    return { ok: true, bytes, path: real };
  }

  async namesIn(workspace: Workspace, folder: string): Promise<readonly string[]> {
    return this.#below(workspace, folder).filter((name) => !name.includes('/'));
  }

  async filesBelow(workspace: Workspace, folder: string, isDeep: boolean): Promise<readonly string[]> {
    return this.#below(workspace, folder).filter((name) => isDeep || !name.includes('/'));
  }

  #below(workspace: Workspace, folder: string): readonly string[] {
    const names = [...this.#files.keys()].map((name) => path.relative(folder, path.resolve(workspace.folder, name)));
    return names
      .map((name) => name.split(path.sep).join('/'))
      .filter((name) => !name.startsWith('../'))
      .sort(compareText);
  }
}

/** The files of a bundle where it has them, and those on the disk beside them: what a load of the folder would see with the bundle put back. */
export class OverlaidFiles implements FileSource {
  readonly #bundled: BundledFiles;

  constructor(bundle: Bundle) {
    this.#bundled = new BundledFiles(bundle);
  }

  read(workspace: Workspace, file: string, limit: number): FileRead {
    const kept = this.#bundled.read(workspace, file, limit);
    return kept.ok || kept.code !== 'FILE_NOT_FOUND' ? kept : diskFiles.read(workspace, file, limit);
  }

  async namesIn(workspace: Workspace, folder: string): Promise<readonly string[]> {
    return joined(await this.#bundled.namesIn(workspace, folder), await diskFiles.namesIn(workspace, folder));
  }

  async filesBelow(workspace: Workspace, folder: string, isDeep: boolean): Promise<readonly string[] | string> {
    const kept = await this.#bundled.filesBelow(workspace, folder, isDeep);
    const present = await diskFiles.filesBelow(workspace, folder, isDeep);
    return typeof present === 'string' ? (kept.length === 0 ? present : kept) : joined(kept, present);
  }
}

function joined(one: readonly string[], other: readonly string[]): readonly string[] {
  return [...new Set([...one, ...other])].sort(compareText);
}
