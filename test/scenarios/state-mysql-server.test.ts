import { mkdtempSync, rmSync } from 'node:fs';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Certificates, makeCertificates } from '../../scripts/servers/certificates.ts';
import { type MariadbServer, startMariadb } from '../../scripts/servers/mariadb.ts';
import { freePort } from '../../scripts/servers/process.ts';
import { randomIds, systemClock } from '../../src/core/clock.ts';
import { Sensitive } from '../../src/core/value.ts';
import { BackendError, type StateStore } from '../../src/state/contract.ts';
import type { MysqlServer } from '../../src/state/mysql-connection.ts';
import { openStore, stateReadiness, upgradeState } from '../../src/state/open.ts';
import { systemProcessIdentity } from '../../src/state/process.ts';
import { SCHEMA_VERSION } from '../../src/state/schema.ts';
import { acquired, addressOf, begun, identityOf, rowOf } from '../support/state-rows.ts';

const PASSWORD = 'canary-"db"-\\7c41';

let folder: string;
let keys: string;
let server: MariadbServer;
let certificates: Certificates;
let database: string;
let databases = 0;
let open: StateStore[];

beforeAll(async () => {
  folder = mkdtempSync('/tmp/acc-dbs-');
  keys = mkdtempSync('/tmp/acc-dbk-');
  certificates = makeCertificates(keys);
  const { cert, key } = certificates.server;
  server = await startMariadb(folder, [`--ssl-ca=${certificates.ca}`, `--ssl-cert=${cert}`, `--ssl-key=${key}`]);
  const password = PASSWORD.replaceAll('\\', '\\\\');
  await server.execute(`CREATE USER app@'%' IDENTIFIED BY '${password}'; CREATE USER guest@'%' IDENTIFIED BY '${password}'`);
});
afterAll(async () => {
  await server?.stop();
  for (const made of [folder, keys]) rmSync(made, { recursive: true, force: true });
});
beforeEach(async () => {
  databases += 1;
  database = `state${databases}`;
  await server.execute(`CREATE DATABASE ${database}; GRANT ALL ON ${database}.* TO app@'%'; GRANT SELECT ON ${database}.* TO guest@'%'`);
  open = [];
});
afterEach(async () => {
  for (const store of open) await store.close();
  await server.execute(`DROP DATABASE ${database}`);
});

const named = (changes: Partial<MysqlServer> = {}): MysqlServer => ({
  host: '127.0.0.1',
  port: server.port,
  user: 'app',
  password: Sensitive.open(PASSWORD),
  database,
  place: 'the database of the test',
  ...changes,
});

async function storeOf(changes: Partial<MysqlServer> = {}, environment = 'crm', prefix = 'accede_'): Promise<StateStore> {
  const location = { backend: 'mysql', prefix, server: named(changes) } as const;
  const store = await openStore({ location, environment, clock: systemClock, ids: randomIds, host: systemProcessIdentity() });
  open.push(store);
  return store;
}

/** Every way in must refuse with that code and these words, and show no secret even to who looks into the error. */
async function mustRefuse(store: StateStore, code: string, words: RegExp): Promise<void> {
  const tries = [
    () => store.read(),
    () => store.history(),
    () => store.unlock('x', 'tester@here'),
    () => store.acquire({ who: 'a', purpose: 'b', create: { identity: identityOf('crm') } }),
  ];
  for (const attempt of tries) {
    const error = await attempt().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(BackendError);
    expect(error).toMatchObject({ code, message: expect.stringMatching(words) });
    const shown = inspect(error, { depth: 10, showHidden: true });
    for (const part of [PASSWORD, 'canary', '7c41']) expect(shown).not.toContain(part);
  }
}

describe('a server that cannot be used', () => {
  it('must be said to be away when nothing listens', async () => {
    await mustRefuse(await storeOf({ port: await freePort() }), 'STATE_UNREACHABLE', /nothing listens there/);
  });

  it('must be said not to be found when its name leads nowhere', async () => {
    await mustRefuse(await storeOf({ host: 'nowhere.invalid' }), 'STATE_UNREACHABLE', /name can't be resolved/);
  });

  it('must be said to refuse the login when the password is wrong or missing', async () => {
    const { password: _, ...without } = named();
    await mustRefuse(await storeOf({ password: Sensitive.open('canary-wrong') }), 'STATE_UNREACHABLE', /refused the login/);
    const location = { backend: 'mysql', prefix: 'accede_', server: without } as const;
    const store = await openStore({ location, environment: 'crm', clock: systemClock, ids: randomIds, host: systemProcessIdentity() });
    await mustRefuse(store, 'STATE_UNREACHABLE', /refused the login/);
    await store.close();
  });

  it('must be said to have no such database, or to keep the user out of it', async () => {
    await mustRefuse(
      await storeOf({ database: 'nowhere', user: 'root', password: Sensitive.open('') }),
      'STATE_UNREACHABLE',
      /no database of that name/,
    );
    await mustRefuse(await storeOf({ database: 'mysql' }), 'STATE_UNREACHABLE', /may not do this/);
  });

  it('must be said not to let a user write who may only read, and read for him all the same', async () => {
    const guest = await storeOf({ user: 'guest' });
    const create = { identity: identityOf('crm') };
    await expect(guest.acquire({ who: 'a', purpose: 'b', create })).rejects.toMatchObject({
      code: 'STATE_UNREACHABLE',
      message: expect.stringMatching(/may not do this/),
    });
    await acquired(await storeOf(), 'crm');
    expect((await guest.read())?.head.serial).toBe(0);
    await expect(guest.unlock('x', 'tester@here')).rejects.toMatchObject({
      code: 'STATE_UNREACHABLE',
      message: expect.stringMatching(/may not do this/),
    });
  });

  it('must be said to take no writes when it is read only', async () => {
    const store = await storeOf();
    const { session } = await acquired(store, 'crm');
    await server.execute('SET GLOBAL read_only = 1');
    try {
      await expect(begun(store, session)).rejects.toMatchObject({ code: 'STATE_UNREACHABLE', message: expect.stringMatching(/read only/) });
    } finally {
      await server.execute('SET GLOBAL read_only = 0');
    }
    await session.release();
  });

  it('must be said to take no row that is too large, and take the next one', async () => {
    const store = await storeOf();
    const { session } = await acquired(store, 'crm');
    const { serial } = await begun(store, session);
    const large = rowOf(1, { attributes: { text: 'x'.repeat(20_000_000) } });
    await expect(session.write([{ kind: 'row', row: large }])).rejects.toMatchObject({ code: 'STATE_FULL' });
    await session.release();
    const next = await acquired(store, 'crm');
    expect((await begun(store, next.session)).serial).toBe(serial + 1);
  });
});

describe('tables of somebody else', () => {
  it('must be left alone under other names, and refused under ours', async () => {
    await server.execute('CREATE TABLE customers (name TEXT); CREATE TABLE accedex (name TEXT)', database);
    const first = await acquired(await storeOf(), 'crm');
    await first.session.release();
    await server.execute('CREATE TABLE other_lock (door TEXT)', database);
    await mustRefuse(await storeOf({}, 'crm', 'other_'), 'STATE_FORMAT', /table other_lock of something else/);
    await server.execute('CREATE TABLE third_schema (what TEXT)', database);
    await mustRefuse(await storeOf({}, 'crm', 'third_'), 'STATE_CORRUPT', /not as accede made them/);
    const tables = await server.execute('SHOW TABLES', database);
    expect(tables.split('\n').filter((name) => /^(?:other|third|cust|accedex)/.test(name))).toEqual([
      'accedex',
      'customers',
      'other_lock',
      'third_schema',
    ]);
  });
});

describe('tables of ours', () => {
  it('must hold many environments, each with its own state and lock', async () => {
    const crm = await storeOf({}, 'crm');
    const shop = await storeOf({}, 'shop');
    const elsewhere = await storeOf({}, 'crm', 'second_');
    const sessions = await Promise.all([acquired(crm, 'crm'), acquired(shop, 'shop'), acquired(elsewhere, 'crm')]);
    const stores = [crm, shop, elsewhere];
    for (const [index, { session, lock }] of sessions.entries()) {
      const store = stores[index] ?? crm;
      expect(lock.fence).toBe(1);
      const { serial } = await begun(store, session);
      await session.write([{ kind: 'row', row: rowOf(index) }]);
      await session.end(serial, 'done', null);
      await session.release();
    }
    const rows = await Promise.all(stores.map(async (store) => [...((await store.read())?.resources.keys() ?? [])]));
    expect(rows).toEqual([[addressOf(0)], [addressOf(1)], [addressOf(2)]]);
    const lineages = await Promise.all(stores.map(async (store) => (await store.read())?.identity.lineage));
    expect(new Set(lineages).size).toBe(3);
    expect(await (await storeOf({}, 'unknown')).read()).toBeUndefined();
  });

  it('must be completed when their creation was killed in the middle', async () => {
    await (await acquired(await storeOf(), 'crm')).session.release();
    await server.execute('DELETE FROM accede_schema; DROP TABLE accede_spent, accede_sealed, accede_step, accede_identity', database);
    const store = await storeOf();
    expect(await store.read()).toBeUndefined();
    expect((await acquired(store, 'crm')).session.fence).toBeGreaterThan(0);
  });

  it('must be refused when they are newer, and name the upgrade when they are older', async () => {
    await acquired(await storeOf(), 'crm');
    await server.execute('UPDATE accede_schema SET version = 99', database);
    await mustRefuse(await storeOf(), 'STATE_FORMAT', /format 99.*newer one/);
    await server.execute('UPDATE accede_schema SET version = 1', database);
    await expect((await storeOf()).read()).rejects.toMatchObject({ code: 'STATE_FORMAT', next: 'accede state upgrade' });
  });

  it('must be upgraded from the first format, unless somebody holds a lock, and again when that was cut off', async () => {
    const store = await storeOf();
    const { session } = await acquired(store, 'crm');
    const { serial } = await begun(store, session);
    await session.write([{ kind: 'row', row: rowOf(1) }]);
    await session.end(serial, 'done', null);
    // As the first format had it: a lock without a lease.
    await server.execute(
      'ALTER TABLE accede_lock DROP COLUMN lease_clock, DROP COLUMN lease_end; UPDATE accede_schema SET version = 1',
      database,
    );
    const location = { backend: 'mysql', prefix: 'accede_', server: named() } as const;
    const options = { location, clock: systemClock, ids: randomIds, host: systemProcessIdentity() };
    expect(await upgradeState({ ...options, by: 'ada@here' })).toMatchObject({ kind: 'busy', holder: { who: 'tester' } });
    await server.execute('DROP TABLE accede_lock', database);
    expect(await upgradeState({ ...options, by: 'ada@here' })).toEqual({ kind: 'upgraded', from: 1, to: SCHEMA_VERSION });
    expect(await upgradeState({ ...options, by: 'ada@here' })).toEqual({ kind: 'upgraded', from: SCHEMA_VERSION, to: SCHEMA_VERSION });
    const after = await storeOf();
    expect((await after.audit()).filter(({ what }) => what === 'state.upgraded')).toMatchObject([{ actor: 'ada@here' }]);
    expect((await after.verifyAudit())?.problem).toBeNull();
    expect([...((await after.read())?.resources.keys() ?? [])]).toEqual([addressOf(1)]);
    expect((await acquired(after, 'crm')).session.fence).toBe(2);
  });
});

describe('an encrypted connection', () => {
  it('must be made with who the authority vouches for under that name, and with nobody else', async () => {
    const { ca } = certificates;
    expect(await (await storeOf({ host: 'localhost', tls: { ca } })).read()).toBeUndefined();
    await acquired(await storeOf({ tls: { ca, serverName: 'localhost' } }), 'crm');
    expect(await server.execute("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'app'")).not.toBe('0\n');
    await mustRefuse(await storeOf({ tls: { ca, serverName: 'other.example' } }), 'STATE_UNREACHABLE', /encrypted connection failed/);
    await mustRefuse(await storeOf({ host: 'localhost', tls: {} }), 'STATE_UNREACHABLE', /encrypted connection failed/);
    await mustRefuse(await storeOf({ host: 'localhost', tls: { ca: `${ca}.none` } }), 'STATE_UNREACHABLE', /file of state\.tls/);
  });

  it('must be shown a certificate by us where the account asks for one', async () => {
    await server.execute("CREATE USER strict@'%' IDENTIFIED BY 'x' REQUIRE X509");
    await server.execute(`GRANT ALL ON ${database}.* TO strict@'%'`);
    const { ca, client } = certificates;
    const account = { user: 'strict', password: Sensitive.open('x'), host: 'localhost' };
    await expect((await storeOf({ ...account, tls: { ca } })).read()).rejects.toMatchObject({ code: 'STATE_UNREACHABLE' });
    expect(await (await storeOf({ ...account, tls: { ca, ...client } })).read()).toBeUndefined();
  });
});

describe('the readiness of a state on a server', () => {
  const readiness = (changes: Partial<MysqlServer> = {}) =>
    stateReadiness({
      location: { backend: 'mysql', prefix: 'accede_', server: named(changes) },
      environment: 'crm',
      clock: systemClock,
      ids: randomIds,
      host: systemProcessIdentity(),
    });

  it('must be refused by a server that takes no writes, and for a user who may only read', async () => {
    const store = await storeOf();
    const { session } = await acquired(store, 'crm');
    await session.release();
    expect(await readiness()).toMatchObject({ writable: true, hindrance: null });
    const only = { writable: false, hindrance: { code: 'STATE_UNREACHABLE', message: expect.stringMatching(/may not do this/) } };
    expect(await readiness({ user: 'guest' })).toMatchObject(only);
    await server.execute('SET GLOBAL read_only = 1');
    try {
      const replica = { writable: false, hindrance: { code: 'STATE_UNREACHABLE', message: expect.stringMatching(/takes no writes/) } };
      expect(await readiness()).toMatchObject(replica);
    } finally {
      await server.execute('SET GLOBAL read_only = 0');
    }
    expect(await readiness()).toMatchObject({ writable: true });
  });
});
