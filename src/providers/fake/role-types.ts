import { z } from 'zod';
import type { Facet, Role } from '../../core/facet.ts';
import type { Attributes, Value } from '../../core/value.ts';
import type { Change, Effect, ResourceType, TypeContext } from '../contract.ts';
import { attribute, defineType, traitsOf } from '../define.ts';

const anything = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.union([z.string(), z.number(), z.record(z.string(), z.unknown())])),
  z.record(z.string(), z.unknown()),
]);

/** Attributes by name, each with its facet. */
type Facets = Readonly<Record<string, Facet>>;

/** A type of a role that has no other type in the fake world, with the facets that the real types of that role have. */
function roleType(name: string, role: Role, stage: ResourceType['stage'], facets: Facets, roles: readonly Role[] = []): ResourceType {
  const members = Object.entries(facets).map(([member, facet]) => [
    member,
    attribute(anything.optional(), `An attribute of the facet ${facet}.`, { facet }),
  ]);
  return defineType({
    type: `fake.${name}`,
    summary: `A stand-in of the role ${role}`,
    role,
    roles,
    stage,
    marks: true,
    schemaVersion: 1,
    foreignCode: `${name.toUpperCase()}_FOREIGN`,
    schema: z.strictObject({
      name: attribute(z.string().min(1).optional(), 'Name in the fake world.', { facet: 'identity' }),
      ...Object.fromEntries(members),
    }),
    traits: {
      id: traitsOf('The live id.', { computed: true }),
      digest: traitsOf('Digest of what it is.', { computed: true }),
    },
    example: `resources:\n  fake.${name}:\n    one: { name: one }\n`,
    normalize,
    identity: (desired) => (typeof desired['name'] === 'string' ? desired['name'] : undefined),
    effects: (change) => effectsOf(change, stage),
    renews: () => ['digest'],
  });
}

function normalize(attributes: Attributes, { environment, name, key }: TypeContext): Attributes {
  const given: Value = attributes['name'] ?? `${environment}-${key === undefined ? name : `${name}-${key}`}`;
  return { ...attributes, name: given };
}

function effectsOf(change: Change, stage: ResourceType['stage']): readonly Effect[] {
  const at = (name: string, object: Effect['object'], more: Partial<Effect> = {}): Effect => ({
    name,
    part: 'apply',
    stage,
    object,
    direction: 'back',
    ...more,
  });
  const last = change.deposed ? [at('retire', 'retire', { part: 'retire', stage: 'retire', direction: 'forward' })] : [];
  switch (change.action) {
    case 'create':
      return [at('create', 'create'), ...last];
    case 'update':
      return [at('update', 'update'), ...last];
    case 'replace':
      return [at('remove', 'remove', { part: 'remove', direction: 'forward' }), at('create', 'create'), ...last];
    case 'start':
      return last;
    case 'delete':
      return [at('remove', 'remove', { part: 'retire', stage: 'retire', direction: 'forward' }), ...last];
  }
  return change.action satisfies never;
}

/** Types of the roles that no other type of the fake world has; given to the fake provider where a test is about classes. */
export const ROLE_TYPES: readonly ResourceType[] = [
  roleType('ingress', 'ingress', 'route', {
    server_name: 'identity',
    listen: 'routing',
    locations: 'routing',
    access_log: 'configuration',
    tls: 'credential',
  }),
  roleType('frontend', 'frontend', 'route', { tree: 'content', archive: 'implementation', routing: 'routing', keep: 'tuning' }),
  roleType('catalog', 'catalog', 'publish', {
    app_id: 'identity',
    release_digest: 'content',
    version: 'implementation',
    publication: 'authority',
  }),
  roleType('trust', 'trust', 'publish', { publisher: 'identity', keys: 'authority' }),
  roleType('ownership', 'ownership', 'claim', { families: 'identity', worker_release_digest: 'authority', carrier: 'implementation' }),
  roleType('runtime', 'runtime', 'start', { family: 'identity', generation: 'implementation', trust: 'authority', retention: 'tuning' }),
  roleType('credential', 'credential', 'migrate', { names: 'identity', generation: 'credential', mode: 'configuration' }),
  roleType('data', 'data', 'migrate', { table: 'identity', source: 'content', commit: 'content', reset: 'identity' }),
  roleType('job', 'job', 'migrate', { repository: 'identity', image: 'implementation', command: 'configuration' }, ['catalog']),
];
