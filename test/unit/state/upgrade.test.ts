import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canonicalText } from '../../../src/core/canonical.ts';
import { randomIds, systemClock } from '../../../src/core/clock.ts';
import { SqliteDriver } from '../../../src/state/driver-sqlite.ts';
import { upgradeState } from '../../../src/state/open.ts';
import { systemProcessIdentity } from '../../../src/state/process.ts';
import { SCHEMA_VERSION, tableNames } from '../../../src/state/schema.ts';
import { hasColumn, UPGRADES, type Upgrade, upgradeTables } from '../../../src/state/upgrade.ts';
import { StateFolder } from '../../support/state-folder.ts';
import { acquired, begun, rowOf, stepOf } from '../../support/state-rows.ts';

/** The table of the lock in the first format, which kept no secrets. */
const FIRST_LOCK = `DROP TABLE accede_encryption;
DROP TABLE accede_standing;
DROP TABLE accede_lock;
CREATE TABLE accede_lock (environment TEXT NOT NULL, lock_id TEXT NOT NULL, fence INTEGER NOT NULL, token_digest TEXT NOT NULL, who TEXT NOT NULL, host TEXT NOT NULL,
  boot_id TEXT NOT NULL, pid INTEGER NOT NULL, process_start TEXT NOT NULL, purpose TEXT NOT NULL, since TEXT NOT NULL, PRIMARY KEY (environment)) STRICT;
UPDATE accede_schema SET version = 1;`;

const tables = tableNames('accede_');
const host = systemProcessIdentity();

let folder: StateFolder;
beforeEach(async () => {
  folder = await StateFolder.make();
  const store = await folder.store();
  const { session } = await acquired(store, 'crm');
  const { serial } = await begun(store, session);
  await session.write([
    { kind: 'row', row: rowOf(1) },
    { kind: 'step', step: stepOf(serial, 'one') },
  ]);
  await session.end(serial, 'failed', null);
  await session.release();
  await store.close();
  folder.alter(FIRST_LOCK);
});
afterEach(() => folder.remove());

const upgrade = () =>
  upgradeState({ location: { backend: 'sqlite', path: folder.path }, clock: systemClock, ids: randomIds, host, by: 'ada@here' });
const lockedBy = (pid: number, start: string) =>
  folder.alter(
    `INSERT INTO accede_lock VALUES ('crm', 'l1', 1, 't', 'ada', '${host.host}', '${host.bootId}', ${pid}, '${start}', 'apply', 's')`,
  );

describe('a state of the first format', () => {
  it('must be refused as it is, with the command that converts it', async () => {
    const refusal = {
      name: 'BackendError',
      code: 'STATE_FORMAT',
      message: expect.stringContaining('format 1'),
      next: 'accede state upgrade',
    };
    const store = await folder.store();
    await expect(store.read()).rejects.toMatchObject(refusal);
    await expect(store.acquire({ who: 'a', purpose: 'b' })).rejects.toMatchObject(refusal);
  });

  it('must be whole when it was converted, steps without a preimage too', async () => {
    const { preimage: _, ...old } = stepOf(1, 'old');
    folder.alter(`INSERT INTO accede_step VALUES ('crm', 1, 'old', 7, 1, '${canonicalText(old)}')`);
    expect(await upgrade()).toEqual({ kind: 'upgraded', from: 1, to: SCHEMA_VERSION });
    expect(await upgrade()).toEqual({ kind: 'upgraded', from: SCHEMA_VERSION, to: SCHEMA_VERSION });
    const store = await folder.store();
    const snapshot = await store.read();
    expect(snapshot?.resources.get(rowOf(1).address)).toEqual(rowOf(1));
    expect(snapshot?.unsettled).toEqual([stepOf(1, 'one'), stepOf(1, 'old')]);
    expect(snapshot?.epoch).toBe(1);
    const told = (await store.audit()).filter(({ what }) => what === 'state.upgraded');
    expect(told).toMatchObject([{ actor: 'ada@here', detail: { from: 1, to: SCHEMA_VERSION } }]);
    expect((await store.verifyAudit())?.problem).toBeNull();
    expect((await acquired(store, 'crm')).lock.fence).toBe(2);
  });

  it('must be left alone while its lock is held, and converted when the holder is dead', async () => {
    lockedBy(process.pid, host.processStart);
    expect(await upgrade()).toMatchObject({ kind: 'busy', holder: { lockId: 'l1', who: 'ada' } });
    await expect((await folder.store()).read()).rejects.toMatchObject({ code: 'STATE_FORMAT' });
    folder.alter('DELETE FROM accede_lock');
    lockedBy(process.pid, '1');
    expect(await upgrade()).toMatchObject({ kind: 'upgraded' });
    expect((await (await folder.store()).read())?.lock).toBeNull();
  });
});

describe('upgrades', () => {
  const driver = () => new SqliteDriver(folder.path, { clock: systemClock, time: () => ({ domain: 'test', ms: 0 }) });
  const addColumn: Upgrade = {
    from: SCHEMA_VERSION,
    run: async (transaction, dialect, { head }) => {
      if (!(await hasColumn(transaction, dialect, head, 'mood'))) await transaction.execute(`ALTER TABLE ${head} ADD COLUMN mood TEXT`);
    },
  };
  const broken: Upgrade = {
    from: SCHEMA_VERSION + 1,
    run: async (transaction, dialect, { head }) => {
      expect(await hasColumn(transaction, dialect, head, 'mood')).toBe(true);
      throw new Error('cut off');
    },
  };

  it('must lead from each version to the next, up to that of the tables', () => {
    expect(UPGRADES.map(({ from }) => from)).toEqual(Array.from({ length: SCHEMA_VERSION - 1 }, (_, index) => index + 1));
  });

  it('must be done all or not at all', async () => {
    const opened = driver();
    await expect(upgradeTables(opened, tables, host, [...UPGRADES, addColumn, broken])).rejects.toThrow('cut off');
    const seen = await opened.read((transaction) => hasColumn(transaction, opened.dialect, tables.head, 'mood'));
    expect(seen).toBe(false);
    expect(await upgradeTables(opened, tables, host, [...UPGRADES, addColumn])).toEqual({
      kind: 'upgraded',
      from: 1,
      to: SCHEMA_VERSION + 1,
    });
    expect(await upgradeTables(opened, tables, host, [...UPGRADES, addColumn])).toEqual({
      kind: 'upgraded',
      from: SCHEMA_VERSION + 1,
      to: SCHEMA_VERSION + 1,
    });
    await expect(upgradeTables(opened, tables, host)).rejects.toMatchObject({
      code: 'STATE_FORMAT',
      message: expect.stringContaining('newer one'),
    });
    await opened.close();
  });

  it('must find nothing to do where there is no state', async () => {
    const empty = await StateFolder.make();
    const location = { backend: 'sqlite', path: empty.path } as const;
    expect(await upgradeState({ location, clock: systemClock, ids: randomIds, host, by: 'ada@here' })).toBeUndefined();
    await empty.remove();
  });
});
