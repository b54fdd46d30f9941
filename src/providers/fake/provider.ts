import { z } from 'zod';
import { fail, succeed } from '../../core/diagnostic.ts';
import type { Attributes, Plain } from '../../core/value.ts';
import {
  type Diagnostic,
  type Found,
  type ObjectQuery,
  type Observed,
  type Provider,
  ProviderError,
  type ReadSession,
  type ResourceType,
  type Session,
} from '../contract.ts';
import { attribute } from '../define.ts';
import { performFake, undoFake } from './perform.ts';
import { generationType, imageType, publicationType, routeType, serverType, serviceType, storeType, thingType } from './resource-types.ts';
import { taskType } from './task.ts';
import type { FakeObject, FakeWorld } from './world.ts';

const config = z.strictObject({
  zone: attribute(z.string().optional(), 'Which of several separate worlds. Default "default".', { facet: 'placement' }),
  address: attribute(z.string().optional(), 'Free text for references.', { facet: 'routing' }),
});

/** A provider over a world that tests hold in their hands, with `more` types beside its own. It behaves as a real one is expected to: it judges nothing and is idempotent by looking. */
export function fakeProvider(world: FakeWorld, more: readonly ResourceType[] = []): Provider {
  const refused: Diagnostic = {
    severity: 'error',
    code: 'FAKE_CLOSED',
    summary: 'The fake world cannot be opened',
    detail: 'The fake world was told to refuse.',
  };
  return {
    name: 'fake',
    summary: 'A world in memory, for tests',
    config,
    types: [generationType, imageType, publicationType, routeType, serverType, serviceType, storeType, taskType, thingType, ...more],
    exposes: ['address'],
    async openReadOnly(block) {
      return world.refusesToOpen ? fail(refused) : succeed(readSession(world, zoneOf(block)));
    },
    async open(block) {
      if (world.refusesToOpen) return fail(refused);
      const zone = zoneOf(block);
      const session: Session = {
        ...readSession(world, zone),
        perform: async (operation, io) => await performFake(world, zone, operation, io),
        undo: async (undo, io) => await undoFake(world, zone, undo, io),
      };
      return succeed(session);
    },
  };
}

function zoneOf(block: Attributes): string {
  return typeof block['zone'] === 'string' ? block['zone'] : 'default';
}

function readSession(world: FakeWorld, zone: string): ReadSession {
  return {
    versions: { fake: world.version },
    async read(query) {
      world.reads += 1;
      return observe(world, zone, query);
    },
    async inventory(type, mark) {
      world.lists += 1;
      if (world.unreachable) throw new ProviderError('UNREACHABLE', 'The fake world does not answer.');
      return world.objects().flatMap(({ type: its, zone: where, mark: bears, ref, name }) => {
        if (its !== type || where !== zone || bears?.environment !== mark.environment) return [];
        if (mark.lineage !== undefined && bears.lineage !== mark.lineage) return [];
        const left = name.endsWith(`~${ref}`) ? ({ left: true } as const) : {};
        return [{ type, address: bears.address, id: bears.id, ref, lineage: bears.lineage, ...left }];
      });
    },
    async resolve(type, id) {
      const object = world.objects().find((one) => one.type === type && one.zone === zone && (one.ref === id || one.name === id));
      return object?.ref;
    },
    async close() {},
  };
}

function observe(world: FakeWorld, zone: string, query: ObjectQuery): Observed {
  if (world.unreachable) return { kind: 'cannot-see', code: 'UNREACHABLE', reason: 'The fake world does not answer.' };
  const objects = world.objects().filter((object) => object.type === query.type && object.zone === zone);
  const object =
    objects.find((one) => one.ref === query.ref) ??
    objects.find((one) => query.id !== undefined && one.mark?.id === query.id && one.mark.lineage === query.mark.lineage) ??
    objects.find((one) => one.name === query.identity);
  if (object === undefined) return { kind: 'absent' };
  const notes = world.notes.get(object.name);
  return { ...describe(object, query), ...(notes === undefined ? {} : { notes }) };
}

function describe(object: FakeObject, query: ObjectQuery): Found {
  const ours = object.mark === undefined ? object.ref === query.ref : object.mark.lineage === query.mark.lineage;
  const { token: _hidden, ...shown } = object.attributes as { readonly [name: string]: Plain };
  return {
    kind: 'found',
    owner: ours ? 'ours' : object.mark === undefined ? 'nobody' : 'other',
    ref: object.ref,
    ...(object.mark === undefined ? {} : { id: object.mark.id }),
    attributes: shown,
    computed: object.computed,
    ...((object.type === serviceType.type || object.type === serverType.type) && !object.running
      ? { dormant: { reason: 'exited with code 1' } }
      : {}),
  };
}
