import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lchown, lstat, mkdir, open, readdir, readFile, rename, rmdir, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { compareText } from '../core/address.ts';
import { type FileStatus, type Host, ProviderError } from '../providers/contract.ts';
import { accountNumber } from './accounts.ts';
import { removeLeftover, syncFolder, temporaryPath, writeAtomically } from './atomic.ts';
import { errnoOf, faultOf } from './fault.ts';
import { processesOf, signalProcess } from './processes.ts';
import { runProgram } from './program.ts';

export interface LocalHostOptions {
  /** What programs get; nothing else of this process's environment reaches them. PATH and HOME have defaults. */
  readonly environment?: { readonly [name: string]: string | undefined };
  /** The tables of users and groups. */
  readonly passwd?: string;
  readonly group?: string;
  /** Where the kernel shows its processes. */
  readonly proc?: string;
}

const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** This machine. Every method throws `ProviderError` for what the system refuses. */
export function localHost(options: LocalHostOptions = {}): Host {
  const given = Object.entries(options.environment ?? {}).flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
  const environment = { PATH: SEARCH_PATH, HOME: '/', ...Object.fromEntries(given), LANG: 'C.UTF-8' };
  return {
    name: 'local',
    variables: environment,
    status: statusOf,
    readFile: readBounded,
    async list(path) {
      try {
        return (await readdir(path)).sort(compareText);
      } catch (error) {
        throw faultOf(error, `The directory ${path} could not be listed`);
      }
    },
    inspect: (argv, { signal, timeout, input }) =>
      runProgram(argv, { environment, signal, timeout, endedEarly: 'TIMEOUT', ...(input === undefined ? {} : { input }) }),
    processesOf: (executables) => processesOf(options.proc ?? '/proc', executables),
    signalProcess: (process, signal) => signalProcess(options.proc ?? '/proc', process, signal),
    userId: (name) => account(options.passwd ?? '/etc/passwd', name),
    groupId: (name) => account(options.group ?? '/etc/group', name),
    writeFile: writeAtomically,
    async setMode(path, mode) {
      // By an open file, since the system's chmod follows a link.
      await withOpenFile(path, (file) => file.chmod(mode), `The mode of ${path} could not be changed`);
    },
    async setOwner(path, uid, gid) {
      try {
        await lchown(path, uid, gid);
      } catch (error) {
        throw faultOf(error, `The owner of ${path} could not be changed`);
      }
    },
    makeFolder: (path, { mode }) => makeFolder(path, mode),
    removeResidue: (path, { key }) => removeLeftover(temporaryPath(path, key)),
    async removeFile(path, removal) {
      try {
        await unlink(path);
        await syncFolder(dirname(path), `The file ${path} was removed, but its folder could not be made durable`);
      } catch (error) {
        if (errnoOf(error) !== 'ENOENT') throw faultOf(error, `The file ${path} could not be removed`);
      }
      if (removal !== undefined) await removeLeftover(temporaryPath(path, removal.key));
    },
    async removeFolder(path) {
      try {
        await rmdir(path);
        await syncFolder(dirname(path), `The directory ${path} was removed, but its folder could not be made durable`);
      } catch (error) {
        if (errnoOf(error) !== 'ENOENT') throw faultOf(error, `The directory ${path} could not be removed`);
      }
    },
    async rename(from, to) {
      const what = `${from} could not be renamed to ${to}`;
      try {
        await rename(from, to);
      } catch (error) {
        throw faultOf(error, what);
      }
      for (const folder of new Set([dirname(from), dirname(to)])) {
        await syncFolder(folder, `${from} was renamed to ${to}, but the folder could not be made durable`);
      }
    },
    run: (argv, { environment: more, ...given }) =>
      runProgram(argv, { ...given, environment: { ...environment, ...more }, endedEarly: 'UNKNOWN_OUTCOME' }),
  };
}

async function statusOf(path: string): Promise<FileStatus | undefined> {
  try {
    const status = await lstat(path);
    const kind = status.isFile() ? 'file' : status.isDirectory() ? 'directory' : status.isSymbolicLink() ? 'symlink' : 'other';
    return { kind, size: status.size, mode: status.mode & 0o7777, uid: status.uid, gid: status.gid, links: status.nlink };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw faultOf(error, `${path} could not be looked at`);
  }
}

async function readBounded(path: string, options: { readonly limit: number }): Promise<Uint8Array> {
  const what = `The file ${path} could not be read`;
  return await withOpenFile(
    path,
    async (file) => {
      const before = await file.stat({ bigint: true });
      if (!before.isFile()) throw new ProviderError('CONFLICT', `${what}: it is no regular file.`);
      if (before.size > BigInt(options.limit)) throw tooLarge(what, options.limit);
      const content = await readUpTo(file, options.limit + 1);
      if (content.length > options.limit) throw tooLarge(what, options.limit);
      const after = await lstat(path, { bigint: true });
      if (!sameFile(before, after) || after.size !== BigInt(content.length)) {
        throw new ProviderError('CONFLICT', `${what}: it changed while it was read.`, { next: 'Run the command again.' });
      }
      return content;
    },
    what,
  );
}

function tooLarge(what: string, limit: number): ProviderError {
  return new ProviderError('INVALID', `${what}: it has more than ${limit} bytes.`);
}

async function readUpTo(file: FileHandle, limit: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  while (size < limit) {
    const chunk = Buffer.alloc(Math.min(65_536, limit - size));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
    if (bytesRead === 0) break;
    size += bytesRead;
    chunks.push(chunk.subarray(0, bytesRead));
  }
  return Buffer.concat(chunks);
}

function sameFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

/** Opens without following a link at the end of the path, and without waiting for the other end of a pipe. */
async function withOpenFile<T>(path: string, use: (file: FileHandle) => Promise<T>, what: string): Promise<T> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw faultOf(error, what);
  }
}

async function makeFolder(path: string, mode: number): Promise<void> {
  const what = `The directory ${path} could not be made`;
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST' || (await statusOf(path))?.kind !== 'directory') throw faultOf(error, what);
    return;
  }
  // The mode given to mkdir is cut by the umask.
  await withOpenFile(path, (folder) => folder.chmod(mode), what);
  await syncFolder(dirname(path), `The directory ${path} was made, but the folder above it could not be made durable`);
}

async function account(table: string, name: string): Promise<number | undefined> {
  try {
    return accountNumber(await readFile(table, 'utf8'), name);
  } catch (error) {
    throw faultOf(error, `The table ${table} could not be read`);
  }
}
