import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Database, Statement } from 'libsql';
import type { Clock } from '../core/clock.ts';
import { BackendError } from './contract.ts';
import { isBusy, isCompanionRefusal, sqliteCode, sqliteDialect, sqliteError } from './dialect-sqlite.ts';
import type { Driver, SqlRow, SqlValue, StoreTime, Transaction, WriteOptions } from './sql.ts';
import { createStateFile, type FileIdentity, inspectStateFile, isCheckpointed, requireWritable, sameFile } from './state-file.ts';

/** How long one process waits for the short transaction of another. */
const BUSY_MS = 5_000;
const BUSY_POLL = 5;
const IMMUTABLE_READS = 5;

export interface SqliteSources {
  readonly clock: Clock;
  /** The clock that all processes that use the file share. */
  time(): StoreTime;
}

/**
 * One SQLite file. It is kept in write-ahead mode with a full sync: a reader sees the last commit and is blocked neither by a running
 * transaction nor by what a killed writer left behind, and a commit costs one sync. With a rollback journal a reader would wait for each
 * commit, and after a kill it would have to write (roll back) before it could read.
 *
 * Reading has a connection of its own that can't write (`mode=ro`). Where the folder may not be written or the disk is full, SQLite can't make
 * the index that such a connection needs; with no log beside it the file is then read as immutable, and read again if it changed meanwhile.
 *
 * SQLite gives the companion files the mode of the file itself, whatever the umask. They may stay after the last close, empty of what counts.
 */
export class SqliteDriver implements Driver {
  readonly dialect = sqliteDialect;
  readonly place: string;
  readonly #path: string;
  readonly #sources: SqliteSources;
  #reader: Connection | undefined;
  #writer: Connection | undefined;
  #reading: Promise<unknown> = Promise.resolve();
  #writing: Promise<unknown> = Promise.resolve();

  constructor(path: string, sources: SqliteSources) {
    this.#path = resolve(path);
    this.place = this.#path;
    this.#sources = sources;
  }

  async read<T>(work: (transaction: Transaction) => Promise<T>): Promise<T | undefined> {
    const turn = this.#reading.then(() => this.#mapped(() => this.#read(work)));
    this.#reading = turn.catch(() => undefined);
    return turn;
  }

  async write<T>(work: (transaction: Transaction) => Promise<T>, { create = false }: WriteOptions): Promise<T> {
    const turn = this.#writing.then(() => this.#mapped(() => this.#write(work, create)));
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  async define<T>(work: (transaction: Transaction) => Promise<T>, options: WriteOptions): Promise<T> {
    return this.write(work, options);
  }

  /** The file and its folder take writes, there is room, and the pages of the file hang together. Opens nothing for writing. */
  async proveWritable(): Promise<boolean> {
    requireWritable(this.#path);
    const damage = await this.read(async (transaction) => (await transaction.query('PRAGMA quick_check(1)'))[0]?.['quick_check']);
    if (damage !== undefined && damage !== 'ok')
      throw new BackendError('STATE_CORRUPT', `The state file ${this.#path} is damaged: ${String(damage)}.`);
    return true;
  }

  async now(): Promise<StoreTime> {
    return this.#sources.time();
  }

  async close(): Promise<void> {
    await Promise.all([this.#reading, this.#writing]);
    const writer = this.#writer;
    this.#reader?.close();
    this.#reader = undefined;
    this.#writer = undefined;
    // Leaves a file that is whole without its log, so that a copy of it alone is a good copy.
    writer?.checkpoint();
    writer?.close();
  }

  async #mapped<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw sqliteError(this.#path, error);
    }
  }

  async #read<T>(work: (transaction: Transaction) => Promise<T>): Promise<T | undefined> {
    const file = inspectStateFile(this.#path);
    if (file === undefined || file.size === 0n) return undefined;
    if (this.#reader === undefined || !sameFile(this.#reader.file, file)) {
      this.#reader?.close();
      this.#reader = undefined;
      try {
        this.#reader = await Connection.open(this.#path, file, 'mode=ro');
      } catch (error) {
        if (!isCompanionRefusal(error) || !isCheckpointed(this.#path)) throw error;
        return this.#readImmutable(work);
      }
    }
    return this.#reader.transaction('BEGIN', work);
  }

  async #readImmutable<T>(work: (transaction: Transaction) => Promise<T>): Promise<T | undefined> {
    for (let attempt = 0; attempt < IMMUTABLE_READS; attempt += 1) {
      const before = inspectStateFile(this.#path);
      if (before === undefined || before.size === 0n) return undefined;
      const connection = await Connection.open(this.#path, before, 'mode=ro&immutable=1');
      const result = await settled(() => connection.transaction('BEGIN', work));
      connection.close();
      const after = inspectStateFile(this.#path);
      // A writer in between may have shown a half of each state; whatever came of that, an error too, is not to be believed.
      if (!sameFile(before, after) || before.changed !== after?.changed || !isCheckpointed(this.#path)) continue;
      if (result.ok) return result.value;
      throw result.error;
    }
    throw new BackendError(
      'STATE_UNREACHABLE',
      `The state file ${this.#path} is being written, and can't be read meanwhile because nothing can be made in its folder. Read it as a user who may write there.`,
    );
  }

  async #write<T>(work: (transaction: Transaction) => Promise<T>, create: boolean): Promise<T> {
    let file = inspectStateFile(this.#path);
    if (this.#writer !== undefined && !sameFile(this.#writer.file, file)) {
      this.#writer.close();
      this.#writer = undefined;
      throw this.#replaced();
    }
    if (file === undefined && create) {
      createStateFile(this.#path);
      file = inspectStateFile(this.#path);
    }
    if (file === undefined) throw new BackendError('STATE_UNREACHABLE', `There is no state file at ${this.#path}.`);
    this.#writer ??= await openForWriting(this.#path, file, this.#sources.clock);
    const result = await this.#writer.transaction('BEGIN IMMEDIATE', work);
    // A commit into a file that nobody can open any more would be lost without a word.
    if (!sameFile(this.#writer.file, inspectStateFile(this.#path))) throw this.#replaced();
    return result;
  }

  #replaced(): BackendError {
    return new BackendError(
      'STATE_FILE_UNSAFE',
      `The state file ${this.#path} was removed or replaced while it was in use. Put it back, and find out who moved it, before you run the command again.`,
    );
  }
}

async function settled<T>(
  work: () => Promise<T>,
): Promise<{ readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown }> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error };
  }
}

async function openForWriting(path: string, file: FileIdentity, clock: Clock): Promise<Connection> {
  const connection = await Connection.open(path, file, 'mode=rw');
  try {
    // SQLite itself waits for nobody here: while another process does the same, or is about to, it says at once that the file is locked.
    for (const until = clock.monotonic() + BUSY_MS; !connection.useWriteAheadLog(clock.monotonic() >= until); )
      await clock.sleep(BUSY_POLL);
    if (!sameFile(file, inspectStateFile(path)))
      throw new BackendError('STATE_FILE_UNSAFE', `The state file ${path} was replaced while it was opened.`);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

class Connection implements Transaction {
  readonly file: FileIdentity;
  readonly #database: Database;
  readonly #statements = new Map<string, Statement<unknown[]>>();

  private constructor(database: Database, file: FileIdentity) {
    this.#database = database;
    this.file = file;
  }

  static async open(path: string, file: FileIdentity, query: string): Promise<Connection> {
    const { default: Libsql } = await import('libsql');
    const url = pathToFileURL(path);
    url.search = query;
    const connection = new Connection(new Libsql(url.href, { timeout: BUSY_MS }), file);
    // Opening looks at nothing; the first statement does.
    await connection.query('PRAGMA schema_version');
    return connection;
  }

  async query(sql: string, params: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    return this.#prepare(sql).all([...params]) as SqlRow[];
  }

  async execute(sql: string, params: readonly SqlValue[] = []): Promise<number> {
    return this.#prepare(sql).run([...params]).changes;
  }

  async transaction<T>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: (transaction: Transaction) => Promise<T>): Promise<T> {
    this.#database.exec(begin);
    try {
      const result = await work(this);
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  /** False when somebody else is at it; with `isLast` that is thrown. */
  useWriteAheadLog(isLast: boolean): boolean {
    try {
      this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
      return true;
    } catch (error) {
      if (isLast || !isBusy(error)) throw error;
      return false;
    }
  }

  checkpoint(): void {
    try {
      this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      // A reader, or a full disk, can hinder it. The log stays then, and nothing is lost.
      if (sqliteCode(error) === undefined) throw error;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #prepare(sql: string): Statement<unknown[]> {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
