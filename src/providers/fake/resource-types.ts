import { z } from 'zod';
import { type Attributes, isAttributes, type Plain } from '../../core/value.ts';
import type { Change, Effect, ResourceType, Rivalry, TypeContext } from '../contract.ts';
import { attribute, defineType, traitsOf } from '../define.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()]);

const schema = z.strictObject({
  name: attribute(z.string().min(1).optional(), 'Name in the fake world. Default: environment, resource and instance key.', {
    facet: 'identity',
    immutable: true,
  }),
  image: attribute(z.string().optional(), 'What it is made of. Default "base".', { facet: 'implementation', immutable: true }),
  size: attribute(z.int().optional(), 'Changes in place. Default 1.', { facet: 'tuning' }),
  settings: attribute(z.record(z.string(), scalar).optional(), 'Any settings.'),
  tags: attribute(z.array(z.string()).optional(), 'Words in no order.', { facet: 'annotation', compare: 'set' }),
  parts: attribute(z.array(z.strictObject({ name: z.string(), count: z.int() })).optional(), 'Parts, told apart by name.', {
    compare: { keyedBy: 'name' },
  }),
  secret: attribute(z.string().optional(), 'A secret that the object shows.', { facet: 'credential', sensitive: true }),
  token: attribute(z.string().optional(), 'A secret that the object never shows.', {
    facet: 'credential',
    sensitive: true,
    writeOnly: true,
  }),
  needs: attribute(z.string().optional(), 'Text, for references.'),
  wants: attribute(z.string().optional(), 'Text that ties it to the object that it comes from.', { bound: true }),
});

const computed = {
  id: traitsOf('The live id.', { computed: true }),
  address: traitsOf('Where it is reached.', { computed: true }),
};

/** An object with an attribute of every kind. */
export const thingType = fakeType('fake.thing', {
  summary: 'An object of the fake world',
  role: 'infrastructure',
  stage: 'migrate',
  foreignCode: 'THING_FOREIGN',
});

/** An object that holds data. */
export const storeType = fakeType('fake.store', {
  summary: 'An object of the fake world that holds data',
  role: 'infrastructure',
  stage: 'migrate',
  foreignCode: 'STORE_FOREIGN',
  protected: true,
});

/** An object that has to run: made, started, awaited. */
export const serviceType = fakeType('fake.service', {
  summary: 'A service of the fake world',
  role: 'service',
  roles: ['worker', 'store'],
  stage: 'start',
  foreignCode: 'SERVICE_FOREIGN',
});

/** What services are made from: fetched before anything else is touched. */
export const imageType = fakeType('fake.image', {
  summary: 'An image of the fake world',
  role: 'infrastructure',
  roleOfUsers: true,
  stage: 'preflight',
  foreignCode: 'IMAGE_FOREIGN',
});

/** A service that proves in preflight what it is made from. */
export const serverType = fakeType('fake.server', {
  summary: 'A service of the fake world that proves its image first',
  role: 'service',
  stage: 'start',
  foreignCode: 'SERVER_FOREIGN',
  proves: true,
});

/** What is switched to first and made final when everything that uses it has gone over. */
export const generationType = fakeType('fake.generation', {
  summary: 'A generation of the fake world, activated and then committed',
  role: 'runtime',
  stage: 'start',
  foreignCode: 'GENERATION_FOREIGN',
  commits: true,
});

/** Where traffic goes: switched when what serves is ready. */
export const routeType = fakeType('fake.route', {
  summary: 'A route of the fake world',
  role: 'ingress',
  stage: 'route',
  foreignCode: 'ROUTE_FOREIGN',
});

/** What cannot be taken back once it is done. */
export const publicationType = fakeType('fake.publication', {
  summary: 'A publication of the fake world: from its first step on there is no way back',
  role: 'catalog',
  stage: 'publish',
  foreignCode: 'PUBLICATION_FOREIGN',
  final: true,
});

type Particulars = Pick<ResourceType, 'summary' | 'role' | 'stage' | 'foreignCode'> &
  Partial<Pick<ResourceType, 'roles' | 'protected' | 'roleOfUsers'>> & {
    readonly proves?: boolean;
    readonly commits?: boolean;
    readonly final?: boolean;
  };

function fakeType(type: string, { proves = false, commits = false, final = false, ...particulars }: Particulars): ResourceType {
  return defineType({
    ...particulars,
    type,
    marks: true,
    restarts: particulars.role === 'service',
    schemaVersion: 1,
    schema,
    traits: computed,
    example: `resources:
  ${type}:
    one:
      name: one
      image: "base:2"
      size: 3
      settings: { level: info }
      tags: [a, b]
      parts: [{ name: wheel, count: 4 }]
      secret: hush
      token: hush
      needs: anything
      wants: anything
`,
    normalize,
    identity: (desired) => (typeof desired['name'] === 'string' ? desired['name'] : undefined),
    align,
    rivalries,
    effects:
      particulars.role === 'service'
        ? (change) => [...(proves ? proofs(change) : []), ...serviceEffects(change)]
        : (change) => {
            const effects = objectEffects(change, particulars.stage);
            if (final) return effects.map((effect) => ({ ...effect, direction: 'forward' }));
            return commits ? withCommit(change, effects) : effects;
          },
  });
}

function normalize(attributes: Attributes, context: TypeContext): Attributes {
  const given = context.key === undefined ? context.name : `${context.name}-${context.key}`;
  return {
    ...attributes,
    name: attributes['name'] ?? `${context.environment}-${given}`,
    image: attributes['image'] ?? 'base',
    size: attributes['size'] ?? 1,
  };
}

/** What the world sets by itself where nothing is said, as servers do. */
export const WORLD_SETTINGS: { readonly [name: string]: Plain } = { colour: 'grey' };

/** Drops what the world set by itself. */
function align(desired: Attributes, live: Attributes): Attributes {
  const { settings, ...rest } = live;
  if (!isAttributes(settings)) return live;
  const named = isAttributes(desired['settings']) ? desired['settings'] : {};
  const kept = Object.entries(settings).filter(([name, value]) => Object.hasOwn(named, name) || value !== WORLD_SETTINGS[name]);
  return kept.length === 0 && desired['settings'] === undefined ? rest : { ...rest, settings: Object.fromEntries(kept) };
}

/** Two objects cannot have the setting `port` in common. */
function rivalries(desired: Attributes, live: Attributes): readonly Rivalry[] {
  const portOf = ({ settings }: Attributes) => (isAttributes(settings) ? settings['port'] : undefined);
  const port = portOf(desired);
  if (typeof port !== 'number' || port !== portOf(live)) return [];
  return [{ path: 'settings.port', message: `Two objects cannot have the port ${port} at once.`, advice: 'Leave the port out.' }];
}

function objectEffects(change: Change, stage: Effect['stage']): readonly Effect[] {
  const create: Effect = { name: 'create', part: 'apply', stage, object: 'create', direction: 'back' };
  const retire: Effect = { name: 'retire', part: 'retire', stage: 'retire', object: 'retire', direction: 'forward' };
  const left = change.deposed ? [retire] : [];
  switch (change.action) {
    case 'create':
      return [create, ...left];
    case 'update':
      return [{ name: 'update', part: 'apply', stage, object: 'update', direction: 'back' }, ...left];
    case 'replace':
      if (change.order === 'create-first') return [depose(stage), create, retire];
      return [{ name: 'remove', part: 'remove', stage, object: 'remove', direction: 'forward' }, create, ...left];
    case 'start':
      return left;
    case 'delete':
      return [{ name: 'remove', part: 'retire', stage: 'retire', object: 'remove', direction: 'forward' }, ...left];
  }
  return change.action satisfies never;
}

function serviceEffects(change: Change): readonly Effect[] {
  const stage = 'start';
  const create: Effect = { name: 'create', part: 'apply', stage, object: 'create', direction: 'back' };
  const retire: Effect = { name: 'retire', part: 'retire', stage: 'retire', object: 'retire', direction: 'forward' };
  const run: readonly Effect[] = [
    { name: 'start', part: 'apply', stage, object: 'keep', direction: 'back' },
    { name: 'ready', part: 'apply', stage, object: 'keep', direction: 'back', waits: true },
  ];
  const left = change.deposed ? [retire] : [];
  switch (change.action) {
    case 'create':
      return [create, ...run, ...left];
    case 'update':
      return [{ name: 'update', part: 'apply', stage, object: 'update', direction: 'back' }, ...run, ...left];
    case 'replace':
      if (change.order === 'create-first') return [depose(stage), create, ...run, retire];
      return [stop('remove', stage), { ...depose(stage), part: 'remove' }, create, ...run, retire];
    case 'start':
      return change.restart === true ? [stop('remove', stage), ...run, ...left] : [...run, ...left];
    case 'delete':
      return [
        stop('retire', 'retire'),
        { name: 'remove', part: 'retire', stage: 'retire', object: 'remove', direction: 'forward' },
        ...left,
      ];
  }
  return change.action satisfies never;
}

/** Whatever brings it about, or finds it activated only, ends with its commit. */
function withCommit(change: Change, effects: readonly Effect[]): readonly Effect[] {
  if (change.action === 'delete') return effects;
  const commit: Effect = { name: 'commit', part: 'commit', stage: 'commit', object: 'keep', direction: 'forward' };
  const at = effects.findIndex((effect) => effect.part === 'retire');
  return effects.toSpliced(at === -1 ? effects.length : at, 0, commit);
}

function proofs(change: Change): readonly Effect[] {
  if (change.action !== 'create' && change.action !== 'replace') return [];
  return [{ name: 'prove', part: 'prepare', stage: 'preflight', object: 'keep', direction: 'back' }];
}

function depose(stage: Effect['stage']): Effect {
  return { name: 'depose', part: 'apply', stage, object: 'depose', direction: 'back' };
}

function stop(part: Effect['part'], stage: Effect['stage']): Effect {
  return { name: 'stop', part, stage, object: 'keep', direction: 'back' };
}
