import type { Clock } from '../core/clock.ts';
import { BackendError } from './contract.ts';
import { findTables, SCHEMA_VERSION } from './schema.ts';
import type { Driver } from './sql.ts';
import type { Statements } from './statements.ts';

/** Whether a state can be used right now, as a connection of its own found that was opened for the question. */
export interface Readiness {
  /** Where it is, in words; no password in it. */
  readonly place: string;
  /** Format of its tables; null when there is no state. */
  readonly schemaVersion: number | null;
  /** Milliseconds from opening the connection to the answer of a fresh read. */
  readonly readMilliseconds: number;
  /** Whether a write would be taken; null when that is not known: there are no tables yet, and nothing is made to find out. */
  readonly writable: boolean | null;
  /** What stands in the way of a write. */
  readonly hindrance: { readonly code: string; readonly message: string } | null;
}

/**
 * Reads the state on a fresh connection and goes the way of a write as far as it goes without changing anything. That a write finds room is known
 * for a file alone; on a server only writing tells. Throws `BackendError` for a state that can't be read.
 */
export async function proveReadiness(driver: Driver, sql: Statements, environment: string, clock: Clock): Promise<Readiness> {
  const begun = clock.monotonic();
  const found = await driver.read(async (transaction) => {
    if (!(await findTables(transaction, driver, sql.tables))) return { isThere: false };
    await transaction.query(sql.head, [environment]);
    return { isThere: true };
  });
  const readMilliseconds = Math.ceil(clock.monotonic() - begun);
  const isThere = found?.isThere === true;
  const about = { place: driver.place, schemaVersion: isThere ? SCHEMA_VERSION : null, readMilliseconds };
  try {
    const { lock, head, step, audit } = sql.tables;
    const isProven = await driver.proveWritable(isThere ? [lock, head, step, audit] : []);
    return { ...about, writable: isProven ? true : null, hindrance: null };
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return { ...about, writable: false, hindrance: { code: error.code, message: error.message } };
  }
}
