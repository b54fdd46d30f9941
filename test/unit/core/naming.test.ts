import { describe, expect, it } from 'vitest';
import { addressHint, isPlainName, NAME_LENGTH, nearMiss } from '../../../src/core/naming.ts';

describe('a plain name', () => {
  it.each(['a', 'A9', '_x', 'my-api', 'v1.2', '0', 'x'.repeat(NAME_LENGTH)])('must take %s', (text) => {
    expect(isPlainName(text)).toBe(true);
  });
  it.each(['', '-a', '.a', 'a b', 'a/b', 'ä', 'a\n', 'a"', 'x'.repeat(NAME_LENGTH + 1)])('must not take %j', (text) => {
    expect(isPlainName(text)).toBe(false);
  });
});

describe('a near miss', () => {
  it.each([
    ['restrat', ['restart', 'result'], 'restart'],
    ['port', ['ports', 'sport'], 'ports'],
    ['HOST', ['host'], 'host'],
    ['a', ['b', 'c'], 'b'],
    ['image', ['imag', 'imagee'], 'imag'],
  ])('must find for %s among %j', (written, candidates, expected) => {
    expect(nearMiss(written, candidates)).toBe(expected);
  });
  it('must not be invented, and must not depend on the order', () => {
    expect(nearMiss('networks', ['image', 'ports'])).toBeUndefined();
    expect(nearMiss('x', [])).toBeUndefined();
    expect(nearMiss('abcd', ['abcf', 'abce'])).toBe(nearMiss('abcd', ['abce', 'abcf']));
  });
});

describe('a hint at an address', () => {
  const known = ['a.b.index', 'a.b.page["n"]', 'a.b.page["s"]'];
  it('must name the instances of what was named without a key, whatever is spelled alike', () => {
    expect(addressHint('a.b.page', known)).toBe(' It has instances: a.b.page["n"], a.b.page["s"]. Name one of them.');
  });
  it('must count instances beyond the first five', () => {
    const many = Array.from({ length: 7 }, (_, index) => `a.b.c["${index}"]`);
    expect(addressHint('a.b.c', many)).toContain('a.b.c["4"] and 2 more.');
  });
  it('must be the near miss otherwise, or nothing', () => {
    expect(addressHint('a.b.indx', known)).toBe(' Did you mean a.b.index?');
    expect(addressHint('x', [])).toBe('');
  });
});
