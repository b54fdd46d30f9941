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

/** All that differs between the SQL of two databases. */
export interface Dialect {
  /** True when the database is ours alone, so that a foreign table or another environment in it is a mistake. */
  readonly ownsDatabase: boolean;
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
  /** Names of all tables, as `name`. */
  readonly listTables: string;
  /** Inserts a row, or changes the columns that are neither keys nor `fixed` when the key is there already. */
  upsert(table: string, keys: readonly string[], columns: readonly string[], fixed?: readonly string[]): string;
}

/** A connection to a database. Transactions never overlap: a call waits for the one before it. Throws `BackendError` alone for what the database refuses. */
export interface Driver {
  readonly dialect: Dialect;
  /** The place in words for messages; no password in it. */
  readonly place: string;
  /** Runs `work` on a consistent view without changing anything. Undefined when there is no database. `work` may be run again. */
  read<T>(work: (transaction: Transaction) => Promise<T>): Promise<T | undefined>;
  /** Runs `work` and makes it durable before it resolves; a throw of `work` undoes all of it. Without `create` a missing database is an error. */
  write<T>(work: (transaction: Transaction) => Promise<T>, options?: { readonly create: boolean }): Promise<T>;
  close(): Promise<void>;
}
