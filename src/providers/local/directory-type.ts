import { posix } from 'node:path';
import { z } from 'zod';
import { type Attributes, Sensitive, type Value } from '../../core/value.ts';
import type { Problem, TypeContext } from '../contract.ts';
import { attribute, defineType } from '../define.ts';
import { absolutePath, account, accountText, MODE_ADVICE, surelyApart } from './file-type.ts';
import { singleStepEffects } from './single-step.ts';

const schema = z.strictObject({
  path: attribute(
    z
      .string()
      .min(1)
      .regex(/^[^\0]*$/, 'Write the path of a directory.')
      .refine((text) => posix.normalize(text).replace(/\/$/, '') !== '', 'Write the path of a directory other than the root.'),
    'Where the directory stands; the one above it has to be there. A relative path starts at the folder of the document.',
    { facet: 'identity', immutable: true },
  ),
  owner: attribute(account, 'The user who owns the directory, by name or number. Without it the owner is not looked at.'),
  mode: attribute(
    z
      .string({ error: MODE_ADVICE })
      .regex(/^[0-7]{3,4}$/, MODE_ADVICE)
      .optional(),
    'Permission bits in octal, quoted. Default "0700".',
  ),
  marker: attribute(
    z.boolean().optional(),
    'Whether a file .accede-directory in it says whose it is. Default true: a directory without our marker is refused, such as the empty place where a disk is not mounted.',
    { facet: 'governance' },
  ),
});

/** A directory with its owner and mode. What is in it is somebody else's: one that holds anything is never removed. */
export const directoryType = defineType({
  type: 'local.directory',
  summary: 'A directory on this machine, marked as ours and never removed with content',
  schemaVersion: 1,
  schema,
  role: 'infrastructure',
  stage: 'migrate',
  foreignCode: 'DIRECTORY_FOREIGN',
  example: `resources:
  local.directory:
    data:
      path: /srv/app
      owner: root
      mode: "0750"
      marker: true
  local.file:
    config:
      path: "\${local.directory.data.path}/app.conf"
      content: "workers = 4\\n"
`,
  check,
  normalize: ({ path, owner, mode, marker }) => ({
    ...(path === undefined ? {} : { path: typeof path === 'string' ? plainPath(path) : path }),
    ...(owner === undefined ? {} : { owner: accountText(owner) }),
    mode: typeof mode === 'string' ? mode.padStart(4, '0') : (mode ?? '0700'),
    marker: marker ?? true,
  }),
  identity: ({ path }, context) => (typeof path === 'string' ? absolutePath(path, context.folder) : undefined),
  align,
  effects: (change) =>
    singleStepEffects(change, {
      createFirst: change.order === 'create-first' && surelyApart(change.live?.['path'], change.desired?.['path']),
      undo: true,
    }),
});

/** One spelling, without a slash at its end. */
function plainPath(path: string): string {
  return posix.normalize(path).replace(/(?<=.)\/$/, '');
}

function check({ path }: Attributes, context: TypeContext): readonly Problem[] {
  if (!(path instanceof Sensitive)) return [];
  const detail = `The path of ${context.address} comes from a secret. The path is kept in the state and shown in every plan, so it cannot be one.`;
  return [{ severity: 'error', code: 'PATH_SENSITIVE', summary: 'A path cannot be a secret', detail, path: ['path'] }];
}

/** A live directory without a path stands where it is desired. The owner is looked at only when it is desired. */
function align(desired: Attributes, live: Attributes): Attributes {
  const aligned: Record<string, Value> = { ...live };
  if (desired['owner'] === undefined) delete aligned['owner'];
  if (live['path'] === undefined && desired['path'] !== undefined) aligned['path'] = desired['path'];
  return aligned;
}
