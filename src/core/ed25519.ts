import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/**
 * Ed25519 keys as people have them, for whatever is signed: releases, approvals of plans.
 *
 * A public key is read from text with `parsePublicKey`, a private one from the bytes of its file with `parsePrivateKey` (who reads the file
 * sees to its mode); both answer a whole sentence where there is no such key. `signBytes` signs, `isSignedBy` proves. Two public keys are the
 * same when their `fingerprint` is, however they were written: count signers by it. `text` is the one form in which a key is stored or printed.
 */

/** A public key. */
export interface PublicKey {
  readonly key: KeyObject;
  /** `ed25519:` and the base64 of its SPKI DER: the form in which it is written down. */
  readonly text: string;
  /** `SHA256:…` as `ssh-keygen -l` prints it; equal for every spelling of one key. */
  readonly fingerprint: string;
}

/** A private key; nothing of it is ever printed. */
export interface PrivateKey {
  readonly key: KeyObject;
  readonly publicKey: PublicKey;
}

/** What became of a text: a key, or why it is none, as a whole sentence that repeats nothing of it. */
export type ParsedKey<T> = { readonly ok: true; readonly key: T } | { readonly ok: false; readonly reason: string };

export const SIGNATURE_BYTES = 64;

const KEY_BYTES = 32;
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SSH_NAME = 'ssh-ed25519';
const OPENSSH_MAGIC = 'openssh-key-v1\0';

/** Points of small order, their sign bit cleared: with one of them as a key, signatures can be made by anybody. */
const WEAK: ReadonlySet<string> = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
]);

/**
 * Reads a public key: `ed25519:` and base64 of either its SPKI DER (44 bytes, as `openssl pkey -pubout -outform DER` writes it) or of its bare
 * 32 bytes; a line of an OpenSSH `.pub` file (`ssh-ed25519 AAAA… comment`); or PEM (`-----BEGIN PUBLIC KEY-----`).
 */
export function parsePublicKey(written: string): ParsedKey<PublicKey> {
  const text = written.trim();
  if (text.startsWith('-----BEGIN')) return parsePem(text);
  if (text.startsWith('ed25519:')) {
    const bytes = strictBase64(text.slice('ed25519:'.length));
    if (bytes === undefined) return refuse('What stands behind ed25519: is no base64.');
    if (bytes.length === KEY_BYTES) return ofRaw(bytes);
    const isSpki = bytes.length === SPKI_PREFIX.length + KEY_BYTES && bytes.subarray(0, SPKI_PREFIX.length).equals(SPKI_PREFIX);
    return isSpki
      ? ofRaw(bytes.subarray(SPKI_PREFIX.length))
      : refuse(`Behind ed25519: stand ${bytes.length} bytes that are no ed25519 key.`);
  }
  const [name = '', blob = ''] = text.split(/\s+/);
  if (name !== SSH_NAME) {
    const other = /^(?:ssh|ecdsa|sk)-[a-z0-9@.-]+$/.test(name) ? `It is a key of the kind ${name}; only ssh-ed25519 is taken.` : undefined;
    return refuse(other ?? 'It begins neither with ed25519: nor with ssh-ed25519.');
  }
  const bytes = strictBase64(blob);
  const reader = new SshReader(bytes ?? Buffer.alloc(0));
  const kind = reader.text();
  const raw = reader.string();
  const isWhole = kind === SSH_NAME && raw?.length === KEY_BYTES && reader.isAtEnd;
  return isWhole ? ofRaw(raw) : refuse('What stands behind ssh-ed25519 is no such key.');
}

/**
 * Reads a private key from the bytes of its file: PEM with PKCS #8 (`openssl genpkey -algorithm ed25519`), or OpenSSH
 * (`ssh-keygen -t ed25519`). Keys with a passphrase are refused.
 */
export function parsePrivateKey(bytes: Uint8Array): ParsedKey<PrivateKey> {
  const text = Buffer.from(bytes).toString('latin1').trim();
  const kind = /^-----BEGIN ([A-Z0-9 ]+)-----/.exec(text)?.[1];
  if (kind === 'ENCRYPTED PRIVATE KEY') return refuse('It is protected by a passphrase; a key without one is needed.');
  if (kind === 'OPENSSH PRIVATE KEY') return parseOpenSsh(text);
  if (kind === undefined) return refuse('It is no private key in PEM or OpenSSH form.');
  if (kind !== 'PRIVATE KEY') return refuse(`It holds a ${kind}; an ed25519 private key in PKCS #8 or OpenSSH form is needed.`);
  try {
    return ofPrivate(createPrivateKey(text));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return refuse('It is damaged: what stands between BEGIN and END is no private key.');
  }
}

/** The signature over bytes. */
export function signBytes(key: PrivateKey, bytes: Uint8Array): Buffer {
  return sign(null, bytes, key.key);
}

/** Whether a signature over exactly these bytes was made with the private half of a key. */
export function isSignedBy(key: PublicKey, bytes: Uint8Array, signature: Uint8Array): boolean {
  return signature.length === SIGNATURE_BYTES && verify(null, bytes, key.key, signature);
}

/** The bytes of base64 text, padded or not; undefined when anything else stands in it. */
export function strictBase64(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  const bare = (written: string) => written.replace(/=+$/, '');
  return bare(bytes.toString('base64')) === bare(text) ? bytes : undefined;
}

function parsePem(text: string): ParsedKey<PublicKey> {
  if (!text.startsWith('-----BEGIN PUBLIC KEY-----')) return refuse('It is no public key in PEM; a private one never stands here.');
  try {
    const key = createPublicKey(text);
    if (key.asymmetricKeyType !== 'ed25519') return refuse(`It is a key of the kind ${key.asymmetricKeyType ?? 'unknown'}, not ed25519.`);
    return ofRaw(key.export({ type: 'spki', format: 'der' }).subarray(SPKI_PREFIX.length));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return refuse('It is damaged: what stands between BEGIN and END is no public key.');
  }
}

function ofRaw(raw: Buffer): ParsedKey<PublicKey> {
  const point = Buffer.from(raw);
  point[KEY_BYTES - 1] = (point[KEY_BYTES - 1] ?? 0) & 0x7f;
  if (WEAK.has(point.toString('hex'))) return refuse('It is a key for which anybody can make signatures.');
  const spki = Buffer.concat([SPKI_PREFIX, raw]);
  const blob = Buffer.concat([sshString(Buffer.from(SSH_NAME)), sshString(raw)]);
  return {
    ok: true,
    key: {
      key: createPublicKey({ key: spki, type: 'spki', format: 'der' }),
      text: `ed25519:${spki.toString('base64')}`,
      fingerprint: `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`,
    },
  };
}

function ofPrivate(key: KeyObject): ParsedKey<PrivateKey> {
  if (key.asymmetricKeyType !== 'ed25519') return refuse(`It is a key of the kind ${key.asymmetricKeyType ?? 'unknown'}, not ed25519.`);
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const publicKey = ofRaw(spki.subarray(SPKI_PREFIX.length));
  return publicKey.ok ? { ok: true, key: { key, publicKey: publicKey.key } } : publicKey;
}

/** The form that `ssh-keygen` writes, without a passphrase. */
function parseOpenSsh(text: string): ParsedKey<PrivateKey> {
  const damaged = refuse('It is damaged: what stands between BEGIN and END is no OpenSSH private key.');
  const body = /^-----BEGIN OPENSSH PRIVATE KEY-----([\s\S]*)-----END OPENSSH PRIVATE KEY-----$/.exec(text)?.[1];
  const bytes = strictBase64((body ?? '').replace(/\s+/g, ''));
  if (bytes?.subarray(0, OPENSSH_MAGIC.length).toString('latin1') !== OPENSSH_MAGIC) return damaged;
  const outer = new SshReader(bytes.subarray(OPENSSH_MAGIC.length));
  const [cipher, kdf] = [outer.text(), outer.text()];
  outer.string();
  const count = outer.number();
  outer.string();
  const inner = new SshReader(outer.string() ?? Buffer.alloc(0));
  if (cipher === undefined || kdf === undefined || count !== 1) return damaged;
  if (cipher !== 'none') return refuse('It is protected by a passphrase; a key without one is needed.');
  const [check, again] = [inner.number(), inner.number()];
  const kind = inner.text();
  if (check === undefined || check !== again || kind === undefined) return damaged;
  if (kind !== SSH_NAME) return refuse(`It is a key of the kind ${kind.replace(/[^\w@.-]/g, '')}; only ssh-ed25519 is taken.`);
  const raw = inner.string();
  const pair = inner.string();
  if (raw?.length !== KEY_BYTES || pair?.length !== 2 * KEY_BYTES) return damaged;
  const pkcs8 = Buffer.concat([PKCS8_PREFIX, pair.subarray(0, KEY_BYTES)]);
  const key = ofPrivate(createPrivateKey({ key: pkcs8, type: 'pkcs8', format: 'der' }));
  const stated = ofRaw(raw);
  // A file whose halves do not belong together would sign for somebody else than it says.
  return key.ok && (!stated.ok || stated.key.fingerprint !== key.key.publicKey.fingerprint) ? damaged : key;
}

function refuse(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}

function sshString(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Reads the wire form of SSH; from the first piece that is not there on, everything is undefined. */
class SshReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  number(): number | undefined {
    if (this.#at + 4 > this.#bytes.length) return this.#fail();
    const number = this.#bytes.readUInt32BE(this.#at);
    this.#at += 4;
    return number;
  }

  string(): Buffer | undefined {
    const length = this.number();
    if (length === undefined || this.#at + length > this.#bytes.length) return this.#fail();
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return bytes;
  }

  text(): string | undefined {
    return this.string()?.toString('latin1');
  }

  #fail(): undefined {
    this.#at = this.#bytes.length + 1;
    return undefined;
  }
}
