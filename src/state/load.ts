import { canonicalText } from '../core/canonical.ts';
import { linesOf } from './backup.ts';
import { type BackupFile, damagedBackup, SectionSum } from './backup-file.ts';
import { BackendError } from './contract.ts';
import { findIdentity } from './identity.ts';
import { verifyIntegrity } from './integrity.ts';
import type { Identity, Snapshot } from './model.ts';
import type { OpenTables } from './open.ts';
import { parseCount } from './rows.ts';
import { createTables, findTables, SCHEMA_VERSION } from './schema.ts';
import { insertRows, SECTIONS } from './sections.ts';
import { loadSnapshot } from './snapshot.ts';
import type { Transaction } from './sql.ts';

/** What stood in a store before. */
export interface Former {
  readonly identity: Identity | undefined;
  /** The highest fence that was ever given there; 0 for none. */
  readonly fence: number;
}

/**
 * Runs `work` in the one transaction that fills a store. Tables are made first where they are missing. Of several that do this at once the later
 * ones see what the first one wrote.
 */
export async function filling<T>(tables: OpenTables, work: (transaction: Transaction, former: Former) => Promise<T>): Promise<T> {
  const { driver, sql, environment } = tables;
  const { dialect } = driver;
  if (!dialect.definesInTransaction && !(await driver.read((transaction) => findTables(transaction, driver, sql.tables)))) {
    await driver.define((transaction) => createTables(transaction, dialect, sql.tables), { boundary: 'state.define' });
  }
  return await driver.write(
    async (transaction) => {
      if (dialect.definesInTransaction && !(await findTables(transaction, driver, sql.tables))) {
        await createTables(transaction, dialect, sql.tables);
      }
      await transaction.execute(sql.firstFence, [environment, 0]);
      const fence = parseCount(sql.tables.fence, (await transaction.query(sql.fence, [environment]))[0], 'fence');
      return await work(transaction, { identity: await findIdentity(transaction, driver, sql, environment), fence });
    },
    { create: true, boundary: 'state.load' },
  );
}

/**
 * Puts the rows of a backup in the place of whatever an environment has in a store, and reads them again: each section has the digest that it
 * has in the file, resources and outputs have the digest of the head, and the audit chain is whole. Throws `BackendError` for anything else.
 */
export async function loadBackup(transaction: Transaction, tables: OpenTables, file: BackupFile): Promise<Snapshot> {
  const { driver, sql, environment, chain } = tables;
  const { header } = file;
  if (header.schema !== SCHEMA_VERSION) {
    throw new BackendError(
      'STATE_BACKUP_FORMAT',
      `The backup ${file.path} holds tables of the format ${header.schema}, and this version of accede knows format ${SCHEMA_VERSION} alone. Restore it with the version that wrote it, then convert the state with accede state upgrade.`,
    );
  }
  for (const { table } of SECTIONS) await transaction.execute(`DELETE FROM ${sql.tables[table]} WHERE environment = ?`, [environment]);
  for (const table of ['lock', 'standing'] as const) {
    await transaction.execute(`DELETE FROM ${sql.tables[table]} WHERE environment = ?`, [environment]);
  }
  for (const section of SECTIONS) {
    await insertRows(transaction, sql, environment, section, file.rows(section));
    const sum = new SectionSum();
    for await (const line of linesOf(transaction, tables, section)) sum.add(line);
    const written = file.entries.find(({ name }) => name === section.name);
    if (canonicalText(sum.entry(section.name)) !== canonicalText(written)) {
      throw damagedBackup(file.path, section.name, ', or the store keeps something else than it is given');
    }
  }
  const identity = await findIdentity(transaction, driver, sql, environment);
  if (identity?.lineage !== header.lineage) throw damagedBackup(file.path, 'identity');
  const snapshot = await loadSnapshot(transaction, sql, identity);
  if (snapshot.head.serial !== header.serial || snapshot.head.digest !== header.digest) throw damagedBackup(file.path, 'resources');
  const problem = verifyIntegrity(snapshot).find(({ severity }) => severity === 'error');
  if (problem !== undefined) throw damagedBackup(file.path, 'resources', ` (${problem.detail})`);
  const audit = (await chain.verify(transaction)).problem;
  if (audit !== null) throw damagedBackup(file.path, 'audit', ` (the record ${audit.ordinal} is ${audit.kind})`);
  return snapshot;
}
