import { scrypt } from 'node:crypto';
import { z } from 'zod';
import type { IdSource } from '../core/clock.ts';
import { randomBytes } from '../core/random.ts';
import { CipherDamaged, decryptBytes, encryptBytes, type VaultHome } from '../core/vault.ts';
import { BackendError } from './contract.ts';
import { readKeyFile } from './key-file.ts';

/** Where the key comes from that opens a state's data key. It never is in the state. */
export type KeySource =
  | { readonly kind: 'key-file' /** Absolute. */; readonly path: string }
  | { readonly kind: 'passphrase'; readonly passphrase: string };

/**
 * How a state keeps its data key: encrypted under the key of a `KeySource`, so that another key file or passphrase needs no other ciphertext to
 * be written anew.
 */
export type Encryption = z.infer<typeof encryptionSchema>;

const base64 = z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/);

/** The stored form. Parameters that would cost more than a machine has are damage, not work to do. */
export const encryptionSchema = z.strictObject({
  version: z.literal(1),
  /** Null where a key file opens it. */
  passphrase: z
    .strictObject({
      scheme: z.literal('scrypt'),
      cost: z.union([14, 15, 16, 17, 18, 19, 20].map((bits) => z.literal(2 ** bits))),
      blockSize: z.literal(8),
      parallelization: z.int().min(1).max(16),
      salt: base64.length(44),
    })
    .nullable(),
  dataKey: z.string().regex(/^aes-256-gcm:[A-Za-z0-9+/]+={0,2}$/),
});

const KEY_BYTES = 32;
const SCRYPT = { scheme: 'scrypt', cost: 2 ** 17, blockSize: 8, parallelization: 1 } as const;

/** A data key for a state, and how the state keeps it. Throws `BackendError` for a key file that cannot be used. */
export async function createEncryption(
  source: KeySource,
  home: VaultHome,
  ids: IdSource,
): Promise<{ readonly encryption: Encryption; readonly dataKey: Buffer }> {
  const dataKey = randomBytes(ids, KEY_BYTES);
  return { encryption: await wrap(dataKey, source, home, ids), dataKey };
}

/** The same data key, kept under another key. Throws `BackendError` for a key file that cannot be used. */
export async function rewrapEncryption(dataKey: Buffer, source: KeySource, home: VaultHome, ids: IdSource): Promise<Encryption> {
  return await wrap(dataKey, source, home, ids);
}

/**
 * The data key of a state. Throws `BackendError`: STATE_KEY_UNUSABLE for a key file that cannot be used, STATE_KEY_WRONG for another key or
 * another kind of key than the state was encrypted with.
 */
export async function openEncryption(encryption: Encryption, source: KeySource, home: VaultHome): Promise<Buffer> {
  const isFile = encryption.passphrase === null;
  if (isFile !== (source.kind === 'key-file')) {
    const [is, given] = isFile ? ['a key file', 'a passphrase'] : ['a passphrase', 'a key file'];
    throw wrongKey(`It is encrypted with ${is}, and state.encryption names ${given}.`);
  }
  const key = await wrappingKey(encryption.passphrase, source);
  try {
    return decryptBytes(encryption.dataKey, key, contextOf(home, encryption.passphrase));
  } catch (error) {
    if (!(error instanceof CipherDamaged)) throw error;
    throw wrongKey(`The ${source.kind === 'key-file' ? `key in ${source.path}` : 'passphrase'} does not open it.`, error);
  }
}

async function wrap(dataKey: Buffer, source: KeySource, home: VaultHome, ids: IdSource): Promise<Encryption> {
  const passphrase = source.kind === 'key-file' ? null : { ...SCRYPT, salt: randomBytes(ids, 32).toString('base64') };
  const key = await wrappingKey(passphrase, source);
  return { version: 1, passphrase, dataKey: encryptBytes(dataKey, key, contextOf(home, passphrase), ids) };
}

function contextOf(home: VaultHome, passphrase: Encryption['passphrase']) {
  return ['accede.data-key/v1', home.lineage, home.environment, passphrase];
}

async function wrappingKey(parameters: Encryption['passphrase'], source: KeySource): Promise<Buffer> {
  if (source.kind === 'key-file') return await readKeyFile(source.path);
  if (parameters === null) throw new Error('a passphrase has no parameters');
  const { cost, blockSize, parallelization, salt } = parameters;
  const options = { cost, blockSize, parallelization, maxmem: 256 * cost * blockSize };
  return await new Promise((resolve, reject) => {
    // One text has one key, however its accents are composed.
    scrypt(source.passphrase.normalize('NFC'), Buffer.from(salt, 'base64'), KEY_BYTES, options, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

function wrongKey(detail: string, cause?: unknown): BackendError {
  return new BackendError(
    'STATE_KEY_WRONG',
    `The secrets that the state keeps cannot be opened. ${detail} Nothing was changed and nothing is lost: name the key again that it was encrypted with.`,
    { cause },
  );
}
