import { z } from 'zod';
import type { Attributes } from '../../../src/core/value.ts';
import type { Provider, Registry, ResourceType } from '../../../src/providers/contract.ts';
import { attribute, defineType, traitsOf } from '../../../src/providers/define.ts';

const port = z.union([
  z.string().regex(/^(?:[\d.]+:)?\d{1,5}:\d{1,5}$/, 'a port such as 8080:80'),
  z.strictObject({ target: z.int().min(1).max(65535), published: z.int().min(1).max(65535).optional() }),
]);

const digest = /^[^\s@]+@sha256:[0-9a-f]{64}$|^sha256:[0-9a-f]{64}$/;

/** Like a container: nested attributes, unions, an attribute that reads a file, computed ones. */
const box = defineType({
  type: 'fake.box',
  summary: 'A box.',
  schemaVersion: 1,
  schema: z.strictObject({
    name: attribute(z.string().min(1).optional(), 'The name.', { facet: 'identity' }),
    image: attribute(
      z.union([
        z.string().regex(digest, 'an image with a digest'),
        z.strictObject({ repository: z.string(), digest: z.string(), tag: z.string().optional() }),
      ]),
      'The image.',
      { facet: 'implementation' },
    ),
    environment: attribute(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(), 'Variables.'),
    ports: attribute(z.array(port).optional(), 'Ports.', { compare: 'set' }),
    ready: attribute(
      z
        .strictObject({
          http: attribute(z.string().optional(), 'A URL.'),
          timeout: attribute(
            z
              .string()
              .regex(/^\d+(?:ms|s|m|h)$/, 'a duration such as 60s')
              .optional(),
            'How long.',
          ),
        })
        .optional(),
      'When it is ready.',
    ),
    restart: attribute(z.enum(['no', 'always', 'unless-stopped']).optional(), 'Restart policy.', { facet: 'tuning' }),
    replicas: attribute(z.int().min(1).max(9).optional(), 'How many.', { facet: 'tuning' }),
    privileged: attribute(z.boolean().optional(), 'All rights.'),
    networks: attribute(z.array(z.string()).optional(), 'Networks.'),
    configs: attribute(z.record(z.string(), z.string()).optional(), 'Files.', { facet: 'content' }),
    env_file: attribute(z.union([z.string(), z.array(z.string())]).optional(), 'A file of variables.', { reads: true }),
  }),
  traits: { id: traitsOf('The id.', { computed: true }), address: traitsOf('The address.', { computed: true }) },
  role: 'service',
  roles: ['worker', 'store'],
  stage: 'start',
  example: 'resources: { fake.box: { a: { image: "x@sha256:…" } } }',
  foreignCode: 'BOX_FOREIGN',
  check: (attributes) =>
    attributes['privileged'] === true && attributes['restart'] === 'always'
      ? [
          {
            severity: 'error',
            code: 'BOX_UNSAFE',
            summary: 'A box is unsafe',
            detail: 'A privileged box may not restart always.',
            path: ['privileged'],
          },
        ]
      : [],
  normalize: (attributes) => attributes,
  identity: (desired, context) =>
    desired['name'] === undefined
      ? `${context.environment}-${context.name}${context.key ?? ''}`
      : typeof desired['name'] === 'string'
        ? desired['name']
        : undefined,
  effects: () => [],
});

/** A value that keeps its input. */
const value = defineType({
  type: 'fake.value',
  summary: 'A value.',
  schemaVersion: 1,
  schema: z.strictObject({
    input: attribute(z.unknown().optional(), 'Anything.'),
    needs: attribute(z.array(z.string()).optional(), 'Addresses.'),
  }),
  traits: { output: traitsOf('The same.', { computed: true }) },
  role: 'infrastructure',
  stage: 'migrate',
  example: 'resources: { fake.value: { a: { input: 1 } } }',
  foreignCode: 'VALUE_FOREIGN',
  normalize: (attributes: Attributes) => attributes,
  identity: (_, context) => context.address,
  effects: () => [],
});

const record = defineType({
  type: 'dash-ed.record',
  summary: 'A record of a provider with a hyphen.',
  schemaVersion: 1,
  schema: z.strictObject({ text: attribute(z.string(), 'The text.') }),
  traits: { revision: traitsOf('The revision.', { computed: true }) },
  role: 'data',
  stage: 'migrate',
  example: 'resources: { dash-ed.record: { a: { text: x } } }',
  foreignCode: 'RECORD_FOREIGN',
  normalize: (attributes) => attributes,
  identity: (_, context) => context.address,
  effects: () => [],
});

function provider(name: string, config: z.ZodType, types: readonly ResourceType[], exposes: readonly string[] = []): Provider {
  const never = () => Promise.reject(new Error('the fake registry opens no session'));
  return { name, summary: `The provider ${name}.`, config, types, exposes, openReadOnly: never, open: never };
}

/** A small registry: a provider of a server, one that acts on this host, and one with a hyphen in its name. */
export function fakeRegistry(): Registry {
  const providers = [
    provider(
      'fake',
      z.strictObject({ host: z.string().optional(), address: z.string().optional(), password: z.string().optional() }),
      [box],
      ['address'],
    ),
    provider('fakehost', z.strictObject({ root: z.string().optional(), host: z.string().optional(), here: z.boolean().optional() }), [
      hostValue(),
    ]),
    provider('dash-ed', z.strictObject({ url: z.string() }), [record]),
  ];
  const types = [...providers.flatMap(({ types: own }) => own), value].sort((a, b) => (a.type < b.type ? -1 : 1));
  const [fake, ...others] = providers;
  if (fake === undefined) throw new Error('no provider');
  const all = [{ ...fake, types: [box, value] }, ...others];
  return {
    providers: new Map(all.map((item) => [item.name, item])),
    types,
    find: (type) => {
      const found = types.find((item) => item.type === type);
      const owner = all.find((item) => item.types.some((own) => own.type === type));
      return found === undefined || owner === undefined ? undefined : { type: found, provider: owner };
    },
  };
}

function hostValue(): ResourceType {
  return defineType({
    type: 'fakehost.file',
    summary: 'A file.',
    schemaVersion: 1,
    schema: z.strictObject({
      path: attribute(z.string(), 'The path.', { facet: 'identity' }),
      content: attribute(z.string().optional(), 'The content.', { facet: 'content' }),
      source: attribute(z.string().optional(), 'A file beside the document.', { facet: 'content', reads: true }),
    }),
    role: 'infrastructure',
    stage: 'migrate',
    example: 'resources: { fakehost.file: { a: { path: /x } } }',
    foreignCode: 'FILE_FOREIGN',
    normalize: (attributes) => attributes,
    identity: (desired) => (typeof desired['path'] === 'string' ? desired['path'] : undefined),
    effects: () => [],
  });
}
