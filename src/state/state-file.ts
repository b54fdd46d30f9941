import { accessSync, closeSync, constants, fchmodSync, fsyncSync, lstatSync, mkdirSync, openSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { BackendError } from './contract.ts';

/** Which file stands at a path: another one there has another identity. */
export interface FileIdentity {
  readonly device: bigint;
  readonly inode: bigint;
  readonly size: bigint;
  readonly changed: bigint;
}

/** With less room than this a run would hardly come to its end. */
const ROOM = 1024 * 1024;

const COMPANIONS = ['-wal', '-shm', '-journal'] as const;

/**
 * Looks at the state file without opening it. Undefined when there is none. Throws `STATE_FILE_UNSAFE` when it, or a companion of it, is a
 * link, not a plain file, of another owner or open to others.
 *
 * It must not open the file: closing any descriptor of a file drops all locks that this process has on it, the database's among them.
 */
export function inspectStateFile(path: string): FileIdentity | undefined {
  const found = inspect(path);
  if (found !== undefined) for (const suffix of COMPANIONS) inspect(`${path}${suffix}`);
  return found;
}

/** True when the write-ahead log holds nothing that is not in the file itself. */
export function isCheckpointed(path: string): boolean {
  return (inspect(`${path}-wal`)?.size ?? 0n) === 0n;
}

/**
 * Throws `BackendError` when the file, or where there is none its folder, can't be written: by its mode, a file system that is mounted read-only, or
 * a disk with too little room for a run. Changes nothing.
 */
export function requireWritable(path: string): void {
  let folder = dirname(path);
  while (lookAt(folder) === undefined && dirname(folder) !== folder) folder = dirname(folder);
  for (const place of lookAt(path) === undefined ? [folder] : [folder, path]) {
    try {
      accessSync(place, constants.W_OK);
    } catch (error) {
      throw fileError(path, error);
    }
  }
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= ROOM) return;
  throw new BackendError(
    'STATE_FULL',
    `There is hardly any space left for the state file ${path}: ${Math.floor((bavail * bsize) / 1024)} KiB, and a run needs ${ROOM / 1024} KiB at least.`,
  );
}

export function sameFile(a: FileIdentity, b: FileIdentity | undefined): boolean {
  return b !== undefined && a.device === b.device && a.inode === b.inode;
}

/** Makes an empty state file, 0600, in a folder that is made 0700 when it is missing. Finding one there already is no error. */
export function createStateFile(path: string): void {
  const folder = dirname(path);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_WRONLY, 0o600);
    try {
      fchmodSync(file, 0o600);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    const parent = openSync(folder, constants.O_RDONLY);
    try {
      fsyncSync(parent);
    } finally {
      closeSync(parent);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || inspect(path) === undefined) throw fileError(path, error);
  }
}

function inspect(path: string): FileIdentity | undefined {
  const found = lookAt(path);
  if (found === undefined) return undefined;
  const unsafe = (problem: string, next?: string) =>
    new BackendError(
      'STATE_FILE_UNSAFE',
      `The state file ${path} ${problem}. Others could read fingerprints of secrets in it, or decide what is removed.`,
      next === undefined ? {} : { next },
    );
  if (found.isSymbolicLink()) throw unsafe('is a symbolic link; name the file itself in state.path');
  if (!found.isFile()) throw unsafe('is not a plain file; name a file in state.path');
  const user = process.geteuid?.();
  if (user !== undefined && found.uid !== BigInt(user)) {
    throw unsafe(
      `belongs to user ${found.uid}, and this process runs as user ${user}; run as its owner, or make it yours`,
      `chown ${user} ${quote(path)}`,
    );
  }
  if (found.nlink > 1n)
    throw unsafe(`can be reached by ${found.nlink} names (hard links); remove the others`, `find / -xdev -samefile ${quote(path)}`);
  if ((found.mode & 0o077n) !== 0n) {
    throw unsafe(`has the mode ${(found.mode & 0o7777n).toString(8)}, and 600 was expected`, `chmod 600 ${quote(path)}`);
  }
  return { device: found.dev, inode: found.ino, size: found.size, changed: found.mtimeNs };
}

/** The path as a shell takes it. */
function quote(path: string): string {
  return /^[\w./+@-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function lookAt(path: string) {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    throw fileError(path, error);
  }
}

function fileError(path: string, error: unknown): unknown {
  if (error instanceof BackendError || !(error instanceof Error)) return error;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === undefined) return error;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new BackendError('STATE_FULL', `There is no space left for the state file ${path} (${code}).`, { cause: error });
  }
  return new BackendError('STATE_UNREACHABLE', `The state file ${path} can't be reached: ${error.message}.`, { cause: error });
}
