import { SqliteDriver } from './driver-sqlite.ts';
import { parseIdentity } from './rows.ts';
import { findTables } from './schema.ts';
import { statements } from './statements.ts';

/** What the names of the tables in a state file begin with. */
const SQLITE_PREFIX = 'accede_';

/** The environment that a state file belongs to; undefined when there is none. Throws `BackendError` for a file that is something else. */
export async function environmentOf(path: string): Promise<string | undefined> {
  const driver = new SqliteDriver(path);
  const sql = statements(driver.dialect, SQLITE_PREFIX);
  try {
    return await driver.read(async (transaction) => {
      if (!(await findTables(transaction, driver, sql.tables))) return undefined;
      const [row] = await transaction.query(sql.identities);
      return row === undefined ? undefined : parseIdentity(sql.tables.identity, row).environment;
    });
  } finally {
    await driver.close();
  }
}
