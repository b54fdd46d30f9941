import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { canonicalText, digestBytes } from '../core/canonical.ts';
import type { Clock, IdSource } from '../core/clock.ts';
import type { Plain } from '../core/value.ts';
import { damaged, parseColumns } from './rows.ts';
import type { SqlRow, Transaction } from './sql.ts';
import type { Statements } from './statements.ts';

/** What a record of the audit chain can be about: every command that changes the state, and every end of a lock that was not its holder's. */
export const AUDITED = [
  'state.created',
  'state.backed-up',
  'state.restored',
  'state.migrated',
  'state.retired',
  'state.upgraded',
  'lock.taken-over',
  'lock.broken',
  'operation.begun',
  'operation.resumed',
  'operation.abandoned',
  'operation.ended',
  'hold.set',
  'hold.lifted',
  'plan.approved',
] as const;

export interface AuditEntry {
  readonly what: (typeof AUDITED)[number];
  /** Of the operation it is about; null for what is about none. */
  readonly serial: number | null;
  /** `user@host`. */
  readonly actor: string;
  /** No secret. */
  readonly detail: Plain;
}

export interface AuditRecord extends AuditEntry {
  /** From 1, without gaps. */
  readonly ordinal: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Which key of the chain. */
  readonly epoch: number;
}

/** The first record that is not what was written, if there is one. */
export interface AuditVerdict {
  readonly records: number;
  /** First digits of the key's digest, to tell two chains apart. */
  readonly keyFingerprint: string;
  readonly problem: { readonly ordinal: number; readonly kind: 'altered' | 'missing' | 'added'; readonly detail: string } | null;
}

/** A record that is more than a day ahead was written by a clock that was wrong. */
const FAR_AHEAD = 86_400_000;

const recordColumns = z.object({ ordinal: z.int().positive(), epoch: z.int().positive(), body: z.string(), mac: z.string() });
const tipColumns = z.object({ epoch: z.int().positive(), secret: z.string().regex(/^[0-9a-f]{64}$/), ordinal: z.int(), mac: z.string() });
const bodySchema = z.strictObject({
  what: z.enum(AUDITED),
  serial: z.int().nullable(),
  actor: z.string(),
  at: z.string(),
  detail: z.json(),
});

/**
 * A chain of records: each holds an HMAC over itself and over the one before it, under a key of its own. What is altered, moved, left out or
 * cut off at the end shows when the chain is verified; who holds the database and its key can of course write another one.
 */
export class AuditChain {
  readonly #sql: Statements;
  readonly #environment: string;
  readonly #clock: Clock;
  readonly #ids: IdSource;

  constructor(sql: Statements, environment: string, sources: { readonly clock: Clock; readonly ids: IdSource }) {
    this.#sql = sql;
    this.#environment = environment;
    this.#clock = sources.clock;
    this.#ids = sources.ids;
  }

  /** Adds a record, in the very transaction of what it tells of: without it that does not happen. */
  async append(transaction: Transaction, entry: AuditEntry): Promise<void> {
    const tip = (await this.#tip(transaction, this.#sql.auditTipForUpdate)) ?? {
      epoch: 1,
      secret: `${this.#ids.id()}${this.#ids.id()}`,
      ordinal: 0,
      mac: '',
    };
    const ordinal = tip.ordinal + 1;
    const body = canonicalText({ ...entry, at: await this.#timeAfter(transaction, tip.ordinal) });
    const mac = macOf(tip.secret, { epoch: tip.epoch, ordinal, body, previous: tip.mac });
    await transaction.execute(this.#sql.putAudit, [this.#environment, ordinal, tip.epoch, body, mac]);
    await transaction.execute(this.#sql.putAuditTip, [this.#environment, tip.epoch, tip.secret, ordinal, mac]);
  }

  /**
   * The time of a record: no earlier than that of the one before it, though a clock was set back meanwhile or is behind on this machine. One that is
   * far ahead comes from a clock that was wrong, and holds nothing up.
   */
  async #timeAfter(transaction: Transaction, ordinal: number): Promise<string> {
    const now = this.#clock.now();
    const [row] = await transaction.query(this.#sql.auditBody, [this.#environment, ordinal]);
    const before = typeof row?.['body'] === 'string' ? Date.parse(parseBody(row['body'])?.at ?? '') : Number.NaN;
    return new Date(before > now && before - now < FAR_AHEAD ? before : now).toISOString();
  }

  /** All records, oldest first. Throws `STATE_CORRUPT` for one that cannot be read. */
  async list(transaction: Transaction): Promise<readonly AuditRecord[]> {
    const rows = await transaction.query(this.#sql.audit, [this.#environment]);
    return rows.map((row) => {
      const { ordinal, epoch, body } = parseColumns(recordColumns, row, this.#sql.tables.audit);
      const parsed = parseBody(body);
      if (parsed === undefined) throw damaged(this.#sql.tables.audit, `the record ${ordinal}`, 'it has another form');
      return { ordinal, epoch, ...parsed };
    });
  }

  /** Goes through the whole chain and names the first record that does not fit. */
  async verify(transaction: Transaction): Promise<AuditVerdict> {
    const [tip] = await transaction.query(this.#sql.auditTip, [this.#environment]);
    return judgeChain(tip, await transaction.query(this.#sql.audit, [this.#environment]), this.#sql.tables.auditTip);
  }

  async #tip(transaction: Transaction, select: string) {
    const row = (await transaction.query(select, [this.#environment]))[0];
    return row === undefined ? undefined : parseColumns(tipColumns, row, this.#sql.tables.auditTip);
  }
}

/** Goes through records, oldest first, by what is kept of the last one. `place` names the table or section of that. Throws `STATE_CORRUPT` for a tip that cannot be read. */
export function judgeChain(tipRow: SqlRow | undefined, rows: readonly SqlRow[], place: string): AuditVerdict {
  const tip = tipRow === undefined ? undefined : parseColumns(tipColumns, tipRow, place);
  if (tip === undefined) {
    const problem = rows.length === 0 ? null : { ordinal: 1, kind: 'added' as const, detail: 'the chain has records and no beginning' };
    return { records: rows.length, keyFingerprint: '', problem };
  }
  const verdict = { records: rows.length, keyFingerprint: digestBytes(tip.secret).slice(7, 23) };
  let previous = '';
  let expected = 1;
  for (const row of rows) {
    const problem = judge(row, tip.secret, { expected, previous });
    if (problem !== undefined) return { ...verdict, problem };
    previous = String(row['mac']);
    expected += 1;
  }
  if (tip.ordinal >= expected) {
    const detail = `the chain ends at ${expected - 1}, and ${tip.ordinal} records were written`;
    return { ...verdict, problem: { ordinal: expected, kind: 'missing', detail } };
  }
  if (tip.ordinal < expected - 1) {
    return { ...verdict, problem: { ordinal: tip.ordinal + 1, kind: 'added', detail: 'it was not written by the store' } };
  }
  if (tip.mac !== previous) {
    return {
      ...verdict,
      problem: { ordinal: tip.ordinal, kind: 'altered', detail: 'the last record is not the one that was written last' },
    };
  }
  return { ...verdict, problem: null };
}

function judge(
  row: SqlRow,
  secret: string,
  place: { readonly expected: number; readonly previous: string },
): NonNullable<AuditVerdict['problem']> | undefined {
  const { expected, previous } = place;
  const parsed = recordColumns.safeParse(row);
  if (!parsed.success) return { ordinal: expected, kind: 'altered', detail: 'it cannot be read' };
  const { ordinal, epoch, body, mac } = parsed.data;
  if (ordinal > expected) return { ordinal: expected, kind: 'missing', detail: `after ${expected - 1} comes ${ordinal}` };
  if (ordinal < expected) return { ordinal, kind: 'added', detail: 'it stands before the first' };
  if (mac === macOf(secret, { epoch, ordinal, body, previous })) return undefined;
  return { ordinal, kind: 'altered', detail: 'it, or what stands before it, is not what was written' };
}

function macOf(
  secret: string,
  sealed: { readonly epoch: number; readonly ordinal: number; readonly body: string; readonly previous: string },
) {
  return createHmac('sha256', Buffer.from(secret, 'hex')).update(canonicalText(sealed)).digest('hex');
}

function parseBody(text: string) {
  try {
    const parsed = bodySchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
