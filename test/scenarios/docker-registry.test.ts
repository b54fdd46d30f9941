import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import { type RegistryServer, startRegistry } from '../../scripts/servers/registry.ts';
import type { Attributes } from '../../src/core/value.ts';
import { localHost } from '../../src/host/local.ts';
import type { Operation } from '../../src/providers/contract.ts';
import type { Driver } from '../conformance/driver.ts';
import { failureOf } from '../conformance/given.ts';
import { accede, accedeOk } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';
import { Bench } from './docker-bench.ts';

const IMAGE = 'docker.image';
const CONTAINER = 'docker.container';
const CANARY = 'canary:p@ss word+/ö';
const LOGIN = { username: 'puller', password: CANARY };

let bench: Bench;
let closed: RegistryServer;
let open: RegistryServer;
const drivers: Driver[] = [];

beforeAll(async () => {
  bench = await Bench.start();
  mkdirSync(join(bench.folder, 'documents'));
  mkdirSync(join(bench.folder, 'closed'));
  mkdirSync(join(bench.folder, 'open'));
  closed = await startRegistry(join(bench.folder, 'closed'), { login: LOGIN });
  open = await startRegistry(join(bench.folder, 'open'));
}, 60_000);

afterAll(async () => {
  await closed.stop();
  await open.stop();
  await bench.stop();
});

afterEach(async () => {
  for (const driver of drivers.splice(0)) await driver.close();
  await bench.clear();
  for (const { Id } of (await bench.hand('GET', '/images/json')) as { readonly Id: string }[]) await bench.dropImage(Id);
});

/** A driver whose Docker configuration is this one, with these helpers on PATH. */
function driverWith(config: object | string | undefined, helpers: Readonly<Record<string, string>> = {}, block: Attributes = {}): Driver {
  const folder = mkdtempSync(join(bench.folder, 'config-'));
  if (config !== undefined) writeFileSync(join(folder, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config));
  for (const [name, script] of Object.entries(helpers)) {
    writeFileSync(join(folder, `docker-credential-${name}`), script);
    chmodSync(join(folder, `docker-credential-${name}`), 0o755);
  }
  const host = localHost({ environment: { PATH: `${folder}:${process.env['PATH'] ?? ''}`, HOME: '/nowhere', DOCKER_CONFIG: folder } });
  const driver = bench.driver({ host, config: block });
  drivers.push(driver);
  return driver;
}

function basic(password = CANARY): string {
  return Buffer.from(`${LOGIN.username}:${password}`).toString('base64');
}

function running(image: string, more: Attributes = {}): Attributes {
  return { image, stop_signal: 'KILL', ready: { command: ['true'], interval: '100ms' }, ...more };
}

/** Puts an image into a registry and takes it off the engine. */
async function push(
  server: RegistryServer,
  name: string,
  version: string,
  tag = 'push',
): Promise<{ id: string; digest: string; repository: string }> {
  const repository = `${server.host}/${name}`;
  const labels = { 'org.opencontainers.image.revision': version, 'org.opencontainers.image.source': 'https://git.example/shop' };
  const entrypoint = ['/bin/sleep'];
  const { id } = await buildImage(bench.engine.host, {
    name: repository,
    tag,
    labels,
    entrypoint,
    cmd: ['1000000'],
    files: { '/version': version },
  });
  const auth = server === closed ? { ...LOGIN, serveraddress: server.host } : {};
  const log = await bench.text('POST', `/images/${repository}/push?tag=${tag}`, undefined, {
    'x-registry-auth': Buffer.from(JSON.stringify(auth)).toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
  });
  const digest = /"Digest":"(sha256:[0-9a-f]{64})"/.exec(log)?.[1];
  if (digest === undefined) throw new Error(`the push went wrong: ${log}`);
  await bench.dropImage(id);
  return { id, digest, repository };
}

/** Everything that an error carries, in words. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? '';
  return [error.message, error.stack, JSON.stringify(error), wordsOf(error.cause)].join('\n');
}

function expectNoSecret(error: unknown): void {
  for (const secret of [CANARY, basic(), encodeURIComponent(CANARY), 'wrong-password']) expect(wordsOf(error)).not.toContain(secret);
}

describe('logging in at a registry', () => {
  it('D27: must take the login from every spelling of the registry in the Docker configuration', async () => {
    const image = await push(closed, 'shop/api', '1');
    const spellings = [closed.host, `http://${closed.host}`, `https://${closed.host}/v1/`, `${closed.host}/v2`];
    for (const spelling of spellings) {
      const driver = driverWith({ auths: { 'other.example': { auth: basic('wrong-password') }, [spelling]: { auth: basic() } } });
      await driver.create(IMAGE, 'api', { repository: image.repository, digest: image.digest });
      expect(await driver.differences(IMAGE, 'api', { repository: image.repository, digest: image.digest }), spelling).toEqual([]);
      await driver.delete(IMAGE, 'api');
    }
    const named = driverWith({ auths: { [closed.host]: { username: LOGIN.username, password: LOGIN.password } } });
    await named.create(IMAGE, 'api', { repository: image.repository, digest: image.digest });
  });

  it('must ask the helper of the registry, then the one for all, then the file', async () => {
    const image = await push(closed, 'shop/api', '2');
    const attributes = { repository: image.repository, digest: image.digest };
    const asked = join(bench.folder, 'asked');
    const answer = `#!/bin/sh\necho "$0 $*" >> ${asked}\ncat >> ${asked}\nprintf '%s' '${JSON.stringify({ ServerURL: closed.host, Username: LOGIN.username, Secret: CANARY })}'\n`;
    const unknown = "#!/bin/sh\necho 'credentials not found in native keychain'\nexit 1\n";
    const wrong = `#!/bin/sh\nprintf '%s' '${JSON.stringify({ Username: LOGIN.username, Secret: 'wrong-password' })}'\n`;
    const cases = [
      driverWith({ credHelpers: { [`https://${closed.host}`]: 'good' }, credsStore: 'wrong' }, { good: answer, wrong }),
      driverWith({ credsStore: 'good', auths: { [closed.host]: {} } }, { good: answer }),
      driverWith({ credsStore: 'none', auths: { [closed.host]: { auth: basic() } } }, { none: unknown }),
    ];
    for (const driver of cases) {
      await driver.create(IMAGE, 'api', attributes);
      await driver.delete(IMAGE, 'api');
    }
    expect(readFileSync(asked, 'utf8')).toMatch(
      new RegExp(`^\\S+/docker-credential-good get\\n${closed.host}\\S+/docker-credential-good get\\n${closed.host}$`),
    );
  });

  it('must read a configuration that is a symbolic link, and do without one', async () => {
    const image = await push(closed, 'shop/api', '3');
    const real = join(bench.folder, 'real.json');
    writeFileSync(real, JSON.stringify({ auths: { [closed.host]: { auth: basic() } } }));
    const folder = mkdtempSync(join(bench.folder, 'linked-'));
    symlinkSync(real, join(folder, 'config.json'));
    const driver = bench.driver({ host: localHost({ environment: { PATH: process.env['PATH'], DOCKER_CONFIG: folder } }) });
    drivers.push(driver);
    await driver.create(IMAGE, 'api', { repository: image.repository, digest: image.digest });
    const free = await push(open, 'shop/free', '3');
    await driverWith(undefined).create(IMAGE, 'free', { repository: free.repository, digest: free.digest });
    rmSync(folder, { recursive: true });
  });

  it('must never show a login in an error, an argument or a log, whatever is wrong', async () => {
    const image = await push(closed, 'shop/api', '4');
    const attributes = { repository: image.repository, digest: image.digest };
    const helper = (body: string) => ({ bad: `#!/bin/sh\n${body}\n` });
    const cases: readonly (readonly [Driver, string, RegExp])[] = [
      [driverWith(undefined), 'FORBIDDEN', /gives the image .* to nobody without a login/],
      [driverWith({ auths: { [closed.host]: { auth: basic('wrong-password') } } }), 'FORBIDDEN', /refuses the image .* to the login/],
      [
        driverWith({ auths: { [closed.host]: { auth: Buffer.from(CANARY.replace(':', '')).toString('base64') } } }),
        'INVALID',
        /is damaged/,
      ],
      [driverWith(`{ "auths": { "${closed.host}": { "auth": "${basic()}" `), 'INVALID', /is not what docker login writes/],
      [driverWith({ credsStore: 'bad' }, helper(`echo '${CANARY}'; echo '${CANARY}' >&2; exit 3`)), 'FORBIDDEN', /ended with code 3/],
      [driverWith({ credsStore: 'bad' }, helper(`echo '${CANARY}'`)), 'INVALID', /answered something that is no login/],
      [driverWith({ credsStore: 'gone' }), 'NOT_FOUND', /docker-credential-gone .* is not there/],
      [driverWith({ credsStore: '../bad' }), 'INVALID', /no name of a program/],
    ];
    for (const [driver, code, message] of cases) {
      const failure = await failureOf(driver.create(IMAGE, 'api', attributes));
      expect(failure.message).toMatch(message);
      expect(failure.code, failure.message).toBe(code);
      expectNoSecret(failure);
      expectNoSecret({ next: failure.next, lines: failure.lines });
    }
    expect(await bench.hand('GET', '/images/json')).toEqual([]);
  });
});

describe('pulling before anything is stopped', () => {
  it('must tell layers and bytes while it pulls', async () => {
    const image = await push(open, 'shop/web', '1');
    const driver = driverWith(undefined);
    await driver.create(IMAGE, 'web', { repository: image.repository, digest: image.digest });
    const last = driver.told.at(-1);
    expect(last?.message).toBe(`pull the image ${image.repository}@${image.digest}`);
    expect(last?.figures).toMatchObject({ layers: 1, layers_done: 1 });
    expect(last?.figures['bytes']).toBeGreaterThan(100_000);
    expect(last?.figures['bytes']).toBe(last?.figures['bytes_total']);
  });

  it('must leave the running container alone when its successor cannot be had', async () => {
    const good = await push(open, 'shop/web', 'good');
    const secret = await push(closed, 'shop/web', 'secret');
    mkdirSync(join(bench.folder, 'down'));
    const down = await startRegistry(join(bench.folder, 'down'));
    const lost = await push(down, 'shop/web', 'lost');
    await down.stop();
    const driver = driverWith({ auths: { [closed.host]: { auth: basic('wrong-password') } } });
    await driver.create(CONTAINER, 'web', running(`${good.repository}@${good.digest}`));
    const before = await driver.read(CONTAINER, 'web');
    const digest = `sha256:${'3'.repeat(64)}`;
    const cases: readonly (readonly [Attributes, string, RegExp])[] = [
      [running(`${good.repository}@${digest}`), 'NOT_FOUND', /@sha256:333.* its registry does not have it/],
      [running(`${open.host}/shop/none@${digest}`), 'NOT_FOUND', /shop\/none@sha256:333.* its registry does not have it/],
      [running(`${lost.repository}@${lost.digest}`), 'UNREACHABLE', new RegExp(`cannot reach the registry ${down.host}`)],
      [running(`${secret.repository}@${secret.digest}`), 'FORBIDDEN', /refuses the image/],
      [running(`${good.repository}@${good.digest}`, { platform: 'linux/s390x' }), 'INVALID', /is for linux\/\w+, not for linux\/s390x/],
      [running(digest), 'NOT_FOUND', /is not on the engine/],
    ];
    for (const [attributes, code, message] of cases) {
      for (const order of ['destroy-first', 'create-first'] as const) {
        const failure = await failureOf(driver.change(CONTAINER, 'web', attributes, order));
        expect(failure.message).toMatch(message);
        expect(failure.code).toBe(code);
        expect(failure.message.match(/sha256:3{64}/g)?.length ?? 0).toBeLessThan(2);
        expectNoSecret(failure);
      }
    }
    const after = await driver.read(CONTAINER, 'web');
    expect(after).toEqual(before);
    expect(await bench.hand('GET', `/containers/${after.kind === 'found' ? after.ref : ''}/json`)).toMatchObject({
      State: { Running: true },
      RestartCount: 0,
    });
  });

  it('must refuse an image that contradicts what is expected of it, and one for another platform', async () => {
    const image = await push(open, 'shop/expected', 'abc');
    const attributes = { repository: image.repository, digest: image.digest };
    const driver = driverWith(undefined);
    const cases: readonly (readonly [Attributes, RegExp])[] = [
      [{ expect: { revision: 'def' } }, /revision "def".*declares "abc"/],
      [
        { expect: { source: 'https://git.example/other' } },
        /source "https:\/\/git.example\/other".*declares "https:\/\/git.example\/shop"/,
      ],
      [{ expect: { entrypoint: '/bin/other' } }, /entrypoint \["\/bin\/other"\].*declares \["\/bin\/sleep"\]/],
      [{ platform: 'linux/s390x' }, /s390x/],
    ];
    for (const [more, message] of cases) {
      const failure = await failureOf(driver.create(IMAGE, 'expected', { ...attributes, ...more }));
      expect(failure.message).toMatch(message);
      expect(failure.code).toBe('INVALID');
    }
    const expected = { revision: 'abc', source: 'https://git.example/shop', entrypoint: ['/bin/sleep'] };
    await driver.create(IMAGE, 'expected', { ...attributes, expect: expected });
    expect(await driver.differences(IMAGE, 'expected', { ...attributes, expect: expected })).toEqual([]);
  });
});

describe('tags', () => {
  it('must stay with what a tag meant when its text was new, also when the tag moves', async () => {
    const first = await push(open, 'shop/tagged', 'one', 'stable');
    const driver = driverWith(undefined, {}, { allow_tags: true });
    const attributes = running(`${first.repository}:stable`);
    await driver.create(CONTAINER, 'tagged', attributes);
    const made = await driver.read(CONTAINER, 'tagged');
    expect(made).toMatchObject({ computed: { image_id: first.id } });
    const second = await push(open, 'shop/tagged', 'two', 'stable');
    await bench.text('POST', `/images/create?fromImage=${second.repository}&tag=stable`);
    expect(await driver.differences(CONTAINER, 'tagged', attributes)).toEqual([]);
    expect(await driver.change(CONTAINER, 'tagged', { ...attributes, environment: { A: '1' } })).toBe('replace');
    expect(await driver.read(CONTAINER, 'tagged')).toMatchObject({ computed: { image_id: first.id } });
    const third = await push(open, 'shop/tagged', 'three', 'next');
    const environment = { A: '1' };
    const next = running(`${third.repository}:next`, { environment });
    expect(await driver.differences(CONTAINER, 'tagged', next)).toEqual(['image.tag']);
    await driver.change(CONTAINER, 'tagged', next);
    expect(await driver.read(CONTAINER, 'tagged')).toMatchObject({ computed: { image_id: third.id } });
    expect(await driver.differences(CONTAINER, 'tagged', next)).toEqual([]);
    expect(await driver.differences(CONTAINER, 'tagged', running(`${third.repository}:next@${third.digest}`, { environment }))).toEqual([]);
  });

  it('D9: must take the same image in every step of a change, also when the tag moves in between', async () => {
    const first = await push(open, 'shop/race', 'one', 'stable');
    const driver = driverWith(undefined, {}, { allow_tags: true });
    const type = driver.type(CONTAINER);
    const desired = driver.normal(CONTAINER, 'race', running(`${first.repository}:stable`)) as Operation['desired'];
    const change = { action: 'create', order: 'destroy-first', paths: [], deposed: false } as const;
    const session = await driver.session();
    for (const effect of type.effects({ ...change })) {
      const operation: Operation = {
        operation: 'op-race',
        key: `op-race ${effect.name}`,
        effect,
        change,
        desired,
        sealed: desired,
        mark: driver.mark,
        timeouts: {},
        address: driver.address(CONTAINER, 'race'),
        type: type.type,
        id: 'ab'.repeat(16),
        context: driver.context(CONTAINER, 'race'),
      };
      await session.perform(operation, driver.effectIo());
      if (effect.name === 'create') break;
      const second = await push(open, 'shop/race', 'two', 'stable');
      await bench.text('POST', `/images/create?fromImage=${second.repository}&tag=stable`);
    }
    const made = (await bench.hand('GET', '/containers/json?all=1')) as readonly { readonly ImageID: string }[];
    expect(made.map(({ ImageID }) => ImageID)).toEqual([first.id]);
  });

  it('must tell of a tag that moved when it is asked, and of a registry that does not answer', async () => {
    mkdirSync(join(bench.folder, 'moving'));
    const moving = await startRegistry(join(bench.folder, 'moving'));
    try {
      const first = await push(moving, 'shop/moving', 'one', 'stable');
      const driver = driverWith(undefined, {}, { allow_tags: true });
      await driver.create(CONTAINER, 'moving', running(`${first.repository}:stable`));
      const asked = () => driver.read(CONTAINER, 'moving', { refreshTags: true });
      expect(await asked()).not.toHaveProperty('notes');
      const second = await push(moving, 'shop/moving', 'two', 'stable');
      expect(await driver.read(CONTAINER, 'moving')).not.toHaveProperty('notes');
      const told = await asked();
      const message = expect.stringContaining(`write ${second.repository}:stable@${second.digest}`);
      expect(told).toMatchObject({ kind: 'found', notes: [{ code: 'TAG_MOVED', message }], computed: { image_id: first.id } });
      expect(await driver.differences(CONTAINER, 'moving', running(`${first.repository}:stable`))).toEqual([]);
    } finally {
      await moving.stop();
    }
    const stuck = { kind: 'found', notes: [{ code: 'TAG_NOT_LOOKED_UP', message: expect.stringContaining('cannot reach the registry') }] };
    expect(await drivers[0]?.read(CONTAINER, 'moving', { refreshTags: true })).toMatchObject(stuck);
  });

  it('must look a tag up with the login of its registry', async () => {
    const image = await push(closed, 'shop/tagged', 'one', 'stable');
    const driver = driverWith({ auths: { [closed.host]: { auth: basic() } } }, {}, { allow_tags: true });
    await driver.create(CONTAINER, 'tagged', running(`${image.repository}:stable`));
    const stranger = driverWith(undefined, {}, { allow_tags: true });
    const failure = await failureOf(stranger.create(CONTAINER, 'stranger', running(`${image.repository}:other`)));
    expect(failure.message).toMatch(/to nobody without a login/);
    expect(failure.code).toBe('FORBIDDEN');
  });
});

describe('the built program', () => {
  let workspace: Workspace;

  afterEach(() => workspace.remove());

  const documents = (image: string) => `apiVersion: accede/v1
kind: Environment
metadata: { name: shop }
providers:
  docker: { host: "${bench.engine.host}", allow_tags: true }
resources:
  docker.container:
    api: { image: "${image}", stop_signal: KILL, ready: { command: ["true"], interval: 100ms } }
`;

  it('must pull with the login of Docker, show it nowhere, and touch nothing when the next image cannot be had', async () => {
    const image = await push(closed, 'shop/built', '1');
    const config = mkdtempSync(join(bench.folder, 'config-'));
    writeFileSync(join(config, 'config.json'), JSON.stringify({ auths: { [closed.host]: { auth: basic() } } }));
    const env = { DOCKER_CONFIG: config };
    workspace = new Workspace({ 'environment.yaml': documents(`${image.repository}@${image.digest}`) });
    const applied = await accedeOk(['apply', '--auto-approve', '--json', workspace.folder], { env });
    const progress = applied.stdout.split('\n').find((line) => line.includes('bytes_total'));
    expect(progress).toContain('layers_done');
    const containers = await bench.hand('GET', '/containers/json');
    const missing = `${image.repository}@sha256:${'5'.repeat(64)}`;
    workspace.write('environment.yaml', documents(missing));
    const failed = await accede(['apply', '--auto-approve', '--json', workspace.folder], { env });
    expect(failed.code).not.toBe(0);
    expect(failed.stdout + failed.stderr).toContain(`The image ${missing} is not on the engine and its registry does not have it`);
    const left = (await bench.hand('GET', '/containers/json')) as readonly { readonly Id: string }[];
    expect(left.map(({ Id }) => Id)).toEqual((containers as readonly { readonly Id: string }[]).map(({ Id }) => Id));
    const state = await accedeOk(['state', 'pull', workspace.folder], { env });
    for (const secret of [CANARY, basic(), Buffer.from(CANARY).toString('base64')])
      expect([applied, failed, state].map((ran) => ran.stdout + ran.stderr).join('')).not.toContain(secret);
  });

  it('must warn of a tag that moved under --refresh-tags alone, and plan no change', async () => {
    const image = await push(open, 'shop/built', '1', 'stable');
    workspace = new Workspace({ 'environment.yaml': documents(`${image.repository}:stable`) });
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    const moved = await push(open, 'shop/built', '2', 'stable');
    const silent = await accedeOk(['plan', '--detailed-exitcode', '--json', workspace.folder]);
    expect(silent.stdout).not.toContain('TAG_MOVED');
    const told = await accedeOk(['plan', '--detailed-exitcode', '--json', '--refresh-tags', workspace.folder]);
    expect((JSON.parse(told.stdout) as { readonly warnings: unknown }).warnings).toEqual([
      { code: 'TAG_MOVED', address: 'docker.container.api', message: expect.stringContaining(moved.digest) },
    ]);
  });
});
