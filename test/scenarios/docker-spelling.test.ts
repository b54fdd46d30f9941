import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import { freePort } from '../../scripts/servers/process.ts';
import type { Attributes, Value } from '../../src/core/value.ts';
import type { Driver } from '../conformance/driver.ts';
import { Bench } from './docker-bench.ts';
import { type Making, remakeContainer } from './docker-remake.ts';

const CONTAINER = 'docker.container';

/** An attribute in several spellings that mean the same. The container is made with the first; undefined leaves it out. */
type Row = readonly [attribute: string, spellings: readonly (Value | undefined)[]];

/** Ports stand for the one that is free here. */
const PORT = '65000';

/** What the document says and the image does not. */
const SAID: readonly Row[] = [
  [
    'ports',
    [
      [`127.0.0.1:${PORT}:80`],
      [`127.0.0.1:${PORT}:80/tcp`],
      [{ target: 80, published: PORT, host_ip: '127.0.0.1' }],
      [{ target: 80, published: Number(PORT), host_ip: '127.0.0.1', protocol: 'tcp' }],
    ],
  ],
  [
    'environment',
    [
      ['B=2', 'A=x=y'],
      ['A=x=y', 'B=2'],
      { A: 'x=y', B: 2 },
      { B: '2', A: 'x=y' },
      ['FROM_IMAGE=yes', 'B=2', 'A=x=y'],
      { LEVEL: 'info', A: 'x=y', B: 2 },
    ],
  ],
  ['labels', [{ team: 'a', size: 3 }, ['size=3', 'team=a'], { team: 'a', size: '3', vendor: 'image' }]],
  [
    'volumes',
    [
      ['given:/data/', '/srv/:/srv:ro', '/anonymous'],
      ['/srv:/srv/:ro', '/anonymous/', 'given:/data:rw'],
      [
        { type: 'volume', source: 'given', target: '/data' },
        { type: 'bind', source: '/srv', target: '/srv', read_only: true },
        { type: 'volume', target: '/anonymous' },
      ],
      ['given:/data', '/srv:/srv:ro,rprivate', '/anonymous', '/image-volume'],
    ],
  ],
  ['tmpfs', ['/scratch:size=1m,mode=0700', ['/scratch/:mode=700,size=1048576'], ['/scratch:rw,size=1024k,mode=700']]],
  [
    'expose',
    [
      [9000, '53/udp'],
      ['53/udp', '9000/tcp'],
      ['9000', '53/udp', '7000/tcp'],
      [9000, '53/udp', 80],
    ],
  ],
  ['extra_hosts', [['up:10.0.0.7', 'six:[2001:db8:0:0::1]'], { six: '2001:DB8::1', up: '10.0.0.7' }, ['six=2001:db8::1', 'up=10.0.0.7']]],
  ['dns', ['2001:DB8:0::2', ['2001:db8::2']]],
  ['mem_limit', ['1g', '1024m', '1GB', 1073741824, '1073741824', '1048576k']],
  ['memswap_limit', ['2g', undefined, 2147483648]],
  ['shm_size', ['128m', 134217728, '131072kb']],
  ['cpus', [0.5, '0.5', '.5'.padStart(3, '0')]],
  ['cpuset', ['0-1', '1,0', '0,1']],
  ['pids_limit', [100]],
  ['restart', ['on-failure', 'on-failure:0']],
  [
    'cap_add',
    [
      ['CAP_NET_ADMIN', 'sys_time'],
      ['SYS_TIME', 'net_admin'],
      ['cap_sys_time', 'NET_ADMIN'],
    ],
  ],
  ['cap_drop', [['mknod'], ['CAP_MKNOD']]],
  ['security_opt', [['no-new-privileges:true'], ['no-new-privileges'], ['no-new-privileges=true']]],
  [
    'devices',
    [
      ['/dev/zero', '/dev/null:/dev/hole:wr'],
      ['/dev/null:/dev/hole:rw', '/dev/zero:/dev/zero:mrw'],
    ],
  ],
  ['ulimits', [{ nofile: 1024 }, { nofile: { soft: 1024, hard: 1024 } }]],
  ['sysctls', [['net.core.somaxconn=1024'], { 'net.core.somaxconn': 1024 }, { 'net.core.somaxconn': '1024' }]],
  [
    'group_add',
    [
      ['audio', 12],
      ['12', 'audio'],
    ],
  ],
  ['stop_grace_period', ['1500ms', '2s', '2000ms']],
  ['network_mode', [undefined, 'bridge']],
  ['logging', [undefined, { driver: 'json-file' }]],
  ['ipc', [undefined, 'private']],
  ['init', [undefined, false]],
  ['read_only', [undefined, false]],
  ['privileged', [undefined, false]],
  ['runtime', [undefined, 'runc']],
  ['oom_score_adj', [undefined, 0]],
  ['cpu_shares', [undefined, 1024]],
];

/** What the image sets: left out, or named as the image has it. */
const INHERITED: readonly Row[] = [
  ['entrypoint', [undefined, '/bin/env', ['/bin/env']]],
  ['command', [undefined, 'sleep 1000000', ['sleep', 1000000]]],
  ['environment', [undefined, { LEVEL: 'info' }, ['FROM_IMAGE=yes']]],
  ['user', [undefined, 'app']],
  ['working_dir', [undefined, '/tmp', '/tmp/', '/tmp//']],
  ['labels', [undefined, { vendor: 'image' }, ['kind=full']]],
  ['volumes', [undefined, ['/image-volume'], ['/image-volume/'], [{ type: 'volume', target: '/image-volume' }]]],
  ['expose', [undefined, [7000], ['7000/tcp']]],
  [
    'healthcheck',
    [
      undefined,
      { test: ['CMD', 'true'] },
      { interval: '90s' },
      { interval: '1m30s', timeout: '1000ms', retries: 7 },
      { start_period: '0s' },
    ],
  ],
  ['stop_signal', [undefined, 'SIGKILL', 'kill', 'KILL']],
  ['platform', [undefined, 'linux/amd64']],
];

/** What was made anew by hand with another value is drift, and this is its path. */
const DRIFTS: readonly (readonly [path: string, change: (making: Making) => void])[] = [
  ['environment', ({ Config }) => void (Config['Env'] = ['LEVEL=debug', 'FROM_IMAGE=yes', 'PATH=/bin'])],
  ['volumes', ({ HostConfig }) => void (HostConfig['Binds'] = ['/srv:/srv'])],
  ['user', ({ Config }) => void (Config['User'] = 'root')],
  ['command', ({ Config }) => void (Config['Cmd'] = ['sleep', '2000000'])],
  ['healthcheck', ({ Config }) => void (Config['Healthcheck'] = { ...(Config['Healthcheck'] as object), Retries: 3 })],
  ['entrypoint', ({ Config }) => void (Config['Entrypoint'] = ['/bin/busybox', 'env'])],
  ['working_dir', ({ Config }) => void (Config['WorkingDir'] = '/etc')],
  ['labels', ({ Config }) => void (Config['Labels'] = { ...(Config['Labels'] as object), vendor: 'me' })],
  ['stop_signal', ({ Config }) => void (Config['StopSignal'] = 'SIGINT')],
];

let bench: Bench;
let image: string;
let port: number;
let driver: Driver;

beforeAll(async () => {
  bench = await Bench.start();
  port = await freePort();
  await bench.hand('POST', '/volumes/create', { Name: 'given' });
  image = (
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
      healthcheck: { test: ['CMD', 'true'], intervalMs: 90_000, timeoutMs: 1000, retries: 7 },
      stopSignal: 'SIGKILL',
    })
  ).id;
  driver = bench.driver();
}, 60_000);

afterAll(async () => {
  await driver?.close();
  await bench?.stop();
});

function document(rows: readonly Row[], other?: readonly [attribute: string, value: Value | undefined]): Attributes {
  const base = { image, ready: { command: ['true'], interval: '100ms' } };
  const said = new Map<string, Value | undefined>(rows.map(([attribute, [first]]) => [attribute, first]));
  if (other !== undefined) said.set(...other);
  const present = [...said].filter((entry): entry is [string, Value] => entry[1] !== undefined);
  return { ...base, ...(JSON.parse(JSON.stringify(Object.fromEntries(present)).replaceAll(PORT, String(port))) as Attributes) };
}

describe.each([
  ['said', SAID],
  ['inherited', INHERITED],
] as const)('what is %s', (name, rows) => {
  beforeAll(() => driver.create(CONTAINER, name, document(rows)));

  it.each(rows)('must be no difference in any spelling: %s', async (attribute, spellings) => {
    for (const spelling of spellings) {
      expect(await driver.differences(CONTAINER, name, document(rows, [attribute, spelling])), JSON.stringify(spelling)).toEqual([]);
    }
  });
});

describe('networks', () => {
  it('must be no difference in any spelling, by name or by id', async () => {
    const { Id } = (await bench.hand('POST', '/networks/create', { Name: 'given', EnableIPv6: false })) as { readonly Id: string };
    await bench.hand('POST', '/networks/create', { Name: 'other' });
    const networks = (value: Value): Attributes => ({ ...document([]), networks: value });
    await driver.create(CONTAINER, 'joined', networks({ given: { aliases: ['b', 'a'] }, other: null }));
    const spellings: readonly Value[] = [
      { other: {}, given: { aliases: ['a', 'b'] } },
      ['other', { name: 'given', aliases: ['a', 'b', 'joined'] }],
      [{ name: Id, aliases: ['b', 'a'] }, 'other'],
    ];
    for (const spelling of spellings) expect(await driver.differences(CONTAINER, 'joined', networks(spelling))).toEqual([]);
  });
});

describe('what is no spelling', () => {
  it.each(DRIFTS)('must be seen as drift: %s', async (path, change) => {
    const name = `drift-${path}`;
    await driver.create(CONTAINER, name, document([]));
    await remakeContainer(bench, driver.recorded(CONTAINER, name).ref ?? '', change);
    expect(await driver.differences(CONTAINER, name, document([]))).toEqual([path]);
  });
});
