import type { BackupFile } from './backup-file.ts';
import { BackendError } from './contract.ts';
import { filling, loadBackup } from './load.ts';
import { type OpenTables, openTables, type StoreOptions } from './open.ts';
import { requireEnvironment } from './restore.ts';
import { parseCount } from './rows.ts';
import type { Transaction } from './sql.ts';
import { loadStanding, putStanding } from './standing.ts';

/** A move of a state to another store. */
export interface Move {
  /** Tells it from every other move. */
  readonly id: string;
  /** The former place in words, without user and password. */
  readonly from: string;
  readonly by: string;
}

/**
 * Fills a store with a copy that nobody may work with yet. In its place may stand nothing; a copy whose move never ended; or the same state,
 * taken out of use there and no newer than the copy: so a state can move back. Anything else is `STATE_NOT_EMPTY`. The copy is read again and
 * compared before it stays.
 */
export async function receiveCopy(options: StoreOptions, file: BackupFile, move: Move): Promise<void> {
  const tables = openTables(options);
  const { sql, environment, clock } = tables;
  try {
    requireEnvironment(file, environment);
    await filling(tables, async (transaction, former) => {
      if (former.identity !== undefined) await requireReplaceable(transaction, tables, file, former.identity.lineage);
      await loadBackup(transaction, tables, file);
      const kept = parseCount(sql.tables.fence, (await transaction.query(sql.fence, [environment]))[0], 'fence');
      await transaction.execute(sql.putFence, [environment, Math.max(kept, former.fence)]);
      const { id, from, by } = move;
      await putStanding(transaction, sql, environment, {
        epoch: file.header.epoch + 1,
        standing: { kind: 'incoming', from, move: id, by, at: new Date(clock.now()).toISOString() },
      });
    });
  } finally {
    await tables.driver.close();
  }
}

/**
 * Takes the copy of a move into use, once its former store is out of use; answers the epoch. Done already, nothing happens. Throws
 * `STATE_NOT_EMPTY` when something else stands there.
 */
export async function activateCopy(options: StoreOptions, move: Move): Promise<number> {
  const tables = openTables(options);
  const { driver, sql, environment, chain } = tables;
  try {
    return await driver.write(
      async (transaction) => {
        // Its row lets one in at a time.
        await transaction.query(sql.fence, [environment]);
        const { epoch, standing } = await loadStanding(transaction, sql, environment);
        if (standing.kind === 'in-use') return epoch;
        if (standing.kind !== 'incoming' || standing.move !== move.id) {
          throw new BackendError(
            'STATE_NOT_EMPTY',
            `The copy that this move made in ${driver.place} is not there any more: something else came in its place. Nothing was written; the former store is out of use and complete.`,
          );
        }
        await putStanding(transaction, sql, environment, { epoch, standing: { kind: 'in-use' } });
        const { id, from, by } = move;
        await chain.append(transaction, { what: 'state.migrated', serial: null, actor: by, detail: { from, move: id, epoch } });
        return epoch;
      },
      { boundary: 'state.activate' },
    );
  } finally {
    await driver.close();
  }
}

async function requireReplaceable(
  transaction: Transaction,
  { driver, sql, environment }: OpenTables,
  { header }: BackupFile,
  lineage: string,
): Promise<void> {
  const { epoch, standing } = await loadStanding(transaction, sql, environment);
  const serial = parseCount(sql.tables.head, (await transaction.query(sql.head, [environment]))[0], 'serial');
  const isOurs = lineage === header.lineage;
  // A copy that was never in use may be of any moment; what was in use once must not know more than what comes.
  if (isOurs && standing.kind === 'incoming') return;
  if (isOurs && standing.kind === 'retired' && epoch <= header.epoch && serial <= header.serial) return;
  const why = !isOurs
    ? `a state of another lineage (${lineage})`
    : standing.kind === 'in-use'
      ? 'this very state, in use'
      : `this very state, and a newer one (#${serial}, epoch ${epoch})`;
  throw new BackendError(
    'STATE_NOT_EMPTY',
    `${driver.place} holds ${why}. It was left as it is, and so was the state that was to move there. Name an empty place.`,
  );
}
