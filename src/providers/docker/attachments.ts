import type { Plain } from '../../core/value.ts';
import { ProviderError } from '../contract.ts';
import type { Acting } from './acting.ts';
import { type EndpointOption, endpointOption, mapOf } from './container/create-options.ts';
import { isWithoutNetworks, joinedNetworks } from './container/live.ts';
import { isNotFound } from './errors.ts';
import { textSet } from './lift.ts';
import type { ContainerReply, NetworkReply } from './wire.ts';

/** The network of a name or id. Throws `NOT_FOUND` when there is none, and `CONFLICT` when the name belongs to two: it is never guessed. */
export async function requireNetwork(acting: Pick<Acting, 'world' | 'io'>, name: string): Promise<NetworkReply> {
  const list = await acting.world.networks(acting.io.signal);
  const exact = list.find((network) => network.Id === name);
  const named = exact === undefined ? list.filter((network) => network.Name === name) : [exact];
  const [network] = named;
  if (network === undefined) {
    throw new ProviderError('NOT_FOUND', `There is no network ${name} on the engine.`, {
      next: 'Declare it as a docker.network and refer to its name.',
    });
  }
  if (named.length > 1) {
    const ids = named.map(({ Id }) => Id.slice(0, 12)).toSorted();
    throw new ProviderError(
      'CONFLICT',
      `The engine has ${named.length} networks with the name ${name} (${ids.join(', ')}), so it cannot be told which one is meant.`,
      {
        next: 'Remove all but one of them.',
      },
    );
  }
  return network;
}

/** Brings the networks of a container to the desired ones: joins what is missing, leaves what is too much, joins anew where addresses or aliases differ. */
export async function syncNetworks(acting: Acting, container: ContainerReply): Promise<void> {
  if (isWithoutNetworks(container.HostConfig.NetworkMode)) return;
  acting.world.refresh();
  const desired = mapOf(acting.operation.desired['networks']);
  const wanted = Object.keys(desired).length === 0 ? { bridge: {} } : desired;
  const networks = new Map<string, readonly [NetworkReply, Plain]>();
  for (const [name, attachment] of Object.entries(wanted)) {
    const network = await requireNetwork(acting, name);
    networks.set(network.Id, [network, attachment]);
  }
  const present = Object.entries(container.NetworkSettings.Networks);
  for (const [name, endpoint] of present) {
    const target = [...networks.values()].find(([network]) => network.Id === endpoint.NetworkID || network.Name === name);
    const isDefault = name === 'bridge' && !joinedNetworks(container).includes(name);
    if (target !== undefined && (isDefault || isSame(container, name, endpointOption(target[1])))) networks.delete(target[0].Id);
    else await leave(acting, container, endpoint.NetworkID === '' ? name : endpoint.NetworkID);
  }
  for (const [network, attachment] of networks.values()) await join(acting, container, network, endpointOption(attachment));
}

function isSame(container: ContainerReply, name: string, option: EndpointOption): boolean {
  const endpoint = container.NetworkSettings.Networks[name];
  const aliases = textSet((endpoint?.Aliases ?? []).filter((alias) => alias !== container.Id.slice(0, 12)));
  return (
    aliases.join('\n') === option.Aliases.toSorted().join('\n') &&
    (endpoint?.IPAMConfig?.IPv4Address ?? '') === (option.IPAMConfig?.IPv4Address ?? '') &&
    (endpoint?.IPAMConfig?.IPv6Address ?? '') === (option.IPAMConfig?.IPv6Address ?? '')
  );
}

async function join(acting: Acting, container: ContainerReply, network: NetworkReply, option: EndpointOption): Promise<void> {
  // The default network has no names.
  const endpoint = network.Name === 'bridge' ? {} : option;
  await acting.client.post(`/networks/${network.Id}/connect`, {
    signal: acting.io.signal,
    doing: `connect ${container.Name} to the network ${network.Name}`,
    body: { Container: container.Id, EndpointConfig: endpoint },
  });
}

async function leave(acting: Acting, container: ContainerReply, network: string): Promise<void> {
  try {
    await acting.client.post(`/networks/${network}/disconnect`, {
      signal: acting.io.signal,
      doing: `disconnect ${container.Name} from a network`,
      body: { Container: container.Id, Force: false },
    });
  } catch (error) {
    // The network itself is gone: there is nothing left to leave.
    if (!isNotFound(error)) throw error;
  }
}
