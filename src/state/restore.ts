import type { BackupFile } from './backup-file.ts';
import { BackendError } from './contract.ts';
import { filling, loadBackup } from './load.ts';
import type { OperationRow } from './model.ts';
import { type OpenTables, openTables, type StoreOptions } from './open.ts';
import { putOperation } from './operations.ts';
import { parseCount } from './rows.ts';
import type { Transaction } from './sql.ts';
import { putStanding } from './standing.ts';

/** What is put back, by whom, and what is given up with it. */
export interface RestoreOrder {
  readonly actor: string;
  readonly reason: string | null;
  /** The last serial of the state that was lost, or that of the backup when nothing came after it. */
  readonly lostUpTo: number;
  /** The store whose place it takes: fence and epoch go on from there. */
  readonly replaced?: { readonly place: string; readonly fence: number; readonly epoch: number };
}

export interface Restored {
  /** Of the operation that the restore is: behind all that are lost, so that none of their names is used again. */
  readonly serial: number;
  readonly epoch: number;
  readonly fence: number;
}

/**
 * Puts a backup back into a store without a state, in one transaction: all of it or nothing. Fence and epoch are raised, so that no holder of
 * a lock from before writes any more and every plan from before is stale. An operation that was open in it is ended as abandoned; its steps stay
 * what they are, and the next run deals with them. Throws `STATE_NOT_EMPTY`, `STATE_BACKUP_FOREIGN` and what a backup or a store throws.
 */
export async function restoreBackup(options: StoreOptions, file: BackupFile, order: RestoreOrder): Promise<Restored> {
  const tables = openTables(options);
  const { header } = file;
  try {
    requireEnvironment(file, tables.environment);
    return await filling(tables, async (transaction, former) => {
      if (former.identity !== undefined) throw notEmpty(tables, former.identity.lineage);
      const snapshot = await loadBackup(transaction, tables, file);
      const kept = parseCount(tables.sql.tables.fence, (await transaction.query(tables.sql.fence, [tables.environment]))[0], 'fence');
      const fence = Math.max(kept, former.fence, order.replaced?.fence ?? 0) + 1;
      const epoch = Math.max(header.epoch, order.replaced?.epoch ?? 0) + 1;
      const serial = Math.max(header.serial, order.lostUpTo) + 1;
      await transaction.execute(tables.sql.putFence, [tables.environment, fence]);
      await putStanding(transaction, tables.sql, tables.environment, { epoch, standing: { kind: 'in-use' } });
      await recordRestore(transaction, tables, { file, order, serial, epoch, fence, open: snapshot.open?.operation });
      return { serial, epoch, fence };
    });
  } finally {
    await tables.driver.close();
  }
}

/** Throws `STATE_BACKUP_FOREIGN` for a backup of another environment. */
export function requireEnvironment(file: BackupFile, environment: string): void {
  if (file.header.environment === environment) return;
  throw new BackendError(
    'STATE_BACKUP_FOREIGN',
    `The backup ${file.path} is of the environment ${file.header.environment}, and not of ${environment}. Nothing was changed.`,
  );
}

function notEmpty({ driver, environment }: OpenTables, lineage: string): BackendError {
  return new BackendError(
    'STATE_NOT_EMPTY',
    `${driver.place} holds a state of ${environment} already (lineage ${lineage}), and a backup never takes the place of one. It was left as it is. Move it away, or let state in the documents name another place, and name the former one with --replaces.`,
    { next: 'accede status' },
  );
}

async function recordRestore(
  transaction: Transaction,
  { sql, environment, chain, clock }: OpenTables,
  restored: Restored & { readonly file: BackupFile; readonly order: RestoreOrder; readonly open: OperationRow | undefined },
): Promise<void> {
  const { file, order, serial, epoch, fence, open } = restored;
  const { actor, reason, lostUpTo, replaced } = order;
  const at = new Date(clock.now()).toISOString();
  if (open !== undefined) {
    await putOperation(transaction, sql, environment, { ...open, outcome: 'abandoned', endedAt: at });
    await chain.append(transaction, {
      what: 'operation.abandoned',
      serial: open.serial,
      actor,
      detail: { kind: open.kind, reason: 'state restore' },
    });
  }
  const { header, digest } = file;
  const isAll = lostUpTo <= header.serial;
  const summary = {
    backup: digest,
    serial: header.serial,
    lost: isAll ? null : { from: header.serial + 1, to: lostUpTo },
    replaced: replaced?.place ?? null,
    epoch,
  };
  const told = { ...summary, lost: isAll ? null : `${header.serial + 1}..${lostUpTo}` };
  await putOperation(transaction, sql, environment, {
    serial,
    id: `op-${serial}`,
    kind: 'state-restore',
    planDigest: null,
    class: null,
    fence,
    actor,
    reason,
    startedAt: at,
    endedAt: at,
    outcome: 'done',
    summary,
  });
  await transaction.execute(sql.putHead, [environment, serial]);
  await chain.append(transaction, { what: 'state.restored', serial, actor, detail: { ...told, digest: header.digest, reason, fence } });
}
