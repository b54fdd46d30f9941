import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { randomIds, systemClock } from '../../../src/core/clock.ts';
import { SqliteDriver } from '../../../src/state/driver-sqlite.ts';
import { systemProcessIdentity } from '../../../src/state/process.ts';
import type { Driver } from '../../../src/state/sql.ts';
import { SqlStore } from '../../../src/state/store.ts';
import { StateFolder } from '../../support/state-folder.ts';
import { acquired, begun, rowOf, stepOf } from '../../support/state-rows.ts';

let folder: StateFolder;
beforeEach(async () => {
  folder = await StateFolder.make();
});
afterEach(() => folder.remove());

/** A store that counts the transactions and statements that reach the database. */
function counted() {
  const inner = new SqliteDriver(folder.path, { clock: systemClock, time: () => ({ domain: 'test', ms: 0 }) });
  const counts = { commits: 0, statements: 0 };
  const driver: Driver = {
    dialect: inner.dialect,
    place: inner.place,
    read: (work) => inner.read(work),
    close: () => inner.close(),
    define: (work, options) => inner.define(work, options),
    now: () => inner.now(),
    proveWritable: () => inner.proveWritable(),
    write: async (work, options) => {
      const result = await inner.write(
        (transaction) =>
          work({
            query: (sql, params) => {
              counts.statements += 1;
              return transaction.query(sql, params);
            },
            execute: (sql, params) => {
              counts.statements += 1;
              return transaction.execute(sql, params);
            },
          }),
        options,
      );
      counts.commits += 1;
      return result;
    },
  };
  const options = { environment: 'crm', clock: systemClock, ids: randomIds, host: systemProcessIdentity(), prefix: 'other_' };
  return { store: new SqlStore(driver, options), counts };
}

describe('grouping of writes', () => {
  it('must share one transaction among the calls of one turn, and among those that are in flight', async () => {
    const { store, counts } = counted();
    const { session } = await acquired(store, 'crm');
    await begun(store, session);
    counts.commits = 0;
    await Promise.all(Array.from({ length: 100 }, (_, index) => session.write([{ kind: 'row', row: rowOf(index) }])));
    expect(counts.commits).toBe(1);
    counts.commits = 0;
    let next = 0;
    const worker = async () => {
      for (let index = next++; index < 1_600; index = next++) await session.write([{ kind: 'row', row: rowOf(index) }]);
    };
    await Promise.all(Array.from({ length: 16 }, worker));
    expect(counts.commits).toBeLessThanOrEqual(110);
    await store.close();
  });

  it('must cost the same number of statements with few rows and with many', async () => {
    const { store, counts } = counted();
    const { session } = await acquired(store, 'crm');
    const { serial } = await begun(store, session);
    const cost = async (name: string) => {
      counts.statements = 0;
      await session.write([
        { kind: 'row', row: rowOf(name) },
        { kind: 'step', step: stepOf(serial, name) },
      ]);
      return counts.statements;
    };
    const few = await cost('few');
    await session.write(Array.from({ length: 2_000 }, (_, index) => ({ kind: 'row', row: rowOf(index) })));
    expect(await cost('many')).toBe(few);
    await store.close();
  });
});
