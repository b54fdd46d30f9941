import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import { freePort } from '../../scripts/servers/process.ts';
import type { Attributes } from '../../src/core/value.ts';
import type { Operation } from '../../src/providers/contract.ts';
import { dockerProvider } from '../../src/providers/docker/provider.ts';
import type { Driver } from '../conformance/driver.ts';
import { failureOf } from '../conformance/given.ts';
import { Bench } from './docker-bench.ts';
import { EngineProxy } from './docker-proxy.ts';

const CONTAINER = 'docker.container';
const NETWORK = 'docker.network';
const VOLUME = 'docker.volume';

let bench: Bench;
let image: string;
let driver: Driver;

beforeAll(async () => {
  bench = await Bench.start();
  const files = { '/www/index.html': 'hello from inside\n' };
  image = (await buildImage(bench.engine.host, { name: 'test/app', files, user: '' })).id;
}, 60_000);

afterAll(() => bench.stop());

beforeEach(() => {
  driver = bench.driver();
});

afterEach(async () => {
  await driver.close();
  await bench.clear();
});

/** A container that ends at once when it is told to, and is ready at once. */
function quick(more: Attributes = {}): Attributes {
  return { image, stop_signal: 'KILL', ready: { command: ['true'], interval: '100ms', timeout: '20s' }, ...more };
}

function shell(script: string, more: Attributes = {}): Attributes {
  return quick({ command: ['sh', '-c', script], ...more });
}

/** The operation of a `create`, as apply would hand it over. */
function creation(from: Driver, typeName: string, name: string, attributes: Attributes): Operation {
  const type = from.type(typeName);
  const change = { action: 'create', order: 'destroy-first', paths: [], deposed: false } as const;
  const effect = type.effects(change).find(({ object }) => object === 'create');
  if (effect === undefined) throw new Error('a create has an effect');
  return {
    operation: 'op-9',
    key: `op-9 ${typeName}`,
    effect,
    change,
    address: from.address(typeName, name),
    type: type.type,
    mark: from.mark,
    id: 'ab'.repeat(16),
    desired: JSON.parse(JSON.stringify(from.normal(typeName, name, attributes))) as Operation['desired'],
    sealed: JSON.parse(JSON.stringify(from.normal(typeName, name, attributes))) as Operation['sealed'],
    context: from.context(typeName, name),
    timeouts: {},
  };
}

async function inspect(name: string): Promise<{ readonly [name: string]: never }> {
  return (await bench.hand('GET', `/containers/${name}/json`)) as { readonly [name: string]: never };
}

/** Runs a command in a container and gives back what it wrote. */
async function output(name: string, argv: readonly string[]): Promise<string> {
  const { Id } = (await bench.hand('POST', `/containers/${name}/exec`, {
    AttachStdout: true,
    AttachStderr: true,
    Tty: true,
    Cmd: argv,
  })) as {
    readonly Id: string;
  };
  return await bench.text('POST', `/exec/${Id}/start`, { Detach: false, Tty: true });
}

describe('the connection', () => {
  async function refusal(host: string) {
    const opened = await dockerProvider.openReadOnly({ host }, driver.readIo());
    if (opened.ok) throw new Error('it opened');
    return opened.diagnostics[0];
  }

  it('must say where it looked and why it cannot reach an engine', async () => {
    const nowhere = await refusal('unix:///nowhere/docker.sock');
    expect(nowhere).toMatchObject({ code: 'DOCKER_UNREACHABLE', severity: 'error' });
    expect(nowhere?.detail).toMatch(/unix:\/\/\/nowhere\/docker\.sock cannot be reached: there is no such socket/);
    const port = await freePort();
    expect((await refusal(`tcp://127.0.0.1:${port}`))?.detail).toMatch(/nothing listens there/);
    const other = createServer((_, reply) => reply.end('hello'));
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
    expect((await refusal(`tcp://127.0.0.1:${port}`))?.detail).toMatch(/no Docker Engine/);
    await new Promise((resolve) => other.close(resolve));
  });

  it('must not look at DOCKER_HOST', async () => {
    const before = process.env['DOCKER_HOST'];
    process.env['DOCKER_HOST'] = 'tcp://127.0.0.1:1';
    try {
      const session = await driver.readSession();
      expect(session.versions).toMatchObject({ engine: expect.stringMatching(/^\d+\./), api: expect.stringMatching(/^1\.\d+$/) });
    } finally {
      if (before === undefined) delete process.env['DOCKER_HOST'];
      else process.env['DOCKER_HOST'] = before;
    }
  });

  it('must only ask while it reads, and one inspect and one image per recorded container', async () => {
    const proxy = new EngineProxy(join(bench.folder, 'counting.sock'), bench.engine.socket);
    await proxy.open();
    const counted = bench.driver({ config: { host: proxy.host } });
    const names = Array.from({ length: 12 }, (_, index) => `many-${index}`);
    for (const name of names) await counted.create(CONTAINER, name, quick());
    await counted.readSession();
    proxy.passed.length = 0;
    await Promise.all(names.map((name) => counted.read(CONTAINER, name)));
    expect(proxy.mutations).toEqual([]);
    expect(proxy.passed.filter((line) => line.endsWith('/containers/json'))).toEqual([]);
    expect(proxy.passed.length).toBeLessThanOrEqual(2 * names.length + 1);
    expect(proxy.mostConnections).toBeLessThanOrEqual(16);
    const session = await counted.readSession();
    const found = await session.inventory?.(counted.type(CONTAINER).type, counted.mark, counted.readIo());
    expect(found?.map((entry) => entry.address).toSorted()).toEqual(names.map((name) => `docker.container.${name}`).toSorted());
    expect(proxy.mutations).toEqual([]);
    await counted.close();
    await proxy.cut();
  });
});

describe('marks and files', () => {
  it('must mark what it makes with what stays true, and keep secrets out of everything the engine shows', async () => {
    const secrets = {
      '/run/secrets/token': 'quiet-as-a-mouse',
      '/run/secrets/other': { value: 'quiet too', uid: 5, gid: 6, mode: '0440' },
    };
    const configs = { '/etc/app/deep/app.json': '{"on": true}' };
    await driver.create(CONTAINER, 'files', quick({ user: 'app', secrets, configs }));
    const { Config } = (await inspect('bench-files')) as unknown as {
      readonly Config: { readonly Labels: { readonly [name: string]: string } };
    };
    expect(Config.Labels).toEqual({
      'io.accede.environment': 'bench',
      'io.accede.lineage': 'c0'.repeat(16),
      'io.accede.id': driver.recorded(CONTAINER, 'files').id,
      'io.accede.created': 'op-1 docker.container.files',
      'io.accede.spec': expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(JSON.stringify(await inspect('bench-files'))).not.toContain('quiet');
    const listing = await output('bench-files', [
      'stat',
      '-c',
      '%a %u %g %n',
      '/run/secrets/token',
      '/run/secrets/other',
      '/etc/app/deep/app.json',
    ]);
    expect(listing.trim().split(/\r?\n/)).toEqual([
      '400 10001 10001 /run/secrets/token',
      '440 5 6 /run/secrets/other',
      '444 0 0 /etc/app/deep/app.json',
    ]);
    expect(await output('bench-files', ['cat', '/run/secrets/token'])).toBe('quiet-as-a-mouse');
  });

  it('must say so when the user of a secret has no account in the image', async () => {
    const failure = await failureOf(driver.create(CONTAINER, 'nobody', quick({ user: 'ghost', secrets: { '/run/x': 'quiet' } })));
    expect(failure).toMatchObject({ code: 'INVALID', message: expect.stringContaining('no user ghost') });
  });

  it('must finish a container that a broken-off run had only just created', async () => {
    await driver.create(NETWORK, 'net', {});
    const more = { networks: ['bench-net'], configs: { '/etc/app.conf': 'x' } };
    const session = await driver.session();
    const operation = creation(driver, CONTAINER, 'half', quick(more));
    const Labels = { 'io.accede.environment': 'bench', 'io.accede.lineage': driver.mark.lineage, 'io.accede.id': operation.id };
    const { Id } = (await bench.hand('POST', '/containers/create?name=bench-half', { Image: image, Labels })) as { readonly Id: string };
    expect(await session.perform(operation, driver.effectIo())).toEqual({ ref: Id });
    await bench.hand('POST', `/containers/${Id}/start`);
    expect(await output('bench-half', ['cat', '/etc/app.conf'])).toBe('x');
    const observed = await driver.read(CONTAINER, 'half', { ref: Id });
    expect(observed).toMatchObject({ kind: 'found', attributes: { networks: { 'bench-net': { aliases: ['half'] } } } });
  });

  it('must call a lost reply unknown, and find its own object on the next try', async () => {
    const proxy = new EngineProxy(join(bench.folder, 'losing.sock'), bench.engine.socket);
    await proxy.open();
    const losing = bench.driver({ config: { host: proxy.host } });
    const objects = [
      [NETWORK, 'POST /networks/create', {}],
      [VOLUME, 'POST /volumes/create', {}],
      [CONTAINER, 'POST /containers/create', quick()],
    ] as const;
    for (const [type, loses, attributes] of objects) {
      const session = await losing.session();
      const operation = creation(losing, type, 'lost', attributes);
      proxy.loses = loses;
      expect(await failureOf(session.perform(operation, losing.effectIo())), type).toMatchObject({ code: 'UNKNOWN_OUTCOME' });
      const { ref } = await session.perform(operation, losing.effectIo());
      const found = await session.inventory?.(losing.type(type).type, losing.mark, losing.readIo());
      expect(
        found?.map((entry) => [entry.ref, entry.id]),
        type,
      ).toEqual([[ref, operation.id]]);
    }
    await losing.close();
    await proxy.cut();
  });

  it('must leave alone a volume of the recorded name that bears another mark', async () => {
    await driver.create(VOLUME, 'data', {});
    await bench.hand('DELETE', '/volumes/bench-data');
    await bench.hand('POST', '/volumes/create', {
      Name: 'bench-data',
      Labels: { 'io.accede.lineage': 'd'.repeat(32), 'io.accede.id': 'e'.repeat(32) },
    });
    expect(await driver.read(VOLUME, 'data')).toMatchObject({ kind: 'found', owner: 'other' });
    expect((await failureOf(driver.delete(VOLUME, 'data'))).code).toBe('FOREIGN');
    expect(await bench.hand('GET', '/volumes/bench-data')).toMatchObject({ Name: 'bench-data' });
  });
});

describe('networks', () => {
  it('must let containers find each other by the name that they have in the YAML', async () => {
    await driver.create(NETWORK, 'net', {});
    await driver.create(CONTAINER, 'web', shell('httpd -f -p 80 -h /www', { networks: [{ name: 'bench-net', aliases: ['frontend'] }] }));
    await driver.create(CONTAINER, 'client', quick({ networks: ['bench-net'] }));
    expect(await output('bench-client', ['wget', '-q', '-O', '-', 'http://web/index.html'])).toMatch(/hello from inside/);
    expect(await output('bench-client', ['wget', '-q', '-O', '-', 'http://frontend/index.html'])).toMatch(/hello from inside/);
  });

  it('must name the containers that keep a network, and wait for those that are leaving', async () => {
    await driver.create(NETWORK, 'net', {});
    const { Id } = (await bench.hand('POST', '/containers/create?name=guest', {
      Image: image,
      StopSignal: 'KILL',
      HostConfig: { NetworkMode: 'bench-net' },
    })) as {
      readonly Id: string;
    };
    await bench.hand('POST', `/containers/${Id}/start`);
    const failure = await failureOf(driver.delete(NETWORK, 'net'));
    expect(failure).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('still in use by guest') });
    const deletion = driver.delete(NETWORK, 'net');
    await bench.hand('DELETE', `/containers/${Id}?force=1`);
    await deletion;
    expect((await driver.read(NETWORK, 'net', { desired: {} })).kind).toBe('absent');
  });

  it('must survive a restart of the engine after it was moved between the default network and others', async () => {
    await driver.create(NETWORK, 'net', {});
    await driver.create(CONTAINER, 'out', quick({ restart: 'always' }));
    await driver.create(CONTAINER, 'in', quick({ restart: 'always', networks: ['bench-net'] }));
    await driver.change(CONTAINER, 'out', quick({ restart: 'always', networks: ['bench-net'] }));
    await driver.change(CONTAINER, 'in', quick({ restart: 'always' }));
    await bench.engine.restart();
    expect(await driver.differences(CONTAINER, 'out', quick({ restart: 'always', networks: ['bench-net'] }))).toEqual([]);
    expect(await driver.differences(CONTAINER, 'in', quick({ restart: 'always' }))).toEqual([]);
    for (const name of ['in', 'out']) expect(await driver.read(CONTAINER, name)).not.toHaveProperty('dormant');
  });
});

describe('what is in the way', () => {
  it('must not set a predecessor aside when the image of its successor is missing', async () => {
    await driver.create(CONTAINER, 'app', quick());
    const { ref } = driver.recorded(CONTAINER, 'app');
    const missing = `sha256:${'0'.repeat(64)}`;
    const failure = await failureOf(driver.change(CONTAINER, 'app', { ...quick(), image: missing }, 'create-first'));
    expect(failure).toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining(`The image ${missing} is not on the engine`) });
    expect(await driver.read(CONTAINER, 'app')).toMatchObject({ kind: 'found', ref, attributes: { name: 'bench-app' } });
    expect(await driver.read(CONTAINER, 'app')).not.toHaveProperty('dormant');
  });

  it('must say which port, volume, network or program stands against it', async () => {
    const port = await freePort();
    await driver.create(CONTAINER, 'first', quick({ ports: [`127.0.0.1:${port}:80`] }));
    const taken = await failureOf(driver.create(CONTAINER, 'second', quick({ ports: [`127.0.0.1:${port}:80`] })));
    expect(taken).toMatchObject({ code: 'CONFLICT', next: expect.stringContaining(String(port)) });
    const failures = {
      'There is no volume nothing': quick({ volumes: ['nothing:/x'] }),
      'There is no network nothing': quick({ networks: ['nothing'] }),
    };
    for (const [message, attributes] of Object.entries(failures)) {
      expect(await failureOf(driver.create(CONTAINER, 'third', attributes))).toMatchObject({
        code: 'NOT_FOUND',
        message: expect.stringContaining(message),
      });
    }
    const program = await failureOf(driver.create(CONTAINER, 'fourth', quick({ command: ['no-such-program'] })));
    expect(program).toMatchObject({ code: 'INVALID', message: expect.stringContaining('no-such-program') });
    await driver.create(NETWORK, 'net', { ipam: { config: [{ subnet: `${bench.engine.prefix}.220.0/24` }] } });
    const overlap = await failureOf(driver.create(NETWORK, 'other', { ipam: { config: [{ subnet: `${bench.engine.prefix}.220.0/25` }] } }));
    expect(overlap).toMatchObject({ code: 'CONFLICT', next: expect.stringContaining('subnet') });
    await driver.create(VOLUME, 'data', {});
    await driver.create(CONTAINER, 'user', quick({ volumes: ['bench-data:/x'] }));
    const used = await failureOf(driver.delete(VOLUME, 'data'));
    expect(used).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('bench-data is still in use') });
  });

  it('must replace a network create-first only under another name', async () => {
    await driver.create(NETWORK, 'net', {});
    const failure = await failureOf(driver.change(NETWORK, 'net', { internal: true }, 'create-first'));
    expect(failure).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('cannot be told apart') });
  });

  it('must say why a container does not run, and bring it back in the way that this needs', async () => {
    await driver.create(CONTAINER, 'app', shell('sleep 1000'));
    const reason = async () => {
      const observed = await driver.read(CONTAINER, 'app');
      return observed.kind === 'found' ? observed.dormant?.reason : observed.kind;
    };
    expect(await reason()).toBeUndefined();
    await bench.hand('POST', '/containers/bench-app/pause');
    expect(await reason()).toBe('paused');
    await driver.start(CONTAINER, 'app');
    expect(await reason()).toBeUndefined();
    await bench.hand('POST', '/containers/bench-app/kill?signal=KILL');
    await expect.poll(reason).toBe('exited with code 137');
    await driver.start(CONTAINER, 'app');
    expect(await reason()).toBeUndefined();
  });
});
