import type { StateBoundary } from '../core/fail-point.ts';

/** What may be bound to a statement. Numbers are whole and safe. */
export type SqlValue = string | number | null;

/** A row as the driver answers it. It comes from outside of the process: `rows.ts` parses it before anybody uses it. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** One transaction. Every query of it sees the same state; a writing one holds the write lock of the database from its begin on. */
export interface Transaction {
  query(sql: string, params?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** Answers how many rows were changed. */
  execute(sql: string, params?: readonly SqlValue[]): Promise<number>;
}

/** A moment on the clock of a store, by which all that use the store judge a lease. Moments of two domains say nothing of each other. */
export interface StoreTime {
  readonly domain: string;
  readonly ms: number;
}

/** The domain of a server that several machines share; its moments are milliseconds since the epoch. */
export const SERVER_CLOCK = 'server';

/** All that differs between the SQL of two databases. */
export interface Dialect {
  /** True when the database is ours alone, so that a foreign table or another environment in it is a mistake. */
  readonly ownsDatabase: boolean;
  /** True when tables can be made and changed inside of a transaction. Where they can't, each such statement is durable by itself. */
  readonly definesInTransaction: boolean;
  readonly types: {
    /** Text of a bounded length that may be part of a key. */
    readonly key: (length: number) => string;
    readonly text: string;
    readonly document: string;
    readonly integer: string;
  };
  /** What follows the closing parenthesis of `CREATE TABLE`. */
  readonly tableSuffix: string;
  /** Put behind a `SELECT` whose row must not change until the transaction ends. */
  readonly forUpdate: string;
  /** In `CREATE TABLE`: an index over these columns, whose values are one row's alone. */
  index(columns: string): string;
  /** Names of all tables and views, as `name`; those that begin with the prefix are enough where the database is not ours alone. */
  listTables(prefix: string): string;
  /** Names of the columns of a table, as `name`. */
  listColumns(table: string): string;
  /** Inserts a row, or changes the columns that are neither keys nor `fixed` when the key is there already. */
  upsert(table: string, keys: readonly string[], columns: readonly string[], fixed?: readonly string[]): string;
}

/** What a writing transaction is. */
export interface WriteOptions {
  /** What it does, for tests that break it off. */
  readonly boundary: StateBoundary;
  /** Makes the database when it is missing. */
  readonly create?: boolean;
}

/** A connection to a database. Transactions never overlap: a call waits for the one before it. Throws `BackendError` alone for what the database refuses. */
export interface Driver {
  readonly dialect: Dialect;
  /** The place in words for messages; no password in it. */
  readonly place: string;
  /** Runs `work` on a consistent view without changing anything. Undefined when there is no database. `work` may be run again. */
  read<T>(work: (transaction: Transaction) => Promise<T>): Promise<T | undefined>;
  /**
   * Runs `work` and makes it durable before it resolves; a throw of `work` undoes all of it. Without `create` a missing database is an error.
   * `work` may be run again, when what it did before is certainly undone. `STATE_UNREACHABLE` leaves open whether it is in.
   */
  write<T>(work: (transaction: Transaction) => Promise<T>, options: WriteOptions): Promise<T>;
  /** Runs statements that make or change tables, each of which may be run again. In one transaction where the database can. */
  define<T>(work: (transaction: Transaction) => Promise<T>, options: WriteOptions): Promise<T>;
  /**
   * Goes the way of a write to these tables as far as it goes without changing or keeping off anything. False when that says nothing. Throws
   * `BackendError` with what stands in the way.
   */
  proveWritable(tables: readonly string[]): Promise<boolean>;
  /** The time on the store's clock. */
  now(transaction: Transaction): Promise<StoreTime>;
  close(): Promise<void>;
}
