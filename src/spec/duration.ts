import { z } from 'zod';
import { parseDuration } from '../core/duration.ts';

const FORM = 'a duration such as 500ms, 90s, 20m or 1h30m';

/** A duration as it is written. */
export function duration(): z.ZodString {
  return z.string({ error: FORM }).refine((text) => parseDuration(text) !== undefined, FORM);
}
