import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../../src/core/duration.ts';

describe('a duration as documents write it', () => {
  it.each([
    [0, '0s'],
    [1000, '1s'],
    [90_000, '1m30s'],
    [1500, '1s500ms'],
    [5_400_000, '1h30m'],
    [86_400_000, '24h'],
  ])('must be %i as %s', (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toBe(text);
  });

  it('must be read back as what it was', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 * 366 * 24 * 3_600_000 }), (milliseconds) => {
        expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds);
      }),
    );
  });
});
