import { constants } from 'node:fs';
import { type FileHandle, link, lstat, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Digest } from '../core/canonical.ts';
import { BACKUP_FORMAT, BackupFile, type BackupHeader, BackupWriter, lineOf } from './backup-file.ts';
import { BackendError } from './contract.ts';
import { findIdentity } from './identity.ts';
import { verifyIntegrity } from './integrity.ts';
import { type OpenTables, openTables, type StoreOptions } from './open.ts';
import { SCHEMA_VERSION } from './schema.ts';
import { rowsOf, SECTIONS, type Section } from './sections.ts';
import { loadSnapshot } from './snapshot.ts';
import type { Transaction } from './sql.ts';
import { loadStanding, requireInUse } from './standing.ts';

/** A backup that was written, read again and found whole. */
export interface TakenBackup extends BackupHeader {
  readonly path: string;
  /** Names the file by its content: the digest of its manifest. */
  readonly backup: Digest;
  readonly bytes: number;
  readonly resources: number;
  readonly operations: number;
  /** False when the record of the audit chain could not be written, as on a full disk: the backup is good all the same. */
  readonly audited: boolean;
}

/**
 * Writes all of a state into a new file, 0600, as it is at one moment, and reads it again before it takes its name. Undefined when there is no
 * state. A file that is there is never replaced. Takes no lock: who works on the state is not held up. Throws `BackendError`.
 */
export async function takeBackup(
  options: StoreOptions,
  request: { readonly path: string; readonly by: string },
): Promise<TakenBackup | undefined> {
  const tables = openTables(options);
  try {
    const temporary = join(dirname(request.path), `.${basename(request.path)}.${options.ids.id().slice(0, 12)}.tmp`);
    await refuseToReplace(request.path);
    const written = await writeFile(tables, temporary, request.by);
    if (written === undefined) return undefined;
    try {
      await publish(temporary, request.path);
    } catch (error) {
      await unlink(temporary).catch(ifMissing);
      throw unwritable(request.path, error);
    }
    return { ...written, path: request.path, audited: await audit(tables, request.by, written) };
  } finally {
    await tables.driver.close();
  }
}

/** The same for a file that is only on its way to another store: nothing of it is audited, and it has its name at once. */
export async function takeCopy(options: StoreOptions, request: { readonly path: string; readonly by: string }): Promise<boolean> {
  const tables = openTables(options);
  try {
    return (await writeFile(tables, request.path, request.by)) !== undefined;
  } finally {
    await tables.driver.close();
  }
}

/** Writes and verifies the file; leaves none when that fails. */
async function writeFile(tables: OpenTables, path: string, by: string): Promise<Omit<TakenBackup, 'path' | 'audited'> | undefined> {
  const file = await create(path);
  try {
    let header: BackupHeader | undefined;
    try {
      // What a broken connection cut off is read again from the start.
      header = await tables.driver.read(async (transaction) => {
        await file.truncate(0);
        return await writeSections(transaction, tables, { file, by });
      });
    } catch (error) {
      throw unwritable(path, error);
    } finally {
      await file.close();
    }
    if (header === undefined) {
      await unlink(path);
      return undefined;
    }
    const read = await BackupFile.open(path);
    await read.close();
    return {
      ...header,
      backup: read.digest,
      bytes: read.bytes,
      resources: read.count('resources'),
      operations: read.count('operations'),
    };
  } catch (error) {
    await unlink(path).catch(ifMissing);
    throw error;
  }
}

async function writeSections(
  transaction: Transaction,
  { driver, sql, environment, clock }: OpenTables,
  { file, by }: { readonly file: FileHandle; readonly by: string },
): Promise<BackupHeader | undefined> {
  const identity = await findIdentity(transaction, driver, sql, environment);
  if (identity === undefined) return undefined;
  const { epoch, standing } = await loadStanding(transaction, sql, environment);
  requireInUse(standing, environment);
  const snapshot = await loadSnapshot(transaction, sql, identity);
  const problem = verifyIntegrity(snapshot).find(({ severity }) => severity === 'error');
  if (problem !== undefined) throw new BackendError('STATE_CORRUPT', `${problem.summary}: ${problem.detail}`);
  const header: BackupHeader = {
    format: BACKUP_FORMAT,
    environment,
    lineage: identity.lineage,
    epoch,
    schema: SCHEMA_VERSION,
    serial: snapshot.head.serial,
    digest: snapshot.head.digest,
    open: snapshot.open?.operation.id ?? null,
    createdAt: new Date(clock.now()).toISOString(),
    by,
  };
  const writer = new BackupWriter(file);
  await writer.header(header);
  for (const section of SECTIONS) await writer.section(section.name, linesOf(transaction, { sql, environment }, section));
  await writer.end();
  return header;
}

/** The lines of a section as a store has it now. */
export async function* linesOf(
  transaction: Transaction,
  { sql, environment }: Pick<OpenTables, 'sql' | 'environment'>,
  section: Section,
): AsyncGenerator<Buffer> {
  for await (const row of rowsOf(transaction, sql, environment, section)) yield lineOf(section, row);
}

async function audit(
  { driver, chain }: OpenTables,
  by: string,
  { backup, serial, digest, epoch }: Omit<TakenBackup, 'path' | 'audited'>,
): Promise<boolean> {
  try {
    const detail = { backup, serial, digest, epoch };
    await driver.write((transaction) => chain.append(transaction, { what: 'state.backed-up', serial: null, actor: by, detail }), {
      boundary: 'state.backup',
    });
    return true;
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return false;
  }
}

async function create(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_APPEND, 0o600);
  } catch (error) {
    throw unwritable(path, error);
  }
}

async function refuseToReplace(path: string): Promise<void> {
  if ((await lstat(path).catch(ifMissing)) === undefined) return;
  throw new BackendError(
    'FILE_UNWRITABLE',
    `${path} is there already, and a backup never takes the place of another file. Name a new one.`,
  );
}

/** Gives a file its name, unless another one has it. */
async function publish(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
    await unlink(temporary);
  } catch (error) {
    // Some file systems know no second name.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error) ?? '')) throw error;
    await refuseToReplace(path);
    await rename(temporary, path);
  }
  const folder = await open(dirname(path), constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function unwritable(path: string, error: unknown): unknown {
  const code = error instanceof BackendError ? undefined : codeOf(error);
  if (code === undefined) return error;
  const reason =
    code === 'ENOENT'
      ? 'The folder for it does not exist.'
      : code === 'EEXIST'
        ? 'It is there already, and a backup never takes the place of another file.'
        : code === 'ENOSPC'
          ? 'There is no room left.'
          : `The system answered ${code}.`;
  return new BackendError('FILE_UNWRITABLE', `${path} can not be written. ${reason} No backup was made.`, { cause: error });
}

/** The system's own code of an error; undefined for an error of anything else, which is a bug. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined;
}

function ifMissing(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT') return undefined;
  throw error;
}
