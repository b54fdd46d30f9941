import type { Clock, IdSource } from '../core/clock.ts';
import { BackendError } from './contract.ts';
import { mysqlDialect } from './dialect-mysql.ts';
import { type Isolation, MysqlConnection, type MysqlServer } from './mysql-connection.ts';
import { isAway, isConflict, isLost, mysqlError, unknownCommit } from './mysql-errors.ts';
import { type Driver, SERVER_CLOCK, type SqlRow, type StoreTime, type Transaction } from './sql.ts';

/** How long a server that answered before may be away: a restart takes some seconds, and the lease of a lock outlives it. */
const AWAY_MS = 25_000;
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 1_000;
/** How often a transaction that met another one is run again. */
const CONFLICTS = 8;
/** Marks of writers that have not written for so many seconds are removed. */
const OLD_MARK = 86_400;

/** How one try of a transaction ended. */
type Attempt<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'again'; readonly because: unknown };

/**
 * A database on a server of the MySQL protocol: a session for reading and one for writing, opened when they are first needed and again when
 * they broke. A server that comes back soon is waited for.
 *
 * A writing transaction leaves a mark of its own: the writer's id and a number that grows. When the connection breaks in the middle of a
 * commit, the mark tells on the next one whether the transaction is in; only one that is not in is run again.
 */
export class MysqlDriver implements Driver {
  readonly dialect = mysqlDialect;
  readonly place: string;
  readonly #server: MysqlServer;
  readonly #clock: Clock;
  readonly #marks: string;
  readonly #writer: string;
  readonly #sessions = new Map<Isolation, MysqlConnection>();
  #number = 0;
  #answered = false;
  /** Since when the server is away, on the monotonic clock. */
  #awaySince: number | undefined;
  #reading: Promise<unknown> = Promise.resolve();
  #writing: Promise<unknown> = Promise.resolve();

  constructor(server: MysqlServer, options: { readonly clock: Clock; readonly ids: IdSource; readonly prefix: string }) {
    this.#server = server;
    this.place = server.place;
    this.#clock = options.clock;
    this.#marks = `${options.prefix}mark`;
    this.#writer = options.ids.id();
  }

  async read<T>(work: (transaction: Transaction) => Promise<T>): Promise<T | undefined> {
    const turn = this.#reading.then(() => this.#persistently(() => this.#read(work)));
    this.#reading = turn.catch(() => undefined);
    return turn;
  }

  async write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const turn = this.#writing.then(() => this.#persistently(() => this.#write(work)));
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  async define<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const turn = this.#writing.then(() => this.#persistently(() => this.#define(work)));
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  /** Statements that meet no row: the server refuses them as it would refuse a write, and they lock nothing. */
  async proveWritable(tables: readonly string[]): Promise<boolean> {
    const prove = async (): Promise<Attempt<boolean>> => {
      const session = await this.#session('latest');
      await session.command('START TRANSACTION');
      try {
        for (const table of tables) {
          await session.command(`UPDATE ${table} SET environment = environment WHERE 1 = 0`);
          await session.command(`DELETE FROM ${table} WHERE 1 = 0`);
          await session.command(`INSERT INTO ${table} SELECT * FROM ${table} WHERE 1 = 0`);
        }
      } finally {
        await undo(session);
      }
      return { kind: 'done', value: tables.length > 0 };
    };
    const turn = this.#writing.then(() => this.#persistently(prove));
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  async now(transaction: Transaction): Promise<StoreTime> {
    const [row] = await transaction.query('SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED) AS ms');
    return { domain: SERVER_CLOCK, ms: numberIn(row, 'ms') ?? Number.NaN };
  }

  async close(): Promise<void> {
    await Promise.all([this.#reading, this.#writing]);
    const writer = this.#sessions.get('latest');
    if (writer !== undefined && !writer.isOver && this.#number > 0) {
      try {
        await writer.execute(`DELETE FROM ${this.#marks} WHERE writer = ?`, [this.#writer]);
        await writer.execute(`DELETE FROM ${this.#marks} WHERE seen < UNIX_TIMESTAMP() - ${OLD_MARK}`);
      } catch (error) {
        // Then it is removed as an old one some day.
        if (mysqlError(this.place, error) === error) throw error;
      }
    }
    for (const session of this.#sessions.values()) await session.close();
    this.#sessions.clear();
  }

  /** Tries until it is done, as long as trying again is safe and has hope. */
  async #persistently<T>(attempt: () => Promise<Attempt<T>>): Promise<T> {
    let conflicts = 0;
    let pause = FIRST_PAUSE;
    const begun = this.#clock.monotonic();
    for (;;) {
      const ended = await this.#mapped(attempt);
      if (ended.kind === 'done') return ended.value;
      const { because } = ended;
      const isOver = isConflict(because) ? ++conflicts > CONFLICTS : !this.#mayReturn(begun);
      if (isOver) throw mysqlError(this.place, because);
      await this.#clock.sleep(pause);
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    }
  }

  async #mapped<T>(attempt: () => Promise<Attempt<T>>): Promise<Attempt<T>> {
    try {
      return await attempt();
    } catch (error) {
      if (isConflict(error) || isAway(error)) return { kind: 'again', because: error };
      throw mysqlError(this.place, error);
    }
  }

  /** A server that never answered is not waited for: its address may be wrong. */
  #mayReturn(begun: number): boolean {
    if (!this.#answered) return false;
    const now = this.#clock.monotonic();
    this.#awaySince ??= now;
    // One that takes connections and breaks each of them is given up as well.
    return now - this.#awaySince < AWAY_MS && now - begun < 2 * AWAY_MS;
  }

  async #session(isolation: Isolation): Promise<MysqlConnection> {
    const known = this.#sessions.get(isolation);
    if (known !== undefined && !known.isOver) return known;
    const opened = await MysqlConnection.open(this.#server, isolation);
    this.#sessions.set(isolation, opened);
    this.#answered = true;
    this.#awaySince = undefined;
    return opened;
  }

  async #read<T>(work: (transaction: Transaction) => Promise<T>): Promise<Attempt<T>> {
    const session = await this.#session('snapshot');
    await session.command('START TRANSACTION');
    try {
      const value = await work(session);
      await session.command('ROLLBACK');
      return { kind: 'done', value };
    } catch (error) {
      await undo(session);
      throw error;
    }
  }

  /** Each statement is durable by itself, and each may be run again. */
  async #define<T>(work: (transaction: Transaction) => Promise<T>): Promise<Attempt<T>> {
    const session = await this.#session('latest');
    const { key, integer } = this.dialect.types;
    await session.command(
      `CREATE TABLE IF NOT EXISTS ${this.#marks} (writer ${key(32)} NOT NULL, number ${integer} NOT NULL, seen ${integer} NOT NULL, PRIMARY KEY (writer))${this.dialect.tableSuffix}`,
    );
    const value = await work({
      query: (sql, params) => session.query(sql, params),
      execute: async (sql, params = []) => {
        if (params.length > 0) return session.execute(sql, params);
        await session.command(sql);
        return 0;
      },
    });
    return { kind: 'done', value };
  }

  async #write<T>(work: (transaction: Transaction) => Promise<T>): Promise<Attempt<T>> {
    const session = await this.#session('latest');
    const number = ++this.#number;
    let value: T;
    try {
      await session.command('START TRANSACTION');
      value = await work(session);
      await session.execute(
        `INSERT INTO ${this.#marks} (writer, number, seen) VALUES (?, ?, UNIX_TIMESTAMP()) ON DUPLICATE KEY UPDATE number = VALUES(number), seen = VALUES(seen)`,
        [this.#writer, number],
      );
    } catch (error) {
      // The commit was never asked for, so whatever broke, nothing of this is in.
      await undo(session);
      throw error;
    }
    try {
      await session.command('COMMIT');
      return { kind: 'done', value };
    } catch (error) {
      if (!isLost(error)) {
        await undo(session);
        throw error;
      }
      return (await this.#isIn(number)) ? { kind: 'done', value } : { kind: 'again', because: error };
    }
  }

  /** Whether the transaction with that mark is in. Where it is still under way on the server, its row is waited for. */
  async #isIn(number: number): Promise<boolean> {
    try {
      return await this.#persistently(async () => {
        const session = await this.#session('latest');
        await session.command('START TRANSACTION');
        const [row] = await session.query(`SELECT number FROM ${this.#marks} WHERE writer = ? FOR UPDATE`, [this.#writer]);
        await session.command('ROLLBACK');
        return { kind: 'done', value: numberIn(row, 'number') === number };
      });
    } catch (error) {
      if (error instanceof BackendError) throw unknownCommit(this.place);
      throw error;
    }
  }
}

function numberIn(row: SqlRow | undefined, column: string): number | undefined {
  const value = row?.[column];
  return typeof value === 'number' ? value : undefined;
}

/** Undoes what was not committed. A session that can't even do that is broken off, which has the same effect. */
async function undo(session: MysqlConnection): Promise<void> {
  if (session.isOver) return;
  try {
    await session.command('ROLLBACK');
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    session.end();
  }
}
