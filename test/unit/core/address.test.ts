import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  baseAddress,
  compareText,
  formatAddress,
  isTypeName,
  parseAddress,
  type ResourceAddress,
  type TypeName,
} from '../../../src/core/address.ts';

const name = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,10}$/);
const type = fc.stringMatching(/^[a-z][a-z0-9-]{0,6}\.[a-z][a-z0-9_]{0,6}$/);

describe('an address', () => {
  it('must be read back as it was written', () => {
    fc.assert(
      fc.property(type, name, fc.option(name, { nil: undefined }), (typeName, own, key) => {
        const parts = { type: typeName as TypeName, name: own, ...(key === undefined ? {} : { key }) };
        const text = formatAddress(parts);
        expect(parseAddress(text)).toEqual(parts);
        expect(baseAddress(text)).toBe(`${typeName}.${own}`);
      }),
    );
  });

  it.each([
    '',
    'a',
    'a.b',
    'a.b.',
    'A.b.c',
    'tidb_catalog.x.y',
    'a.b.c["x"',
    'a.b.c["x"]y',
    'a.b.c["a/b"]',
    "a.b.c['x']",
    'a.b.c[0]',
    'a.b.c\n',
  ])('must not be %j', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it('must refuse parts that cannot be read back', () => {
    expect(() => formatAddress({ type: 'a.b' as TypeName, name: 'a b' })).toThrow();
    expect(() => formatAddress({ type: 'a.b' as TypeName, name: 'a', key: 'x"' })).toThrow();
    expect(baseAddress('a.b.c["k"]' as ResourceAddress)).toBe('a.b.c');
  });

  it('must know the form of a type', () => {
    expect(['docker.container', 'tidb-catalog.work_ownership'].map(isTypeName)).toEqual([true, true]);
    expect(['docker', 'docker.', 'Docker.x', 'a_b.c', 'a.b-c', 'a.b.c'].map(isTypeName)).toEqual(Array.from({ length: 6 }, () => false));
  });
});

describe('the order of text', () => {
  it('must be that of code units, total and without a locale', () => {
    expect(['b', 'a', 'B', 'ä', 'a-', 'a.'].sort(compareText)).toEqual(['B', 'a', 'a-', 'a.', 'b', 'ä']);
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => compareText(a, b) === -compareText(b, a) && (compareText(a, b) === 0) === (a === b)),
    );
  });
});
