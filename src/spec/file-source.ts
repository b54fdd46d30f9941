import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { compareText } from '../core/address.ts';
import { type FileRead, namesIn, readInside, reasonOf, type Workspace } from './workspace.ts';

/** Where the files of an environment are: on the disk, or kept from an earlier load. Paths are absolute. */
export interface FileSource {
  /** Reads one file, at most `limit` bytes. */
  read(workspace: Workspace, file: string, limit: number): FileRead;
  /** The names in a folder, in text order. */
  namesIn(workspace: Workspace, folder: string): Promise<readonly string[]>;
  /** Relative names of the files below a folder, or of those in it alone, in text order; or why it cannot be read. */
  filesBelow(workspace: Workspace, folder: string, isDeep: boolean): Promise<readonly string[] | string>;
}

/** The files as they are on the disk now. */
export const diskFiles: FileSource = {
  read: readInside,
  namesIn: (_workspace, folder) => namesIn(folder),
  filesBelow: async (_workspace, folder, isDeep) => walk(folder, isDeep),
};

/** Takes down what was read through it. */
export class RecordedFiles implements FileSource {
  readonly #source: FileSource;
  /** What was read, by the path that it was read under. */
  readonly taken = new Map<string, { readonly bytes: Uint8Array; readonly real: string }>();

  constructor(source: FileSource) {
    this.#source = source;
  }

  read(workspace: Workspace, file: string, limit: number): FileRead {
    const read = this.#source.read(workspace, file, limit);
    if (read.ok) this.taken.set(path.resolve(file), { bytes: read.bytes, real: read.path });
    return read;
  }

  namesIn(workspace: Workspace, folder: string): Promise<readonly string[]> {
    return this.#source.namesIn(workspace, folder);
  }

  filesBelow(workspace: Workspace, folder: string, isDeep: boolean): Promise<readonly string[] | string> {
    return this.#source.filesBelow(workspace, folder, isDeep);
  }
}

/** Links are not followed. */
async function walk(folder: string, isDeep: boolean): Promise<readonly string[] | string> {
  const names: string[] = [];
  const waiting = [''];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    let entries: Awaited<ReturnType<typeof listing>>;
    try {
      entries = await listing(path.join(folder, at));
    } catch (error) {
      return reasonOf(error);
    }
    for (const entry of entries) {
      const name = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) {
        if (isDeep && entry.name !== 'node_modules' && entry.name !== '.git') waiting.push(name);
      } else names.push(name);
    }
  }
  return names.sort(compareText);
}

function listing(folder: string) {
  return readdir(folder, { withFileTypes: true });
}
