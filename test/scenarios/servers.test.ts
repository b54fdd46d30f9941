import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startMariadb } from '../../scripts/servers/mariadb.ts';
import { startNginx } from '../../scripts/servers/nginx.ts';
import { type Server, ServerProcess } from '../../scripts/servers/process.ts';
import { startRegistry } from '../../scripts/servers/registry.ts';

let folder: string;
const started: Server[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'acc-'));
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});

function keep<T extends Server>(server: T): T {
  started.push(server);
  return server;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

describe('private servers', () => {
  it('must serve what a site of the private nginx says, and nothing after stop', async () => {
    mkdirSync(join(folder, 'sites'));
    writeFileSync(join(folder, 'sites', 'x.conf'), `server { listen unix:${folder}/x.sock; location / { return 204; } }\n`);
    const nginx = keep(await startNginx(folder));
    const answer = await fetch(nginx.url);
    expect([answer.status, await answer.text()]).toEqual([200, 'ok']);
    await nginx.stop();
    expect([isAlive(nginx.pid), await isListening(nginx.port)]).toEqual([false, false]);
  });

  it('must say why the private nginx does not start', async () => {
    mkdirSync(join(folder, 'sites'));
    writeFileSync(join(folder, 'sites', 'x.conf'), 'nonsense;\n');
    await expect(startNginx(folder)).rejects.toThrow(/unknown directive "nonsense"/);
  });

  it('must keep the rows of the private MariaDB over a crash', async () => {
    const database = keep(await startMariadb(folder));
    await database.execute('CREATE DATABASE shop; CREATE TABLE shop.item (id INT PRIMARY KEY, name TEXT) ENGINE=InnoDB;');
    await database.execute("INSERT INTO item VALUES (1, 'tea'), (2, 'Öl')", 'shop');
    const first = database.pid;
    await database.kill();
    expect(isAlive(first)).toBe(false);
    await database.start();
    expect(await database.execute('SELECT * FROM item ORDER BY id', 'shop')).toBe('1\ttea\n2\tÖl\n');
    await expect(database.execute('SELECT * FROM missing', 'shop')).rejects.toThrow(/ERROR 1146/);
    await database.stop();
    expect([isAlive(database.pid), await isListening(database.port)]).toEqual([false, false]);
  });

  it('must give back from the private registry the bytes that were pushed', async () => {
    const registry = keep(await startRegistry(folder));
    const bytes = Buffer.from('layer');
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const upload = await fetch(`${registry.url}/v2/shop/web/blobs/uploads/`, { method: 'POST' });
    const target = new URL(upload.headers.get('location') ?? '', registry.url);
    target.searchParams.set('digest', digest);
    expect((await fetch(target, { method: 'PUT', body: bytes })).status).toBe(201);
    const blob = await fetch(`${registry.url}/v2/shop/web/blobs/${digest}`);
    expect(await blob.text()).toBe('layer');
    await registry.stop();
    expect([isAlive(registry.pid), await isListening(registry.port)]).toEqual([false, false]);
  });

  it('must end a server when the process that started it is killed', async () => {
    const script = join(import.meta.dirname, '..', '..', 'scripts', 'servers', 'process.ts');
    const pidFile = join(folder, 'pid');
    const code = `
      import { writeFileSync } from 'node:fs';
      import { ServerProcess } from ${JSON.stringify(script)};
      const server = new ServerProcess('sleep', ['600'], { log: ${JSON.stringify(join(folder, 'sleep.log'))} });
      writeFileSync(${JSON.stringify(`${pidFile}.new`)}, String(server.pid));
      (await import('node:fs')).renameSync(${JSON.stringify(`${pidFile}.new`)}, ${JSON.stringify(pidFile)});
      await new Promise(() => setInterval(() => undefined, 1000));
    `;
    const starter = new ServerProcess(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', code], {
      log: join(folder, 'starter.log'),
    });
    started.push(starter);
    let pid = 0;
    await starter.waitUntil(() => {
      if (existsSync(pidFile)) pid = Number(readFileSync(pidFile, 'utf8'));
      return Promise.resolve(pid !== 0);
    });
    expect(isAlive(pid)).toBe(true);
    await starter.kill();
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  });
});
