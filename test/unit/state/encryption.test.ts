import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { randomIds } from '../../../src/core/clock.ts';
import { BackendError } from '../../../src/state/contract.ts';
import { createEncryption, encryptionSchema, type KeySource, openEncryption, rewrapEncryption } from '../../../src/state/encryption.ts';
import { readKeyFile } from '../../../src/state/key-file.ts';

const home = { environment: 'staging', lineage: 'ab'.repeat(16) };
const KEY = Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - index));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'accede-key-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: string | Buffer, mode = 0o600): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

async function refusal(attempt: Promise<unknown>): Promise<BackendError> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof BackendError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('a key file', () => {
  it('must give its key in every form, a line break behind it or not', async () => {
    for (const content of [
      KEY,
      KEY.toString('hex'),
      `${KEY.toString('hex').toUpperCase()}\n`,
      `${KEY.toString('base64')}\r\n`,
      KEY.toString('base64url'),
    ]) {
      expect(await readKeyFile(write('key', content))).toEqual(KEY);
    }
    expect(await readKeyFile(write('key', KEY, 0o400))).toEqual(KEY);
  });

  it('must be refused when others can read it, when it is a link or no file, and when it holds no key', async () => {
    const good = write('good', KEY);
    symlinkSync(good, path.join(folder, 'link'));
    mkdirSync(path.join(folder, 'folder'));
    const cases: readonly (readonly [string, RegExp])[] = [
      [write('open', KEY, 0o640), /mode 0640/],
      [write('run', KEY, 0o700), /mode 0700/],
      [path.join(folder, 'link'), /symbolic link/],
      [path.join(folder, 'folder'), /no regular file/],
      [path.join(folder, 'none'), /does not exist/],
      [write('short', KEY.subarray(1)), /holds no key/],
      [write('long', Buffer.alloc(5000, 'a')), /holds no key/],
      [write('words', 'correct horse battery staple'), /holds no key/],
    ];
    for (const [file, reason] of cases) {
      const error = await refusal(readKeyFile(file));
      expect(error.code, file).toBe('STATE_KEY_UNUSABLE');
      expect(error.message, file).toMatch(reason);
      expect(`${error.message} ${error.next ?? ''}`, file).not.toMatch(/correct|horse|aaaa/);
    }
    linkSync(good, path.join(folder, 'second'));
    expect((await refusal(readKeyFile(good))).message).toMatch(/2 names/);
  });
});

describe('the encryption of a state', () => {
  const passphrase: KeySource = { kind: 'passphrase', passphrase: 'a passphrase of some length' };

  it('must open with its key file alone, and in its own state alone', async () => {
    const source: KeySource = { kind: 'key-file', path: write('key', KEY) };
    const { encryption, dataKey } = await createEncryption(source, home, randomIds);
    expect(encryptionSchema.parse(JSON.parse(JSON.stringify(encryption)))).toEqual(encryption);
    expect(JSON.stringify(encryption)).not.toContain(dataKey.toString('base64'));
    expect(await openEncryption(encryption, source, home)).toEqual(dataKey);
    const other: KeySource = { kind: 'key-file', path: write('other', Buffer.alloc(32, 1)) };
    expect((await refusal(openEncryption(encryption, other, home))).code).toBe('STATE_KEY_WRONG');
    expect((await refusal(openEncryption(encryption, source, { ...home, environment: 'production' }))).code).toBe('STATE_KEY_WRONG');
    const kind = await refusal(openEncryption(encryption, passphrase, home));
    expect(kind).toMatchObject({ code: 'STATE_KEY_WRONG', message: expect.stringContaining('It is encrypted with a key file') });
  });

  it('must open with its passphrase alone, however the text is composed', async () => {
    const composed: KeySource = { kind: 'passphrase', passphrase: 'caf\u00e9 caf\u00e9 caf\u00e9 caf\u00e9' };
    const { encryption, dataKey } = await createEncryption(composed, home, randomIds);
    expect(encryption.passphrase).toMatchObject({ scheme: 'scrypt', cost: 131_072, blockSize: 8, parallelization: 1 });
    expect(await openEncryption(encryption, { kind: 'passphrase', passphrase: composed.passphrase.normalize('NFD') }, home)).toEqual(
      dataKey,
    );
    const wrong = await refusal(openEncryption(encryption, passphrase, home));
    expect(wrong.code).toBe('STATE_KEY_WRONG');
    expect(wrong.message).not.toContain(passphrase.passphrase);
  });

  it('must not be opened with weaker parameters than it was made with', async () => {
    const { encryption } = await createEncryption(passphrase, home, randomIds);
    if (encryption.passphrase === null) throw new Error('no passphrase');
    const weaker = { ...encryption, passphrase: { ...encryption.passphrase, cost: 16_384 as const } };
    expect((await refusal(openEncryption(weaker, passphrase, home))).code).toBe('STATE_KEY_WRONG');
    expect(encryptionSchema.safeParse({ ...encryption, passphrase: { ...encryption.passphrase, cost: 2 ** 30 } }).success).toBe(false);
  });

  it('must keep the same data key under another key', async () => {
    const { encryption, dataKey } = await createEncryption(passphrase, home, randomIds);
    const source: KeySource = { kind: 'key-file', path: write('key', KEY) };
    const again = await rewrapEncryption(dataKey, source, home, randomIds);
    expect(await openEncryption(again, source, home)).toEqual(dataKey);
    expect((await refusal(openEncryption(again, passphrase, home))).code).toBe('STATE_KEY_WRONG');
    expect(await openEncryption(encryption, passphrase, home)).toEqual(dataKey);
  });
});
