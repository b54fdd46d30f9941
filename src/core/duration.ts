import parse from 'parse-duration';

const FORM = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+$/;
/** The longest duration that anything here takes: ten years. */
const LONGEST = 10 * 366 * 24 * 3600 * 1000;

const UNITS = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

/** `1m30s` for 90000: whole milliseconds as documents write them. `parseDuration` reads it back. */
export function formatDuration(milliseconds: number): string {
  let left = Math.round(milliseconds);
  let text = '';
  for (const [unit, size] of UNITS) {
    const amount = Math.floor(left / size);
    if (amount > 0) text += `${amount}${unit}`;
    left -= amount * size;
  }
  return text === '' ? '0s' : text;
}

/** Milliseconds of `90s`, `1h30m`, `500ms`; undefined for anything else, a bare number too. */
export function parseDuration(text: string): number | undefined {
  if (!FORM.test(text)) return undefined;
  const milliseconds = parse(text);
  return milliseconds === null || milliseconds === undefined || milliseconds > LONGEST ? undefined : milliseconds;
}
