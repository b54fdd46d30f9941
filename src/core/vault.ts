import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import { canonicalText } from './canonical.ts';
import type { IdSource } from './clock.ts';
import type { PathSegment } from './path.ts';
import type { Decrypt, Encrypt, Plain } from './value.ts';

/** Which state a ciphertext belongs to. */
export interface VaultHome {
  readonly environment: string;
  readonly lineage: string;
}

/** Where in the state a ciphertext stands: it opens nowhere else. The serial is no part of it, so that what stays the same is not written anew. */
export interface VaultPlace {
  readonly address: string;
  /** From the part of the record on: `['computed', 'value']`. */
  readonly path: readonly PathSegment[];
}

/** Encrypts and decrypts the secrets that a state keeps. Pure but for the ids that its nonces come from. */
export interface Vault {
  /** The ciphertext as text. The same value gives another one each time. */
  encrypt(value: Plain, place: VaultPlace): string;
  /** Throws `CipherDamaged` for what was altered, stood elsewhere, or was encrypted under another key. */
  decrypt(ciphertext: string, place: VaultPlace): Plain;
}

/** A ciphertext that does not open. The message names neither it nor what is in it. */
export class CipherDamaged extends Error {
  override readonly name = 'CipherDamaged';
}

const ALGORITHM = 'aes-256-gcm';
const PREFIX = `${ALGORITHM}:`;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The vault of one state under its data key of 32 bytes. */
export function vaultOf(key: Buffer, home: VaultHome, ids: IdSource): Vault {
  const context = (place: VaultPlace) => ['accede.vault/v1', home.lineage, home.environment, place.address, ...place.path];
  return {
    encrypt: (value, place) => encryptBytes(Buffer.from(canonicalText(value), 'utf8'), key, context(place), ids),
    decrypt: (ciphertext, place) => JSON.parse(decryptBytes(ciphertext, key, context(place)).toString('utf8')) as Plain,
  };
}

/** AES-256-GCM with a nonce of its own. `context` is authenticated and has to be the same when it is decrypted. */
export function encryptBytes(bytes: Buffer, key: Buffer, context: Plain, ids: IdSource): string {
  // An id is unique and almost all of it is random; a hash of it spreads that over the shorter nonce.
  const nonce = createHash('sha256').update(ids.id()).digest().subarray(0, NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(canonicalText(context), 'utf8'));
  const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return `${PREFIX}${Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64')}`;
}

/** The inverse of `encryptBytes`. Throws `CipherDamaged`. */
export function decryptBytes(ciphertext: string, key: Buffer, context: Plain): Buffer {
  const bytes = ciphertext.startsWith(PREFIX) ? Buffer.from(ciphertext.slice(PREFIX.length), 'base64') : Buffer.alloc(0);
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new CipherDamaged('a ciphertext has a wrong form');
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(canonicalText(context), 'utf8'));
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES)), decipher.final()]);
  } catch (error) {
    throw new CipherDamaged('a ciphertext was altered, stands in another place, or is of another key', { cause: error });
  }
}

/** What opens the ciphertexts of one part of a record: `attributes`, `computed`, `preimage`. Undefined without a vault. */
export function decryptAt(vault: Vault | undefined, address: string, part: string): Decrypt | undefined {
  return vault === undefined ? undefined : (ciphertext, path) => vault.decrypt(ciphertext, { address, path: [part, ...path] });
}

/** What encrypts the secrets of one part of a record, all of them or those at the places that `keeps` says. Undefined without a vault. */
export function encryptAt(
  vault: Vault | undefined,
  address: string,
  part: string,
  keeps: (path: readonly PathSegment[]) => boolean = () => true,
): Encrypt | undefined {
  if (vault === undefined) return undefined;
  return (secret, path) => (keeps(path) ? vault.encrypt(secret, { address, path: [part, ...path] }) : undefined);
}
