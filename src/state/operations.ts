import { canonicalText } from '../core/canonical.ts';
import type { OperationRow } from './model.ts';
import type { Transaction } from './sql.ts';
import type { Statements } from './statements.ts';

/** Writes an operation, or what has become of it. */
export async function putOperation(transaction: Transaction, sql: Statements, environment: string, row: OperationRow): Promise<void> {
  await transaction.execute(sql.putOperation, [
    environment,
    row.serial,
    row.kind,
    row.planDigest,
    row.class,
    row.fence,
    row.actor,
    row.reason,
    row.startedAt,
    row.endedAt,
    row.outcome,
    canonicalText(row.summary),
  ]);
}
