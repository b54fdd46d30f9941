import type { TypeName } from '../../../src/core/address.ts';
import { localHost } from '../../../src/host/local.ts';
import { fakeProvider } from '../../../src/providers/fake/provider.ts';
import { FakeWorld } from '../../../src/providers/fake/world.ts';
import type { ConformanceCase, TypeCase } from '../../conformance/case.ts';
import { providerConformance } from '../../conformance/provider.ts';

const SECRET = 'quiet-as-a-mouse';
const TYPES = [
  'fake.generation',
  'fake.image',
  'fake.publication',
  'fake.route',
  'fake.server',
  'fake.service',
  'fake.store',
  'fake.task',
  'fake.thing',
];

providerConformance(
  'fake',
  TYPES.map((type) => ({ type, live: true })),
  async () => {
    const world = new FakeWorld();
    return {
      provider: fakeProvider(world),
      config: { zone: 'default' },
      host: localHost(),
      folder: '/',
      types: TYPES.map((type) => (type === 'fake.task' ? taskCase(world) : typeCase(world, type))),
      secrets: [SECRET],
      snapshot: async () => world.objects(),
      leftovers: async () => world.objects().map((object) => object.name),
      async unreachable() {
        world.unreachable = true;
        return async () => {
          world.unreachable = false;
        };
      },
      async close() {},
    } satisfies ConformanceCase;
  },
);

function typeCase(world: FakeWorld, type: string): TypeCase {
  return {
    type,
    sample: {
      name: 'one',
      image: 'base:1',
      size: 2,
      settings: { level: 'info' },
      tags: ['b', 'a'],
      parts: [{ name: 'wheel', count: 4 }],
      secret: SECRET,
      token: `${SECRET}!`,
      needs: 'x',
      wants: 'y',
    },
    others: [{}],
    changes: [
      { attribute: 'name', to: 'two', expect: 'replace' },
      { attribute: 'image', to: 'base:2', expect: 'replace' },
      { attribute: 'size', to: 3, expect: 'update' },
      { attribute: 'settings', to: { level: 'debug', colour: 'red' }, expect: 'update' },
      { attribute: 'settings', to: undefined, expect: 'update' },
      { attribute: 'tags', to: ['a'], expect: 'update' },
      { attribute: 'parts', to: [], expect: 'update' },
      { attribute: 'secret', to: `${SECRET}?`, expect: 'update' },
      { attribute: 'needs', to: 'z', expect: 'update' },
      { attribute: 'wants', to: 'z', expect: 'update' },
    ],
    live: {
      drift: {
        size: async (ref) => world.set(ref, { size: 9 }),
        image: async (ref) => world.set(ref, { image: 'base:9' }),
        'settings.level': async (ref) => world.set(ref, { settings: { level: 'warn', colour: 'grey' } }),
        'settings.colour': async (ref) => world.set(ref, { settings: { level: 'info', colour: 'red' } }),
        tags: async (ref) => world.set(ref, { tags: ['c'] }),
        secret: async (ref) => world.set(ref, { secret: 'changed' }),
      },
      remove: async (ref) => world.delete(ref),
      async foreign() {
        world.add({ type: type as TypeName, name: 'one' });
        return { owner: 'nobody', remove: async () => world.delete('one') };
      },
      ...(type === 'fake.service' || type === 'fake.server' ? { stop: async (ref: string) => world.stop(ref) } : {}),
      importId: (ref) => ref,
      unknownId: 'fake-999',
    },
  };
}

/** What is run on request has few attributes. */
function taskCase(world: FakeWorld): TypeCase {
  const { live, ...whole } = typeCase(world, 'fake.task');
  return {
    ...whole,
    sample: { name: 'one', mode: 'demand', token: `${SECRET}!` },
    changes: [
      { attribute: 'name', to: 'two', expect: 'replace' },
      { attribute: 'mode', to: 'reference', expect: 'update' },
    ],
    ...(live === undefined ? {} : { live: { ...live, drift: { mode: async (ref) => world.set(ref, { mode: 'never' }) } } }),
  };
}
