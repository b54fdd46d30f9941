import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatPath, isBelow, parsePath } from '../../../src/core/path.ts';

describe('a path', () => {
  it('must be read back as it was written', () => {
    const segment = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.nat(1000),
      fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_-]{0,5}$/),
      fc.constantFrom('__proto__', 'a.b', '"', ']', '0'),
    );
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
        expect(parsePath(formatPath(segments))).toEqual(segments);
      }),
    );
  });

  it.each([
    [['environment', 'LOG_LEVEL'], 'environment.LOG_LEVEL'],
    [['ports', 0, 'target'], 'ports[0].target'],
    [['configs', '/etc/a.json', 'content'], 'configs["/etc/a.json"].content'],
    [['0'], '["0"]'],
    [[], ''],
  ])('must write %j as %s', (segments, text) => {
    expect(formatPath(segments)).toBe(text);
  });

  it.each(['', '.a', 'a..b', 'a.', 'a[', 'a["x]', 'a[-1]', 'a b', '[x]'])('must not be %j', (text) => {
    expect(parsePath(text)).toBeUndefined();
  });

  it('must tell what lies below it', () => {
    expect(['a', 'a.b', 'a[0]', 'a["x"]'].map((path) => isBelow(path, 'a'))).toEqual([true, true, true, true]);
    expect(['ab', 'b.a', ''].map((path) => isBelow(path, 'a'))).toEqual([false, false, false]);
  });
});
