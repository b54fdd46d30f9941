import { type Attributes, isAttributes, isList } from '../../core/value.ts';
import type { Found, ObjectQuery, Observed } from '../contract.ts';
import { anonymousNotes, anonymousVolumes } from './container/anonymous.ts';
import { liveContainer, type Peer } from './container/live.ts';
import { portKey, portsOfBindings } from './container/ports.ts';
import { tellUnnamed } from './container/unnamed.ts';
import { madeWith, withGifts } from './gifts.ts';
import { declaredBy, hasContent, liveImage } from './image.ts';
import { bareText } from './lift.ts';
import { markedId, ownerOf } from './marks.ts';
import { liveNetwork } from './network.ts';
import { canonicalRepository, parseImageReference } from './reference.ts';
import { liveVolume } from './volume.ts';
import type { ContainerReply, ImageReply, NetworkReply } from './wire.ts';
import type { World } from './world.ts';

const ABSENT: Observed = { kind: 'absent' };

/**
 * Reads a container: by its recorded id, by our id in its mark, by its name. One that stepped aside has neither the name nor the id of its
 * successor. Throws `ProviderError` when the engine cannot be asked.
 */
export async function readContainer(query: ObjectQuery, world: World, signal: AbortSignal): Promise<Observed> {
  const recorded = query.ref === undefined ? undefined : await world.container(query.ref, signal);
  if (recorded !== undefined) return observeContainer(recorded, query, world, signal);
  const list = await world.containers(signal);
  const entry =
    list.find((other) => query.id !== undefined && markedId(other.Labels) === query.id) ??
    list.find((other) => other.Names.includes(`/${query.identity}`));
  const container = entry === undefined ? undefined : await world.container(entry.Id, signal);
  return container === undefined ? ABSENT : observeContainer(container, query, world, signal);
}

/** What is said of a container that is there. */
async function observeContainer(container: ContainerReply, query: ObjectQuery, world: World, signal: AbortSignal): Promise<Found> {
  const [image, info, peers] = await Promise.all([
    world.image(container.Image, signal),
    world.info(signal),
    peersOf(container, world, signal),
  ]);
  const labels = container.Config.Labels;
  const id = markedId(labels);
  const seen = { ref: container.Id, id, names: ['shm_size', 'ulimits'] };
  const live = tellUnnamed(liveContainer({ container, image, info, peers }), madeWith(query, seen));
  const attributes = withGifts(live, query, seen);
  const dormant = dormantReason(container);
  const notes = anonymousNotes(container, image, query);
  return {
    kind: 'found',
    owner: ownerOf(labels, query.mark, container.Id === query.ref),
    ref: container.Id,
    ...(id === undefined ? {} : { id }),
    attributes,
    computed: computedOfContainer(container, image, attributes),
    ...(dormant === undefined ? {} : { dormant: { reason: dormant } }),
    ...(notes.length === 0 ? {} : { notes }),
  };
}

/** Why a container does not run, in words; undefined when it runs. */
export function dormantReason(container: ContainerReply): string | undefined {
  const { State: state } = container;
  const killed = state.OOMKilled ? ' after it ran out of memory' : '';
  switch (state.Status) {
    case 'running':
      return undefined;
    case 'exited':
      return `exited with code ${state.ExitCode}${killed}`;
    case 'restarting':
      return `restarting in a loop, last exit code ${state.ExitCode}${killed}`;
    case 'created':
      return state.Error === '' ? 'created but never started' : 'created, but its start failed';
    default:
      return state.Status;
  }
}

/** The names of the containers whose namespaces it shares. */
async function peersOf(container: ContainerReply, world: World, signal: AbortSignal): Promise<readonly Peer[]> {
  const { NetworkMode, PidMode, IpcMode } = container.HostConfig;
  const others = [NetworkMode, PidMode, IpcMode]
    .filter((mode) => mode.startsWith('container:'))
    .map((mode) => mode.slice('container:'.length));
  if (others.length === 0) return [];
  const list = await world.containers(signal);
  return list
    .filter((entry) => others.includes(entry.Id) || entry.Names.some((name) => others.includes(name.slice(1))))
    .map((entry) => ({ id: entry.Id, name: entry.Names[0]?.slice(1) ?? entry.Id }));
}

function computedOfContainer(container: ContainerReply, image: ImageReply | undefined, attributes: Attributes): Attributes {
  const addresses = Object.entries(container.NetworkSettings.Networks).map(([name, endpoint]) => [
    name,
    endpoint.IPAddress || endpoint.GlobalIPv6Address,
  ]);
  return {
    id: container.Id,
    image_id: container.Image,
    published_ports: publishedPorts(container, attributes),
    addresses: Object.fromEntries(addresses.filter(([, ip]) => ip !== '')),
    anonymous_volumes: anonymousVolumes(container),
    revision: (image === undefined ? undefined : declaredBy(image).revision) ?? null,
  };
}

/** The port on the host for each published port, with what the engine chose filled in; a stopped container has none of those. */
function publishedPorts(container: ContainerReply, attributes: Attributes): Attributes {
  const asked = attributes['ports'];
  const actual = portsOfBindings(container.NetworkSettings.Ports);
  const entries = (isList(asked) ? asked : []).flatMap((port): readonly (readonly [string, number])[] => {
    const key = portKey(port);
    if (key === undefined || !isAttributes(port)) return [];
    const bound = actual.find((other) => isAttributes(other) && portKey(other) === key && isSameHostIp(other, port));
    const published = port['published'] ?? (isAttributes(bound) ? bound['published'] : undefined);
    return typeof published === 'number' ? [[key, published]] : [];
  });
  return Object.fromEntries(entries);
}

/** A port without an address of its own is bound at all of them. */
function isSameHostIp(bound: Attributes, asked: Attributes): boolean {
  return asked['host_ip'] === undefined || bound['host_ip'] === asked['host_ip'];
}

/** Reads a network. Two networks of one name are not told apart by guessing: that is "cannot see". */
export async function readNetwork(query: ObjectQuery, world: World, signal: AbortSignal): Promise<Observed> {
  const list = await world.networks(signal);
  const exact =
    (query.ref === undefined ? undefined : list.find((network) => network.Id === query.ref)) ??
    (query.id === undefined ? undefined : list.find((network) => markedId(network.Labels) === query.id));
  const named = query.identity === undefined ? [] : list.filter((network) => network.Name === query.identity);
  if (named.length > 1) {
    const ids = named.map((network) => network.Id.slice(0, 12)).toSorted();
    return {
      kind: 'cannot-see',
      code: 'NETWORK_AMBIGUOUS',
      reason: `the engine has ${named.length} networks with the name ${query.identity} (${ids.join(', ')}), and containers join by name. Remove all but one of them.`,
    };
  }
  const network = exact ?? named[0];
  return network === undefined ? ABSENT : observeNetwork(network, query);
}

function observeNetwork(network: NetworkReply, query: ObjectQuery): Found {
  const id = markedId(network.Labels);
  const subnets = (network.IPAM?.Config ?? []).map((pool) => pool.Subnet).filter((subnet) => subnet !== '');
  return {
    kind: 'found',
    owner: ownerOf(network.Labels, query.mark, network.Id === query.ref),
    ref: network.Id,
    ...(id === undefined ? {} : { id }),
    attributes: withGifts(liveNetwork(network), query, { ref: network.Id, id, names: ['driver_opts'] }),
    computed: { id: network.Id, subnets: subnets.toSorted() },
  };
}

/** Reads a volume. The engine knows volumes by name alone, so the name is the recorded id too. */
export async function readVolume(query: ObjectQuery, world: World, signal: AbortSignal): Promise<Observed> {
  const list = await world.volumes(signal);
  const volume =
    (query.ref === undefined ? undefined : list.find((entry) => entry.Name === query.ref)) ??
    (query.id === undefined ? undefined : list.find((entry) => markedId(entry.Labels) === query.id)) ??
    list.find((entry) => entry.Name === query.identity);
  if (volume === undefined) return ABSENT;
  const id = markedId(volume.Labels);
  return {
    kind: 'found',
    // A name can be given again, so a recorded one does not outweigh somebody else's mark.
    owner: ownerOf(volume.Labels, query.mark, volume.Name === query.ref && id === undefined),
    ref: volume.Name,
    ...(id === undefined ? {} : { id }),
    attributes: liveVolume(volume),
    computed: { mountpoint: volume.Mountpoint },
  };
}

/** Reads an image, by the recorded id or by content. One with the right content is as good as ours: images are shared and bear no mark. */
export async function readImage(query: ObjectQuery, world: World, signal: AbortSignal): Promise<Observed> {
  if (query.ref !== undefined) {
    const recorded = await world.image(query.ref, signal);
    if (recorded !== undefined) return observeImage(recorded, nameOf(recorded, query));
  }
  const name = query.identity === undefined ? undefined : imageName(query.identity);
  if (name === undefined) return ABSENT;
  const image = await findImage(name, world, signal);
  return image === undefined ? ABSENT : observeImage(image, name);
}

export interface ImageName {
  readonly repository?: string;
  readonly digest: string;
}

/** Finds an image by its content: as a manifest of its repository, or by its own id. */
export async function findImage(name: ImageName, world: World, signal: AbortSignal): Promise<ImageReply | undefined> {
  if (name.repository !== undefined) {
    const image = await world.image(`${name.repository}@${name.digest}`, signal);
    if (image !== undefined && hasContent(image, name.digest, name.repository)) return image;
  }
  const image = await world.image(name.digest, signal);
  return image !== undefined && hasContent(image, name.digest) ? image : undefined;
}

function imageName(text: string): ImageName | undefined {
  const reference = parseImageReference(text);
  if (reference?.kind === 'id') return { digest: reference.id };
  return reference?.kind === 'digest' ? { repository: reference.repository, digest: reference.digest } : undefined;
}

/** The name under which the recorded image is spoken of: the desired one or the recorded one where it fits, else one that the image has. */
function nameOf(image: ImageReply, query: ObjectQuery): ImageName {
  const desired = query.identity === undefined ? undefined : imageName(query.identity);
  const recorded = query.recorded?.attributes;
  const repository = bareText(recorded?.['repository']);
  const digest = bareText(recorded?.['digest']);
  const before = digest === undefined ? undefined : { digest, ...(repository === undefined ? {} : { repository }) };
  for (const name of [desired, before]) {
    if (name !== undefined && hasContent(image, name.digest, name.repository)) return name;
  }
  const first = image.RepoDigests.filter((text) => !text.startsWith('<none>')).toSorted()[0];
  const [name, found] = first?.split('@') ?? [];
  return name === undefined || found === undefined ? { digest: image.Id } : { repository: canonicalRepository(name), digest: found };
}

export function observeImage(image: ImageReply, name: ImageName): Found {
  const { revision, source } = declaredBy(image);
  return {
    kind: 'found',
    owner: 'ours',
    ref: image.Id,
    attributes: liveImage(image, name),
    computed: { id: image.Id, reference: referenceOf(image, name), revision: revision ?? null, source: source ?? null },
  };
}

/** How a container names the image, so that it is the same one after the next pull. */
export function referenceOf(image: ImageReply, name: ImageName): string {
  const isInRepository = name.repository !== undefined && name.digest !== image.Id && hasContent(image, name.digest, name.repository);
  return isInRepository ? `${name.repository}@${name.digest}` : image.Id;
}
