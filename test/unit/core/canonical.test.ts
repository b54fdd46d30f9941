import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalText, digestBytes, digestOf, isDigest } from '../../../src/core/canonical.ts';

describe('the canonical form', () => {
  it('must be that of RFC 8785', () => {
    expect(canonicalText({ b: [1, 1e21, -0, 0.1], a: '\u20ac\n"', '\u00e9': null, '1': true })).toBe(
      '{"1":true,"a":"€\\n\\"","b":[1,1e+21,0,0.1],"é":null}',
    );
  });

  it('must not depend on the order of members, and must keep every value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null))), (data) => {
        const turned = Object.fromEntries(Object.entries(data).reverse());
        expect(digestOf(turned)).toBe(digestOf(data));
        expect(JSON.parse(canonicalText(data))).toEqual(JSON.parse(JSON.stringify(data)));
      }),
    );
  });

  it('must have no text for what JSON cannot hold', () => {
    for (const data of [undefined, Number.NaN, Number.POSITIVE_INFINITY, '\ud800']) expect(() => canonicalText(data)).toThrow();
  });

  it('must have digests that are told from other text', () => {
    expect(digestBytes('abc')).toBe('sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(digestBytes(new TextEncoder().encode('ü'))).toBe(digestBytes('ü'));
    expect([isDigest(digestOf({})), isDigest('sha256:00'), isDigest(`sha256:${'A'.repeat(64)}`), isDigest(`x${digestOf({})}`)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
