import { type BigIntStats, constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { BackendError } from './contract.ts';

const KEY_BYTES = 32;
/** Enough for every form of a key and for a passphrase; more is another kind of file. */
const LONGEST = 1024;

/**
 * The key in a key file: 32 bytes as they are, or as 64 hexadecimal digits or in base64 with a line break behind at most. Throws
 * `BackendError` STATE_KEY_UNUSABLE when the file is a link, no plain file, reachable by several names, of another owner, open to others, or
 * holds no such key. No message tells what is in it.
 */
export async function readKeyFile(path: string): Promise<Buffer> {
  const key = keyIn(await readPrivate(path));
  if (key !== undefined) return key;
  throw unusable(
    path,
    'holds no key. A key has 32 bytes, as they are or as 64 hexadecimal digits or in base64; this makes one.',
    `(umask 077; head -c 32 /dev/urandom > ${quoted(path)})`,
  );
}

/** The passphrase in a file as private as a key file, without the line break at its end. Throws `BackendError` STATE_KEY_UNUSABLE. */
export async function readPassphraseFile(path: string): Promise<string> {
  const text = (await readPrivate(path)).toString('utf8').replace(/\r?\n$/, '');
  if (text !== '') return text;
  throw unusable(path, 'is empty.');
}

async function readPrivate(path: string): Promise<Buffer> {
  try {
    // By the open file, so that what is checked is what is read.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const status = await file.stat({ bigint: true });
      const problem = problemOf(status, path);
      if (problem !== undefined) throw unusable(path, problem.text, problem.next);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST + 1), 0, LONGEST + 1, 0);
      const after = await lstat(path, { bigint: true });
      if (after.ino !== status.ino || after.dev !== status.dev)
        throw unusable(path, 'was replaced while it was read. Run the command again.');
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (error instanceof BackendError || code === undefined) throw error;
    throw unusable(path, REASONS[code] ?? `cannot be read (${code}).`);
  }
}

function unusable(path: string, problem: string, next?: string): BackendError {
  return new BackendError('STATE_KEY_UNUSABLE', `The file ${path} ${problem}`, next === undefined ? {} : { next });
}

/** The path as a shell takes it. */
function quoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}

const REASONS: { readonly [code: string]: string | undefined } = {
  ENOENT: 'does not exist. Put the key in its place: without it the secrets that the state keeps stay closed.',
  EACCES: 'may not be read by this user.',
  EPERM: 'may not be read by this user.',
  ELOOP: 'is a symbolic link. Name the file itself.',
};

function problemOf(status: BigIntStats, path: string): { readonly text: string; readonly next?: string } | undefined {
  if (!status.isFile()) return { text: 'is no regular file.' };
  const user = process.geteuid?.();
  if (user !== undefined && status.uid !== BigInt(user) && status.uid !== 0n) return { text: `belongs to user ${status.uid}.` };
  if (status.nlink > 1n) return { text: `can be reached by ${status.nlink} names (hard links). Remove the others.` };
  if ((status.mode & 0o177n) !== 0n) {
    const mode = (status.mode & 0o7777n).toString(8).padStart(4, '0');
    return { text: `has the mode ${mode}, and others could read it; 0600 or less is needed.`, next: `chmod 600 ${quoted(path)}` };
  }
  return undefined;
}

function keyIn(bytes: Buffer): Buffer | undefined {
  if (bytes.length === KEY_BYTES) return Buffer.from(bytes);
  const text = bytes.toString('latin1').replace(/\r?\n$/, '');
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex');
  if (/^[A-Za-z0-9+/]{43}=$/.test(text) || /^[A-Za-z0-9_-]{43}=?$/.test(text)) return Buffer.from(text, 'base64');
  return undefined;
}
