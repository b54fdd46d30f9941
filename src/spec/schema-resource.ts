import { z } from 'zod';
import { parseDuration } from '../core/duration.ts';
import { ROLES } from '../core/facet.ts';
import { duration } from './duration.ts';

/** The longest that a run waits for nothing but time. */
const LONGEST_WAIT = 24 * 3600 * 1000;

const wait = () => duration().refine((text) => (parseDuration(text) ?? 0) <= LONGEST_WAIT, 'a duration of at most 24h');

const address = () => z.string().min(1);

const condition = z
  .strictObject({
    that: z.string().describe('An expression that must be true, as ${…}.'),
    message: z.string().describe('What is said when it is not.'),
  })
  .describe('A condition.');

const lifecycle = z.strictObject({
  prevent_destroy: z.boolean().optional().describe('The object is never removed or replaced.'),
  ignore_changes: z
    .union([z.literal('all'), z.array(z.string())])
    .optional()
    .describe('Paths of attributes whose differences are left alone, or all.'),
  create_before_destroy: z.boolean().optional().describe('A replacement is made before the old object goes.'),
  replace_triggered_by: z
    .array(z.string())
    .optional()
    .describe('Addresses, or paths of their attributes, whose change replaces this object.'),
  preconditions: z.array(condition).optional().describe('What must hold before the object is changed.'),
  postconditions: z.array(condition).optional().describe('What must hold after the object was changed.'),
  data: z.enum(['copied', 'empty']).optional().describe('Affirms what happens to data that would stay behind.'),
  reversible: z.boolean().optional().describe('Going back after a new version touched the data is safe.'),
});

const timeouts = z.strictObject({
  create: duration().optional().describe('How long making the object may take.'),
  replace: duration().optional().describe('How long replacing the object may take.'),
  remove: duration().optional().describe('How long removing the object may take.'),
  ready: duration().optional().describe('How long the object may take to get ready.'),
});

const update = z.strictObject({
  batch: z.int().min(1).optional().describe('How many instances are replaced, restarted or started at once; default 1.'),
  order: z
    .enum(['stop-first', 'start-first'])
    .optional()
    .describe('Whether the old instance goes before the new one comes (the default), or after the new one is ready.'),
  drain: wait()
    .optional()
    .describe('How long the old instance goes on after everything has gone over to the new one; with order: start-first alone.'),
  pause: wait().optional().describe('How long to wait between two batches.'),
});

/** The keys that any resource has beside its type's own. */
export const COMMON_KEYS = {
  for_each: z
    .union([z.record(z.string(), z.unknown()), z.array(z.string())])
    .optional()
    .describe('A map or a list of unique texts: one instance per key.'),
  enabled: z.boolean().optional().describe('False leaves the resource out.'),
  depends_on: z
    .array(
      z.union([
        address(),
        z.strictObject({
          address: address().describe('The address that is needed.'),
          restart: z.boolean().optional().describe('Restarts with it.'),
        }),
      ]),
    )
    .optional()
    .describe('Addresses of what must be there first; one with for_each means all instances.'),
  provider: z.string().optional().describe('The alias of the provider block, as NAME:ALIAS.'),
  role: z.enum(ROLES).optional().describe('The part that the resource plays, where its type allows several.'),
  update: update.optional().describe('How an object, and the instances of one for_each, are replaced.'),
  lifecycle: lifecycle.optional().describe('What may happen to the object.'),
  timeouts: timeouts.optional().describe('How long effects may take.'),
  commit_after: z.array(address()).optional().describe('Addresses that must have converged before a two-phase resource is committed.'),
} as const;

export const commonSchema = z.strictObject(COMMON_KEYS);
export type CommonKeys = z.infer<typeof commonSchema>;
