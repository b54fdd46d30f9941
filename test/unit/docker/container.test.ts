import { describe, expect, it } from 'vitest';
import { type Attributes, Sensitive, Unknown } from '../../../src/core/value.ts';
import type { Change, TypeContext } from '../../../src/providers/contract.ts';
import { createRequest } from '../../../src/providers/docker/container/create-options.ts';
import { liveContainer } from '../../../src/providers/docker/container/live.ts';
import { containerType } from '../../../src/providers/docker/container/type.ts';
import { tellUnnamed } from '../../../src/providers/docker/container/unnamed.ts';
import { containerReply, imageReply, infoReply } from '../../../src/providers/docker/wire.ts';
import { differences } from '../../conformance/differences.ts';

const ID = `sha256:${'a'.repeat(64)}`;
const CONTEXT: TypeContext = {
  environment: 'staging',
  address: 'docker.container.api["eu"]' as never,
  name: 'api',
  key: 'eu',
  folder: '/documents',
  config: {},
};

function normal(attributes: Attributes): Attributes {
  return containerType.normalize({ image: ID, ...attributes }, CONTEXT);
}

function codes(attributes: Attributes, config: Attributes = {}): readonly string[] {
  return (containerType.check?.({ image: ID, ...attributes }, { ...CONTEXT, config }) ?? []).map((problem) => problem.code);
}

function valid(attributes: Attributes): boolean {
  return containerType.schema.safeParse({ image: ID, ...attributes }).success;
}

describe('the normal form of a container', () => {
  it('must be the same for every spelling', () => {
    const spellings: readonly (readonly [Attributes, Attributes])[] = [
      [{ ports: ['8080:80'] }, { ports: [{ target: 80, published: '8080', protocol: 'tcp' }] }],
      [{ ports: ['8000-8001:9000-9001'] }, { ports: ['8001:9001', '8000:9000/tcp'] }],
      [{ ports: ['[0:0:0:0:0:0:0:1]:1:1'] }, { ports: ['[::1]:1:1'] }],
      [{ environment: ['B=2', 'A=x=y'] }, { environment: { A: 'x=y', B: 2 } }],
      [{ command: `sh -c 'a b'` }, { command: ['sh', '-c', 'a b'] }],
      [
        { volumes: ['./conf:/etc/conf/:ro', 'data:/data'] },
        { volumes: ['data:/data', { type: 'bind', source: '/documents/conf', target: '/etc/conf', read_only: true }] },
      ],
      [{ tmpfs: '/t:size=1m' }, { volumes: [{ type: 'tmpfs', target: '/t', tmpfs: { size: 1048576 } }] }],
      [
        { mem_limit: '1g', shm_size: '1m' },
        { mem_limit: 1073741824, shm_size: '1048576' },
      ],
      [{ cap_add: ['CAP_SYS_TIME', 'net_admin'] }, { cap_add: ['NET_ADMIN', 'SYS_TIME'] }],
      [{ networks: ['a', 'b'] }, { networks: { b: null, a: {} } }],
      [{ healthcheck: { test: 'true', interval: '90s' } }, { healthcheck: { test: ['CMD-SHELL', 'true'], interval: '1m30s' } }],
      [{ healthcheck: { disable: true } }, { healthcheck: { test: ['NONE'] } }],
      [{ restart: 'no', network_mode: 'bridge', read_only: false, privileged: false, pids_limit: -1 }, {}],
      [{ extra_hosts: ['a=1.2.3.4', 'b:[::0001]'] }, { extra_hosts: { b: '::1', a: '1.2.3.4' } }],
      [{ sysctls: ['net.core.somaxconn=1'] }, { sysctls: { 'net.core.somaxconn': 1 } }],
      [
        { user: 5, working_dir: '/a/' },
        { user: '5', working_dir: '/a' },
      ],
      [{ devices: ['/dev/fuse'] }, { devices: ['/dev/fuse:/dev/fuse:mwr'] }],
      [{ ulimits: { nofile: 5 } }, { ulimits: { nofile: { soft: 5, hard: 5 } } }],
    ];
    for (const [one, other] of spellings) {
      expect(valid(one), JSON.stringify(one)).toBe(true);
      expect(normal(one), JSON.stringify(one)).toEqual(normal(other));
    }
  });

  it('must name the container after environment, resource and instance, and answer to its own names on every network', () => {
    expect(normal({ networks: [{ name: 'net', aliases: ['z'] }] })).toMatchObject({
      name: 'staging-api-eu',
      networks: { net: { aliases: ['api', 'api-eu', 'z'] } },
    });
  });

  it('must keep secrets wrapped and hide a name that could be a part of one', () => {
    const form = normal({ secrets: { '/run/x': 'quiet' }, environment: { A: Sensitive.open('quiet', ['s']) } });
    expect(JSON.stringify(form)).not.toContain('quiet');
    expect(form['secrets']).toMatchObject({ '/run/x': { mode: '0400', value: expect.any(Sensitive) } });
    expect(normal({ environment: [Sensitive.open('quiet=1')] })['environment']).toBeInstanceOf(Sensitive);
    expect(normal({ networks: ['a', new Unknown('docker.network.n.name')] })['networks']).toBeInstanceOf(Unknown);
  });

  it('must let env_file be overridden by environment and by later files', () => {
    const file = (text: string) => ({ path: 'x.env', sha256: '', text });
    expect(normal({ env_file: [file('A=1\nB=1\nC=1'), file('B=2\nC=2')], environment: { C: 3 } })['environment']).toEqual({
      A: '1',
      B: '2',
      C: '3',
    });
  });

  it('must foresee published ports and networks as far as they are known', () => {
    const foreseen = containerType.foresee?.(normal({ ports: ['127.0.0.1:8080:80', '127.0.0.1::81'], networks: ['net'] }), CONTEXT);
    expect(foreseen).toMatchObject({
      published_ports: { '80/tcp': 8080, '81/tcp': expect.any(Unknown) },
      addresses: { net: expect.any(Unknown) },
    });
  });
});

describe('what a container may not say', () => {
  it('must be refused by the schema, whatever is not built', () => {
    const wrong: readonly Attributes[] = [
      { ports: ['80:80:80'] },
      { ports: ['1-2:1-3'] },
      { ports: [70000] },
      { ports: ['127.0.0.1:80'] },
      { volumes: ['~/x:/y'] },
      { volumes: ['a:relative'] },
      { network_mode: 'my-network' },
      { healthcheck: { interval: '30' } },
      { mem_limit: 'lots' },
      { restart: 'sometimes' },
      { secrets: { relative: 'x' } },
      { configs: { '/x': { content: 'x', mode: 400 } } },
      { ready: { tcp: 'a:1', docker: true } },
      { ready: { http: 'ftp://x' } },
      { image: 'a@sha256:1' },
      { command: [] },
      { command: "open 'quote" },
      { environment: { A: null } },
    ];
    for (const attributes of wrong) expect(valid(attributes), JSON.stringify(attributes)).toBe(false);
  });

  it('must be refused with a code where it stands across attributes', () => {
    expect(codes({ image: 'app:1' })).toEqual(['IMAGE_NOT_PINNED']);
    expect(codes({ image: 'app:1' }, { allow_tags: true })).toEqual([]);
    expect(codes({ labels: { 'io.accede.id': 'x' } })).toEqual(['LABEL_RESERVED']);
    expect(codes({ networks: ['a'], network_mode: 'host' })).toEqual(['NETWORKS_AND_MODE']);
    expect(codes({ networks: ['bridge'] })).toEqual(['NETWORK_PREDEFINED']);
    expect(codes({ network_mode: 'host', ports: ['80:80'] })).toEqual(['NETWORK_MODE_CONFLICT']);
    expect(codes({ ports: ['80:80', '80:81'] })).toEqual(['PORT_TWICE']);
    expect(codes({ volumes: ['a:/x', '/srv:/x/'] })).toEqual(['MOUNT_TWICE']);
    expect(codes({ volumes: ['./a:/x'] }, { host: 'tcp://10.0.0.1:2375' })).toEqual(['RELATIVE_MOUNT_REMOTE']);
    expect(codes({ read_only: true, configs: { '/x': 'y' } })).toEqual(['READ_ONLY_FILES']);
    expect(codes({ mem_limit: '64m', mem_reservation: '128m' })).toEqual(['MEMORY_RESERVATION']);
    expect(codes({ memswap_limit: '128m' })).toEqual(['MEMORY_SWAP']);
    expect(codes({ mem_limit: '1m' })).toEqual(['MEMORY_LIMIT']);
    expect(codes({ security_opt: ['seccomp=./profile.json'] })).toEqual(['SECCOMP_PROFILE']);
    expect(codes({ env_file: { path: 'a.env', sha256: '', text: 'nonsense' } })).toEqual(['ENV_FILE_LINE']);
    expect(codes({ env_file: { path: 'a.env', sha256: '', base64: 'AA==' } })).toEqual(['ENV_FILE_NOT_TEXT']);
    expect(codes({ name: Sensitive.open('x') })).toEqual(['NAME_IS_SECRET']);
    expect(codes({ mem_limit: new Unknown('x'), memswap_limit: '128m' })).toEqual([]);
  });
});

describe('the effects of a change', () => {
  const line = (change: Partial<Change>) =>
    containerType
      .effects({ action: 'create', order: 'destroy-first', paths: [], deposed: false, ...change })
      .map((effect) => `${effect.name}:${effect.part}:${effect.object}`)
      .join(' ');

  it('must come in their order', () => {
    expect(line({})).toBe('fetch:prepare:keep create:apply:create start:apply:keep ready:apply:keep');
    expect(line({ action: 'update', deposed: true })).toBe('update:apply:update retire:retire:retire');
    expect(line({ action: 'replace' })).toBe(
      'fetch:prepare:keep stop:remove:keep set-aside:remove:depose create:apply:create start:apply:keep ready:apply:keep retire:retire:retire',
    );
    expect(line({ action: 'replace', order: 'create-first' })).toBe(
      'fetch:prepare:keep set-aside:apply:depose create:apply:create start:apply:keep ready:apply:keep retire:retire:retire',
    );
    expect(line({ action: 'start' })).toBe('start:apply:keep ready:apply:keep');
    expect(line({ action: 'delete' })).toBe('stop:remove:keep remove:remove:remove');
  });
});

describe('a live container of another engine version', () => {
  const CONTAINER_ID = 'c'.repeat(64);
  const info = infoReply.parse({ LoggingDriver: 'json-file', DefaultRuntime: 'runc', NCPU: 4, SwapLimit: true, MemTotal: 1 });
  const image = imageReply.parse({
    Id: ID,
    RepoTags: [],
    RepoDigests: [],
    Os: 'linux',
    Architecture: 'amd64',
    Config: { Env: ['PATH=/bin'], Cmd: ['run'] },
  });
  const networks = {
    net: {
      NetworkID: 'n'.repeat(64),
      Aliases: ['api', 'api-eu'],
      DNSNames: ['staging-api-eu', 'cccccccccccc'],
      IPAMConfig: {},
      IPAddress: '10.0.0.2',
    },
  };

  function live(version: { readonly mode: string; readonly aliases?: readonly string[]; readonly networks?: object }) {
    const container = containerReply.parse({
      Id: CONTAINER_ID,
      Name: '/staging-api-eu',
      Image: ID,
      State: { Status: 'running' },
      Config: { Hostname: 'cccccccccccc', Image: ID, Env: ['PATH=/bin'], Cmd: ['run'], Labels: { 'io.accede.id': 'x' } },
      HostConfig: {
        NetworkMode: version.mode,
        RestartPolicy: { Name: 'no' },
        LogConfig: { Type: 'json-file', Config: {} },
        Runtime: 'runc',
        IpcMode: 'private',
        ShmSize: 67108864,
      },
      Mounts: [],
      NetworkSettings: { Ports: {}, Networks: version.networks ?? { [version.mode === 'nat' ? 'nat' : 'bridge']: {} } },
    });
    return liveContainer({ container, image, info, peers: [] });
  }

  it('must not differ by what that version calls the default network', () => {
    for (const mode of ['default', 'bridge']) expect(differences(containerType, normal({}), live({ mode })), mode).toEqual([]);
  });

  it('must not differ by the short id among the aliases', () => {
    const desired = normal({ networks: ['net'] });
    expect(differences(containerType, desired, live({ mode: 'net', networks }))).toEqual([]);
    const older = { net: { ...networks.net, Aliases: ['cccccccccccc', 'api-eu', 'api'] } };
    expect(differences(containerType, desired, live({ mode: 'net', networks: older }))).toEqual([]);
    expect(differences(containerType, normal({ networks: ['n'.repeat(64)] }), live({ mode: 'net', networks }))).toEqual([]);
  });

  it('must look the same after the engine made its default network anew, with another id', () => {
    const attached = (id: string) => live({ mode: 'bridge', networks: { bridge: { NetworkID: id.repeat(64) } } });
    expect(attached('a')).toEqual(attached('b'));
  });

  it('must leave nothing but attributes after it was aligned', () => {
    const desired = normal({});
    const aligned = containerType.align?.(desired, live({ mode: 'default' }));
    expect(aligned).toEqual(desired);
    expect(containerType.align?.(desired, desired)).toEqual(desired);
  });
});

describe('log options and an IPC mode that look alike whoever gave them', () => {
  const info = infoReply.parse({ LoggingDriver: 'json-file', DefaultRuntime: 'runc', NCPU: 4, SwapLimit: true, MemTotal: 1 });

  function live(driver: string, made: Attributes | undefined): Attributes {
    const container = containerReply.parse({
      Id: 'c'.repeat(64),
      Name: '/e-api',
      Image: ID,
      State: { Status: 'running' },
      Config: { Hostname: 'cccccccccccc', Image: ID },
      HostConfig: {
        NetworkMode: 'default',
        RestartPolicy: { Name: 'no' },
        ShmSize: 67108864,
        LogConfig: { Type: driver, Config: { 'max-size': '1m', 'max-file': '2' } },
        IpcMode: 'shareable',
        Runtime: 'runc',
      },
      Mounts: [],
      NetworkSettings: { Ports: {}, Networks: { bridge: {} } },
    });
    return tellUnnamed(liveContainer({ container, image: undefined, info, peers: [] }), made);
  }

  const paths = (desired: Attributes, made: Attributes | undefined, driver = 'json-file') =>
    differences(containerType, normal(desired), live(driver, made === undefined ? undefined : normal(made))).filter((path) =>
      /^(?:logging|ipc)/.test(path),
    );

  it('must be missed when the container was asked to have them and the document names them no more', () => {
    const made = { logging: { driver: 'json-file', options: { 'max-size': '1m', 'max-file': 2 } }, ipc: 'shareable' };
    expect(paths(made, made)).toEqual([]);
    expect(paths({}, made)).toEqual(['ipc', 'logging']);
    expect(paths({ ...made, logging: { options: { 'max-size': '1m' } } }, made)).toEqual(['logging.options.max-file']);
    expect(paths({ ...made, logging: { driver: 'json-file', options: { 'max-file': 2 } } }, made)).toEqual(['logging.options.max-size']);
    expect(paths({ ...made, logging: { driver: 'local' } }, made)).toEqual(['logging.driver', 'logging.options']);
  });

  it('must be no difference when the engine gave them, also when its driver is another one by now', () => {
    for (const made of [{}, undefined]) expect(paths({}, made), String(made)).toEqual([]);
    expect(paths({ logging: { options: { 'max-size': '1m' } } }, { logging: { options: { 'max-size': '1m' } } })).toEqual([]);
    expect(paths({ logging: { options: { 'max-size': '2m' } } }, {})).toEqual(['logging.options.max-size']);
    expect(paths({}, {}, 'local')).toEqual([]);
    expect(paths({}, undefined, 'local')).toEqual(['logging']);
  });
});

describe('the request that makes a container', () => {
  it('must carry the first network alone, an entrypoint that is taken away, and paths as binds', () => {
    const desired = JSON.parse(
      JSON.stringify(normal({ entrypoint: [], networks: ['b', 'a'], volumes: ['/srv:/srv:ro', 'data:/data'], ports: ['127.0.0.1::80'] })),
    ) as never;
    expect(createRequest(desired, ID, { mark: 'x' })).toMatchObject({
      Image: ID,
      Entrypoint: [''],
      Labels: { mark: 'x' },
      HostConfig: {
        NetworkMode: 'b',
        Binds: ['/srv:/srv:ro'],
        Mounts: [{ Type: 'volume', Source: 'data', Target: '/data', ReadOnly: false }],
        PortBindings: { '80/tcp': [{ HostIp: '127.0.0.1', HostPort: '' }] },
      },
      NetworkingConfig: { EndpointsConfig: { b: { Aliases: ['api', 'api-eu'] } } },
    });
  });
});
