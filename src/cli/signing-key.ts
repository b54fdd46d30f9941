import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Diagnostic, fail, type Outcome, settle, succeed } from '../core/diagnostic.ts';
import { type PrivateKey, type PublicKey, parsePrivateKey, parsePublicKey } from '../core/ed25519.ts';
import { kindOf } from './paths.ts';
import { readBounded } from './planfiles.ts';

/** No key file has more bytes. */
const KEY_BYTES = 16 * 1024;

/** Reads a private key from a file that only its owner may read, as a file with a secret has to be. No message tells what is in it. */
export async function readSigningKey(path: string): Promise<Outcome<PrivateKey>> {
  try {
    // By the open file, so that what is checked is what is read.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const status = await file.stat();
      if (!status.isFile()) return fail(unusable(path, 'is no regular file.'));
      const user = process.geteuid?.();
      if (user !== undefined && status.uid !== user && status.uid !== 0) return fail(unusable(path, 'belongs to another user.'));
      if ((status.mode & 0o177) !== 0) {
        const mode = (status.mode & 0o777).toString(8).padStart(4, '0');
        return fail({ ...unusable(path, `has the mode ${mode}; a private key must have 0600 or less.`), next: `chmod 600 ${path}` });
      }
      if (status.size > KEY_BYTES) return fail(unusable(path, `has more than ${KEY_BYTES} bytes.`));
      const parsed = parsePrivateKey(await file.readFile());
      return parsed.ok ? succeed(parsed.key) : fail(unusable(path, `holds no key that can be used. ${parsed.reason}`));
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (code === undefined) throw error;
    return fail(unusable(path, REASONS[code] ?? `cannot be read (${code}).`));
  }
}

/** Reads public keys that are written on a command line: as the key itself, or as the file that it stands in. */
export async function readPublicKeys(written: readonly string[], folder: string): Promise<Outcome<readonly PublicKey[]>> {
  const keys: PublicKey[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const word of written) {
    const path = resolve(folder, word);
    const isKey = word.startsWith('ed25519:') || word.startsWith('ssh-');
    if (!isKey && kindOf(path) !== 'file') diagnostics.push(invalid(`${word} is neither a public key nor the file of one.`));
    else {
      const read = isKey ? succeed(word) : await fileText(path);
      if (!read.ok) diagnostics.push(...read.diagnostics);
      else {
        const parsed = parsePublicKey(read.value);
        if (parsed.ok) keys.push(parsed.key);
        else diagnostics.push(invalid(`${isKey ? 'A key on the command line' : word} cannot be read. ${parsed.reason}`));
      }
    }
  }
  return settle(keys, diagnostics);
}

async function fileText(path: string): Promise<Outcome<string>> {
  const read = await readBounded(path, KEY_BYTES);
  return read.ok ? succeed(Buffer.from(read.value).toString('utf8')) : read;
}

const REASONS: { readonly [code: string]: string | undefined } = {
  ENOENT: 'does not exist.',
  EACCES: 'may not be read by this user.',
  EPERM: 'may not be read by this user.',
  ELOOP: 'is a symbolic link. Name the file itself.',
};

function unusable(path: string, problem: string): Diagnostic {
  return {
    severity: 'error',
    code: 'SIGNING_KEY_UNUSABLE',
    summary: 'The private key cannot be used',
    detail: `The file ${path} ${problem}`,
  };
}

function invalid(detail: string): Diagnostic {
  return {
    severity: 'error',
    code: 'RELEASE_KEY_INVALID',
    summary: 'A key is no public key',
    detail,
    expected: 'ed25519:BASE64, ssh-ed25519 AAAA…, or a file with one of these or with PEM',
  };
}
