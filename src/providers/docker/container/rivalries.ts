import { isIPv6 } from 'node:net';
import type { Role } from '../../../core/facet.ts';
import { type Attributes, isAttributes, isList, type Value } from '../../../core/value.ts';
import type { Rivalry } from '../../contract.ts';
import { memberNames } from '../lift.ts';

/** What two containers cannot both have while both are there: ports of the host, fixed addresses, and for a store the files that it writes. */
export function containerRivalries(desired: Attributes, live: Attributes, role: Role): readonly Rivalry[] {
  return [...portRivalries(desired, live), ...addressRivalries(desired, live), ...(role === 'store' ? storeRivalries(desired, live) : [])];
}

function portRivalries(desired: Attributes, live: Attributes): readonly Rivalry[] {
  const taken = fixedPorts(live);
  return fixedPorts(desired)
    .filter((port) => taken.some((other) => areSame(port, other)))
    .map(({ ip, published, target, protocol }) => ({
      path: 'ports',
      message: `Two containers cannot publish port ${published}/${protocol} of the host at once.`,
      advice: `Let the engine choose a free port, "${ip === undefined ? '127.0.0.1' : isIPv6(ip) ? `[${ip}]` : ip}::${target}${protocol === 'tcp' ? '' : `/${protocol}`}", and refer to published_ports.`,
    }));
}

interface FixedPort {
  readonly ip: string | undefined;
  readonly published: number;
  readonly target: number;
  readonly protocol: string;
}

function fixedPorts(attributes: Attributes): readonly FixedPort[] {
  return members(attributes['ports']).flatMap(({ host_ip: ip, published, target, protocol }) =>
    typeof published === 'number' &&
    typeof target === 'number' &&
    typeof protocol === 'string' &&
    (ip === undefined || typeof ip === 'string')
      ? [{ ip, published, target, protocol }]
      : [],
  );
}

function areSame(one: FixedPort, other: FixedPort): boolean {
  if (one.published !== other.published || one.protocol !== other.protocol) return false;
  if (one.ip === undefined || other.ip === undefined || one.ip === other.ip) return true;
  // An address that stands for all of a family holds the port on each of them.
  return isIPv6(one.ip) === isIPv6(other.ip) && [one.ip, other.ip].some((ip) => ip === '0.0.0.0' || ip === '::');
}

function addressRivalries(desired: Attributes, live: Attributes): readonly Rivalry[] {
  return memberNames(desired['networks']).flatMap((network) =>
    (['ipv4_address', 'ipv6_address'] as const).flatMap((name): readonly Rivalry[] => {
      const address = attachment(desired, network)[name];
      if (typeof address !== 'string' || attachment(live, network)[name] !== address) return [];
      return [
        {
          path: 'networks',
          message: `Two containers cannot have the address ${address} in the network ${network} at once.`,
          advice: 'Leave the address out, so that the engine gives each its own; others find it by its name.',
        },
      ];
    }),
  );
}

function attachment(attributes: Attributes, network: string): Attributes {
  const { networks } = attributes;
  const found = isAttributes(networks) ? networks[network] : undefined;
  return found !== undefined && isAttributes(found) ? found : {};
}

/** A store that is begun on the files of another one which still runs damages them. Volumes without a name are handed on as well. */
function storeRivalries(desired: Attributes, live: Attributes): readonly Rivalry[] {
  const written = members(live['volumes']).filter((mount) => mount['read_only'] !== true);
  const wanted = members(desired['volumes']);
  const isHandedOn = (target: Value | undefined) =>
    desired['renew_anon_volumes'] !== true && !wanted.some((mount) => mount['target'] === target && mount['source'] !== undefined);
  const shared = written.find(({ source, target }) =>
    source === undefined ? isHandedOn(target) : wanted.some((mount) => mount['source'] === source),
  );
  if (shared === undefined) return [];
  return [
    {
      path: 'volumes',
      message: `Two stores would write to the files at ${String(shared['target'])} at once.`,
      advice: 'Give the new one files of its own.',
    },
  ];
}

function members(list: Value | undefined): readonly Attributes[] {
  return isList(list) ? list.filter(isAttributes) : [];
}
