import parse from 'parse-duration';

const FORM = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+$/;
/** The longest duration that anything here takes: ten years. */
const LONGEST = 10 * 366 * 24 * 3600 * 1000;

/** Milliseconds of `90s`, `1h30m`, `500ms`; undefined for anything else, a bare number too. */
export function parseDuration(text: string): number | undefined {
  if (!FORM.test(text)) return undefined;
  const milliseconds = parse(text);
  return milliseconds === null || milliseconds === undefined || milliseconds > LONGEST ? undefined : milliseconds;
}
