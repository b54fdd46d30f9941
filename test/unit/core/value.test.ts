import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  containsSensitive,
  containsUnknown,
  decodeValue,
  encodeValue,
  findUnknown,
  mapLeaves,
  type Plain,
  reveal,
  Sensitive,
  sameValue,
  secretNames,
  Unknown,
  type Value,
} from '../../../src/core/value.ts';

const key = randomBytes(32);
const CANARY = 'canary';
const open = (value: Value, ...names: readonly string[]) => Sensitive.open(value, names);

const plain = fc.letrec<{ node: Plain }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.string({ unit: 'grapheme' }),
    fc.array(tie('node'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('__proto__')), tie('node'), { maxKeys: 3 }),
  ),
})).node;

describe('a secret', () => {
  it('must print as nothing but a mark', () => {
    const secret = open({ a: [CANARY] }, 's');
    expect(
      [JSON.stringify({ secret }), String(secret), inspect(secret), inspect({ secret }, { depth: 9, showHidden: true })].join(),
    ).not.toContain(CANARY);
  });

  it('must keep one wrapper and the names of all that flowed in', () => {
    const secret = open(open('x', 'b'), 'a', 'b');
    expect([secret.reveal(), secret.names]).toEqual(['x', ['a', 'b']]);
    expect(secretNames([secret, { y: open(1, 'c') }])).toEqual(['a', 'b', 'c']);
  });

  it('must have a fingerprint that is equal for equal values under one key, and for no others', () => {
    fc.assert(
      fc.property(plain, plain, (a, b) => {
        expect(open(a).fingerprint(key)).toBe(open(structuredClone(a)).fingerprint(key));
        expect(open(a).fingerprint(key) === open(b).fingerprint(key)).toBe(sameValue(a, b, key));
        expect(open(a).fingerprint(key)).not.toBe(open(a).fingerprint(randomBytes(32)));
      }),
    );
    expect([open('x').fingerprint(undefined), open(new Unknown('y')).fingerprint(key), Sensitive.skipped([]).fingerprint(key)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('must not be asked for its value when it is sealed', () => {
    expect(() => Sensitive.sealed('hmac-sha256:1').reveal()).toThrow();
    expect(() => reveal([new Unknown('x')])).toThrow('x');
    expect(reveal({ a: [open({ b: open(1) })] })).toEqual({ a: [{ b: 1 }] });
  });

  it('must equal only what is the same secret', () => {
    const sealed = Sensitive.sealed(open(CANARY).fingerprint(key));
    expect(sameValue(open(CANARY), sealed, key)).toBe(true);
    expect(sameValue(open('other'), sealed, key)).toBe(false);
    expect(sameValue(open(CANARY), CANARY, key)).toBe(false);
    expect(sameValue(open(CANARY), open(CANARY), undefined)).toBe(true);
    expect(sameValue(open(CANARY), sealed, undefined)).toBe(false);
    expect(sameValue(Sensitive.skipped([]), sealed, key)).toBe(true);
  });
});

describe('a value', () => {
  it('must be stored without secrets and read back', () => {
    fc.assert(
      fc.property(plain, (value) => {
        expect(decodeValue(encodeValue(value, key))).toEqual(value);
      }),
    );
    const stored = encodeValue({ a: open(CANARY, 's'), b: new Unknown('x.y'), __proto__: 1 } as Value, key);
    expect(JSON.stringify(stored)).not.toContain(CANARY);
    const back = decodeValue(stored);
    expect(containsSensitive(back) && containsUnknown(back) && secretNames(back)).toEqual(['s']);
    expect(() => decodeValue({ $accede: 'other' })).toThrow('other');
  });

  it('must find what is unknown, in secrets too', () => {
    expect(findUnknown([1, open({ a: new Unknown('deep') })])?.of).toBe('deep');
    expect(containsUnknown({ a: [null] })).toBe(false);
    expect(sameValue(new Unknown('x'), new Unknown('x'), key)).toBe(false);
  });

  it('must equal itself and nothing else', () => {
    fc.assert(
      fc.property(plain, plain, (a, b) => {
        expect(sameValue(a, structuredClone(a), key)).toBe(true);
        expect(sameValue(a, b, key)).toBe(sameValue(b, a, key));
      }),
    );
    expect([
      sameValue(undefined, undefined, key),
      sameValue(undefined, null, key),
      sameValue([], {}, key),
      sameValue({ a: 1 }, { b: 1 }, key),
    ]).toEqual([true, false, false, false]);
  });

  it('must be rebuilt leaf by leaf', () => {
    const changed = mapLeaves({ a: [1, open('x')], b: null, ['__proto__']: 2 }, (leaf) =>
      leaf instanceof Sensitive ? 'S' : leaf === null ? 'N' : (leaf as Value),
    );
    expect(Object.entries(changed as object)).toEqual([
      ['a', [1, 'S']],
      ['b', 'N'],
      ['__proto__', 2],
    ]);
  });
});
