import { closeSync, constants, existsSync, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { compareText } from '../core/address.ts';
import { type Diagnostic, fail, type Outcome, succeed } from '../core/diagnostic.ts';
import type { FileSource } from './file-source.ts';

/** The largest YAML file. */
export const DOCUMENT_BYTES = 5 * 1024 * 1024;
/** The largest file that an expression or an attribute reads. */
export const READ_BYTES = 1024 * 1024;

/** The environment's folder and the tree that nothing may lead out of. */
export interface Workspace {
  /** Absolute, links resolved. */
  readonly folder: string;
  /** Absolute: the Git work tree, or without Git the folder. */
  readonly workTree: string;
  /** Where everything but secrets is read from. */
  readonly files: FileSource;
}

/** Finds the folder and its work tree: the nearest parent that holds `.git`. */
export async function openWorkspace(folder: string, files: FileSource): Promise<Outcome<Workspace>> {
  let real: string;
  try {
    real = await realpath(folder);
    if (!(await stat(real)).isDirectory()) return fail(noFolder(folder, 'It is a file.'));
  } catch (error) {
    return fail(noFolder(folder, reasonOf(error)));
  }
  for (let at = real; ; at = path.dirname(at)) {
    if (await exists(path.join(at, '.git'))) return succeed({ folder: real, workTree: at, files });
    if (path.dirname(at) === at) return succeed({ folder: real, workTree: real, files });
  }
}

function noFolder(folder: string, reason: string): Diagnostic {
  return {
    severity: 'error',
    code: 'NO_SUCH_FOLDER',
    summary: 'The environment’s folder cannot be read',
    detail: `${folder} is no folder that can be read. ${reason}`,
    expected: 'a folder with an Environment document',
  };
}

async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** Why a file cannot be read, as a sentence without its path. */
export function reasonOf(error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'It does not exist.';
    case 'EACCES':
    case 'EPERM':
      return 'It may not be read.';
    case 'ELOOP':
      return 'It is a symbolic link, or links go in a circle.';
    case 'EISDIR':
      return 'It is a folder.';
    case undefined:
      throw error;
    default:
      return `Reading failed with ${codeOf(error)}.`;
  }
}

/** The names in a folder, in text order. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).sort(compareText);
}

export type FileRead =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly path: string }
  | {
      readonly ok: false;
      readonly code: 'FILE_NOT_FOUND' | 'FILE_UNREADABLE' | 'FILE_OUTSIDE' | 'FILE_TOO_LARGE';
      readonly reason: string;
    };

/**
 * Reads a file of the work tree. Links are followed as long as they stay inside; what is outside is refused before it is opened. The size is
 * that of the opened file, so that it cannot grow between the look and the read.
 */
export function readInside(workspace: Pick<Workspace, 'workTree'>, file: string, limit: number): FileRead {
  const absolute = path.resolve(file);
  if (!isInside(workspace, absolute)) return { ok: false, code: 'FILE_OUTSIDE', reason: `It lies outside of ${borderOf(workspace)}` };
  try {
    const real = realpathSync(absolute);
    if (!isInside(workspace, real))
      return { ok: false, code: 'FILE_OUTSIDE', reason: `A symbolic link leads out of ${borderOf(workspace)}` };
    // Without O_NONBLOCK, opening a named pipe would wait for a writer for ever.
    const handle = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return readRegular(handle, real, limit);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    return { ok: false, code: isMissing(error) ? 'FILE_NOT_FOUND' : 'FILE_UNREADABLE', reason: reasonOf(error) };
  }
}

/** What nothing may lead out of, as the end of a sentence. Without Git the border is closer than who knows it with Git expects. */
function borderOf({ workTree }: Pick<Workspace, 'workTree'>): string {
  return existsSync(path.join(workTree, '.git'))
    ? 'the Git work tree.'
    : "the environment's folder, which is the border where there is no Git work tree. Run git init in a folder above that holds both.";
}

function readRegular(handle: number, real: string, limit: number): FileRead {
  const status = fstatSync(handle);
  if (!status.isFile()) return { ok: false, code: 'FILE_UNREADABLE', reason: 'It is no regular file.' };
  if (status.size > limit) return { ok: false, code: 'FILE_TOO_LARGE', reason: `It has ${status.size} bytes; at most ${limit} are read.` };
  const bytes = Buffer.alloc(status.size);
  let length = 0;
  for (let read = -1; read !== 0 && length < bytes.length; length += read)
    read = readSync(handle, bytes, length, bytes.length - length, length);
  return { ok: true, bytes: bytes.subarray(0, length), path: real };
}

export function isInside(workspace: Pick<Workspace, 'workTree'>, absolute: string): boolean {
  return absolute === workspace.workTree || absolute.startsWith(workspace.workTree === path.sep ? path.sep : workspace.workTree + path.sep);
}

/** A path relative to the environment's folder, with `/`. */
export function displayName(workspace: Workspace, absolute: string): string {
  return path.relative(workspace.folder, absolute).split(path.sep).join('/');
}

/** Decodes UTF-8 strictly; answers the offset of the first bad byte otherwise. */
export function decodeUtf8(bytes: Uint8Array): { readonly text: string } | { readonly badByte: number } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  let good = 0;
  let bad = bytes.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isPrefix(bytes.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  return { badByte: characterStart(bytes, Math.min(good, bytes.length)) };
}

/** Where the character begins that is cut short at `end`. */
function characterStart(bytes: Uint8Array, end: number): number {
  let start = end - 1;
  while (start > end - 4 && start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start >= 0 && length > end - start ? start : end;
}

function isPrefix(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}
