import { z } from 'zod';
import type { Tables } from './schema.ts';
import type { SqlRow, SqlValue, Transaction } from './sql.ts';
import type { Statements } from './statements.ts';

/** A part of a state: the rows that one environment has in a table, without the environment's name. */
export interface Section {
  readonly name: string;
  readonly table: Exclude<keyof Tables, 'prefix'>;
  /** What tells two rows of an environment apart, and their order; empty where there is one row at most. */
  readonly keys: readonly string[];
  readonly columns: readonly string[];
  /** The form of a row. */
  readonly row: z.ZodType<SectionRow>;
  /** How many rows are read at once. */
  readonly page: number;
}

export type SectionRow = { readonly [column: string]: SqlValue };

const FORMS = { text: z.string(), integer: z.int(), 'text?': z.string().nullable() } as const;
type Kind = keyof typeof FORMS;

function section(
  name: string,
  table: Section['table'],
  keys: readonly string[],
  columns: { readonly [column: string]: Kind },
  page = 500,
): Section {
  const shape = Object.fromEntries(Object.entries(columns).map(([column, kind]) => [column, FORMS[kind]]));
  return { name, table, keys, columns: Object.keys(columns), row: z.strictObject(shape) as z.ZodType<SectionRow>, page };
}

/** All that makes a state, in the order in which a backup holds it. Neither the lock is in it nor the standing: both belong to a store. */
export const SECTIONS: readonly Section[] = [
  section('identity', 'identity', [], { format: 'integer', lineage: 'text', fingerprint_key: 'text', created_at: 'text' }),
  section('encryption', 'encryption', [], { body: 'text' }),
  section('head', 'head', [], { serial: 'integer' }),
  section('fence', 'fence', [], { fence: 'integer' }),
  section('resources', 'resource', ['address'], { address: 'text', digest: 'text', body: 'text' }),
  section('history', 'history', ['address', 'serial'], { address: 'text', serial: 'integer', digest: 'text?', body: 'text?' }),
  section('outputs', 'outputs', ['serial'], { serial: 'integer', body: 'text' }),
  section('operations', 'operation', ['serial'], {
    serial: 'integer',
    kind: 'text',
    plan_digest: 'text?',
    class: 'text?',
    fence: 'integer',
    actor: 'text',
    reason: 'text?',
    started_at: 'text',
    ended_at: 'text?',
    outcome: 'text?',
    summary: 'text',
  }),
  section('journal', 'step', ['serial', 'step'], {
    serial: 'integer',
    step: 'text',
    ordinal: 'integer',
    unsettled: 'integer',
    body: 'text',
  }),
  section('sealed', 'sealed', ['serial'], { serial: 'integer', body: 'text' }),
  // A content may have megabytes.
  section('sources', 'source', ['digest'], { digest: 'text', body: 'text' }, 8),
  section('spent', 'spent', ['plan_digest'], { plan_digest: 'text', serial: 'integer' }),
  section('holds', 'holds', ['kind'], { kind: 'text', body: 'text' }),
  section('approvals', 'approval', ['plan_digest', 'signer'], { plan_digest: 'text', signer: 'text', body: 'text' }),
  section('audit-tip', 'auditTip', [], { epoch: 'integer', secret: 'text', ordinal: 'integer', mac: 'text' }),
  section('audit', 'audit', ['ordinal'], { ordinal: 'integer', epoch: 'integer', body: 'text', mac: 'text' }),
  section('evidence', 'evidence', ['serial', 'part'], { serial: 'integer', part: 'integer', digest: 'text', body: 'text' }),
];

/** The rows of a section in the order of its keys, which is one in every database. A page of them is held at a time. */
export async function* rowsOf(
  transaction: Transaction,
  sql: Statements,
  environment: string,
  { table, keys, columns, page }: Section,
): AsyncGenerator<SqlRow> {
  const [first, second] = keys;
  const select = `SELECT ${columns.join(', ')} FROM ${sql.tables[table]} WHERE environment = ?`;
  if (first === undefined) {
    yield* await transaction.query(select, [environment]);
    return;
  }
  const order = `ORDER BY ${keys.join(', ')} LIMIT ${page}`;
  const after =
    second === undefined
      ? `${select} AND ${first} > ? ${order}`
      : `${select} AND ${first} >= ? AND (${first} > ? OR ${second} > ?) ${order}`;
  for (let rows = await transaction.query(`${select} ${order}`, [environment]); ; ) {
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < page) return;
    const [a, b] = [last[first], second === undefined ? null : last[second]] as [SqlValue, SqlValue];
    rows = await transaction.query(after, second === undefined ? [environment, a] : [environment, a, a, b]);
  }
}

/** How many rows one statement inserts. */
const BATCH = 40;
/** Rows of more than so many characters together travel by themselves. */
const BATCH_TEXT = 256 * 1024;

/** Inserts rows into a section of which the environment has none. */
export async function insertRows(
  transaction: Transaction,
  sql: Statements,
  environment: string,
  { table, columns }: Section,
  rows: AsyncIterable<SectionRow>,
): Promise<void> {
  const names = ['environment', ...columns];
  const one = `(${names.map(() => '?').join(', ')})`;
  const insert = (count: number) =>
    `INSERT INTO ${sql.tables[table]} (${names.join(', ')}) VALUES ${Array.from({ length: count }, () => one).join(', ')}`;
  let waiting: SqlValue[][] = [];
  let text = 0;
  const flush = async () => {
    if (waiting.length === BATCH) await transaction.execute(insert(BATCH), waiting.flat());
    else for (const values of waiting) await transaction.execute(insert(1), values);
    waiting = [];
    text = 0;
  };
  for await (const row of rows) {
    waiting.push([environment, ...columns.map((column) => row[column] ?? null)]);
    text += columns.reduce((sum, column) => sum + String(row[column] ?? '').length, 0);
    if (waiting.length === BATCH || text > BATCH_TEXT) await flush();
  }
  await flush();
}
