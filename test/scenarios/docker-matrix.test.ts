import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import type { Attributes, Value } from '../../src/core/value.ts';
import { containerSchema } from '../../src/providers/docker/container/schema.ts';
import { differences } from '../conformance/differences.ts';
import type { Driver } from '../conformance/driver.ts';
import { Bench } from './docker-bench.ts';

/** One attribute: a value, another value, and how the change from the one to the other has to come about. */
interface Row {
  readonly attribute: string;
  readonly value: Value;
  readonly other: Value;
  readonly change: 'update' | 'replace';
  /** More attributes that it needs. */
  readonly with?: Attributes;
  /** The attribute below which the difference is seen, when it is another one. */
  readonly seen?: string;
}

const replace = (attribute: string, value: Value, other: Value, more: Partial<Row> = {}): Row => ({
  attribute,
  value,
  other,
  change: 'replace',
  ...more,
});
const update = (attribute: string, value: Value, other: Value, more: Partial<Row> = {}): Row => ({
  attribute,
  value,
  other,
  change: 'update',
  ...more,
});

const ROWS: readonly Row[] = [
  replace('command', 'sleep 1000', ['sleep', '2000']),
  replace('entrypoint', ['sh', '-c', 'sleep 1000'], 'sh -c "sleep 2000"'),
  replace('environment', ['A=1', 'B=x=y'], { A: 2, B: 'x=y' }),
  replace('env_file', [{ path: 'a.env', sha256: '', text: 'A=1\nB="two words"\n' }], [{ path: 'a.env', sha256: '', text: 'A=2\n' }], {
    seen: 'environment',
  }),
  replace(
    'volumes',
    ['given:/data', '/srv:/srv:ro', '/anonymous'],
    [{ type: 'volume', source: 'given', target: '/data', volume: { nocopy: true } }],
  ),
  replace(
    'volumes',
    [{ type: 'bind', source: '/srv', target: '/srv', bind: { propagation: 'private', create_host_path: false } }],
    ['/srv:/srv:private,ro'],
  ),
  replace('tmpfs', ['/scratch:size=1m,mode=0700', '/other'], '/scratch:size=2m'),
  replace('ports', ['127.0.0.1::80', { target: 81, host_ip: '127.0.0.1', protocol: 'udp' }], ['127.0.0.1::80']),
  replace('expose', [9000, '53/udp'], ['9000/tcp']),
  update('networks', { given: { aliases: ['b', 'a'] }, other: null }, [{ name: 'given', ipv4_address: '10.99.99.9' }]),
  replace('network_mode', 'none', 'host'),
  replace('hostname', 'one', 'two'),
  replace('extra_hosts', ['up:10.0.0.7', 'six:[2001:db8:0:0::1]'], { up: '10.0.0.8' }),
  replace('dns', '10.0.0.2', ['10.0.0.2', '10.0.0.3']),
  replace('dns_search', ['shop.internal'], ['other.internal']),
  replace('dns_opt', ['ndots:2'], ['ndots:3']),
  replace('user', 10001, '10001:29'),
  replace('group_add', ['audio', 12], ['audio']),
  replace('working_dir', '/tmp/', '/etc'),
  update('restart', 'on-failure:3', 'unless-stopped'),
  replace('init', true, false),
  replace('read_only', true, false),
  replace('cap_add', ['CAP_NET_ADMIN', 'sys_time'], ['NET_ADMIN']),
  replace('cap_drop', ['ALL'], ['CAP_MKNOD']),
  replace('security_opt', ['no-new-privileges:true'], ['seccomp=unconfined', 'no-new-privileges']),
  replace('devices', ['/dev/null:/dev/hole:wr', '/dev/zero'], ['/dev/null:/dev/hole:r']),
  replace('ulimits', { nofile: { soft: 1024, hard: 2048 }, nproc: 512 }, { nofile: 1024 }),
  replace('sysctls', ['net.core.somaxconn=1024'], { 'net.core.somaxconn': 2048 }),
  replace('shm_size', '128m', 67108864),
  update('mem_limit', '64m', '1g'),
  update('mem_reservation', '32m', '64m', { with: { mem_limit: '128m' } }),
  update('memswap_limit', '256m', '-1', { with: { mem_limit: '64m' } }),
  update('cpus', 0.5, '1.25'),
  update('cpu_shares', 512, 2048),
  update('cpuset', '0', '1'),
  update('pids_limit', 100, 200),
  replace('oom_score_adj', 100, 200),
  replace('logging', { driver: 'json-file', options: { 'max-size': '1m', 'max-file': 2 } }, { driver: 'none' }),
  replace('labels', { team: 'a', size: 3 }, ['team=b', 'size=3']),
  replace(
    'healthcheck',
    { test: 'true', interval: '30s', retries: 3, start_period: '1m' },
    { test: ['CMD', 'true'], interval: '1m30s', timeout: '500ms' },
  ),
  replace('stop_signal', 'sigint', 'KILL', { with: { stop_grace_period: '1s' } }),
  replace('stop_grace_period', '1500ms', '1s'),
  replace('pid', 'host', 'container:keeper'),
  replace('ipc', 'shareable', 'host'),
  replace('runtime', 'runc', 'io.containerd.runc.v2'),
];

/** Rows whose other value is also what the image or the engine would give, so that leaving the attribute out changes nothing more. */
const GIVEN_ANYWAY: ReadonlySet<string> = new Set(['init', 'read_only', 'shm_size', 'stop_signal']);

/** Attributes that are tried on an image that sets nothing, since what the other image sets hides or needs something else. */
const ON_PLAIN: ReadonlySet<string> = new Set(['entrypoint', 'healthcheck', 'user', 'pid', 'ipc', 'network_mode']);

/** Rows that went through everything. */
const passed = new Set<string>();

let bench: Bench;
let plain: string;
let full: string;
let driver: Driver;

beforeAll(async () => {
  bench = await Bench.start();
  plain = (await buildImage(bench.engine.host, { name: 'test/plain' })).id;
  full = (
    await buildImage(bench.engine.host, {
      name: 'test/full',
      entrypoint: ['/bin/env'],
      cmd: ['sleep', '1000000'],
      env: { FROM_IMAGE: 'yes', LEVEL: 'info' },
      user: 'app',
      workdir: '/tmp',
      labels: { vendor: 'image', kind: 'full' },
      volumes: ['/image-volume'],
      expose: ['7000/tcp'],
      healthcheck: { test: ['CMD', 'true'], intervalMs: 2000, timeoutMs: 1000, retries: 7 },
      stopSignal: 'SIGKILL',
    })
  ).id;
  await bench.hand('POST', '/networks/create', { Name: 'given', IPAM: { Config: [{ Subnet: `${bench.engine.prefix}.210.0/24` }] } });
  await bench.hand('POST', '/networks/create', { Name: 'other' });
  await bench.hand('POST', '/volumes/create', { Name: 'given' });
  const { Id } = (await bench.hand('POST', '/containers/create?name=keeper', { Image: plain })) as { readonly Id: string };
  await bench.hand('POST', `/containers/${Id}/start`);
  driver = bench.driver();
}, 60_000);

afterAll(async () => {
  const attributes = new Set(ROWS.map(({ attribute }) => attribute)).size;
  process.stdout.write(`docker.container: ${attributes} attributes in ${ROWS.length} rows, ${passed.size} passed\n`);
  await driver.close();
  await bench.stop();
});

const TYPE = 'docker.container';

function baseOf(image: string): Attributes {
  return { image, stop_signal: 'KILL', ready: { command: ['true'], interval: '100ms', timeout: '20s' } };
}

function nameOf(row: Row, index: number): string {
  return `${row.attribute.replaceAll('_', '-')}-${index}`;
}

function imageFor(row: Row): string {
  return ON_PLAIN.has(row.attribute) ? plain : full;
}

/** Addresses are written for any engine and moved to this one's pool. */
function placed(value: Value): Value {
  return JSON.parse(JSON.stringify(value).replaceAll('10.99.99.', `${bench.engine.prefix}.210.`)) as Value;
}

function attributesOf(row: Row, value: Value | undefined, image: string): Attributes {
  const { [row.attribute]: _base, ...base } = { ...baseOf(image), ...row.with };
  return value === undefined ? base : { ...base, [row.attribute]: placed(value) };
}

describe('every attribute of docker.container', () => {
  it('must have a row or a reason', () => {
    const names = Object.keys(containerSchema.shape);
    // Conformance covers what needs the record (name, image, files, ready and its like); platform and privileged have cases below.
    // No engine here has a GPU: its unit test goes through the requests that the engine takes and tells.
    const elsewhere = ['gpus', 'privileged', 'image', 'name', 'secrets', 'configs', 'ready', 'renew_anon_volumes', 'platform'];
    expect(names.filter((name) => !elsewhere.includes(name) && !ROWS.some((row) => row.attribute === name))).toEqual([]);
  });

  it.each(ROWS.map((row, index) => ({ ...row, name: nameOf(row, index) })))(
    'must be set, seen, changed and taken away: $name',
    async ({ name, ...row }) => {
      const image = imageFor(row);
      const [before, after, without] = [row.value, row.other, undefined].map((value) => attributesOf(row, value, image)) as [
        Attributes,
        Attributes,
        Attributes,
      ];
      await driver.create(TYPE, name, before);
      expect(await driver.differences(TYPE, name, before)).toEqual([]);
      const differing = await driver.differences(TYPE, name, after);
      expect(differing.length).toBeGreaterThan(0);
      for (const path of differing) expect(path).toMatch(new RegExp(`^(${row.seen ?? row.attribute}|network_mode)\\b`));
      expect(await driver.change(TYPE, name, after)).toBe(row.change);
      expect(await driver.differences(TYPE, name, after)).toEqual([]);
      const isGivenAnyway = GIVEN_ANYWAY.has(row.attribute);
      expect((await driver.differences(TYPE, name, without)).length > 0).toBe(!isGivenAnyway);
      if (!isGivenAnyway) expect(await driver.change(TYPE, name, without)).toBe(row.change);
      expect(await driver.differences(TYPE, name, without)).toEqual([]);
      await driver.change(TYPE, name, before);
      expect(await driver.differences(TYPE, name, before)).toEqual([]);
      passed.add(name);
    },
  );

  it('must differ in nothing after the engine was restarted', async () => {
    await bench.engine.restart();
    for (const [index, row] of ROWS.entries()) {
      const name = nameOf(row, index);
      expect(await driver.differences(TYPE, name, attributesOf(row, row.value, imageFor(row))), name).toEqual([]);
    }
  });
});

describe('what the image gives by itself', () => {
  it('must be no difference, named or not, and a difference when it is overridden', async () => {
    const base = { ...baseOf(full) };
    await driver.create(TYPE, 'inherits', base);
    expect(await driver.differences(TYPE, 'inherits', base)).toEqual([]);
    const named: Attributes = {
      ...base,
      entrypoint: '/bin/env',
      command: ['sleep', '1000000'],
      environment: { LEVEL: 'info' },
      user: 'app',
      working_dir: '/tmp',
      labels: { vendor: 'image' },
      expose: [7000],
      healthcheck: { test: ['CMD', 'true'], interval: '2s', retries: 7 },
      stop_signal: 'SIGKILL',
      volumes: ['/image-volume'],
      platform: 'linux/amd64',
    };
    expect(await driver.differences(TYPE, 'inherits', named)).toEqual([]);
    const overridden = { ...base, environment: { LEVEL: 'debug' }, user: 'root', labels: { vendor: 'me' }, healthcheck: { disable: true } };
    expect(await driver.differences(TYPE, 'inherits', overridden)).toEqual([
      'environment.LEVEL',
      'healthcheck.test',
      'labels.vendor',
      'user',
    ]);
    await driver.change(TYPE, 'inherits', overridden);
    expect(await driver.differences(TYPE, 'inherits', overridden)).toEqual([]);
    expect(await driver.differences(TYPE, 'inherits', { ...base, platform: 'linux/arm64' })).toContain('platform');
  });

  it('must be taken away by an entrypoint of its own, without a difference in the command', async () => {
    const attributes = { ...baseOf(full), entrypoint: ['sleep', '1000'], healthcheck: { test: 'exit 0' }, user: '0' };
    await driver.create(TYPE, 'entry', attributes);
    expect(await driver.differences(TYPE, 'entry', attributes)).toEqual([]);
    const cleared = { ...baseOf(full), entrypoint: [], command: ['sleep', '1000'] };
    expect(await driver.change(TYPE, 'entry', cleared)).toBe('replace');
    expect(await driver.differences(TYPE, 'entry', cleared)).toEqual([]);
    expect(await driver.differences(TYPE, 'entry', { ...baseOf(full), command: ['sleep', '1000'] })).toEqual(['entrypoint']);
  });

  it('must not count what the engine adds to a privileged container', async () => {
    await bench.hand('POST', '/containers/create?name=bench-privileged', {
      Image: plain,
      StopSignal: 'KILL',
      HostConfig: { Privileged: true },
    });
    const observed = await driver.read(TYPE, 'privileged', { desired: { image: plain } });
    if (observed.kind !== 'found') throw new Error('it was made by hand');
    const type = driver.type(TYPE);
    expect(
      differences(type, driver.normal(TYPE, 'privileged', { image: plain, stop_signal: 'KILL', privileged: true }), observed.attributes),
    ).toEqual([]);
    expect(differences(type, driver.normal(TYPE, 'privileged', { image: plain, stop_signal: 'KILL' }), observed.attributes)).toEqual([
      'privileged',
    ]);
  });
});
