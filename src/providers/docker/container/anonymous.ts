import { type Attributes, isAttributes, isList, type Plain } from '../../../core/value.ts';
import type { Found, ObjectQuery } from '../../contract.ts';
import type { Acting } from '../acting.ts';
import { isNotFound, statusOf } from '../errors.ts';
import { bareText } from '../lift.ts';
import { createdAt, isMarked, markedId } from '../marks.ts';
import { asideName, isAsideName } from '../naming.ts';
import { canonicalPath } from '../spelling.ts';
import type { ContainerReply, ImageReply, WireMount } from '../wire.ts';
import { listOf, mapOf } from './create-options.ts';

type Desired = { readonly [name: string]: Plain };

/** The engine names a volume that nobody named by 64 hexadecimal digits. */
export function isAnonymous(mount: Pick<WireMount, 'Name'>): boolean {
  return /^[0-9a-f]{64}$/.test(mount.Name);
}

/** The names of a container's volumes without a name of their own, by path in the container. */
export function anonymousVolumes(container: ContainerReply): { readonly [path: string]: string } {
  const mounts = container.Mounts.filter((mount) => mount.Type === 'volume' && isAnonymous(mount));
  return Object.fromEntries(mounts.map((mount) => [canonicalPath(mount.Destination), mount.Name]));
}

/** Those of them that came with this very container: it was not told to mount them. */
export function freshVolumes(container: ContainerReply): readonly string[] {
  const given = new Set([
    ...container.HostConfig.Mounts.map((mount) => mount.Source),
    ...container.HostConfig.Binds.map((bind) => bind.split(':')[0] ?? ''),
  ]);
  return Object.values(anonymousVolumes(container)).filter((name) => !given.has(name));
}

/**
 * What is desired of a new container, with the anonymous volumes of its predecessors mounted where it would get new ones: those that its image
 * declares and the document does not mount, and those that the document mounts without a source. Looked at is what stepped aside for it, the
 * newest first, then what the record says, so that a container which was removed by hand leaves its volumes to its successor too.
 */
export async function withCarriedVolumes(acting: Acting, image: ImageReply | undefined): Promise<Desired> {
  const { desired, computed } = acting.operation;
  if (desired['renew_anon_volumes'] === true) return desired;
  const mounts = listOf(desired['volumes']).map(mapOf);
  const isOpen = (mount: Desired) => mount['type'] === 'volume' && mount['source'] === undefined;
  const taken = new Set([...mounts.map((mount) => String(mount['target'])), ...Object.keys(mapOf(desired['tmpfs']))]);
  const declared = (image?.Config?.Volumes ?? []).map(canonicalPath).filter((path) => !taken.has(path));
  if (declared.length === 0 && !mounts.some(isOpen)) return desired;
  const sources = [...(await predecessors(acting)).map(anonymousVolumes), mapOf(computed?.['anonymous_volumes'])];
  const carried = async (path: string): Promise<string | undefined> => {
    for (const source of sources) {
      const name = source[path];
      if (typeof name === 'string' && (await acting.world.volume(name, acting.io.signal)) !== undefined) return name;
    }
    return undefined;
  };
  const volumes: Plain[] = [];
  for (const mount of mounts) {
    const source = isOpen(mount) ? await carried(String(mount['target'])) : undefined;
    volumes.push(source === undefined ? mount : { ...mount, source });
  }
  for (const target of declared) {
    const source = await carried(target);
    if (source !== undefined) volumes.push({ type: 'volume', source, target });
  }
  return { ...desired, volumes };
}

/** The containers that a new one follows: that of the record, and what stepped aside for it in this or in a broken-off run. */
async function predecessors(acting: Acting): Promise<readonly ContainerReply[]> {
  const { operation, world, io } = acting;
  const recorded = operation.computed?.['id'];
  const name = String(operation.desired['name']);
  world.refresh();
  const entries = (await world.containers(io.signal)).filter((entry) => {
    if (entry.Id === recorded) return true;
    const isAside = entry.Names.some((other) => isAsideName(other, entry.Id));
    if (!isAside || !isMarked(entry.Labels, operation.mark)) return false;
    return createdAt(entry.Labels) === operation.address || entry.Names.includes(`/${asideName(name, entry.Id)}`);
  });
  const found: ContainerReply[] = [];
  for (const { Id } of entries.toSorted((a, b) => b.Created - a.Created)) {
    const container = await world.container(Id, io.signal);
    if (container !== undefined) found.push(container);
  }
  return found;
}

/** Removes volumes that nobody uses any more. One that another container mounts, or that a resource of ours is, stays. */
export async function dropVolumes(acting: Acting, names: readonly string[]): Promise<void> {
  const { client, world, io } = acting;
  for (const name of names) {
    const volume = await world.volume(name, io.signal);
    if (volume === undefined || markedId(volume.Labels) !== undefined) continue;
    try {
      await client.remove(`/volumes/${name}`, { signal: io.signal, doing: `remove the anonymous volume ${name.slice(0, 12)}` });
    } catch (error) {
      if (!isNotFound(error) && statusOf(error) !== 409) throw error;
    }
  }
}

/**
 * Whether the anonymous volumes of what goes away go with it. Data is kept unless the document says that it is worth nothing: that of the
 * successor where there is one. What goes away knows the record alone, and whether the document says something else by now.
 */
export function renewsVolumes(acting: Acting): boolean {
  const { desired, change } = acting.operation;
  const recorded = desired['renew_anon_volumes'] === true;
  return change.paths.includes('renew_anon_volumes') ? !recorded : recorded;
}

/**
 * What the operator should know of volumes that the image declares and the document does not mount: where their data is, and the lines of a
 * volume with a name that takes over the same data.
 */
export function anonymousNotes(container: ContainerReply, image: ImageReply | undefined, query: ObjectQuery): NonNullable<Found['notes']> {
  const written = query.recorded?.attributes;
  if (written?.['renew_anon_volumes'] === true) return [];
  const declared = new Set((image?.Config?.Volumes ?? []).map(canonicalPath));
  const mounted = writtenTargets(written);
  const found = Object.entries(anonymousVolumes(container)).filter(([path]) => declared.has(path) && !mounted.has(path));
  return found
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, volume]) => ({ code: 'ANONYMOUS_VOLUME', message: describe(container, query, path, volume), lasting: true }));
}

function writtenTargets(attributes: Attributes | undefined): ReadonlySet<string | undefined> {
  const volumes = attributes?.['volumes'];
  return new Set(isList(volumes) ? volumes.map((mount) => (isAttributes(mount) ? bareText(mount['target']) : undefined)) : []);
}

function describe(container: ContainerReply, query: ObjectQuery, path: string, volume: string): string {
  const key = `${query.address.replace(/^docker\.container\./, '')}${path}`.replace(/[^A-Za-z0-9]+/g, '_').replace(/_$/, '');
  return [
    `The image of ${container.Name} declares a volume at ${path} that the document does not mount, so its data is in a volume without a name. It goes over to every successor and stays when the container goes, but nothing will tell whose it is. Give it a name; the data stays where it is:`,
    '  resources:',
    '    docker.volume:',
    `      ${key}:`,
    `        name: ${volume}`,
    '  import:',
    `    - address: docker.volume.${key}`,
    `      id: ${volume}`,
    `and in ${query.address}:`,
    `  volumes: ["\${docker.volume.${key}.name}:${path}"]`,
    'Where the data is worth nothing, write renew_anon_volumes: true instead.',
  ].join('\n');
}
