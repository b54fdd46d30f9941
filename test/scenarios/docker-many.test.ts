import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import { type SshServer, startSsh } from '../../scripts/servers/ssh.ts';
import { accedeOk } from '../support/binary.ts';
import { Workspace } from '../support/workspace.ts';
import { Bench } from './docker-bench.ts';
import { EngineProxy } from './docker-proxy.ts';

const COUNT = 50;
/** What one connection to an engine keeps open at most. */
const MOST_SOCKETS = 8;

let bench: Bench;
let proxy: EngineProxy;
let ssh: SshServer;
let image: string;
let workspace: Workspace;
/** Whoever can connect to it is ready: that costs nothing. */
let gate: Server;
let port: number;

beforeAll(async () => {
  bench = await Bench.start();
  mkdirSync(join(bench.folder, 'ssh'));
  ssh = await startSsh(join(bench.folder, 'ssh'), { DOCKER_HOST: bench.engine.host });
  proxy = new EngineProxy(join(bench.folder, 'many.sock'), bench.engine.socket);
  await proxy.open();
  image = (await buildImage(bench.engine.host, { name: 'test/many', tag: '1' })).id;
  workspace = new Workspace();
  gate = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  const address = gate.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
}, 60_000);

afterAll(async () => {
  workspace?.remove();
  gate?.close();
  await proxy?.cut();
  await ssh?.stop();
  await bench?.stop();
});

function write(host: string): void {
  workspace.write(
    'environment.yaml',
    `apiVersion: accede/v1
kind: Environment
metadata: { name: many }
providers: { docker: { host: "${host}" } }
locals: { numbers: [${Array.from({ length: COUNT }, (_, index) => `"${index}"`).join(', ')}] }
resources:
  docker.network: { net: {} }
  docker.volume: { data: {} }
  docker.container:
    app: { for_each: "\${locals.numbers}", image: "${image}", network_mode: none, stop_signal: KILL, ready: { tcp: "127.0.0.1:${port}", interval: 100ms } }
`,
  );
}

const count = (pattern: RegExp) => proxy.passed.filter((line) => pattern.test(line)).length;

/** What of the SSH clients is still there: their folders, and their processes by command line. */
function sshRests(): readonly string[] {
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith('accede-ssh-'));
  const lines = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch (error) {
        if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
        throw error;
      }
    });
  return [...folders, ...lines.filter((line) => line.includes('accede-ssh-') && line.includes(` ${ssh.port} `))];
}

describe(`${COUNT} containers`, () => {
  it('must be made through few connections, none of which is left', async () => {
    write(proxy.host);
    await accedeOk(['apply', '--auto-approve', workspace.folder]);
    // One reads for the plan, one acts.
    expect(proxy.mostConnections).toBeLessThanOrEqual(2 * MOST_SOCKETS);
    await vi.waitFor(() => expect(proxy.connections).toBe(0), { timeout: 5000 });
    expect(await bench.hand('GET', '/containers/json')).toHaveLength(COUNT);
  });

  it('must be found unchanged by one list of each kind at most, one inspect of each, and hardly more than one of their image', async () => {
    proxy.passed.length = 0;
    proxy.mostConnections = 0;
    await accedeOk(['plan', '--detailed-exitcode', workspace.folder]);
    expect(proxy.mutations).toEqual([]);
    for (const list of [/^GET \/containers\/json$/, /^GET \/networks$/, /^GET \/volumes$/, /^GET \/info$/, /^GET \/version$/])
      expect(count(list), String(list)).toBeLessThanOrEqual(1);
    expect(count(/^GET \/containers\/[0-9a-f]{64}\/json$/)).toBe(COUNT);
    expect(new Set(proxy.passed.filter((line) => /^GET \/containers\/[0-9a-f]{64}\/json$/.test(line))).size).toBe(COUNT);
    // Containers whose replies come at one time share it.
    expect(count(/^GET \/images\//)).toBeLessThanOrEqual(COUNT / 5);
    expect(proxy.passed.length).toBeLessThanOrEqual(COUNT + 5 + COUNT / 5);
    expect(proxy.mostConnections).toBeLessThanOrEqual(MOST_SOCKETS);
    await vi.waitFor(() => expect(proxy.connections).toBe(0), { timeout: 5000 });
  });

  it('must be read through one connection over SSH, of which nothing is left', async () => {
    const rests = sshRests();
    const logins = ssh.logins();
    write(`ssh://${ssh.user}@127.0.0.1:${ssh.port}`);
    const env = { PATH: `${ssh.path}:${process.env['PATH'] ?? ''}` };
    const { stdout } = await accedeOk(['plan', '--detailed-exitcode', workspace.folder], { env });
    expect(stdout).toContain(`No changes. ${COUNT + 2} resources`);
    expect(ssh.logins() - logins).toBe(1);
    await vi.waitFor(() => expect(sshRests()).toEqual(rests), { timeout: 5000 });
  });
});
