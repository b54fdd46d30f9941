import { mkdtempSync, rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MariadbServer, startMariadb } from '../../scripts/servers/mariadb.ts';
import { type Clock, randomIds, systemClock } from '../../src/core/clock.ts';
import type { StateStore } from '../../src/state/contract.ts';
import { verifyIntegrity } from '../../src/state/integrity.ts';
import { openStore, type StateLocation } from '../../src/state/open.ts';
import { systemProcessIdentity } from '../../src/state/process.ts';
import { type Loss, MysqlProxy } from '../support/mysql-proxy.ts';
import { StateChild } from '../support/state-children.ts';
import { acquired, addressOf, begun, rowOf, stepOf } from '../support/state-rows.ts';

let folder: string;
let server: MariadbServer;
let proxy: MysqlProxy;
let database: string;
let databases = 0;
let open: StateStore[];

beforeAll(async () => {
  folder = mkdtempSync('/tmp/acc-dbf-');
  server = await startMariadb(folder);
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  databases += 1;
  database = `state${databases}`;
  await server.execute(`CREATE DATABASE ${database}`);
  proxy = new MysqlProxy(server.port);
  await proxy.open();
  open = [];
});
afterEach(async () => {
  for (const store of open) await store.close();
  await proxy.close();
  await server.execute(`DROP DATABASE ${database}`);
});

const location = (port: number): StateLocation => ({
  backend: 'mysql',
  prefix: 'accede_',
  server: { host: '127.0.0.1', port, user: 'root', database, place: 'the database of the test' },
});

async function storeAt(port: number, clock: Clock = systemClock): Promise<StateStore> {
  const host = systemProcessIdentity();
  const store = await openStore({ location: location(port), environment: 'crm', clock, ids: randomIds, host });
  open.push(store);
  return store;
}

describe('a commit whose connection breaks', () => {
  it.each<Loss>(['reply', 'request', 'cut'])('must be done exactly once when it is the %s', async (loss) => {
    const store = await storeAt(proxy.port);
    const losing = async <T>(work: () => Promise<T>): Promise<T> => {
      const before = proxy.lost;
      proxy.loses = loss;
      const result = await work();
      expect(proxy.lost).toBe(before + 1);
      return result;
    };
    const { session, lock } = await losing(() => acquired(store, 'crm'));
    expect(lock.fence).toBe(1);
    const { serial } = await losing(() => begun(store, session));
    expect(serial).toBe(1);
    await losing(() =>
      session.write([
        { kind: 'row', row: rowOf(1) },
        { kind: 'step', step: stepOf(serial, 'one') },
        { kind: 'spend', planDigest: 'sha256:p', serial },
      ]),
    );
    await losing(() => session.end(serial, 'done', null));
    const direct = await storeAt(server.port);
    expect((await direct.read())?.lock).toEqual(lock);
    await losing(() => session.release());
    const snapshot = await direct.read();
    expect(snapshot).toMatchObject({ head: { serial: 1 }, lock: null, open: null, lastOperation: { outcome: 'done' } });
    expect(snapshot?.resources.size).toBe(1);
    expect((await direct.history()).length).toBe(1);
    expect((await direct.steps(1)).length).toBe(1);
    expect((await acquired(direct, 'crm')).lock.fence).toBe(2);
  });

  it('must be told as not known when nobody can be asked, and no write follows it', async () => {
    // Waits for nothing, and finds that much time has passed.
    let passed = 0;
    const impatient: Clock = {
      now: () => systemClock.now(),
      monotonic: () => passed,
      sleep: async (ms, signal) => {
        passed += 1_000;
        if (ms > 5_000) await systemClock.sleep(ms, signal);
      },
    };
    const store = await storeAt(proxy.port, impatient);
    const { session } = await acquired(store, 'crm');
    await begun(store, session);
    proxy.loses = 'reply';
    proxy.isAway = true;
    const unknown = { name: 'BackendError', code: 'STATE_UNREACHABLE', message: expect.stringContaining('not known whether') };
    await expect(session.write([{ kind: 'row', row: rowOf(1) }])).rejects.toMatchObject(unknown);
    proxy.isAway = false;
    await expect(session.write([{ kind: 'row', row: rowOf(2) }])).rejects.toMatchObject(unknown);
    await expect(session.end(1, 'done', null)).rejects.toMatchObject(unknown);
    await session.release();
    const snapshot = await (await storeAt(server.port)).read();
    expect([...(snapshot?.resources.keys() ?? [])]).toEqual([addressOf(1)]);
    expect(snapshot).toMatchObject({ lock: null, open: { operation: { serial: 1 } } });
  });
});

describe('a connection that breaks at any packet', () => {
  it('must not be seen in what is written', async () => {
    let packets = Number.POSITIVE_INFINITY;
    let life = 0;
    for (let at = 0; at < packets; at++) {
      life += 1;
      proxy.passed = 0;
      proxy.breaksAfter = at;
      const store = await storeAt(proxy.port);
      // Before its first answer a server may simply be named wrong: that is not tried twice.
      await store.read().catch(() => undefined);
      await store.read();
      const { session } = await acquired(store, 'crm');
      const { serial } = await begun(store, session);
      expect(serial).toBe(life);
      await session.write([{ kind: 'row', row: rowOf(life) }]);
      await session.end(serial, 'done', null);
      await session.release();
      packets = proxy.passed;
      proxy.breaksAfter = undefined;
      await store.close();
    }
    const direct = await storeAt(server.port);
    const snapshot = await direct.read();
    expect(snapshot?.resources.size).toBe(life);
    expect((await direct.history()).map(({ outcome }) => outcome)).toEqual(Array.from({ length: life }, () => 'done'));
    expect((await acquired(direct, 'crm')).lock.fence).toBe(life + 1);
    expect(proxy.lost).toBeGreaterThan(60);
  });
});

describe('a server that is killed and started again', () => {
  it('must have all that was acknowledged, while the writer goes on as if nothing had been', { timeout: 180_000 }, async () => {
    const direct = await storeAt(server.port);
    const writer = new StateChild({ location: location(server.port), environment: 'crm', command: 'write' });
    await writer.answer(0);
    writer.tell('go');
    for (const moment of [2, 60, 130]) {
      await writer.answer(moment);
      await server.kill();
      await server.start();
    }
    await writer.answer(201);
    expect(writer.answers.at(-1)).toEqual({ done: true });
    await writer.kill();
    const snapshot = await direct.read();
    expect(snapshot?.resources.size).toBe(400);
    expect((await direct.steps(1)).length).toBe(200);
    expect(snapshot && verifyIntegrity(snapshot)).toEqual([]);
    expect((await direct.readAt(1))?.resources).toEqual(snapshot?.resources);
    expect((await acquired(direct, 'crm')).tookOver?.pid).toBe(writer.pid);
  });
});

describe('a row that somebody else holds', () => {
  it('must be waited for, longer than the server itself waits', { timeout: 60_000 }, async () => {
    const store = await storeAt(server.port);
    const { session } = await acquired(store, 'crm');
    await begun(store, session);
    const { createConnection } = await import('mysql2/promise');
    const other = await createConnection({ host: server.host, port: server.port, user: server.user, database });
    await other.query('START TRANSACTION');
    await other.query('SELECT * FROM accede_lock FOR UPDATE');
    const write = session.write([{ kind: 'row', row: rowOf(1) }]);
    // The server gives up after ten seconds; then it is another transaction of ours that waits.
    await systemClock.sleep(13_000);
    await other.query('ROLLBACK');
    await write;
    await other.end();
    expect((await store.read())?.resources.size).toBe(1);
  });
});
