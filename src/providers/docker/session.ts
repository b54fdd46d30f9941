import type { TypeName } from '../../core/address.ts';
import {
  type Inventory,
  type InventoryMark,
  type ObjectQuery,
  type Observed,
  ProviderError,
  type ReadIo,
  type ReadSession,
  type Receipt,
  type Session,
} from '../contract.ts';
import type { Acting, Undoing } from './acting.ts';
import type { Connection } from './client.ts';
import { undoContainer } from './container/undo.ts';
import { performContainer } from './containers.ts';
import { readContent } from './content/type.ts';
import { execInside } from './exec.ts';
import { performImage } from './images.ts';
import { performNetwork, performVolume, undoNetwork, undoVolume } from './infrastructure.ts';
import { readInventory } from './inventory.ts';
import { readJob } from './job/read.ts';
import { performJob } from './job/run.ts';
import { isOfJob } from './job/traces.ts';
import { undoJob } from './job/undo.ts';
import { readLog } from './log-stream.ts';
import { inventoryEntry } from './marks.ts';
import { isLeftName } from './naming.ts';
import { readContainer, readImage, readNetwork, readVolume } from './read.ts';
import { parseImageReference } from './reference.ts';
import { withTagNotes } from './tag-notes.ts';
import { World } from './world.ts';
import { haltWriter, listWriters, releaseWriter } from './writers.ts';

interface Versions {
  readonly [name: string]: string;
}

/** A session for plan. It is made from the reading half of the connection alone, so nothing in it can change the engine. */
export function openReadSession(connection: Pick<Connection, 'reader' | 'close'>, versions: Versions): ReadSession {
  return reading(new World(connection.reader), connection, versions);
}

/** A session for apply. */
export function openSession(connection: Connection, versions: Versions): Session {
  const world = new World(connection.reader);
  return {
    ...reading(world, connection, versions),
    perform: (operation, io) => perform({ operation, io, world, client: connection.writer }),
    undo: (operation, io) => takeBack({ operation, io, world, client: connection.writer }),
    halt: (writer, io) => haltWriter(writer, { io, world, client: connection.writer }),
    release: (writer, io) => releaseWriter(writer, { io, world, client: connection.writer }),
    exec: (query, command, sink, io) => execInside({ query, command, sink, io, world, client: connection.writer }),
  };
}

function reading(world: World, connection: Pick<Connection, 'reader' | 'close'>, versions: Versions): ReadSession {
  return {
    versions,
    read: (query, io) => cannotSeeOnFailure(() => read(query, world, io)),
    inventory: (type, mark, io) => inventory(type, mark, world, io),
    resolve: (type, id, io) => resolve(type, id, world, io),
    writers: (label, environment, io) => listWriters(label, environment, world, io),
    logs: (query, options, sink, io) => readLog({ query, options, sink, io, world, client: connection.reader }),
    close: async () => connection.close(),
  };
}

function read(query: ObjectQuery, world: World, io: ReadIo): Promise<Observed> {
  switch (kindOf(query.type)) {
    case 'container':
      return withTagNotes(readContainer(query, world, io.signal), query, world, io);
    case 'network':
      return readNetwork(query, world, io.signal);
    case 'volume':
      return readVolume(query, world, io.signal);
    case 'image':
      return readImage(query, world, io.signal);
    case 'job':
      return readJob(query, world, io.signal);
    case 'inventory':
      return readInventory(query, world, io.signal);
    case 'image_content':
      return readContent(query, world, io.signal);
  }
}

/** An engine that does not answer, or refuses, is "cannot see": never "absent". */
async function cannotSeeOnFailure(look: () => Promise<Observed>): Promise<Observed> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof ProviderError) return { kind: 'cannot-see', code: `DOCKER_${error.code}`, reason: error.message };
    throw error;
  }
}

async function inventory(type: TypeName, mark: InventoryMark, world: World, io: ReadIo): Promise<readonly Inventory[]> {
  const entries = (await labelledObjects(type, world, io)).flatMap(({ labels, ref, left }): readonly Inventory[] => {
    const entry = inventoryEntry(type, labels, ref, mark);
    return entry === undefined ? [] : [left === true ? { ...entry, left } : entry];
  });
  const kept = kindOf(type) === 'job' ? withoutKeptRuns(entries) : entries;
  return kept.toSorted((a, b) => (a.ref < b.ref ? -1 : 1));
}

interface Labelled {
  readonly labels: { readonly [name: string]: string };
  readonly ref: string;
  readonly left?: boolean;
}

async function labelledObjects(type: TypeName, world: World, io: ReadIo): Promise<readonly Labelled[]> {
  const kind = kindOf(type);
  switch (kind) {
    case 'container':
    case 'job':
      return (await world.containers(io.signal))
        .filter((entry) => isOfJob(entry.Labels) === (kind === 'job'))
        .map((entry) => ({ labels: entry.Labels, ref: entry.Id, left: entry.Names.some((name) => isLeftName(name, entry.Id)) }));
    case 'network':
      return (await world.networks(io.signal)).map((entry) => ({ labels: entry.Labels, ref: entry.Id }));
    case 'volume':
      return (await world.volumes(io.signal)).map((entry) => ({ labels: entry.Labels, ref: entry.Name }));
    case 'image':
    case 'inventory':
    case 'image_content':
      return [];
  }
}

/** The containers of a job's earlier runs belong to it and go with it. They stand for themselves only where its own container is gone. */
function withoutKeptRuns(entries: readonly Inventory[]): readonly Inventory[] {
  const present = new Set(entries.filter((entry) => entry.left !== true).map((entry) => entry.address));
  return entries.filter((entry) => entry.left !== true || !present.has(entry.address));
}

/** The live id of what an operator names by name, by id, or by the beginning of an id that is no other's too. */
async function resolve(type: TypeName, id: string, world: World, io: ReadIo): Promise<string | undefined> {
  const only = (candidates: readonly string[]) => (candidates.length === 1 ? candidates[0] : undefined);
  const isIdStart = /^[0-9a-f]{6,64}$/.test(id);
  switch (kindOf(type)) {
    case 'container': {
      const list = await world.containers(io.signal);
      const named = list.find((entry) => entry.Id === id || entry.Names.includes(`/${id}`));
      return named?.Id ?? (isIdStart ? only(list.map((entry) => entry.Id).filter((other) => other.startsWith(id))) : undefined);
    }
    case 'network': {
      const list = await world.networks(io.signal);
      const exact = list.find((network) => network.Id === id)?.Id;
      const named = list.filter((network) => network.Name === id).map((network) => network.Id);
      const started = isIdStart ? list.map((network) => network.Id).filter((other) => other.startsWith(id)) : [];
      return exact ?? only(named.length > 0 ? named : started);
    }
    case 'volume':
      return (await world.volumes(io.signal)).find((volume) => volume.Name === id)?.Name;
    case 'image':
      return parseImageReference(id) === undefined ? undefined : (await world.image(id, io.signal))?.Id;
    case 'job':
    case 'inventory':
    case 'image_content':
      // A run cannot be taken over: nothing would tell what it was given. What is only read has no object.
      return undefined;
  }
}

async function perform(acting: Acting): Promise<Receipt> {
  switch (kindOf(acting.operation.type)) {
    case 'container':
      return performContainer(acting);
    case 'network':
      return performNetwork(acting);
    case 'volume':
      return performVolume(acting);
    case 'image':
      return performImage(acting);
    case 'job':
      return performJob(acting);
    case 'inventory':
    case 'image_content':
      throw new Error(`${acting.operation.type} has no effects`);
  }
}

async function takeBack(acting: Undoing): Promise<void> {
  acting.world.refresh();
  try {
    switch (kindOf(acting.operation.type)) {
      case 'container':
        await undoContainer(acting);
        return;
      case 'network':
        await undoNetwork(acting);
        return;
      case 'volume':
        await undoVolume(acting);
        return;
      case 'job':
        await undoJob(acting);
        return;
      case 'image':
        // What was fetched serves nobody by itself, and the next attempt finds it there.
        return;
      case 'inventory':
      case 'image_content':
        throw new Error(`${acting.operation.type} has no effects`);
    }
  } finally {
    acting.world.refresh();
  }
}

function kindOf(type: TypeName): 'container' | 'network' | 'volume' | 'image' | 'job' | 'inventory' | 'image_content' {
  switch (type as string) {
    case 'docker.container':
      return 'container';
    case 'docker.network':
      return 'network';
    case 'docker.volume':
      return 'volume';
    case 'docker.image':
      return 'image';
    case 'docker.job':
      return 'job';
    case 'docker.inventory':
      return 'inventory';
    case 'docker.image_content':
      return 'image_content';
    default:
      throw new Error(`the docker provider has no type ${type}`);
  }
}
