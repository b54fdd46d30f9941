import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildImage, imageArchive } from '../../scripts/servers/image.ts';
import { freePort } from '../../scripts/servers/process.ts';
import type { Attributes } from '../../src/core/value.ts';
import type { PlanDocument } from '../../src/plan/model.ts';
import type { Driver } from '../conformance/driver.ts';
import { failureOf } from '../conformance/given.ts';
import { accede, accedeOk } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';
import { Bench } from './docker-bench.ts';
import { EngineProxy } from './docker-proxy.ts';
import { remakeContainer } from './docker-remake.ts';

/** What users of another Docker provider complain about, each complaint with its number; those that have a test elsewhere are named there. */
const ROWS = [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 13, 14, 15, 18, 19, 20, 21, 23, 25, 26, 27, 28] as const;

const CONTAINER = 'docker.container';

let bench: Bench;
let plain: string;
let full: string;
let driver: Driver;
let workspace: Workspace;

beforeAll(async () => {
  bench = await Bench.start();
  plain = (await buildImage(bench.engine.host, { name: 'test/plain', tag: '1' })).id;
  full = (
    await buildImage(bench.engine.host, {
      name: 'test/full',
      entrypoint: ['/bin/env'],
      cmd: ['sleep', '1000000'],
      env: { FROM_IMAGE: 'yes', LEVEL: 'info' },
      user: 'app',
      workdir: '/tmp',
      labels: { vendor: 'image' },
      volumes: ['/image-volume'],
      expose: ['7000/tcp'],
      healthcheck: { test: ['CMD', 'true'], intervalMs: 1000, timeoutMs: 1000, retries: 7 },
      stopSignal: 'SIGKILL',
    })
  ).id;
}, 60_000);

afterAll(() => bench.stop());

beforeEach(() => {
  driver = bench.driver();
  workspace = new Workspace();
});

afterEach(async () => {
  await driver.close();
  workspace.remove();
  await bench.clear();
});

function quick(more: Attributes = {}): Attributes {
  return { image: plain, stop_signal: 'KILL', ready: { command: ['true'], interval: '100ms', timeout: '20s' }, ...more };
}

const READY = 'stop_signal: KILL, ready: { command: ["true"], interval: 100ms }';

function write(resources: string): void {
  const head = `apiVersion: accede/v1\nkind: Environment\nmetadata: { name: shop }\nproviders: { docker: { host: "${bench.engine.host}" } }\n`;
  workspace.write('environment.yaml', `${head}resources:\n${resources}`);
}

const apply = (code = 0) => accedeOk(['apply', '--auto-approve', workspace.folder], { code });

async function plan(code: number): Promise<PlanDocument> {
  const { stdout } = await accedeOk(['plan', '--json', '--detailed-exitcode', workspace.folder], { code });
  return JSON.parse(stdout) as PlanDocument;
}

/** `action address` of everything that is to change. */
const changesOf = ({ changes }: PlanDocument) =>
  changes.filter(({ action }) => action !== 'noop').map(({ action, address }) => `${action} ${address}`);

async function inspect(name: string): Promise<{ readonly [name: string]: { readonly [name: string]: unknown } }> {
  return (await bench.hand('GET', `/containers/${name}/json`)) as { readonly [name: string]: { readonly [name: string]: unknown } };
}

it(`must have a test for each of the ${ROWS.length} rows`, () => {
  const folders = [import.meta.dirname, join(import.meta.dirname, '..', 'unit', 'docker')];
  const sources = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => readFileSync(join(folder, name), 'utf8')),
  );
  const tested = sources.flatMap((source) => [...source.matchAll(/['`]D(\d+): must /g)].map(([, row]) => Number(row)));
  expect([...new Set(tested)].toSorted((a, b) => a - b)).toEqual(ROWS);
});

describe('a difference that is none', () => {
  it('D1: must not be seen in what the image sets, named by the document or not, in two plans', async () => {
    write(`  docker.container:
    silent: { image: "${full}" }
    named: { image: "${full}", entrypoint: /bin/env, command: [sleep, "1000000"], environment: { LEVEL: info }, user: app, working_dir: /tmp/, expose: [7000], stop_signal: kill, volumes: [/image-volume], labels: { vendor: image }, healthcheck: { test: [CMD, "true"], interval: 1s } }
`);
    await apply();
    for (let round = 0; round < 2; round++) expect(changesOf(await plan(0))).toEqual([]);
  });

  it('D4: must not be seen in devices and other nested values that leave members to their defaults', async () => {
    const attributes = quick({
      devices: ['/dev/zero', '/dev/null:/dev/hole', '/dev/full:r'],
      ulimits: { nofile: 1024 },
      ports: [{ target: 80 }, '127.0.0.1::81'],
      healthcheck: { test: 'true' },
      logging: { options: { 'max-size': '1m' } },
      volumes: [
        { type: 'volume', target: '/data' },
        { type: 'bind', source: '/srv', target: '/srv' },
      ],
      tmpfs: '/scratch',
    });
    await driver.create(CONTAINER, 'partial', attributes);
    expect(await driver.differences(CONTAINER, 'partial', attributes)).toEqual([]);
    const other = { ...attributes, devices: ['/dev/zero:r', '/dev/null:/dev/hole', '/dev/full:r'] };
    expect(await driver.differences(CONTAINER, 'partial', other)).toEqual(['devices["/dev/zero"].permissions']);
  });

  it('D5: must not be seen in what the configuration of the engine gives to every container', async () => {
    const logs = ['--log-driver', 'local', '--log-opt', 'max-size=7m', '--log-opt', 'max-file=3'];
    const limits = ['--default-ulimit', 'nofile=1234:2345', '--default-shm-size', '128m', '--default-ipc-mode', 'shareable'];
    const other = await Bench.start([
      ...logs,
      ...limits,
      '--init',
      '--dns',
      '10.0.0.9',
      '--dns-search',
      'shop.internal',
      '--no-new-privileges',
    ]);
    try {
      const { id } = await buildImage(other.engine.host, {});
      const there = other.driver();
      const base = { ...quick(), image: id };
      await there.create(CONTAINER, 'plain', base);
      expect(await there.differences(CONTAINER, 'plain', base)).toEqual([]);
      const own = { ...base, logging: { options: { 'max-size': '9m' } }, ulimits: { nofile: 1000 }, shm_size: '64m', ipc: 'private' };
      const seen = ['ipc', 'logging.options.max-size', 'shm_size', 'ulimits.nofile.hard', 'ulimits.nofile.soft'];
      expect((await there.differences(CONTAINER, 'plain', own)).map((path) => path.replace('["max-size"]', '.max-size'))).toEqual(seen);
      expect(await there.change(CONTAINER, 'plain', own)).toBe('replace');
      expect(await there.differences(CONTAINER, 'plain', own)).toEqual([]);
      expect(await there.change(CONTAINER, 'plain', base)).toBe('replace');
      expect(await there.differences(CONTAINER, 'plain', base)).toEqual([]);
      await there.close();
    } finally {
      await other.stop();
    }
  });

  it('D23: must not be seen in files that are put into a container or on a disk, binary ones too, and must be seen in one byte', async () => {
    const odd = Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256));
    workspace.write('odd.bin', odd);
    workspace.write('app.conf', 'a=\u0000\u007f é\r\n');
    write(`  docker.container:
    app:
      image: "${plain}"
      configs: { /etc/app.conf: '\${file("app.conf")}', /etc/other.conf: { content: "x", mode: "0400" } }
      stop_signal: KILL
      ready: { command: ["true"], interval: 100ms }
  local.file: { blob: { path: out.bin, source: odd.bin } }
`);
    await apply();
    for (let round = 0; round < 2; round++) expect(changesOf(await plan(0))).toEqual([]);
    expect(readFileSync(workspace.path('out.bin'))).toEqual(odd);
    workspace.write('odd.bin', Buffer.concat([odd.subarray(0, 511), Buffer.from([0])]));
    expect(changesOf(await plan(2))).toEqual(['update local.file.blob']);
    workspace.write('app.conf', 'a=\u0000\u007f é\n');
    expect(changesOf(await plan(2))).toEqual(['replace docker.container.app', 'update local.file.blob']);
  });
});

describe('a change that must come about', () => {
  const check = { test: ['CMD', 'true'], interval: '30s', timeout: '10s', start_period: '5s', retries: 4 };
  const fields = [
    ['test', ['CMD-SHELL', 'exit 0'], 'Test', ['CMD-SHELL', 'exit 0']],
    ['interval', '1m', 'Interval', 60e9],
    ['timeout', '20s', 'Timeout', 20e9],
    ['start_period', '7s', 'StartPeriod', 7e9],
    ['retries', 2, 'Retries', 2],
  ] as const;

  it('D7: must reach the container for every field of a healthcheck, be read back, and be missed when it is undone by hand', async () => {
    let present: Attributes = quick({ healthcheck: check });
    await driver.create(CONTAINER, 'app', present);
    for (const [field, value, member, wire] of fields) {
      present = quick({ healthcheck: { ...check, [field]: value } });
      expect(await driver.change(CONTAINER, 'app', present), field).toBe('replace');
      expect((await inspect('bench-app'))['Config']?.['Healthcheck'], field).toMatchObject({ [member]: wire });
      expect(await driver.differences(CONTAINER, 'app', present), field).toEqual([]);
      expect(await driver.differences(CONTAINER, 'app', quick({ healthcheck: check })), field).toEqual([`healthcheck.${field}`]);
    }
    const { ref = '' } = driver.recorded(CONTAINER, 'app');
    await remakeContainer(bench, ref, ({ Config }) => {
      Config['Healthcheck'] = { ...(Config['Healthcheck'] as object), Retries: 9 };
    });
    expect(await driver.differences(CONTAINER, 'app', present)).toEqual(['healthcheck.retries']);
  });

  it('D8: must give and take capabilities, with and without CAP_, and be no difference in either spelling', async () => {
    const bounding = async () => {
      const { Id } = (await bench.hand('POST', '/containers/bench-app/exec', {
        AttachStdout: true,
        Tty: true,
        Cmd: ['grep', 'CapBnd', '/proc/1/status'],
      })) as { readonly Id: string };
      const words = await bench.text('POST', `/exec/${Id}/start`, { Detach: false, Tty: true });
      return BigInt(`0x${/CapBnd:\s*([0-9a-f]+)/.exec(words)?.[1] ?? ''}`);
    };
    const has = (set: bigint, bit: number) => ((set >> BigInt(bit)) & 1n) === 1n;
    const [NET_ADMIN, MKNOD] = [12, 27];
    await driver.create(CONTAINER, 'app', quick());
    expect(has(await bounding(), NET_ADMIN)).toBe(false);
    const spellings = [
      quick({ cap_add: ['CAP_NET_ADMIN'], cap_drop: ['mknod'] }),
      quick({ cap_add: ['net_admin'], cap_drop: ['CAP_MKNOD'] }),
    ] as const;
    expect(await driver.change(CONTAINER, 'app', spellings[0])).toBe('replace');
    const set = await bounding();
    expect([has(set, NET_ADMIN), has(set, MKNOD)]).toEqual([true, false]);
    for (const same of spellings) expect(await driver.differences(CONTAINER, 'app', same)).toEqual([]);
    expect(await driver.change(CONTAINER, 'app', quick())).toBe('replace');
    expect([has(await bounding(), NET_ADMIN), has(await bounding(), MKNOD)]).toEqual([false, true]);
  });

  it('D10: must never remove an image on the way, also when a new one has the tag of the old', async () => {
    const proxy = new EngineProxy(join(bench.folder, 'images.sock'), bench.engine.socket);
    await proxy.open();
    const tagged = bench.driver({ config: { host: proxy.host, allow_tags: true } });
    const build = async (version: string) =>
      (await buildImage(bench.engine.host, { name: 'shop/tag', tag: version === 'next' ? 'next' : '1', files: { '/version': version } }))
        .id;
    const first = await build('first');
    await tagged.create(CONTAINER, 'app', quick({ image: 'shop/tag:1' }));
    const second = await build('second');
    expect(await tagged.change(CONTAINER, 'app', quick({ image: second }))).toBe('replace');
    await tagged.change(CONTAINER, 'app', quick({ image: first }), 'create-first');
    await tagged.delete(CONTAINER, 'app');
    expect(proxy.passed.filter((line) => line.startsWith('DELETE /images'))).toEqual([]);
    const ids = ((await bench.hand('GET', '/images/json')) as readonly { readonly Id: string }[]).map(({ Id }) => Id);
    expect(ids).toEqual(expect.arrayContaining([first, second]));
    await tagged.close();
    await proxy.cut();
    for (const id of [first, second]) await bench.dropImage(id);
  });
});

describe('what runs to its end, or does not run', () => {
  it('D14: must be as it should be when a job has ended, and keep its ports when a container was stopped', async () => {
    const port = await freePort();
    write(`  docker.job: { migrate: { image: "${plain}", command: [sh, -c, "echo '{}'"], stdout: true, stop_signal: KILL } }
  docker.container: { web: { image: "${plain}", ports: ["127.0.0.1:${port}:80"], ${READY} } }
`);
    await apply();
    expect((await inspect('shop-migrate'))['State']).toMatchObject({ Status: 'exited', ExitCode: 0 });
    for (let round = 0; round < 2; round++) expect(changesOf(await plan(0))).toEqual([]);
    await bench.hand('POST', '/containers/shop-web/stop');
    expect(changesOf(await plan(2))).toEqual(['start docker.container.web']);
    await apply();
    expect(changesOf(await plan(0))).toEqual([]);
  });

  it('D21: must be refused before anything is stopped when it is to be called healthy and has no healthcheck', async () => {
    await driver.create(CONTAINER, 'app', quick());
    const { ref } = driver.recorded(CONTAINER, 'app');
    const blind = quick({ ready: { docker: true }, environment: { A: '1' } });
    for (const attributes of [blind, { ...blind, healthcheck: { disable: true } }]) {
      const failure = await failureOf(driver.change(CONTAINER, 'app', attributes));
      expect(failure).toMatchObject({ code: 'INVALID', message: expect.stringContaining('has no healthcheck') });
      expect(await driver.read(CONTAINER, 'app')).toMatchObject({ kind: 'found', ref });
      expect(await driver.read(CONTAINER, 'app')).not.toHaveProperty('dormant');
    }
    await driver.change(CONTAINER, 'app', { ...blind, image: full });
    expect((await inspect('bench-app'))['State']?.['Health']).toMatchObject({ Status: 'healthy' });
  });

  it('D26: must be finished by the next apply when its start failed, under the same name', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    write(`  docker.container: { web: { image: "${plain}", ports: ["127.0.0.1:${port}:80"], ${READY} } }\n`);
    const failed = await accede(['apply', '--auto-approve', workspace.folder]);
    expect([5, 6]).toContain(failed.code);
    expect(failed.stdout + failed.stderr).toContain(String(port));
    // The documents are held since their apply failed; what stood in the way was none of theirs.
    const lift = () => accedeOk(['hold', '--lift', '--reason', 'the port was taken', workspace.folder]);
    await lift();
    const again = await accede(['apply', '--auto-approve', workspace.folder]);
    expect([5, 6]).toContain(again.code);
    expect(again.stdout + again.stderr).not.toMatch(/already in use by container|belongs to another/);
    await new Promise((resolve) => server.close(resolve));
    await lift();
    await apply();
    const list = (await bench.hand('GET', '/containers/json?all=1')) as readonly {
      readonly Names: readonly string[];
      readonly State: string;
    }[];
    expect(list.map(({ Names, State }) => [Names, State])).toEqual([[['/shop-web'], 'running']]);
    expect(changesOf(await plan(0))).toEqual([]);
  });
});

describe('what is gone or must not go', () => {
  it('D15: must be planned anew when an object of any kind was removed by hand, and never fail the plan', async () => {
    const { id, archive } = await imageArchive({ name: 'shop/app', files: { '/version': 'one' } });
    writeFileSync(workspace.path('app.tar'), archive);
    write(`  docker.image: { app: { digest: "${id}", archive: app.tar } }
  docker.network: { net: {} }
  docker.volume: { data: {} }
  docker.container:
    app: { image: "\${docker.image.app.reference}", networks: ["\${docker.network.net.name}"], volumes: ["\${docker.volume.data.name}:/data"], ${READY} }
`);
    await apply();
    const all = ['docker.container.app', 'docker.image.app', 'docker.network.net', 'docker.volume.data'];
    const removals = [
      ['DELETE', '/containers/shop-app?force=1'],
      ['DELETE', '/networks/shop-net'],
      ['DELETE', '/volumes/shop-data'],
      ['DELETE', `/images/${id}?force=1`],
    ] as const;
    const seen: string[] = [];
    for (const [method, path] of removals) {
      await bench.hand(method, path);
      const changes = changesOf(await plan(2));
      seen.push(`${changes.length}`);
      for (const change of changes) expect(change).toMatch(/^create /);
    }
    expect(seen).toEqual(['1', '2', '3', '4']);
    expect(changesOf(await plan(2))).toEqual(all.map((address) => `create ${address}`));
    await apply();
    expect(changesOf(await plan(0))).toEqual([]);
    await bench.hand('DELETE', '/containers/shop-app?force=1');
    await bench.dropImage(id);
  });

  it('D28: must keep a volume that the document gives up, until its protection was dropped on purpose', async () => {
    write('  docker.volume: { data: {} }\n  local.value: { one: { input: 1 } }\n');
    await apply();
    const volume = () => bench.hand('GET', '/volumes/shop-data');
    const refused = await accede(['destroy', '--auto-approve', workspace.folder]);
    expect(refused.code, refused.stderr).toBe(3);
    write('  local.value: { one: { input: 1 } }\n');
    const given = await accede(['plan', workspace.folder]);
    expect(given.code).toBe(3);
    expect(given.stdout).toContain('docker.volume.data');
    expect((await accede(['apply', '--auto-approve', workspace.folder])).code).toBe(3);
    expect(await volume()).toMatchObject({ Name: 'shop-data' });
    write('  docker.volume: { data: { lifecycle: { prevent_destroy: false } } }\n  local.value: { one: { input: 1 } }\n');
    await apply();
    expect(await volume()).toMatchObject({ Name: 'shop-data' });
    write('  local.value: { one: { input: 1 } }\n');
    await apply();
    await expect(volume()).rejects.toThrow(/404/);
  });
});
