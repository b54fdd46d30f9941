import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Certificates, makeCertificates } from '../../scripts/servers/certificates.ts';
import { buildImage } from '../../scripts/servers/image.ts';
import { freePort } from '../../scripts/servers/process.ts';
import { type SshServer, startSsh } from '../../scripts/servers/ssh.ts';
import { randomIds, systemClock } from '../../src/core/clock.ts';
import type { Diagnostic } from '../../src/core/diagnostic.ts';
import type { Attributes } from '../../src/core/value.ts';
import { localHost } from '../../src/host/local.ts';
import { dockerProvider } from '../../src/providers/docker/provider.ts';
import type { Driver } from '../conformance/driver.ts';
import { Bench } from './docker-bench.ts';

const CONTAINER = 'docker.container';

let bench: Bench;
let certificates: Certificates;
let certificateFolder: string;
let ssh: SshServer;
let tcp: string;
let image: string;
const drivers: Driver[] = [];

beforeAll(async () => {
  certificateFolder = mkdtempSync(join(tmpdir(), 'accede-tls-'));
  certificates = makeCertificates(certificateFolder);
  const port = await freePort();
  tcp = `tcp://127.0.0.1:${port}`;
  const { ca, server } = certificates;
  bench = await Bench.start(['--host', tcp, '--tlsverify', `--tlscacert=${ca}`, `--tlscert=${server.cert}`, `--tlskey=${server.key}`]);
  mkdirSync(join(bench.folder, 'documents'));
  mkdirSync(join(bench.folder, 'ssh'));
  ssh = await startSsh(join(bench.folder, 'ssh'), { DOCKER_HOST: bench.engine.host });
  image = (await buildImage(bench.engine.host, { name: 'bench/app' })).id;
}, 60_000);

afterAll(async () => {
  await ssh.stop();
  await bench.stop();
  rmSync(certificateFolder, { recursive: true, force: true });
});

afterEach(async () => {
  for (const driver of drivers.splice(0)) await driver.close();
  await bench.clear();
});

function hostWith(variables: Readonly<Record<string, string>> = {}) {
  return localHost({ environment: { PATH: `${ssh.path}:${process.env['PATH'] ?? ''}`, HOME: '/nowhere', ...variables } });
}

function driverAt(config: Attributes, variables: Readonly<Record<string, string>> = {}): Driver {
  const driver = bench.driver({ host: hostWith(variables), config });
  drivers.push(driver);
  return driver;
}

function running(): Attributes {
  return { image, stop_signal: 'KILL', ready: { command: ['true'], interval: '100ms' } };
}

async function worksAt(driver: Driver): Promise<void> {
  await driver.create(CONTAINER, 'app', running());
  expect(await driver.differences(CONTAINER, 'app', running())).toEqual([]);
  await driver.delete(CONTAINER, 'app');
}

/** What is said when the engine of a block cannot be opened. */
async function refusal(config: Attributes, variables: Readonly<Record<string, string>> = {}): Promise<Diagnostic> {
  const io = {
    clock: systemClock,
    ids: randomIds,
    signal: new AbortController().signal,
    host: hostWith(variables),
    progress: () => undefined,
  };
  const opened = await dockerProvider.openReadOnly(config, io);
  const diagnostic = opened.ok ? undefined : opened.diagnostics[0];
  if (diagnostic === undefined) throw new Error('it opened and should not have');
  return diagnostic;
}

/** A Docker configuration that has one context. */
function contextFolder(name: string, meta: object | string, tls?: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(bench.folder, 'config-'));
  const id = createHash('sha256').update(name).digest('hex');
  mkdirSync(join(folder, 'contexts', 'meta', id), { recursive: true });
  writeFileSync(join(folder, 'contexts', 'meta', id, 'meta.json'), typeof meta === 'string' ? meta : JSON.stringify(meta));
  if (tls === undefined) return folder;
  mkdirSync(join(folder, 'contexts', 'tls', id, 'docker'), { recursive: true });
  for (const [file, path] of Object.entries(tls)) copyFileSync(path, join(folder, 'contexts', 'tls', id, 'docker', `${file}.pem`));
  return folder;
}

describe('an engine over TLS', () => {
  it('must be reached with certificates from files', async () => {
    await worksAt(driverAt({ host: tcp, tls: { ca: certificates.ca, ...certificates.client } }));
  });

  it('must be told why it does not answer, without a word of the key', async () => {
    const { ca, client } = certificates;
    const cases: readonly (readonly [Attributes, string, RegExp])[] = [
      [{ host: tcp }, 'DOCKER_UNREACHABLE', /127\.0\.0\.1/],
      [{ host: tcp, tls: client }, 'DOCKER_UNREACHABLE', /not trusted/],
      [{ host: tcp, tls: { ca } }, 'DOCKER_UNREACHABLE', /certificate/],
      [{ host: tcp.replace('127.0.0.1', '0.0.0.0'), tls: { ca, ...client } }, 'DOCKER_UNREACHABLE', /for another name/],
      [{ host: tcp, tls: { ca, cert: client.cert, key: '/nowhere/key.pem' } }, 'DOCKER_HOST_UNUSABLE', /\/nowhere\/key\.pem .* not there/],
      [{ host: tcp, tls: { ca: join(bench.folder, 'dockerd.log') } }, 'DOCKER_HOST_UNUSABLE', /not in PEM form/],
      [{ host: bench.engine.host, tls: { ca } }, 'DOCKER_TLS_WITHOUT_TCP', /not one of tcp/],
    ];
    const secret = readFileSync(client.key, 'utf8').split('\n')[1] ?? 'none';
    for (const [config, code, detail] of cases) {
      const told = await refusal(config);
      expect(told.detail).toMatch(detail);
      expect(told.code).toBe(code);
      expect(JSON.stringify(told)).not.toContain(secret);
    }
  });
});

describe("a context of Docker's own", () => {
  it('must be looked up by its name, with its certificates', async () => {
    const plain = contextFolder('here', { Name: 'here', Endpoints: { docker: { Host: bench.engine.host } } });
    await worksAt(driverAt({ host: 'context://here' }, { DOCKER_CONFIG: plain }));
    const endpoint = { Name: 'far', Endpoints: { docker: { Host: tcp, SkipTLSVerify: false } } };
    const secured = contextFolder('far', endpoint, { ca: certificates.ca, ...certificates.client });
    await worksAt(driverAt({ host: 'context://far' }, { DOCKER_CONFIG: secured }));
    const unseen = { Endpoints: { docker: { Host: tcp, SkipTLSVerify: true } } };
    await worksAt(driverAt({ host: 'context://far' }, { DOCKER_CONFIG: contextFolder('far', unseen, { ...certificates.client }) }));
    const remote = contextFolder('ssh', { Endpoints: { docker: { Host: `ssh://${ssh.user}@127.0.0.1:${ssh.port}` } } });
    await worksAt(driverAt({ host: 'context://ssh' }, { DOCKER_CONFIG: remote }));
  });

  it('must be named when it is missing or damaged', async () => {
    const config = contextFolder('bad', '{ "Endpoints": ');
    const odd = contextFolder('odd', { Endpoints: { docker: { Host: 'npipe:////./pipe/docker_engine' } } });
    expect(await refusal({ host: 'context://gone' }, { DOCKER_CONFIG: config })).toMatchObject({
      code: 'DOCKER_HOST_UNUSABLE',
      detail: expect.stringContaining('There is no Docker context gone'),
      next: 'docker context ls',
    });
    expect((await refusal({ host: 'context://bad' }, { DOCKER_CONFIG: config })).detail).toMatch(/context bad names no engine/);
    expect((await refusal({ host: 'context://odd' }, { DOCKER_CONFIG: odd })).detail).toMatch(/none of unix/);
  });
});

describe('an engine over SSH', () => {
  const address = () => `ssh://${ssh.user}@127.0.0.1:${ssh.port}`;

  it('D25: must be reached through one connection, however many requests there are, and leave nothing behind', async () => {
    const before = ssh.logins();
    const folders = sshFolders();
    const driver = driverAt({ host: address() });
    await driver.create(CONTAINER, 'app', running());
    await driver.readSession();
    const names = Array.from({ length: 30 }, (_, index) => `other${index}`);
    const reads = await Promise.all(names.map((name) => driver.read(CONTAINER, name, { desired: running() })));
    expect(new Set(reads.map((read) => read.kind))).toEqual(new Set(['absent']));
    expect(await driver.differences(CONTAINER, 'app', running())).toEqual([]);
    // One for the session that reads, one for the session that acts.
    expect(ssh.logins() - before).toBe(2);
    expect(sshChildren().length).toBeLessThanOrEqual(2 * (4 + 1));
    await driver.delete(CONTAINER, 'app');
    await driver.close();
    drivers.splice(0);
    await vi.waitFor(() => expect(sshChildren()).toEqual([]), { timeout: 5000, interval: 50 });
    expect(sshFolders()).toEqual(folders);
  });

  it('must be told why it does not answer', async () => {
    const port = await freePort();
    expect((await refusal({ host: `ssh://127.0.0.1:${port}` })).detail).toMatch(/nothing listens there/);
    expect((await refusal({ host: `ssh://nobody-here@127.0.0.1:${ssh.port}` })).detail).toMatch(/does not let the SSH client in/);
    expect((await refusal({ host: `ssh://127.0.0.1:${ssh.port}` }, { PATH: '/usr/bin:/bin' })).detail).toMatch(
      /does not know the key|keys that it has/,
    );
    expect((await refusal({ host: address() }, { PATH: '/nowhere' })).detail).toMatch(/there is no ssh program/);
  });
});

function sshFolders(): readonly string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('accede-ssh-'));
}

/** The SSH clients that go to the server of this file, by their command lines. */
function sshChildren(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch (error) {
        if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
        throw error;
      }
    })
    .filter((line) => /accede-ssh-/.test(line) && !line.startsWith('sshd'));
}
