import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { compareText } from '../core/address.ts';
import type { Bundle } from '../core/bundle.ts';
import { OverlaidFiles } from '../spec/bundle.ts';
import { diskFiles } from '../spec/file-source.ts';
import { documentPaths, type LoadOptions } from '../spec/load.ts';
import type { Location } from '../spec/locate.ts';
import { DOCUMENT_BYTES, openWorkspace } from '../spec/workspace.ts';

/** What has to happen to one file so that a folder agrees with a bundle. Undefined is absent. */
export interface FileChange {
  /** Relative to the top of the Git work tree, or without Git to the environment's folder. */
  readonly name: string;
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
}

/**
 * What makes the files of a folder agree with a bundle: kept files as they were, and documents that came since and would be read with them gone.
 * Files that secrets are read from stay as they are.
 */
export async function folderChanges(location: Location, bundle: Bundle, options: LoadOptions): Promise<readonly FileChange[]> {
  const opened = await openWorkspace(location.folder, diskFiles);
  if (!opened.ok) throw new Error(`${location.folder} was there a moment ago`);
  const workspace = opened.value;
  const top = existsSync(join(workspace.workTree, '.git')) ? workspace.workTree : workspace.folder;
  const changes = new Map<string, FileChange>();
  const present = (path: string) => {
    const read = diskFiles.read(workspace, path, DOCUMENT_BYTES);
    return read.ok ? { path: read.path, bytes: read.bytes } : undefined;
  };
  const change = (path: string, after: Uint8Array | undefined) => {
    const found = present(path);
    if (found === undefined ? after === undefined : after !== undefined && Buffer.compare(found.bytes, after) === 0) return;
    // Where a link leads to is what a patch can change.
    const name = relative(top, found?.path ?? path)
      .split('\\')
      .join('/');
    changes.set(name, { name, before: found?.bytes, after });
  };
  const kept = new Set(bundle.manifest.files.map((file) => resolve(workspace.folder, file.path)));
  for (const file of bundle.manifest.files) {
    if (file.kind === 'kept') change(resolve(workspace.folder, file.path), bundle.contents.get(file.digest));
  }
  for (const path of await documentPaths({ ...options, folder: location.folder, bundle }, new OverlaidFiles(bundle))) {
    if (!kept.has(path)) change(path, undefined);
  }
  return [...changes.values()].sort((a, b) => compareText(a.name, b.name));
}
