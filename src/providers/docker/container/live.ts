import { type Attributes, isAttributes, type Value } from '../../../core/value.ts';
import { compact, textMap, textSet } from '../lift.ts';
import { ownLabels } from '../marks.ts';
import { canonicalRepository, parseImageReference, pinnedTag } from '../reference.ts';
import { canonicalCapability, canonicalIp, canonicalPath, canonicalSecurityOption, canonicalSignal } from '../spelling.ts';
import type { ContainerReply, EngineInfo, ImageReply, WireHealthcheck } from '../wire.ts';
import { anonymousVolumes } from './anonymous.ts';
import { sortPermissions } from './devices.ts';
import { liveGpus } from './gpus.ts';
import { liveLimits } from './limits.ts';
import { liveTmpfs, liveVolumes } from './mounts.ts';
import { canonicalHostLine } from './normal.ts';
import { portsOfBindings } from './ports.ts';

/** A container that another one's namespaces are joined to: the engine gives its id, the YAML mostly its name. */
export interface Peer {
  readonly id: string;
  readonly name: string;
}

/** What the normal form of a live container is made from. */
export interface LiveContainer {
  readonly container: ContainerReply;
  /** Absent when the image was removed from the engine by force. */
  readonly image: ImageReply | undefined;
  readonly info: EngineInfo;
  readonly peers: readonly Peer[];
}

/** Names below `_defaults` that are no attributes but facts which `align` needs. */
export const FACTS = 'facts';

/**
 * The normal form of a container that is there. What image or engine would give it anyway stands under `_defaults` and not among the
 * attributes; `align` puts back what the desired form names.
 */
export function liveContainer(live: LiveContainer): Attributes {
  const { container, image, info } = live;
  const { Config: config, HostConfig: host } = container;
  const given = image?.Config;
  const limits = liveLimits(host, info);
  const environment = split(textMap(config.Env) ?? {}, textMap(given?.Env ?? []) ?? {});
  const labels = split(ownLabels(config.Labels), given?.Labels ?? {});
  const exposed = exposedPorts(container, given?.ExposedPorts ?? []);
  const securityOptions = textSet(host.SecurityOpt.map(canonicalSecurityOption));
  // The engine adds this one by itself to a container that shares so much with the host.
  const isUnlabelled = host.Privileged || host.PidMode === 'host' || host.IpcMode === 'host';
  const [ownSecurity, givenSecurity] = partition(securityOptions, (option) => !(isUnlabelled && option === 'label=disable'));
  const hostnameIsGiven =
    config.Hostname === container.Id.slice(0, 12) || host.NetworkMode === 'host' || host.NetworkMode.startsWith('container:');
  const health = liveHealthcheck(config.Healthcheck, given?.Healthcheck);
  const logging = compact({ driver: host.LogConfig.Type, options: host.LogConfig.Config });
  const loggingIsGiven = host.LogConfig.Type === info.LoggingDriver;
  const ipcIsGiven = ['', 'private', 'shareable'].includes(host.IpcMode);
  const command = config.Cmd ?? [];
  const entrypoint = (config.Entrypoint ?? []).filter((word, index) => !(index === 0 && word === '' && config.Entrypoint?.length === 1));
  const commandIsGiven = sameWords(command, given?.Cmd ?? []);
  const entrypointIsGiven = sameWords(entrypoint, given?.Entrypoint ?? []);
  const user = one(config.User, given?.User ?? '');
  const workingDir = one(canonicalPath(config.WorkingDir || '/'), canonicalPath(given?.WorkingDir || '/'));
  const stopSignal = one(canonicalSignal(config.StopSignal || 'SIGTERM'), canonicalSignal(given?.StopSignal || 'SIGTERM'));
  const stopGrace = one((config.StopTimeout ?? 10) * 1000, 10_000);
  const shmSize = one(host.ShmSize || 67_108_864, 67_108_864);
  const runtime = one(host.Runtime || info.DefaultRuntime, info.DefaultRuntime);

  const own = compact({
    image: givenImage(container),
    name: container.Name,
    command: commandIsGiven ? undefined : command,
    environment: environment.own,
    volumes: liveVolumes(container),
    tmpfs: liveTmpfs(container),
    ports: portsOfBindings(host.PortBindings),
    expose: exposed.own,
    networks: liveNetworks(container),
    network_mode: liveNetworkMode(container),
    hostname: hostnameIsGiven ? undefined : config.Hostname,
    extra_hosts: textSet(host.ExtraHosts.map(canonicalHostLine)),
    dns: host.Dns.map(canonicalIp),
    dns_search: host.DnsSearch,
    dns_opt: host.DnsOptions,
    user: user.own,
    group_add: textSet(host.GroupAdd),
    working_dir: workingDir.own,
    restart: restartPolicy(host.RestartPolicy),
    init: host.Init === true ? true : undefined,
    read_only: host.ReadonlyRootfs || undefined,
    cap_add: textSet(host.CapAdd.map(canonicalCapability)),
    cap_drop: textSet(host.CapDrop.map(canonicalCapability)),
    security_opt: ownSecurity,
    privileged: host.Privileged || undefined,
    devices: host.Devices.map((device) => ({
      source: device.PathOnHost,
      target: device.PathInContainer,
      permissions: sortPermissions(device.CgroupPermissions),
    })).toSorted((a, b) => (a.target < b.target ? -1 : 1)),
    gpus: liveGpus(host.DeviceRequests),
    ulimits: Object.fromEntries(host.Ulimits.map((limit) => [limit.Name, { soft: limit.Soft, hard: limit.Hard }])),
    sysctls: host.Sysctls,
    shm_size: shmSize.own,
    ...limits.own,
    oom_score_adj: host.OomScoreAdj === 0 ? undefined : host.OomScoreAdj,
    logging: loggingIsGiven ? undefined : logging,
    labels: labels.own,
    healthcheck: health.own,
    stop_signal: stopSignal.own,
    stop_grace_period: stopGrace.own,
    pid: host.PidMode === '' ? undefined : host.PidMode,
    ipc: ipcIsGiven ? undefined : host.IpcMode,
    runtime: runtime.own,
  });
  const defaults = compact({
    command: commandIsGiven ? command : undefined,
    environment: environment.given,
    expose: exposed.given,
    hostname: hostnameIsGiven ? config.Hostname : undefined,
    user: user.given,
    working_dir: workingDir.given,
    init: host.Init === true ? undefined : false,
    security_opt: givenSecurity,
    shm_size: shmSize.given,
    ...limits.given,
    logging: loggingIsGiven ? logging : undefined,
    labels: labels.given,
    healthcheck: health.given,
    stop_signal: stopSignal.given,
    stop_grace_period: stopGrace.given,
    ipc: ipcIsGiven ? host.IpcMode || 'private' : undefined,
    runtime: runtime.given,
    [FACTS]: facts(live),
  });
  return {
    ...own,
    ...(entrypointIsGiven ? {} : { entrypoint }),
    _defaults: entrypointIsGiven ? { ...defaults, entrypoint } : defaults,
  };
}

/** What the engine's versions and platforms call the network of a container that names none. */
const DEFAULT_MODES: ReadonlySet<string> = new Set(['', 'default', 'bridge', 'nat']);
/** The network itself, which is `nat` on an engine for Windows. */
const DEFAULT_NETWORKS: ReadonlySet<string> = new Set(['bridge', 'nat']);

/** Networks that the engine makes for itself, with another id at each of its starts. No document names them by id. */
const PREDEFINED_NETWORKS: ReadonlySet<string> = new Set(['bridge', 'host', 'none']);

/** Whether a container with this mode has no networks of its own. */
export function isWithoutNetworks(mode: string): boolean {
  return mode === 'host' || mode === 'none' || mode.startsWith('container:');
}

/** The mode where it is not the default: one that joins networks by name has none, one that was taken off the default network has `none`. */
function liveNetworkMode(container: ContainerReply): string | undefined {
  const mode = container.HostConfig.NetworkMode;
  if (isWithoutNetworks(mode)) return mode;
  return DEFAULT_MODES.has(mode) && Object.keys(container.NetworkSettings.Networks).length === 0 ? 'none' : undefined;
}

/** The networks that a container joins by name; the default one is none of them unless it comes beside others without being its mode. */
export function joinedNetworks(container: ContainerReply): readonly string[] {
  const mode = container.HostConfig.NetworkMode;
  if (isWithoutNetworks(mode)) return [];
  const names = Object.keys(container.NetworkSettings.Networks);
  const isDefault = DEFAULT_MODES.has(mode) || (names.length === 1 && names[0] === 'bridge');
  return names.filter((name) => !(isDefault && DEFAULT_NETWORKS.has(name)));
}

function facts(live: LiveContainer): Attributes {
  const { container, image, peers } = live;
  const tags = (image?.RepoTags ?? []).filter((tag) => !tag.startsWith('<none>') && !tag.startsWith('io.accede/'));
  return compact({
    image_id: container.Image,
    image_digests: textSet((image?.RepoDigests ?? []).filter((digest) => !digest.startsWith('<none>')).map(canonicalDigest)),
    image_tags: textSet(tags.map(canonicalTag)),
    image_pin: pinnedTag(container.Config.Image),
    platform: image === undefined ? undefined : [image.Os, image.Architecture, ...(image.Variant === '' ? [] : [image.Variant])].join('/'),
    anonymous: anonymousVolumes(container),
    image_volumes: textSet((image?.Config?.Volumes ?? []).map(canonicalPath)),
    networks: Object.fromEntries(
      Object.entries(container.NetworkSettings.Networks)
        .filter(([name]) => !PREDEFINED_NETWORKS.has(name))
        .map(([name, endpoint]) => [name, endpoint.NetworkID]),
    ),
    peers: Object.fromEntries(peers.map((peer) => [peer.id, peer.name])),
  });
}

function canonicalDigest(text: string): string {
  const [repository = '', digest = ''] = text.split('@');
  return `${canonicalRepository(repository)}@${digest}`;
}

function canonicalTag(text: string): string {
  const colon = text.lastIndexOf(':');
  return `${canonicalRepository(text.slice(0, colon))}:${text.slice(colon + 1)}`;
}

/** The image as it was named when the container was made. */
function givenImage(container: ContainerReply): Value {
  const reference = parseImageReference(container.Config.Image);
  if (reference === undefined || reference.kind === 'id') return { id: container.Image };
  const { kind: _kind, ...members } = reference;
  return { ...members };
}

function liveNetworks(container: ContainerReply): Attributes {
  const shortId = container.Id.slice(0, 12);
  const joined = new Set(joinedNetworks(container));
  return Object.fromEntries(
    Object.entries(container.NetworkSettings.Networks)
      .filter(([name]) => joined.has(name))
      .map(([name, endpoint]) => [
        name,
        compact({
          aliases: textSet(endpoint.Aliases.filter((alias) => alias !== shortId)),
          ipv4_address: endpoint.IPAMConfig?.IPv4Address || undefined,
          ipv6_address:
            endpoint.IPAMConfig === undefined || endpoint.IPAMConfig.IPv6Address === ''
              ? undefined
              : canonicalIp(endpoint.IPAMConfig.IPv6Address),
        }),
      ]),
  );
}

function restartPolicy(policy: { readonly Name: string; readonly MaximumRetryCount: number }): string | undefined {
  if (policy.Name === '' || policy.Name === 'no') return undefined;
  return policy.Name === 'on-failure' && policy.MaximumRetryCount > 0 ? `on-failure:${policy.MaximumRetryCount}` : policy.Name;
}

interface Split<T> {
  readonly own: T | undefined;
  readonly given: T | undefined;
}

function one<T extends Value>(value: T, given: T): Split<T> {
  return value === given ? { own: undefined, given: value } : { own: value, given: undefined };
}

/** The members of a map that differ from what is given, and those that do not. */
function split(map: Value, given: Value): { readonly own: Attributes; readonly given: Attributes } {
  if (!isAttributes(map) || !isAttributes(given)) return { own: {}, given: {} };
  const entries = Object.entries(map);
  return {
    own: Object.fromEntries(entries.filter(([name, value]) => given[name] !== value)),
    given: Object.fromEntries(entries.filter(([name, value]) => given[name] === value)),
  };
}

function partition(list: readonly Value[], isOwn: (item: Value) => boolean): readonly [readonly Value[], readonly Value[]] {
  return [list.filter(isOwn), list.filter((item) => !isOwn(item))];
}

/** Exposed ports that neither the image nor a published port brings along, and those that they do. */
function exposedPorts(
  container: ContainerReply,
  fromImage: readonly string[],
): { readonly own: readonly Value[]; readonly given: readonly Value[] } {
  const spell = (port: string) => (port.includes('/') ? port : `${port}/tcp`);
  const brought = new Set([...fromImage, ...Object.keys(container.HostConfig.PortBindings)].map(spell));
  const [own, given] = partition(textSet(container.Config.ExposedPorts.map(spell)), (port) => !brought.has(String(port)));
  return { own, given };
}

const HEALTH_DEFAULTS = { interval: 30_000, timeout: 30_000, start_period: 0, start_interval: 5000, retries: 3 } as const;

/** Members that differ from what image and engine would give, and those that do not. */
function liveHealthcheck(
  check: WireHealthcheck | undefined,
  image: WireHealthcheck | undefined,
): { readonly own: Attributes; readonly given: Attributes } {
  const members = healthMembers(check);
  const inherited = healthMembers(image);
  const own: { [name: string]: Value } = {};
  const given: { [name: string]: Value } = {};
  for (const [name, value] of Object.entries(members)) {
    const isGiven = sameWords([JSON.stringify(value)], [JSON.stringify(inherited[name])]);
    (isGiven ? given : own)[name] = value;
  }
  return { own: compact(own), given };
}

function healthMembers(check: WireHealthcheck | undefined): Attributes {
  const time = (nanoseconds: number, name: keyof typeof HEALTH_DEFAULTS) =>
    nanoseconds === 0 ? HEALTH_DEFAULTS[name] : Math.round(nanoseconds / 1_000_000);
  return {
    test: check === undefined || check.Test.length === 0 ? ['NONE'] : check.Test,
    interval: time(check?.Interval ?? 0, 'interval'),
    timeout: time(check?.Timeout ?? 0, 'timeout'),
    start_period: time(check?.StartPeriod ?? 0, 'start_period'),
    start_interval: time(check?.StartInterval ?? 0, 'start_interval'),
    retries: check?.Retries || HEALTH_DEFAULTS.retries,
  };
}

function sameWords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index]);
}
