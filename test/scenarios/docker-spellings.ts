import type { ImageSpec } from '../../scripts/servers/image.ts';
import type { Attributes, Value } from '../../src/core/value.ts';

/** An attribute in several spellings that mean the same. The container is made with the first; undefined leaves it out. */
export type Spelled = readonly [attribute: string, spellings: readonly (Value | undefined)[]];

/** Ports stand for the one that is free here. */
const PORT = '65000';

/** What the document says and the image does not. */
export const SAID: readonly Spelled[] = [
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
export const INHERITED: readonly Spelled[] = [
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

/** The image on which the spellings are tried: it sets everything that an image can set. */
export const FULL_IMAGE: ImageSpec = {
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
};

/** The attributes of the rows, each in the spelling that is picked for it; `port` is the one that is free here. */
export function spelled(
  rows: readonly Spelled[],
  port: number,
  pick: (row: Spelled) => Value | undefined = ([, [first]]) => first,
): Attributes {
  const present = rows.map((row) => [row[0], pick(row)] as const).filter((entry): entry is [string, Value] => entry[1] !== undefined);
  return JSON.parse(JSON.stringify(Object.fromEntries(present)).replaceAll(PORT, String(port))) as Attributes;
}
