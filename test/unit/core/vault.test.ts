import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Plain } from '../../../src/core/value.ts';
import { clearForm, decodeValue, encodeValue, holdsCiphertext, Sensitive, Unknown, withoutCiphertext } from '../../../src/core/value.ts';
import { CipherDamaged, decryptAt, encryptAt, vaultOf } from '../../../src/core/vault.ts';

const CANARY = 'canary-"7f"-\\3b';
const key = Buffer.alloc(32, 7);
const home = { environment: 'staging', lineage: 'ab'.repeat(16) };
const place = { address: 'local.secret.a', path: ['computed', 'value'] } as const;

function counting() {
  let next = 0;
  return { id: () => (++next).toString(16).padStart(32, '0') };
}
const vault = vaultOf(key, home, counting());

describe('a vault', () => {
  it('must give back what it was given, and show nothing of it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as Plain;
        expect(vault.decrypt(vault.encrypt(plain, place), place)).toEqual(plain);
      }),
    );
    const ciphertext = vault.encrypt(CANARY, place);
    for (const text of [CANARY, Buffer.from(CANARY).toString('base64'), Buffer.from(CANARY).toString('hex')]) {
      expect(ciphertext).not.toContain(text);
    }
  });

  it('must give another ciphertext each time', () => {
    const made = new Set(Array.from({ length: 100 }, () => vault.encrypt(CANARY, place)));
    expect(made.size).toBe(100);
  });

  it('must open nothing under another key, in another state, at another address or path', () => {
    const ciphertext = vault.encrypt(CANARY, place);
    const others = [
      vaultOf(Buffer.alloc(32, 8), home, counting()),
      vaultOf(key, { ...home, environment: 'production' }, counting()),
      vaultOf(key, { ...home, lineage: 'cd'.repeat(16) }, counting()),
    ];
    for (const other of others) expect(() => other.decrypt(ciphertext, place)).toThrow(CipherDamaged);
    for (const elsewhere of [
      { ...place, address: 'local.secret.b' },
      { ...place, path: ['computed', 'previous'] },
      { ...place, path: ['computed'] },
      { address: 'local.secret', path: ['a', 'computed', 'value'] },
    ]) {
      expect(() => vault.decrypt(ciphertext, elsewhere)).toThrow(CipherDamaged);
    }
  });

  it('must notice every bit that is flipped, and what was cut off, without saying what is in it', () => {
    const ciphertext = vault.encrypt(CANARY, place);
    const [name, body = ''] = ciphertext.split(':');
    const bytes = Buffer.from(body, 'base64');
    for (let at = 0; at < bytes.length; at++) {
      const altered = Buffer.from(bytes);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(() => vault.decrypt(`${name}:${altered.toString('base64')}`, place)).toThrow(CipherDamaged);
    }
    for (const text of ['', 'aes-256-gcm:', `aes-256-gcm:${bytes.subarray(0, 20).toString('base64')}`, body, `aes-128-gcm:${body}`]) {
      expect(() => vault.decrypt(text, place)).toThrow(/^(?!.*canary).*$/);
    }
  });
});

describe('the stored form of a value', () => {
  const value = {
    open: Sensitive.open(CANARY, ['s']),
    deep: [{ at: Sensitive.open({ n: 1 }) }],
    plain: 'x',
    later: Sensitive.open(new Unknown('x')),
  };
  const encrypt = encryptAt(vault, 'a', 'attributes');
  const decrypt = decryptAt(vault, 'a', 'attributes');

  it('must keep secrets encrypted at their places and bring them back open', () => {
    const stored = encodeValue(value, key, encrypt);
    expect(JSON.stringify(stored)).not.toContain('canary');
    const back = decodeValue(stored, decrypt) as typeof value;
    expect(back.open.reveal()).toBe(CANARY);
    expect(back.open.names).toEqual(['s']);
    expect(back.deep[0]?.at.reveal()).toEqual({ n: 1 });
    expect(back.later.isOpen).toBe(false);
    expect(() => decodeValue(stored, decryptAt(vault, 'b', 'attributes'))).toThrow(CipherDamaged);
  });

  it('must keep only what is to be kept, and be read without a key', () => {
    const stored = encodeValue(
      value,
      key,
      encryptAt(vault, 'a', 'attributes', (path) => path[0] === 'open'),
    );
    const text = JSON.stringify(stored);
    expect(text.match(/aes-256-gcm/g)).toHaveLength(1);
    const sealed = decodeValue(stored) as typeof value;
    expect(sealed.open.isOpen).toBe(false);
    expect(sealed.open.fingerprint(undefined)).toBe(value.open.fingerprint(key));
    expect(encryptAt(undefined, 'a', 'attributes')).toBeUndefined();
  });

  it('must be the same without what is encrypted as if it never was', () => {
    const stored = encodeValue(value, key, encrypt);
    expect(holdsCiphertext(stored)).toBe(true);
    expect(withoutCiphertext(stored)).toEqual(encodeValue(value, key));
    expect(holdsCiphertext(withoutCiphertext(stored))).toBe(false);
  });

  it('must be in clear for a handler exactly where it is open', () => {
    const mixed = { open: value.open, sealed: Sensitive.sealed('hmac-sha256:1'), plain: [1] };
    expect(clearForm(mixed, key)).toEqual({ open: CANARY, sealed: { $accede: 'sensitive', fingerprint: 'hmac-sha256:1' }, plain: [1] });
  });
});
