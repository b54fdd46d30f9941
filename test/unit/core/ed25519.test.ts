import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isSignedBy, type ParsedKey, parsePrivateKey, parsePublicKey, signBytes, strictBase64 } from '../../../src/core/ed25519.ts';

/** What ssh-keygen 9.2 wrote for one throw-away key, and what it says of it. */
const OPENSSH = `-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACBe5AMCHwnXMrRVg82CbGljeSbIpwvzhRBM+oqKojnmhwAAAJBODSQnTg0k
JwAAAAtzc2gtZWQyNTUxOQAAACBe5AMCHwnXMrRVg82CbGljeSbIpwvzhRBM+oqKojnmhw
AAAEC1H/y5rI8ljUW7Rbfig7UH2K9++NzaBAWOrk0zCIqMXV7kAwIfCdcytFWDzYJsaWN5
JsinC/OFEEz6ioqiOeaHAAAACnRocm93LWF3YXkBAgM=
-----END OPENSSH PRIVATE KEY-----
`;
const OPENSSH_PUBLIC = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIF7kAwIfCdcytFWDzYJsaWN5JsinC/OFEEz6ioqiOeaH throw-away';
const OPENSSH_FINGERPRINT = 'SHA256:kOji/9BeeFCb66G69Z7L3feoii2wSX8KwkxPelQyutg';
const OPENSSH_LOCKED = `-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABC31KZGtx
MWd0auda98Ve2SAAAAEAAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAILQOOFROSra6eBnm
xosrRq3VSJ87P1ODcEPrngOXQjG0AAAAkO+P8d2qSuMRl/pkxvRK1Vqg6knkWPAPPT6rx/
5ylQ0Qw80g9KQBNvJZFiHn1uRWUA+wb/ei5Hyf4oGJq+b1cNXm+Wad0i/gqeaj1tuvQfFt
F4ketfNLDdAGLtAYxuThgDt9wImIbYGtoLsDTG5FtDEc4AoA81Qu/ldmOcZ6uzT5J5AfEG
F2vfAJoqNTMqcM3w==
-----END OPENSSH PRIVATE KEY-----
`;

const MESSAGE = Buffer.from('{"kind":"Release"}');

function keyOf<T>(parsed: ParsedKey<T>): T {
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.key;
}

function reasonOf(parsed: ParsedKey<unknown>): string {
  if (parsed.ok) throw new Error('it was taken');
  return parsed.reason;
}

describe('keys', () => {
  const pair = generateKeyPairSync('ed25519');
  const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const spki = pair.publicKey.export({ type: 'spki', format: 'der' });

  it('must read one public key alike from SPKI, bare bytes, PEM, and the text that it gives', () => {
    const ways = [
      `ed25519:${spki.toString('base64')}`,
      `ed25519:${spki.subarray(-32).toString('base64')}`,
      `ed25519:${spki.subarray(-32).toString('base64').replace(/=+$/, '')}`,
      pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    ];
    const keys = ways.map((way) => keyOf(parsePublicKey(way)));
    expect(new Set(keys.map(({ fingerprint }) => fingerprint)).size).toBe(1);
    expect(new Set(keys.map(({ text }) => text))).toEqual(new Set([`ed25519:${spki.toString('base64')}`]));
    expect(keyOf(parsePrivateKey(Buffer.from(pem))).publicKey.fingerprint).toBe(keys[0]?.fingerprint);
  });

  it('must read the keys that ssh-keygen makes, with the fingerprint that it prints', () => {
    const own = keyOf(parsePublicKey(OPENSSH_PUBLIC));
    expect(own.fingerprint).toBe(OPENSSH_FINGERPRINT);
    const secret = keyOf(parsePrivateKey(Buffer.from(OPENSSH)));
    expect(secret.publicKey.fingerprint).toBe(OPENSSH_FINGERPRINT);
    expect(isSignedBy(own, MESSAGE, signBytes(secret, MESSAGE))).toBe(true);
  });

  it('must take a signature for nothing but the bytes and the key that it was made for', () => {
    const secret = keyOf(parsePrivateKey(Buffer.from(pem)));
    const signature = signBytes(secret, MESSAGE);
    expect(isSignedBy(secret.publicKey, MESSAGE, signature)).toBe(true);
    expect(isSignedBy(keyOf(parsePublicKey(OPENSSH_PUBLIC)), MESSAGE, signature)).toBe(false);
    for (let at = 0; at < MESSAGE.length; at += 1) {
      const altered = Buffer.from(MESSAGE);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(isSignedBy(secret.publicKey, altered, signature)).toBe(false);
    }
    expect(isSignedBy(secret.publicKey, MESSAGE, signature.subarray(1))).toBe(false);
    expect(isSignedBy(secret.publicKey, MESSAGE, Buffer.concat([signature, Buffer.of(0)]))).toBe(false);
  });

  it('must say why a text is no public key, and repeat nothing of it', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const cases: readonly (readonly [string, RegExp])[] = [
      ['', /neither/],
      ['ed25519:', /no base64/],
      ['ed25519:!!!!', /no base64/],
      [`ed25519:${Buffer.alloc(31, 7).toString('base64')}`, /31 bytes/],
      [`ed25519:${Buffer.alloc(44, 7).toString('base64')}`, /44 bytes/],
      [`ed25519:${Buffer.alloc(32).toString('base64')}`, /anybody/],
      [`ed25519:${Buffer.from(`ed${'ff'.repeat(31)}`, 'hex').toString('base64')}`, /anybody/],
      ['ssh-rsa AAAAB3NzaC1yc2E', /kind ssh-rsa/],
      ['ssh-ed25519 AAAA', /no such key/],
      [`${OPENSSH_PUBLIC.split(' ').slice(0, 2).join(' ')}AAAA`, /no such key/],
      [rsa, /kind rsa/],
      [pem, /a private one never stands here/],
      ['-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', /damaged/],
    ];
    for (const [text, reason] of cases) expect(reasonOf(parsePublicKey(text)), text).toMatch(reason);
  });

  it('must say why bytes are no private key, and repeat nothing of them', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const locked = pair.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString();
    const cases: readonly (readonly [string | Buffer, RegExp])[] = [
      ['', /no private key/],
      [OPENSSH_PUBLIC, /no private key/],
      [rsa, /kind rsa/],
      [locked, /passphrase/],
      [OPENSSH_LOCKED, /passphrase/],
      ['-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----', /holds a RSA PRIVATE KEY/],
      ['-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', /damaged/],
      ['-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----', /damaged/],
      [OPENSSH.slice(0, 200), /damaged/],
    ];
    for (const [text, reason] of cases) expect(reasonOf(parsePrivateKey(Buffer.from(text))), String(text)).toMatch(reason);
  });

  it('must refuse an OpenSSH file cut off anywhere', () => {
    const body = OPENSSH.split('\n').slice(1, -2).join('');
    const bytes = Buffer.from(body, 'base64');
    for (let length = 0; length < bytes.length - 40; length += 1) {
      const cut = `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.subarray(0, length).toString('base64')}\n-----END OPENSSH PRIVATE KEY-----`;
      expect(parsePrivateKey(Buffer.from(cut)).ok, String(length)).toBe(false);
    }
  });

  it('must take base64 with and without its padding and nothing that only looks like it', () => {
    expect(strictBase64('AQ==')).toEqual(Buffer.of(1));
    expect(strictBase64('AQ')).toEqual(Buffer.of(1));
    for (const text of ['', 'AQ=A', 'AR==', 'A', 'A Q=', 'AQ-_']) expect(strictBase64(text), text).toBeUndefined();
  });
});
