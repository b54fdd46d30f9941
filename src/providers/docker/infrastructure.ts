import { ProviderError, type Receipt } from '../contract.ts';
import { type Acting, foreign, isThisOne, requireOurs } from './acting.ts';
import { listOf, mapOf } from './container/create-options.ts';
import { isNotFound, isStillAttached, statusOf } from './errors.ts';
import { isMarked, ownerLabels } from './marks.ts';
import { plainTexts } from './network.ts';
import { createdReply, type NetworkReply, volumeReply } from './wire.ts';

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

/** Removes a network. One that containers are just leaving is tried again; one that stays in use is a conflict that names them. */
async function removeNetwork(acting: Acting): Promise<void> {
  const { operation, client, world, io } = acting;
  // When somebody made it anew under our mark, its live id is another one. A predecessor is told by its live id alone.
  const remade =
    operation.effect.name === 'remove' ? (await world.networks(io.signal)).find((one) => isThisOne(one.Labels, operation))?.Id : undefined;
  const deadline = io.clock.monotonic() + DETACH_TIMEOUT;
  for (let tries = 1; ; tries++) {
    const recorded = operation.ref === undefined ? undefined : await world.network(operation.ref, io.signal);
    const network = recorded ?? (remade === undefined ? undefined : await world.network(remade, io.signal));
    if (network === undefined) return;
    requireOurs({ kind: 'network', name: network.Name, ref: network.Id, labels: network.Labels }, operation);
    try {
      await client.remove(`/networks/${network.Id}`, { signal: io.signal, doing: `remove the network ${network.Name}` });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isStillAttached(error)) throw error;
      if (io.clock.monotonic() > deadline) throw stillInUse(network, error);
      io.progress('waiting until its containers have left', { tries });
      await io.clock.sleep(250, io.signal);
    }
  }
}

function stillInUse(network: NetworkReply, cause: unknown): ProviderError {
  const names = Object.values(network.Containers)
    .map((container) => container.Name)
    .toSorted();
  return new ProviderError(
    'CONFLICT',
    `The network ${network.Name} is still in use by ${names.length === 0 ? 'containers' : names.join(', ')}.`,
    {
      cause,
      next: 'Remove these containers or disconnect them, then apply again.',
    },
  );
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

async function removeVolume(acting: Acting): Promise<void> {
  const { operation, client, world, io } = acting;
  if (operation.ref === undefined) return;
  const volume = await world.volume(operation.ref, io.signal);
  if (volume === undefined) return;
  requireOurs({ kind: 'volume', name: volume.Name, ref: volume.Name, labels: volume.Labels }, operation);
  try {
    await client.remove(`/volumes/${encodeURIComponent(volume.Name)}`, { signal: io.signal, doing: `remove the volume ${volume.Name}` });
  } catch (error) {
    if (isNotFound(error)) return;
    if (statusOf(error) !== 409) throw error;
    throw new ProviderError('CONFLICT', `The volume ${volume.Name} is still in use.`, {
      cause: error,
      next: `docker container ls --all --filter volume=${volume.Name}`,
    });
  }
}
