import { isIP } from 'node:net';
import { join, posix } from 'node:path';
import { z } from 'zod';
import { type Attributes, isList, Sensitive, type Value } from '../../core/value.ts';
import type { Problem, TypeContext } from '../contract.ts';
import { attribute, defineType, traitsOf } from '../define.ts';
import { absolutePath, account, accountText } from './file-type.ts';
import { singleStepEffects } from './single-step.ts';
import { plainName } from './x509.ts';

/** The files in the folder of a certificate. */
export const CERTIFICATE_FILE = 'certificate.pem';
export const KEY_FILE = 'key.pem';

/** What `pair` says of files that are as they were made. */
export const WHOLE = 'as made';

const MODE_ADVICE = 'quoted octal digits that let nobody but owner and group read, such as "0600" or "0640"';
const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?';
const HOST_NAME = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`);

const name = z
  .string()
  .max(253)
  .refine((text) => isIP(text) !== 0 || HOST_NAME.test(text), 'a host name such as app.example or *.app.example, or an IP address');

const schema = z.strictObject({
  names: attribute(z.array(name).min(1).max(100), 'Host names and addresses that it is for. Others make a new certificate and key.', {
    facet: 'identity',
    compare: 'set',
  }),
  path: attribute(
    z
      .string()
      .min(1)
      .regex(/^[^\0]*$/, 'Write the path of a directory.')
      .optional(),
    'The directory of its two files, certificate.pem and key.pem; it is made, and the one above it has to be there. A relative path starts at the folder of the document. Default .accede/certificates/ and its name.',
    { facet: 'identity', immutable: true },
  ),
  validity_days: attribute(
    z.int().min(1).max(3650).optional(),
    'For how many days it is valid. Default 365. Another number makes a new one.',
    {
      facet: 'credential',
    },
  ),
  generation: attribute(z.int().min(1).optional(), 'Counts the certificates: another number makes a new one with a new key. Default 1.', {
    facet: 'credential',
  }),
  owner: attribute(account, 'The user who owns both files, by name or number. Without it the owner is not looked at.'),
  mode: attribute(
    z
      .string({ error: MODE_ADVICE })
      .regex(/^0?[0-7][0-7]0$/, MODE_ADVICE)
      .optional(),
    'Permission bits of the key in octal, quoted. Default "0600". The certificate has 0644.',
  ),
});

/** A certificate that signs itself, with its key, in two files. */
export const certificateType = defineType({
  type: 'local.certificate',
  summary: 'A self-signed TLS certificate and its key, made once, in two files on this machine',
  schemaVersion: 1,
  schema,
  traits: {
    pair: traitsOf('Whether both files are as they were made.', { facet: 'credential' }),
    certificate_pem: traitsOf('The live certificate, for putting it back.', { facet: 'credential' }),
    private_key: traitsOf('The live key, for putting it back.', { facet: 'credential', sensitive: true, kept: true }),
    paths: traitsOf('`certificate` and `key`: where the files stand.', { computed: true }),
    digest: traitsOf('Of the certificate: what uses it refers to this, and is restarted when it is made anew.', {
      computed: true,
      facet: 'credential',
    }),
    not_after: traitsOf('When it ends; ISO 8601, UTC. From 30 days before on every plan warns.', { computed: true, facet: 'credential' }),
  },
  role: 'credential',
  stage: 'migrate',
  foreignCode: 'CERTIFICATE_FOREIGN',
  example: `resources:
  local.certificate:
    web:
      names: [app.example, 127.0.0.1]
      path: out/web-tls
      validity_days: 365
      generation: 1
      owner: root
      mode: "0600"
  local.value:
    served:
      input: { key: "\${local.certificate.web.paths.key}", digest: "\${local.certificate.web.digest}" }
`,
  check,
  normalize,
  identity: ({ path }, context) => (typeof path === 'string' ? absolutePath(path, context.folder) : undefined),
  foresee: ({ path }, context) => (typeof path === 'string' ? { paths: pathsIn(absolutePath(path, context.folder)) } : {}),
  renews: (paths) => (paths.some((path) => makesNew(path)) ? ['digest', 'not_after'] : []),
  align,
  effects: (change) => singleStepEffects(change, { createFirst: false, undo: true }),
});

/** Whether a difference at that path asks for a new certificate and not only for another owner or mode of its files. */
export function makesNew(path: string): boolean {
  return !path.startsWith('owner') && !path.startsWith('mode');
}

/** Where the files of a certificate stand. */
export function pathsIn(folder: string): { readonly certificate: string; readonly key: string } {
  return { certificate: join(folder, CERTIFICATE_FILE), key: join(folder, KEY_FILE) };
}

function check({ path, names }: Attributes, context: TypeContext): readonly Problem[] {
  const secret = path instanceof Sensitive ? 'path' : containsSecret(names) ? 'names' : undefined;
  if (secret === undefined) return [];
  const detail = `The ${secret} of ${context.address} comes from a secret. Path and names are kept in the state and shown in every plan, so they cannot be one.`;
  return [{ severity: 'error', code: 'PATH_SENSITIVE', summary: 'A path cannot be a secret', detail, path: [secret] }];
}

function containsSecret(names: Value | undefined): boolean {
  return names instanceof Sensitive || (isList(names) && names.some((one) => one instanceof Sensitive));
}

function normalize({ names, path, validity_days: days, generation, owner, mode }: Attributes, context: TypeContext): Attributes {
  const named = context.key === undefined ? context.name : `${context.name}-${context.key}`;
  return {
    ...(names === undefined ? {} : { names: isList(names) ? names.map((one) => (typeof one === 'string' ? plainName(one) : one)) : names }),
    path: typeof path === 'string' ? posix.normalize(path).replace(/(?<=.)\/$/, '') : (path ?? `.accede/certificates/${named}`),
    validity_days: days ?? 365,
    generation: generation ?? 1,
    ...(owner === undefined ? {} : { owner: accountText(owner) }),
    mode: typeof mode === 'string' ? mode.padStart(4, '0') : (mode ?? '0600'),
    pair: WHOLE,
  };
}

/** What the live files do not tell is as desired: `pair` alone says that something is wrong with them. So it is for what is read for putting them back. */
function align(desired: Attributes, live: Attributes): Attributes {
  const { certificate_pem: _certificate, private_key: _key, ...rest } = live;
  const aligned: Record<string, Value> = { ...rest };
  if (desired['owner'] === undefined) delete aligned['owner'];
  for (const one of ['path', 'generation', 'names', 'validity_days', 'owner', 'mode'])
    if (live[one] === undefined && desired[one] !== undefined) aligned[one] = desired[one];
  return aligned;
}
