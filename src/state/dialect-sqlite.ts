import { BackendError } from './contract.ts';
import type { Dialect } from './sql.ts';

/** What SQLite says its own way. */
export const sqliteDialect: Dialect = {
  ownsDatabase: true,
  definesInTransaction: true,
  types: { key: () => 'TEXT', text: 'TEXT', document: 'TEXT', integer: 'INTEGER' },
  tableSuffix: ' STRICT',
  // A writing transaction has the whole database for itself.
  forUpdate: '',
  index: (columns) => `UNIQUE (${columns})`,
  listTables: () => `SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY name`,
  listColumns: (table) => `SELECT name FROM pragma_table_info('${table}')`,
  upsert(table, keys, columns, fixed = []) {
    const all = [...keys, ...columns];
    const changed = columns.filter((column) => !fixed.includes(column)).map((column) => `${column} = excluded.${column}`);
    const then = changed.length === 0 ? 'NOTHING' : `UPDATE SET ${changed.join(', ')}`;
    return `INSERT INTO ${table} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')}) ON CONFLICT (${keys.join(', ')}) DO ${then}`;
  },
};

const PERM = 3;
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const PROTOCOL = 15;
const AUTH = 23;
const NOTADB = 26;
/** The file can be read, but its companions can't be made beside it. */
const READONLY_DIRECTORY = 1544;
/** No space for the shared index of the write-ahead log. */
const IOERR_SHMSIZE = 4874;

/** SQLite's own number of an error, or undefined when it is not SQLite's. An error of opening has it in its text alone. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const { rawCode } = error as { readonly rawCode?: unknown };
  if (typeof rawCode === 'number') return rawCode;
  const opening = /^ConnectionFailed\(.*: (\d+)"\)$/s.exec(error.message);
  return opening === null ? undefined : Number(opening[1]);
}

/** True when the file can't be read only because its companions can't be made beside it: the folder may not be written, or the disk is full. */
export function isCompanionRefusal(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === READONLY_DIRECTORY || code === IOERR_SHMSIZE || [CANTOPEN, FULL].includes((code ?? 0) & 0xff);
}

/** True when another connection is in the way, and may not be in a moment. */
export function isBusy(error: unknown): boolean {
  return [BUSY, LOCKED].includes((sqliteCode(error) ?? 0) & 0xff);
}

/** The error as the store's callers know it. What is not a state of the file or of the disk comes back as it is: it is a bug. */
export function sqliteError(path: string, error: unknown): unknown {
  const code = sqliteCode(error);
  if (code === undefined || !(error instanceof Error)) return error;
  const cause = { cause: error };
  if (code === IOERR_SHMSIZE) return full(path, error);
  switch (code & 0xff) {
    case FULL:
      return full(path, error);
    case CORRUPT:
      return corrupt(path, error);
    case NOTADB:
      return new BackendError(
        'STATE_CORRUPT',
        `The file ${path} is not a state, nor any other SQLite database. It was left as it is; name another file in state.path, or put a copy of the state in its place.`,
        cause,
      );
    case READONLY:
    case CANTOPEN:
    case PERM:
    case AUTH:
      return new BackendError(
        'STATE_UNREACHABLE',
        `The state file ${path} can't be opened for this: ${error.message}. The user must be able to write to the file and to its folder.`,
        cause,
      );
    case BUSY:
    case LOCKED:
    case PROTOCOL:
      return new BackendError(
        'STATE_UNREACHABLE',
        `The state file ${path} was busy for too long: another process is in the middle of a write, and may hang.`,
        {
          ...cause,
          next: 'accede status',
        },
      );
    case IOERR:
      return new BackendError(
        'STATE_UNREACHABLE',
        `Reading or writing the state file ${path} failed: ${error.message} (SQLite error ${code}). The disk or the file system may be broken.`,
        cause,
      );
    default:
      // A table or column that should be there is gone: somebody changed the schema by hand.
      return /no such (table|column)/.test(error.message) ? corrupt(path, error) : error;
  }
}

function full(path: string, cause: Error): BackendError {
  return new BackendError(
    'STATE_FULL',
    `There is no space left for the state file ${path}. What was written before is kept; make room on that disk, then run the command again.`,
    { cause },
  );
}

function corrupt(path: string, cause: Error): BackendError {
  return new BackendError(
    'STATE_CORRUPT',
    `The state file ${path} is damaged: ${cause.message}. It was left as it is; move it away and put a copy from before in its place.`,
    { cause },
  );
}
