import type { Attributes, Value } from '../../src/core/value.ts';
import type { Bench } from './docker-bench.ts';

/**
 * What taking an attribute away is: a change at these paths; nothing but what the record names, when image or engine give the same by
 * themselves; or nothing at all, when that is also what the normal form says.
 */
export interface Taken {
  readonly by: 'change' | 'record' | 'nothing';
  readonly paths: readonly string[];
}

const changed = (...paths: readonly string[]): Taken => ({ by: 'change', paths });
const unsaid = (path: string): Taken => ({ by: 'record', paths: [path] });
const NOTHING: Taken = { by: 'nothing', paths: [] };

/** One attribute: a value, another value, and how the change from the one to the other has to come about. */
export interface Row {
  readonly attribute: string;
  readonly value: Value;
  readonly other: Value;
  readonly change: 'update' | 'replace';
  /** Where the two values differ, sorted. */
  readonly paths: readonly string[];
  /** Where the difference is seen when it was made by hand, if not at these paths: an engine shows its own log options like those of a container. */
  readonly byHand?: readonly string[];
  /** What a plan says when the other value is taken away, and when the first one is. */
  readonly gone: Taken;
  readonly goneFirst: Taken;
  /** More attributes that it needs. */
  readonly with?: Attributes;
}

const row =
  (change: Row['change']) =>
  (
    attribute: string,
    value: Value,
    other: Value,
    more: Partial<Pick<Row, 'paths' | 'byHand' | 'gone' | 'goneFirst' | 'with'>> = {},
  ): Row => ({
    attribute,
    value,
    other,
    change,
    paths: [attribute],
    gone: changed(attribute),
    goneFirst: changed(attribute),
    ...more,
  });

const replace = row('replace');
const update = row('update');

/** The attributes of docker.container that an engine tells again. */
export const CONTAINER_ROWS: readonly Row[] = [
  replace('command', 'sleep 1000', ['sleep', '2000']),
  replace('entrypoint', ['sh', '-c', 'sleep 1000'], 'sh -c "sleep 2000"'),
  replace('environment', ['A=1', 'B=x=y'], { A: 2, B: 'x=y' }, { paths: ['environment.A'] }),
  replace('env_file', [{ path: 'a.env', sha256: '', text: 'A=1\nB="two words"\n' }], [{ path: 'a.env', sha256: '', text: 'A=2\n' }], {
    paths: ['environment.A', 'environment.B'],
    gone: changed('environment'),
    goneFirst: changed('environment'),
  }),
  replace(
    'volumes',
    ['given:/data', '/srv:/srv:ro', '/anonymous'],
    [{ type: 'volume', source: 'given', target: '/data', volume: { nocopy: true } }],
    { paths: ['volumes["/anonymous"]', 'volumes["/data"].nocopy', 'volumes["/srv"]'] },
  ),
  replace(
    'volumes',
    [{ type: 'bind', source: '/srv', target: '/srv', bind: { propagation: 'private', create_host_path: false } }],
    ['/srv:/srv:private,ro'],
    { paths: ['volumes["/srv"].read_only'] },
  ),
  replace('tmpfs', ['/scratch:size=1m,mode=0700', '/other'], '/scratch:size=2m', { paths: ['tmpfs["/other"]', 'tmpfs["/scratch"]'] }),
  replace('ports', ['127.0.0.1::80', { target: 81, host_ip: '127.0.0.1', protocol: 'udp' }], ['127.0.0.1::80']),
  replace('expose', [9000, '53/udp'], ['9000/tcp']),
  update('networks', { given: { aliases: ['b', 'a'] }, other: null }, [{ name: 'given', ipv4_address: '10.99.99.9' }], {
    paths: ['networks.given.aliases', 'networks.given.ipv4_address', 'networks.other'],
  }),
  replace('network_mode', 'none', 'host'),
  replace('hostname', 'one', 'two'),
  replace('extra_hosts', ['up:10.0.0.7', 'six:[2001:db8:0:0::1]'], { up: '10.0.0.8' }),
  replace('dns', '10.0.0.2', ['10.0.0.2', '10.0.0.3']),
  replace('dns_search', ['shop.internal'], ['other.internal']),
  replace('dns_opt', ['ndots:2'], ['ndots:3']),
  replace('user', 10001, '10001:29'),
  replace('group_add', ['audio', 12], ['audio']),
  replace('working_dir', '/tmp/', '/etc', { goneFirst: unsaid('working_dir') }),
  update('restart', 'on-failure:3', 'unless-stopped'),
  replace('init', true, false, { gone: unsaid('init') }),
  replace('read_only', true, false, { gone: NOTHING }),
  replace('cap_add', ['CAP_NET_ADMIN', 'sys_time'], ['NET_ADMIN']),
  replace('cap_drop', ['ALL'], ['CAP_MKNOD']),
  replace('security_opt', ['no-new-privileges:true'], ['seccomp=unconfined', 'no-new-privileges']),
  replace('devices', ['/dev/null:/dev/hole:wr', '/dev/zero'], ['/dev/null:/dev/hole:r'], {
    paths: ['devices["/dev/hole"].permissions', 'devices["/dev/zero"]'],
  }),
  replace(
    'ulimits',
    { nofile: { soft: 1024, hard: 2048 }, nproc: 512 },
    { nofile: 1024 },
    { paths: ['ulimits.nofile.hard', 'ulimits.nproc'] },
  ),
  replace('sysctls', ['net.core.somaxconn=1024'], { 'net.core.somaxconn': 2048 }, { paths: ['sysctls["net.core.somaxconn"]'] }),
  replace('shm_size', '128m', 67108864, { gone: unsaid('shm_size') }),
  update('mem_limit', '64m', '1g'),
  update('mem_reservation', '32m', '64m', { with: { mem_limit: '128m' } }),
  update('memswap_limit', '256m', '-1', { with: { mem_limit: '64m' } }),
  update('cpus', 0.5, '1.25'),
  update('cpu_shares', 512, 2048),
  update('cpuset', '0', '1'),
  update('pids_limit', 100, 200),
  replace('oom_score_adj', 100, 200),
  replace(
    'logging',
    { driver: 'json-file', options: { 'max-size': '1m', 'max-file': 2 } },
    { driver: 'none' },
    { paths: ['logging.driver', 'logging.options'], byHand: ['logging.driver'] },
  ),
  replace(
    'logging',
    { driver: 'json-file', options: { 'max-size': '1m', 'max-file': 2 } },
    { driver: 'json-file', options: { 'max-size': '1m' } },
    { paths: ['logging.options.max-file'], byHand: [] },
  ),
  replace('labels', { team: 'a', size: 3 }, ['team=b', 'size=3'], { paths: ['labels.team'] }),
  replace(
    'healthcheck',
    { test: 'true', interval: '30s', retries: 3, start_period: '1m' },
    { test: ['CMD', 'true'], interval: '1m30s', timeout: '500ms' },
    { paths: ['healthcheck.interval', 'healthcheck.start_period', 'healthcheck.test', 'healthcheck.timeout'] },
  ),
  replace('stop_signal', 'sigint', 'KILL', { gone: unsaid('stop_signal'), with: { stop_grace_period: '1s' } }),
  replace('stop_grace_period', '1500ms', '1s'),
  replace('pid', 'host', 'container:keeper'),
  replace('ipc', 'shareable', 'host'),
  replace('runtime', 'runc', 'io.containerd.runc.v2', { goneFirst: unsaid('runtime') }),
];

/** Attributes that are tried on an image that sets nothing, since what the other image sets hides or needs something else. */
const ON_PLAIN: ReadonlySet<string> = new Set(['entrypoint', 'healthcheck', 'user', 'pid', 'ipc', 'network_mode']);

/** The images on which the rows are tried, by id. */
export interface Images {
  readonly plain: string;
  readonly full: string;
}

export function imageFor({ attribute }: Row, images: Images): string {
  return ON_PLAIN.has(attribute) ? images.plain : images.full;
}

/** Makes by hand what the values of the rows name. */
export async function givenObjects(bench: Bench, image: string): Promise<void> {
  await bench.hand('POST', '/networks/create', { Name: 'given', IPAM: { Config: [{ Subnet: `${bench.engine.prefix}.110.0/24` }] } });
  await bench.hand('POST', '/networks/create', { Name: 'other' });
  await bench.hand('POST', '/volumes/create', { Name: 'given' });
  const keeper = { Image: image, HostConfig: { RestartPolicy: { Name: 'always' } } };
  const { Id } = (await bench.hand('POST', '/containers/create?name=keeper', keeper)) as { readonly Id: string };
  await bench.hand('POST', `/containers/${Id}/start`);
}

/** Addresses are written for any engine and moved to the pool of this one. */
export function placed(value: Value, bench: Bench): Value {
  const { prefix } = bench.engine;
  return JSON.parse(JSON.stringify(value).replaceAll('10.99.99.', `${prefix}.110.`).replaceAll('10.99.98.', `${prefix}.210.`)) as Value;
}

/** The attributes of a container on an image, ended at once when it is told to and ready at once, with this value of the attribute of the row. */
export function attributesOf(row: Row, value: Value | undefined, base: Attributes, bench: Bench): Attributes {
  const { [row.attribute]: _base, ...others } = { ...base, ...row.with };
  return value === undefined ? others : { ...others, [row.attribute]: placed(value, bench) };
}

export function nameOf(row: Row, index: number): string {
  return `${row.attribute.replaceAll('_', '-')}-${index}`;
}

/** The attributes of docker.container that only the record tells, so that nobody can change them by hand. */
export const RECORDED_ROWS: readonly Row[] = [
  replace(
    'secrets',
    { '/run/token': 'first' },
    { '/run/token': { value: 'second', mode: '0440' }, '/run/other': 'third' },
    { paths: ['secrets["/run/other"]', 'secrets["/run/token"].mode', 'secrets["/run/token"].value'] },
  ),
  replace(
    'configs',
    { '/etc/app.json': '{"on": true}' },
    { '/etc/app.json': { content: '{"on": false}', gid: 29 } },
    { paths: ['configs["/etc/app.json"].content', 'configs["/etc/app.json"].gid'] },
  ),
  update('renew_anon_volumes', true, false, { gone: NOTHING }),
  update(
    'ready',
    { command: ['true'], interval: '100ms' },
    { command: ['sh', '-c', 'true'], interval: '200ms', timeout: '1m' },
    { paths: ['ready.command', 'ready.interval', 'ready.timeout'] },
  ),
];

/** The names of containers are given by the record and told by the engine. */
export const NAME_ROW: Row = update('name', 'matrix-first', 'matrix-second');

/** The attributes of docker.network. A second driver needs a kernel module or a Swarm. */
export const NETWORK_ROWS: readonly Row[] = [
  replace('name', 'matrix-one', 'matrix-two'),
  replace(
    'driver_opts',
    { 'com.docker.network.bridge.enable_icc': true },
    { 'com.docker.network.bridge.enable_icc': 'false' },
    { paths: ['driver_opts["com.docker.network.bridge.enable_icc"]'] },
  ),
  replace('internal', true, false, { gone: NOTHING }),
  replace('attachable', true, false, { gone: NOTHING }),
  replace('ipv6', true, false, { gone: NOTHING, with: { ipam: { config: [{ subnet: '2001:db8:0:1::/64' }] } } }),
  replace(
    'ipam',
    {
      driver: 'default',
      config: [{ subnet: '10.99.98.0/26', gateway: '10.99.98.7', ip_range: '10.99.98.32/27', aux_addresses: { router: '10.99.98.2' } }],
    },
    { config: [{ subnet: '10.99.98.64/26' }] },
    { paths: ['ipam.config["10.99.98.0/26"]', 'ipam.config["10.99.98.64/26"]'], gone: unsaid('ipam'), goneFirst: unsaid('ipam') },
  ),
  replace('labels', { team: 'a', size: 3 }, ['team=b', 'size=3'], { paths: ['labels.team'] }),
];

/** The attributes of docker.volume. There is no second driver on an engine without plugins. */
export const VOLUME_ROWS: readonly Row[] = [
  replace('name', 'matrix-one', 'matrix-two'),
  replace(
    'driver_opts',
    { type: 'tmpfs', device: 'tmpfs', o: 'size=1m' },
    { type: 'tmpfs', device: 'tmpfs', o: 'size=2m' },
    { paths: ['driver_opts.o'] },
  ),
  replace('labels', { team: 'a', size: 3 }, ['team=b', 'size=3'], { paths: ['labels.team'] }),
];
