import type { Plain } from '../../../core/value.ts';
import { plainTexts } from '../network.ts';
import { gpuRequests } from './gpus.ts';
import { limitOptions } from './limits.ts';

type Desired = { readonly [name: string]: Plain };
type PlainMap = { readonly [name: string]: Plain };

/** One attachment to a network, as the engine wants it. */
export interface EndpointOption {
  readonly Aliases: readonly string[];
  readonly IPAMConfig?: { readonly IPv4Address?: string; readonly IPv6Address?: string };
}

/**
 * The request that makes a container from its normal form. `image` is how the engine finds the image, `labels` are those of the owner. Of the
 * networks it names the first alone, since engines before API 1.44 take no more; the others are joined before the start.
 */
export function createRequest(desired: Desired, image: string, labels: { readonly [name: string]: string }): object {
  const networks = Object.entries(mapOf(desired['networks'])).map(([name, attachment]) => [name, endpointOption(attachment)] as const);
  const [first] = networks;
  const ports = listOf(desired['ports']).map(mapOf);
  return {
    Image: image,
    ...(desired['command'] === undefined ? {} : { Cmd: desired['command'] }),
    // An empty list would mean the entrypoint of the image; one empty word means none.
    ...(desired['entrypoint'] === undefined
      ? {}
      : { Entrypoint: listOf(desired['entrypoint']).length === 0 ? [''] : desired['entrypoint'] }),
    Env: Object.entries(plainTexts(desired['environment'])).map(([name, value]) => `${name}=${value}`),
    Labels: { ...plainTexts(desired['labels']), ...labels },
    ...optional('Hostname', desired['hostname']),
    ...optional('User', desired['user']),
    ...optional('WorkingDir', desired['working_dir']),
    ...optional('StopSignal', desired['stop_signal']),
    ...(desired['stop_grace_period'] === undefined ? {} : { StopTimeout: Number(desired['stop_grace_period']) / 1000 }),
    ...(desired['healthcheck'] === undefined ? {} : { Healthcheck: healthOption(mapOf(desired['healthcheck'])) }),
    ExposedPorts: Object.fromEntries([...listOf(desired['expose']).map(String), ...ports.map(portKey)].map((key) => [key, {}])),
    HostConfig: {
      ...limitOptions(desired),
      ...mountOptions(desired),
      PortBindings: portBindings(ports),
      NetworkMode: networkMode(desired, first?.[0]),
      CapAdd: listOf(desired['cap_add']),
      CapDrop: listOf(desired['cap_drop']),
      SecurityOpt: listOf(desired['security_opt']),
      Privileged: desired['privileged'] === true,
      ReadonlyRootfs: desired['read_only'] === true,
      ...optional('Init', desired['init']),
      Dns: listOf(desired['dns']),
      DnsSearch: listOf(desired['dns_search']),
      DnsOptions: listOf(desired['dns_opt']),
      ExtraHosts: listOf(desired['extra_hosts']),
      GroupAdd: listOf(desired['group_add']),
      Devices: listOf(desired['devices'])
        .map(mapOf)
        .map((device) => ({ PathOnHost: device['source'], PathInContainer: device['target'], CgroupPermissions: device['permissions'] })),
      DeviceRequests: gpuRequests(listOf(desired['gpus']).map(mapOf)),
      Ulimits: Object.entries(mapOf(desired['ulimits'])).map(([name, limit]) => ({
        Name: name,
        Soft: mapOf(limit)['soft'],
        Hard: mapOf(limit)['hard'],
      })),
      Sysctls: plainTexts(desired['sysctls']),
      ...optional('ShmSize', desired['shm_size']),
      OomScoreAdj: desired['oom_score_adj'] ?? 0,
      ...optional('PidMode', desired['pid']),
      ...optional('IpcMode', desired['ipc']),
      ...optional('Runtime', desired['runtime']),
      ...logOption(mapOf(desired['logging'])),
    },
    ...(first === undefined ? {} : { NetworkingConfig: { EndpointsConfig: { [first[0]]: first[1] } } }),
  };
}

/** An attachment in normal form as the engine wants it. */
export function endpointOption(attachment: Plain): EndpointOption {
  const map = mapOf(attachment);
  const ipam = {
    ...(typeof map['ipv4_address'] === 'string' ? { IPv4Address: map['ipv4_address'] } : {}),
    ...(typeof map['ipv6_address'] === 'string' ? { IPv6Address: map['ipv6_address'] } : {}),
  };
  return { Aliases: listOf(map['aliases']).map(String), ...(Object.keys(ipam).length === 0 ? {} : { IPAMConfig: ipam }) };
}

function networkMode(desired: Desired, first: string | undefined): string {
  const mode = desired['network_mode'];
  return typeof mode === 'string' ? mode : (first ?? 'default');
}

function portKey(port: PlainMap): string {
  return `${String(port['target'])}/${String(port['protocol'])}`;
}

function portBindings(ports: readonly PlainMap[]): { readonly [key: string]: readonly object[] } {
  const bindings: { [key: string]: object[] } = {};
  for (const port of ports) {
    const binding = { HostIp: port['host_ip'] ?? '', HostPort: port['published'] === undefined ? '' : String(port['published']) };
    const list = bindings[portKey(port)] ?? [];
    bindings[portKey(port)] = [...list, binding];
  }
  return bindings;
}

/**
 * Paths of the host go as binds, since the engine makes a missing path only for these, unless the document says that it must be there; a path
 * with a colon cannot be written so.
 */
function mountOptions(desired: Desired): object {
  const binds: string[] = [];
  const mounts: object[] = [];
  for (const mount of listOf(desired['volumes']).map(mapOf)) {
    const source = typeof mount['source'] === 'string' ? mount['source'] : '';
    const readOnly = mount['read_only'] === true;
    if (mount['type'] === 'bind' && mount['create_host_path'] !== false && !source.includes(':')) {
      const options = [readOnly ? 'ro' : 'rw', mount['propagation'], mount['selinux']].filter((option) => option !== undefined);
      binds.push(`${source}:${String(mount['target'])}:${options.join(',')}`);
    } else {
      mounts.push({
        Type: mount['type'],
        Target: mount['target'],
        ReadOnly: readOnly,
        ...(source === '' ? {} : { Source: source }),
        ...(mount['propagation'] === undefined ? {} : { BindOptions: { Propagation: mount['propagation'] } }),
        ...(mount['nocopy'] === true ? { VolumeOptions: { NoCopy: true } } : {}),
      });
    }
  }
  return { Binds: binds, Mounts: mounts, Tmpfs: plainTexts(desired['tmpfs']) };
}

function healthOption(check: PlainMap): object {
  const time = (name: string) => Number(check[name] ?? 0) * 1_000_000;
  return {
    ...(check['test'] === undefined ? {} : { Test: check['test'] }),
    Interval: time('interval'),
    Timeout: time('timeout'),
    StartPeriod: time('start_period'),
    Retries: check['retries'] ?? 0,
    ...(check['start_interval'] === undefined ? {} : { StartInterval: time('start_interval') }),
  };
}

function logOption(logging: PlainMap): object {
  if (Object.keys(logging).length === 0) return {};
  return { LogConfig: { Type: logging['driver'] ?? '', Config: plainTexts(logging['options']) } };
}

function optional(name: string, value: Plain | undefined): object {
  return value === undefined ? {} : { [name]: value };
}

/** A map of plain data; anything else counts as an empty one. */
export function mapOf(value: Plain | undefined): PlainMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as PlainMap) : {};
}

/** A list of plain data; anything else counts as an empty one. */
export function listOf(value: Plain | undefined): readonly Plain[] {
  return Array.isArray(value) ? (value as readonly Plain[]) : [];
}
