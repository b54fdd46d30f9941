import { describe, expect, it } from 'vitest';
import { type Cron, nextTime, parseCron } from '../../../src/core/cron.ts';

function cron(text: string): Cron {
  const parsed = parseCron(text);
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
}

function next(text: string, after: string): string | undefined {
  const at = nextTime(cron(text), Date.parse(after));
  return at === undefined ? undefined : new Date(at).toISOString().slice(0, 16);
}

describe('parseCron', () => {
  it.each([
    ['  @daily ', '0 0 * * *'],
    ['0  2 * JAN,dec Mon-fri', '0 2 * 1,12 1-5'],
    ['*/15 0-6/2 1,15 * *', '*/15 0-6/2 1,15 * *'],
  ])('must bring %s to its one spelling', (text, spelling) => {
    expect(cron(text).text).toBe(spelling);
  });

  it.each([
    ['', /five fields/],
    ['0 2 * *', /five fields/],
    ['60 * * * *', /minute: it goes from 0 to 59/],
    ['* 24 * * *', /hour/],
    ['* * 0 * *', /day of the month/],
    ['* * * 13 *', /month/],
    ['* * * * 8', /day of the week/],
    ['5-1 * * * *', /ends before it begins/],
    ['*/0 * * * *', /a step is 1 or more/],
    ['a * * * *', /a is no minute/],
    ['1,,2 * * * *', /nothing is no minute/],
    ['0 0 * * funday', /no day of the week/],
    ['@fortnightly', /no shorthand/],
    ['0 0 30 2 *', /never comes/],
    ['0 0 31 4,6 *', /never comes/],
  ])('must say what is wrong with %j', (text, words) => {
    expect(parseCron(text)).toMatch(words);
  });
});

describe('nextTime', () => {
  it.each([
    ['*/15 * * * *', '2026-11-30T14:02:30Z', '2026-11-30T14:15'],
    ['0 2 * * *', '2026-11-30T02:00:00Z', '2026-12-01T02:00'],
    ['0 2 * * *', '2026-11-30T01:59:59Z', '2026-11-30T02:00'],
    ['30 23 31 12 *', '2026-12-31T23:30:00Z', '2027-12-31T23:30'],
    ['0 0 29 2 *', '2097-01-01T00:00:00Z', '2104-02-29T00:00'],
    ['0 0 * * 7', '2026-11-30T00:00:00Z', '2026-12-06T00:00'],
    // Either of two restricted days is enough; a star restricts nothing.
    ['0 0 13 * 5', '2026-11-30T00:00:00Z', '2026-12-04T00:00'],
    ['0 0 13 * *', '2026-11-30T00:00:00Z', '2026-12-13T00:00'],
    ['10/20 * * * *', '2026-11-30T14:31:00Z', '2026-11-30T14:50'],
  ])('must find when %s comes after %s', (text, after, expected) => {
    expect(next(text, after)).toBe(expected);
  });
});
