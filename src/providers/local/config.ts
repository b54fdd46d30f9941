import { z } from 'zod';
import { attribute } from '../define.ts';

/** The `local` provider block. */
export const localConfig = z.strictObject({
  host: attribute(
    z.literal('local', { error: '"local", or left out: files on another host are not available yet' }).optional(),
    'The machine that holds the files. Only this one for now.',
    { facet: 'placement' },
  ),
  here: attribute(
    z.boolean().optional(),
    'Says that files of this machine are meant although other resources of the environment live on another one.',
    { facet: 'annotation' },
  ),
});
