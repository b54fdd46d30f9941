import { BackendError } from './contract.ts';
import type { Identity } from './model.ts';
import { parseEncryption, parseIdentity } from './rows.ts';
import { findTables } from './schema.ts';
import type { Driver, Transaction } from './sql.ts';
import type { Statements } from './statements.ts';

/**
 * The identity of an environment's state; undefined when there is none. Throws `STATE_FOREIGN` for a file of another environment, `STATE_FORMAT`
 * for tables of another version, or of something else.
 */
export async function findIdentity(
  transaction: Transaction,
  driver: Driver,
  sql: Statements,
  environment: string,
): Promise<Identity | undefined> {
  if (!(await findTables(transaction, driver, sql.tables))) return undefined;
  const rows = driver.dialect.ownsDatabase ? await transaction.query(sql.identities) : await transaction.query(sql.identity, [environment]);
  const identities = rows.map((row) => parseIdentity(sql.tables.identity, row));
  const other = identities.find((identity) => identity.environment !== environment);
  if (other !== undefined) {
    throw new BackendError(
      'STATE_FOREIGN',
      `The state ${driver.place} belongs to the environment ${other.environment}, and not to ${environment}. It was left as it is; give each environment a place of its own in state.path.`,
    );
  }
  const [identity] = identities;
  if (identity === undefined) return undefined;
  const [encryption] = await transaction.query(sql.encryption, [environment]);
  return { ...identity, encryption: parseEncryption(sql.tables.encryption, encryption) };
}
