import { ProviderError, type Receipt } from '../contract.ts';
import { type Acting, foreign, isThisOne, requireOurs, type Undoing } from './acting.ts';
import { listOf, mapOf } from './container/create-options.ts';
import { isNotFound, isStillAttached, statusOf } from './errors.ts';
import { isMarked, ownerLabels } from './marks.ts';
import { isAsideName } from './naming.ts';
import { plainTexts } from './network.ts';
import { removeContainer } from './removal.ts';
import { type ContainerEntry, containerListReply, createdReply, type NetworkReply, type VolumeReply, volumeReply } from './wire.ts';

/** How long a network may stay in use by containers that are just leaving it. */
const DETACH_TIMEOUT = 15_000;

/** Does one effect of a `docker.network`. */
export async function performNetwork(acting: Acting): Promise<Receipt> {
  const { operation, world } = acting;
  world.refresh();
  try {
    switch (operation.effect.name) {
      case 'create':
        return await createNetwork(acting);
      case 'remove':
      case 'retire':
        await removeNetwork(acting);
        return {};
      case 'set-aside':
      case 'update':
        return {};
      default:
        throw new Error(`docker.network has no effect ${operation.effect.name}`);
    }
  } finally {
    world.refresh();
  }
}

async function createNetwork(acting: Acting): Promise<Receipt> {
  const { operation, client, world, io } = acting;
  const { desired } = operation;
  const name = String(desired['name']);
  const list = await world.networks(io.signal);
  const made = list.find((network) => isThisOne(network.Labels, operation));
  if (made !== undefined) return { ref: made.Id };
  const other = list.find((network) => network.Name === name);
  if (other !== undefined) {
    if (!isMarked(other.Labels, operation.mark)) throw foreign({ kind: 'network', name });
    throw new ProviderError(
      'CONFLICT',
      `The name ${name} belongs to another network of this environment, and two networks of one name cannot be told apart.`,
      {
        next: 'Give the new network another name, or replace it without create_before_destroy.',
      },
    );
  }
  const ipam = mapOf(desired['ipam']);
  const reply = await client.post('/networks/create', {
    signal: io.signal,
    doing: `create the network ${name}`,
    body: {
      Name: name,
      CheckDuplicate: true,
      Driver: desired['driver'],
      Internal: desired['internal'] === true,
      Attachable: desired['attachable'] === true,
      EnableIPv6: desired['ipv6'] === true,
      Options: plainTexts(desired['driver_opts']),
      Labels: { ...plainTexts(desired['labels']), ...ownerLabels(operation) },
      ...(Object.keys(ipam).length === 0
        ? {}
        : { IPAM: { Driver: ipam['driver'] ?? 'default', Config: listOf(ipam['config']).map(mapOf).map(poolOption) } }),
    },
  });
  return { ref: createdReply.parse(reply).Id };
}

function poolOption(pool: ReturnType<typeof mapOf>): object {
  const members = {
    Subnet: pool['subnet'],
    Gateway: pool['gateway'],
    IPRange: pool['ip_range'],
    AuxiliaryAddresses: pool['aux_addresses'],
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Takes back one effect of a `docker.network`: one that this change made is removed again. */
export async function undoNetwork(acting: Undoing): Promise<void> {
  if (acting.operation.effect.name !== 'create') return;
  acting.world.refresh();
  const made = (await acting.world.networks(acting.io.signal)).find((network) => isThisOne(network.Labels, acting.operation));
  if (made !== undefined) await removeUnused(acting, async () => acting.world.network(made.Id, acting.io.signal));
}

async function removeNetwork(acting: Acting): Promise<void> {
  const { operation, world, io } = acting;
  // When somebody made it anew under our mark, its live id is another one. A predecessor is told by its live id alone.
  const remade =
    operation.effect.name === 'remove' ? (await world.networks(io.signal)).find((one) => isThisOne(one.Labels, operation))?.Id : undefined;
  await removeUnused(acting, async () => {
    const recorded = operation.ref === undefined ? undefined : await world.network(operation.ref, io.signal);
    return recorded ?? (remade === undefined ? undefined : await world.network(remade, io.signal));
  });
}

/** Removes a network. One that containers are just leaving is tried again; one that stays in use is a conflict that names them. */
async function removeUnused(acting: Acting, look: () => Promise<NetworkReply | undefined>): Promise<void> {
  const { operation, client, io } = acting;
  const deadline = io.clock.monotonic() + DETACH_TIMEOUT;
  for (let tries = 1; ; tries++) {
    const network = await look();
    if (network === undefined) return;
    requireOurs({ kind: 'network', name: network.Name, ref: network.Id, labels: network.Labels }, operation);
    try {
      await client.remove(`/networks/${network.Id}`, { signal: io.signal, doing: `remove the network ${network.Name}` });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isStillAttached(error)) throw error;
      if (io.clock.monotonic() > deadline) throw stillInUse(network, error);
      io.progress(`waiting until it is left by ${usersOf(network)}`, { tries });
      await io.clock.sleep(250, io.signal);
    }
  }
}

function usersOf(network: NetworkReply): string {
  const names = Object.values(network.Containers).map((container) => container.Name);
  return names.length === 0 ? 'containers' : names.toSorted().join(', ');
}

function stillInUse(network: NetworkReply, cause: unknown): ProviderError {
  return new ProviderError('CONFLICT', `The network ${network.Name} is still in use by ${usersOf(network)}.`, {
    cause,
    next: 'Remove these containers or disconnect them, then apply again.',
  });
}

/** Does one effect of a `docker.volume`. */
export async function performVolume(acting: Acting): Promise<Receipt> {
  const { operation, world } = acting;
  world.refresh();
  try {
    switch (operation.effect.name) {
      case 'create':
        return await createVolume(acting);
      case 'remove':
      case 'retire':
        await removeVolume(acting);
        return {};
      case 'set-aside':
      case 'update':
        return {};
      default:
        throw new Error(`docker.volume has no effect ${operation.effect.name}`);
    }
  } finally {
    world.refresh();
  }
}

async function createVolume(acting: Acting): Promise<Receipt> {
  const { operation, client, world, io } = acting;
  const { desired } = operation;
  const name = String(desired['name']);
  const present = await world.volume(name, io.signal);
  if (present !== undefined) {
    if (isThisOne(present.Labels, operation)) return { ref: name };
    if (!isMarked(present.Labels, operation.mark)) throw foreign({ kind: 'volume', name });
    throw new ProviderError('CONFLICT', `The name ${name} belongs to another volume of this environment.`, {
      next: 'Give the new volume another name; its data does not move by itself.',
    });
  }
  const reply = await client.post('/volumes/create', {
    signal: io.signal,
    doing: `create the volume ${name}`,
    body: {
      Name: name,
      Driver: desired['driver'],
      DriverOpts: plainTexts(desired['driver_opts']),
      Labels: { ...plainTexts(desired['labels']), ...ownerLabels(operation) },
    },
  });
  // The engine answers with one that somebody else made just now as if it had made it.
  if (!isThisOne(volumeReply.parse(reply).Labels, operation)) throw foreign({ kind: 'volume', name });
  return { ref: name };
}

/** Takes back one effect of a `docker.volume`: one that this change made is removed again. Throws `CONFLICT` when somebody uses it by now. */
export async function undoVolume(acting: Undoing): Promise<void> {
  const { operation, world, io } = acting;
  if (operation.effect.name !== 'create') return;
  world.refresh();
  const made = (await world.volumes(io.signal)).find((volume) => isThisOne(volume.Labels, operation));
  if (made !== undefined) await removeNamed(acting, made);
}

async function removeVolume(acting: Acting): Promise<void> {
  const { operation, world, io } = acting;
  if (operation.ref === undefined) return;
  const volume = await world.volume(operation.ref, io.signal);
  if (volume === undefined) return;
  requireOurs({ kind: 'volume', name: volume.Name, ref: volume.Name, labels: volume.Labels }, operation);
  try {
    await removeNamed(acting, volume);
  } catch (error) {
    if (statusOf(error) !== 409 || !(await endAside(acting, volume.Name))) throw error;
    await removeNamed(acting, volume);
  }
}

async function removeNamed(acting: Acting, volume: VolumeReply): Promise<void> {
  const { client, io } = acting;
  try {
    await client.remove(`/volumes/${encodeURIComponent(volume.Name)}`, { signal: io.signal, doing: `remove the volume ${volume.Name}` });
  } catch (error) {
    if (isNotFound(error)) return;
    if (statusOf(error) !== 409) throw error;
    const cause = error instanceof ProviderError ? error.cause : error;
    throw new ProviderError('CONFLICT', `The volume ${volume.Name} is still in use.`, {
      cause,
      next: `docker container ls --all --filter volume=${volume.Name}`,
    });
  }
}

/**
 * Removes the containers of ours that stepped aside and hold a volume which goes now: without it they could never come back. Whether that was
 * all that held it. Their anonymous volumes stay for their successors.
 */
async function endAside(acting: Acting, volume: string): Promise<boolean> {
  const { client, world, operation, io } = acting;
  const query = { all: true, filters: { volume: [volume] } };
  const users = containerListReply.parse(
    await client.get('/containers/json', { signal: io.signal, doing: `list the users of the volume ${volume}`, query }),
  );
  const isEnded = (entry: ContainerEntry) =>
    isMarked(entry.Labels, operation.mark) && entry.State === 'exited' && entry.Names.some((name) => isAsideName(name, entry.Id));
  if (users.length === 0 || !users.every(isEnded)) return false;
  for (const { Id } of users) await removeContainer(acting, await world.container(Id, io.signal));
  return true;
}
