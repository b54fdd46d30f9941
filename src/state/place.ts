import { BackendError } from './contract.ts';
import { findIdentity } from './identity.ts';
import type { OperationRow } from './model.ts';
import { openTables, type StateLocation, type StoreOptions } from './open.ts';
import { parseCount, parseOperation } from './rows.ts';
import { loadStanding, type Stand } from './standing.ts';

const PREFIX = 'accede_';

/** A place in words, for those who look for it: no user, no password. */
export function describePlace(location: StateLocation): string {
  if (location.backend === 'sqlite') return location.path;
  const { host, port, database } = location.server;
  const url = `mysql://${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
  return location.prefix === PREFIX ? url : `${url} (prefix ${location.prefix})`;
}

/** What stands in a store, whether it is in use or not. */
export interface StoreLook extends Stand {
  readonly lineage: string;
  readonly serial: number;
  readonly fence: number;
  readonly resources: number;
  /** Newest first. */
  readonly operations: readonly OperationRow[];
}

/** Looks into a store; undefined when there is no state of the environment. Changes nothing. Throws `BackendError`. */
export async function lookInto(options: StoreOptions): Promise<StoreLook | undefined> {
  const { driver, sql, environment } = openTables(options);
  try {
    return await driver.read(async (transaction) => {
      const identity = await findIdentity(transaction, driver, sql, environment);
      if (identity === undefined) return undefined;
      const count = async (select: string, table: string, column: string) =>
        parseCount(table, (await transaction.query(select, [environment]))[0], column);
      const operations = await transaction.query(sql.operations, [environment]);
      return {
        lineage: identity.lineage,
        serial: await count(sql.head, sql.tables.head, 'serial'),
        fence: await count(sql.fenceSeen, sql.tables.fence, 'fence'),
        resources: (await transaction.query(sql.resourceDigests, [environment])).length,
        operations: operations.map((row) => parseOperation(sql.tables.operation, row)),
        ...(await loadStanding(transaction, sql, environment)),
      };
    });
  } finally {
    await driver.close();
  }
}

/** Throws `STATE_BACKUP_FOREIGN` when two states do not have one lineage. */
export function requireLineage(expected: string, found: string, place: string): void {
  if (expected === found) return;
  throw new BackendError(
    'STATE_BACKUP_FOREIGN',
    `${place} holds a state of the lineage ${found}, and ${expected} was expected: the two were made apart, even though both have one name. Nothing was changed.`,
  );
}
