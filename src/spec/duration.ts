import { z } from 'zod';
import { parseDuration } from '../core/duration.ts';

/** A duration as it is written. */
export function duration(): z.ZodString {
  return z.string().refine((text) => parseDuration(text) !== undefined, 'a duration such as 500ms, 90s, 20m or 1h30m');
}
