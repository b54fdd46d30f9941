import { join } from 'node:path';
import { z } from 'zod';
import {
  type EffectIo,
  type FileStatus,
  type Host,
  type ObjectQuery,
  type Observed,
  type Operation,
  ProviderError,
  type ReadHost,
  type ReadIo,
  type Receipt,
  type Residue,
  type Undo,
} from '../contract.ts';
import { accountAs, ownerNumber } from './accounts.ts';
import { modeText } from './file-type.ts';
import { placeOf, readAtPath, resolveAtPath } from './path-object.ts';
import { desiredMode, desiredPath, makeStaged, removeStaged, requireDirectory, residueKey } from './stage.ts';

/** The file that says whose a directory is. */
export const MARKER_FILE = '.accede-directory';
const MARKER_LIMIT = 4096;
/** How much of its content a directory tells. */
const MOST_NAMED = 10_000;
const MARKER_MODE = 0o644;

const markerSchema = z.object({ format: z.literal('accede.directory/v1'), environment: z.string(), lineage: z.string(), id: z.string() });
type Marker = z.infer<typeof markerSchema>;

/** Reads a directory. What is at the path and is none, and what cannot be looked into, is not seen. */
export async function readDirectory(query: ObjectQuery, io: ReadIo): Promise<Observed> {
  return await readAtPath(query, (path) => observe(path, query, io.host));
}

/** An absolute path of a directory is its own live id. */
export async function resolveDirectory(id: string, io: ReadIo): Promise<string | undefined> {
  return await resolveAtPath(id, 'directory', io);
}

/** Carries out one effect of a directory. */
export async function performDirectory(operation: Operation, io: EffectIo): Promise<Receipt> {
  switch (operation.effect.object) {
    case 'create':
      return await create(operation, io.host);
    case 'update': {
      const path = desiredPath(operation);
      await bring(path, operation.desired, operation, io.host);
      return { ref: path };
    }
    case 'remove':
    case 'retire':
      if (operation.ref !== undefined) await removeEmpty(operation.ref, io.host);
      return {};
    case 'depose':
      // The predecessor stays at its path, which is not that of its successor.
      return {};
    case 'keep':
      throw new Error(`local.directory has no effect ${operation.effect.name}`);
  }
  return operation.effect.object satisfies never;
}

/** Takes one effect of a directory back: what was made goes while it is empty, what was changed or removed gets its former mode, owner and marker. */
export async function undoDirectory(undo: Undo, io: EffectIo): Promise<void> {
  const { before, ref } = undo;
  switch (undo.effect.object) {
    case 'create': {
      const path = desiredPath(undo);
      // What the effect did not make is left alone: the marker tells, and without one the live id, which the effect told when it was done.
      const isOurs = undo.desired['marker'] === true ? (await markerIn(path, io.host))?.id === undo.id : ref !== undefined;
      if (isOurs) await removeEmpty(path, io.host);
      return;
    }
    case 'update':
      if (before !== undefined && ref !== undefined) await bring(ref, before, undo, io.host);
      return;
    case 'remove':
      if (before === undefined || ref === undefined) return;
      if ((await io.host.status(ref)) === undefined) await make(ref, before, undo, io.host);
      else await bring(ref, before, undo, io.host);
      return;
    case 'depose':
    case 'keep':
      return;
    case 'retire':
      throw new Error('a predecessor that was removed does not come back');
  }
  undo.effect.object satisfies never;
}

/** Removes what runs that were killed while they made a directory left beside it. */
export async function removeDirectoryResidue(left: Residue, host: Host): Promise<void> {
  for (const path of new Set([left.identity, left.ref ?? left.identity])) {
    if (path !== '') await removeStaged(path, left, host);
  }
}

async function observe(path: string | undefined, query: ObjectQuery, host: ReadHost): Promise<Observed | undefined> {
  if (path === undefined) return undefined;
  const status = await host.status(path);
  if (status === undefined) return undefined;
  requireDirectory(path, status);
  const recorded = query.recorded?.attributes;
  const marker = await markerIn(path, host);
  const others = (await host.list(path)).filter((name) => name !== MARKER_FILE);
  return {
    kind: 'found',
    owner: ownerOf(marker, query, path),
    ref: path,
    attributes: {
      ...placeOf(path, query),
      owner: await accountAs(recorded?.['owner'], status.uid, (name) => host.userId(name)),
      mode: modeText(status.mode),
      marker: marker !== undefined,
    },
    computed: {},
    ...(others.length === 0
      ? {}
      : {
          holding: {
            code: 'DIRECTORY_NOT_EMPTY',
            message: fullMessage(path),
            refs: others.slice(0, MOST_NAMED).map((name) => join(path, name)),
          },
        }),
  };
}

/** Without a marker it is ours only where it was made without one. */
function ownerOf(marker: Marker | undefined, { mark, recorded, ref }: ObjectQuery, path: string): 'ours' | 'other' | 'nobody' {
  if (marker !== undefined) return marker.lineage === mark.lineage && marker.environment === mark.environment ? 'ours' : 'other';
  return path === ref && recorded?.attributes['marker'] === false ? 'ours' : 'nobody';
}

async function create(operation: Operation, host: Host): Promise<Receipt> {
  const path = desiredPath(operation);
  const status = await host.status(path);
  if (status === undefined) {
    await make(path, operation.desired, operation, host);
    return { ref: path };
  }
  requireDirectory(path, status);
  // Done by the same effect before: nobody else has the id.
  if ((await markerIn(path, host))?.id === operation.id) return { ref: path };
  if (operation.desired['marker'] === false && (await isAsDesired(status, operation, host)) && (await host.list(path)).length === 0) {
    return { ref: path };
  }
  throw new ProviderError('FOREIGN', `${path} is there already and is not ours.`, {
    next: `Move ${path} away, or take it over with an import block.`,
  });
}

async function isAsDesired(status: FileStatus, { desired }: Operation, host: Host): Promise<boolean> {
  const owner = await ownerNumber(desired['owner'], host);
  return modeText(status.mode) === desired['mode'] && (owner ?? status.uid) === status.uid;
}

/** Makes the directory so that it is never there without its mode and marker. */
async function make(path: string, wanted: Wanted, about: About, host: Host): Promise<void> {
  await makeStaged(path, { ...about, mode: 0o700 }, host, (stage) => bring(stage, wanted, about, host));
}

type Wanted = Operation['desired'];
type About = Pick<Operation, 'mark' | 'id' | 'address'>;

/** Brings marker, owner and mode to what is wanted; the rest of the directory stays. */
async function bring(path: string, wanted: Wanted, about: About, host: Host): Promise<void> {
  const status = await host.status(path);
  if (status === undefined) throw new ProviderError('NOT_FOUND', `The directory ${path} is not there.`);
  requireDirectory(path, status);
  await bringMarker(path, wanted['marker'] === true, about, host);
  const owner = await ownerNumber(wanted['owner'], host);
  if (owner !== undefined && owner !== status.uid) await host.setOwner(path, owner, status.gid);
  // After the owner, since a change of owner clears the set-id bits.
  await host.setMode(path, desiredMode(wanted['mode'], about.address));
}

async function bringMarker(path: string, isWanted: boolean, { mark, id, address }: About, host: Host): Promise<void> {
  const file = join(path, MARKER_FILE);
  const present = await markerIn(path, host);
  if (!isWanted) {
    if (present !== undefined) await host.removeFile(file, { key: residueKey({ mark, address }) });
    return;
  }
  if (present?.id === id && present.lineage === mark.lineage) return;
  const marker: Marker = { format: 'accede.directory/v1', environment: mark.environment, lineage: mark.lineage, id };
  await host.writeFile(file, Buffer.from(`${JSON.stringify(marker)}\n`), { mode: MARKER_MODE, key: residueKey({ mark, address }) });
}

async function removeEmpty(path: string, host: Host): Promise<void> {
  const status = await host.status(path);
  if (status === undefined) return;
  requireDirectory(path, status);
  const others = (await host.list(path)).filter((name) => name !== MARKER_FILE);
  if (others.length > 0) {
    throw new ProviderError('CONFLICT', fullMessage(path), { next: `Look into ${path}.` });
  }
  const file = join(path, MARKER_FILE);
  const marker = (await host.status(file))?.kind === 'file' ? await host.readFile(file, { limit: MARKER_LIMIT }) : undefined;
  await host.removeFile(file);
  try {
    await host.removeFolder(path);
  } catch (error) {
    // Something came into it in between: then it is still ours.
    if (marker !== undefined) await host.writeFile(file, marker, { mode: MARKER_MODE, key: path });
    throw error;
  }
}

function fullMessage(path: string): string {
  return `The directory ${path} is not empty, and a directory is never removed with content. Empty it first, or give it up with a removed entry that has destroy: false.`;
}

/** Undefined when there is none. One that cannot be read is not taken for one of ours. */
async function markerIn(path: string, host: ReadHost): Promise<Marker | undefined> {
  const file = join(path, MARKER_FILE);
  const status = await host.status(file);
  if (status?.kind !== 'file' || status.size > MARKER_LIMIT) return undefined;
  const text = new TextDecoder().decode(await host.readFile(file, { limit: MARKER_LIMIT }));
  try {
    const parsed = markerSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
