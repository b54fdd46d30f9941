import type { LockInfo } from './model.ts';
import type { ProcessIdentity } from './process.ts';
import { createMissing, type Tables, unknownVersion, versionOfTables } from './schema.ts';
import type { Dialect, Driver, SqlRow, Transaction } from './sql.ts';

/** What an upgrade did, or who kept it from being done. */
export type Upgraded =
  | { readonly kind: 'upgraded'; readonly from: number; readonly to: number }
  | { readonly kind: 'busy'; readonly holder: Pick<LockInfo, 'lockId' | 'who' | 'host' | 'pid' | 'purpose' | 'since'> };

/** One step from a version of the tables to the next. Where it was done in part it can be done again. */
export interface Upgrade {
  readonly from: number;
  run(transaction: Transaction, dialect: Dialect, tables: Tables): Promise<void>;
}

/** All upgrades, oldest first. */
export const UPGRADES: readonly Upgrade[] = [
  {
    // Locks became leases; evidence and the audit chain came. Nobody holds a lock meanwhile, so there is nothing in its old table to keep.
    from: 1,
    run: async (transaction, dialect, tables) => {
      if (!(await hasColumn(transaction, dialect, tables.lock, 'lease_end')))
        await transaction.execute(`DROP TABLE IF EXISTS ${tables.lock}`);
      await createMissing(transaction, dialect, tables);
    },
  },
  // Each state has an epoch and a standing since states can be put back and moved: without a row it is the first epoch. Holds and approvals came with them.
  { from: 2, run: createMissing },
];

/**
 * Brings tables of an older version up to date: in one transaction, or step by step where the database commits each change of a table by
 * itself; a step that was cut off is done again by the next try. Undefined when there are no tables. `busy` while a holder of any lock in
 * them is not known to be dead. `tell` writes what is to be told of it, in one transaction with the version: without that there is none. Throws `STATE_FORMAT` for tables that are newer than this program, or foreign.
 */
export async function upgradeTables(
  driver: Driver,
  tables: Tables,
  host: ProcessIdentity,
  upgrades: readonly Upgrade[] = UPGRADES,
  tell?: (transaction: Transaction, change: { readonly from: number; readonly to: number }) => Promise<void>,
): Promise<Upgraded | undefined> {
  const to = (upgrades.at(-1)?.from ?? 0) + 1;
  const found = await driver.read((transaction) => versionOfTables(transaction, driver, tables));
  if (found === undefined) return undefined;
  if (found > to) throw unknownVersion(driver.place, found);
  if (found === to) return { kind: 'upgraded', from: to, to };
  const { dialect } = driver;
  // The last version is what makes the others count, so what is told goes with it.
  const finish = async (transaction: Transaction, from: number) => {
    await tell?.(transaction, { from, to });
    await putVersion(transaction, tables, to);
  };
  const bring = async (transaction: Transaction): Promise<Upgraded | undefined> => {
    const from = await versionOfTables(transaction, driver, tables);
    if (from === undefined) return undefined;
    const holder = await liveHolder(transaction, driver, tables, host);
    if (holder !== undefined) return { kind: 'busy', holder };
    for (const upgrade of upgrades) {
      if (upgrade.from < from) continue;
      await upgrade.run(transaction, dialect, tables);
      if (upgrade.from + 1 < to) await putVersion(transaction, tables, upgrade.from + 1);
    }
    if (dialect.definesInTransaction && from < to) await finish(transaction, from);
    return { kind: 'upgraded', from, to };
  };
  const upgraded = await driver.define(bring, { boundary: 'state.upgrade' });
  if (dialect.definesInTransaction || upgraded?.kind !== 'upgraded') return upgraded;
  await driver.write(
    async (transaction) => {
      // Another one that did the same at once may have been faster.
      const [row] = await transaction.query(`SELECT version FROM ${tables.schema} WHERE part = ?${dialect.forUpdate}`, ['state']);
      if (row?.['version'] !== to) await finish(transaction, found);
    },
    { boundary: 'state.upgrade' },
  );
  return upgraded;
}

async function putVersion(transaction: Transaction, tables: Tables, version: number): Promise<void> {
  await transaction.execute(`UPDATE ${tables.schema} SET version = ? WHERE part = ?`, [version, 'state']);
}

/** Whether a table has that column. */
export async function hasColumn(transaction: Transaction, dialect: Dialect, table: string, column: string): Promise<boolean> {
  return (await transaction.query(dialect.listColumns(table))).some((row) => row['name'] === column);
}

/** The first holder of a lock of whatever environment and version. A lease that ran out ends no lock here: an upgrade is no emergency. */
async function liveHolder(transaction: Transaction, driver: Driver, tables: Tables, host: ProcessIdentity) {
  // Between two steps of an upgrade that was cut off there may be no such table.
  if (!(await hasColumn(transaction, driver.dialect, tables.lock, 'lock_id'))) return undefined;
  const rows = await transaction.query(
    `SELECT environment, lock_id, who, host, boot_id, pid, process_start, purpose, since FROM ${tables.lock} ORDER BY environment`,
  );
  return rows.map(holderOf).find((holder) => host.isAlive(holder) !== false);
}

function holderOf(row: SqlRow): LockInfo {
  const text = (column: string) => String(row[column]);
  return {
    lockId: text('lock_id'),
    fence: 0,
    who: text('who'),
    host: text('host'),
    bootId: text('boot_id'),
    pid: Number(row['pid']),
    processStart: text('process_start'),
    purpose: text('purpose'),
    since: text('since'),
  };
}
