import { isIPv4, isIPv6 } from 'node:net';
import { type Attributes, isAttributes, isList, Unknown, type Value } from '../../../core/value.ts';
import { bare, compact, lift, liftOptional, sortedBy } from '../lift.ts';
import { canonicalIp } from '../spelling.ts';

/** One published port in normal form. Without `published` the engine chooses a free one. */
export interface Port {
  readonly host_ip?: string;
  readonly published?: number;
  readonly target: number;
  readonly protocol: string;
}

const SHORT = /^(?:(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+)):(?:(\d+)(?:-(\d+))?)?:|(\d+)(?:-(\d+))?:)?(\d+)(?:-(\d+))?(?:\/(tcp|udp|sctp))?$/;

/** Reads a short form; a range gives one port for each member. Undefined when it is none, or when two ranges differ in length. */
export function parsePortText(text: string): readonly Port[] | undefined {
  const match = SHORT.exec(text);
  if (match === null) return undefined;
  const [, ip6, ip4, fromWithIp, toWithIp, from, to, target, targetEnd, protocol = 'tcp'] = match;
  if ((ip4 !== undefined && !isIPv4(ip4)) || (ip6 !== undefined && !isIPv6(ip6))) return undefined;
  const targets = range(target, targetEnd);
  const publishedText = fromWithIp ?? from;
  const published = publishedText === undefined ? undefined : range(publishedText, toWithIp ?? to);
  if (targets === undefined || targets.length === 0) return undefined;
  if (published !== undefined && published.length !== targets.length) return undefined;
  if (publishedText !== undefined && published === undefined) return undefined;
  const hostIp = ip6 ?? ip4;
  return targets.map((inside, index) => {
    const outside = published?.[index];
    return {
      ...(hostIp === undefined ? {} : { host_ip: canonicalIp(hostIp) }),
      ...(outside === undefined || outside === 0 ? {} : { published: outside }),
      target: inside,
      protocol,
    };
  });
}

function range(first: string | undefined, last: string | undefined): readonly number[] | undefined {
  const from = Number(first);
  const to = last === undefined ? from : Number(last);
  if (!Number.isInteger(from) || to < from || to > 65535) return undefined;
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** Every spelling of ports as one sorted list. What is not known yet stands at its end. */
export function normalizePorts(value: Value | undefined): Value | undefined {
  return liftOptional(value, (inner) => (isList(inner) ? sortPorts(inner.flatMap(expandPort)) : inner));
}

/** Ports in the order of the normal form. */
export function sortPorts(ports: readonly Value[]): readonly Value[] {
  return sortedBy(ports, (port) => {
    if (!isAttributes(port)) return undefined;
    const members = [port['target'], port['protocol'], port['host_ip'], port['published']];
    if (members.some((member) => member instanceof Unknown)) return undefined;
    const [target, protocol, ip, published] = members.map(bare);
    const pad = (amount: unknown) => String(amount ?? '').padStart(5, '0');
    return `${pad(target)} ${String(protocol)} ${String(ip ?? '')} ${pad(published)}`;
  });
}

function expandPort(item: Value): readonly Value[] {
  const inner = bare(item);
  if (typeof inner === 'string' || typeof inner === 'number') {
    const ports = parsePortText(String(inner));
    return ports === undefined ? [item] : ports.map((port) => lift(item, () => ({ ...port })));
  }
  return [lift(item, (long) => (isAttributes(long) ? longPort(long) : long))];
}

function longPort(port: Attributes): Attributes {
  return compact({
    host_ip: liftOptional(port['host_ip'], (ip) => (typeof ip === 'string' ? canonicalIp(ip) : ip)),
    published: liftOptional(port['published'], (number) => (Number(number) === 0 ? undefined : Number(number))),
    target: port['target'],
    protocol: port['protocol'] ?? 'tcp',
  });
}

/** The ports of an engine's reply, as `{"80/tcp": [{HostIp, HostPort}]}`, in normal form. */
export function portsOfBindings(bindings: {
  readonly [target: string]: readonly { readonly HostIp: string; readonly HostPort: string }[];
}): readonly Value[] {
  const ports = Object.entries(bindings).flatMap(([key, list]) => {
    const [target, protocol = 'tcp'] = key.split('/');
    return list.map(({ HostIp, HostPort }) =>
      longPort({ ...(HostIp === '' ? {} : { host_ip: HostIp }), published: Number(HostPort), target: Number(target), protocol }),
    );
  });
  return sortPorts(ports);
}

/** `80/tcp`; undefined while it is not known, or when it is a secret. */
export function portKey(port: Value): string | undefined {
  if (!isAttributes(port)) return undefined;
  const { target, protocol } = port;
  return typeof target === 'number' && typeof protocol === 'string' ? `${target}/${protocol}` : undefined;
}
