import { z } from 'zod';
import { canonicalText } from '../core/canonical.ts';
import { BackendError } from './contract.ts';
import { damaged, parseColumns } from './rows.ts';
import type { Transaction } from './sql.ts';
import type { Statements } from './statements.ts';

const moved = { move: z.string(), by: z.string(), at: z.string() };
const markerSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('retired'), to: z.string(), ...moved }),
  z.strictObject({ kind: z.literal('incoming'), from: z.string(), ...moved }),
]);
const columns = z.object({ epoch: z.int().positive(), body: z.string().nullable() });

/**
 * What a store is to its environment. `retired`: the state went to another place, and nothing is written here any more. `incoming`: a copy of
 * a state that is still in use elsewhere, until its move ends. At most one store of a state is `in-use`.
 */
export type Standing = { readonly kind: 'in-use' } | Readonly<z.infer<typeof markerSchema>>;

/** The standing of a store and the epoch of its state. */
export interface Stand {
  readonly epoch: number;
  readonly standing: Standing;
}

export async function loadStanding(transaction: Transaction, sql: Statements, environment: string): Promise<Stand> {
  const [row] = await transaction.query(sql.standing, [environment]);
  if (row === undefined) return { epoch: 1, standing: { kind: 'in-use' } };
  const { epoch, body } = parseColumns(columns, row, sql.tables.standing);
  return { epoch, standing: body === null ? { kind: 'in-use' } : parseMarker(sql, body) };
}

export async function putStanding(transaction: Transaction, sql: Statements, environment: string, stand: Stand): Promise<void> {
  const body = stand.standing.kind === 'in-use' ? null : canonicalText(stand.standing);
  await transaction.execute(sql.putStanding, [environment, stand.epoch, body]);
}

/** Throws `STATE_RETIRED` or `STATE_MOVE_OPEN` for a store that nobody may work with. */
export function requireInUse(standing: Standing, environment: string): void {
  switch (standing.kind) {
    case 'in-use':
      return;
    case 'retired':
      throw new BackendError(
        'STATE_RETIRED',
        `The state of ${environment} is not kept here any more: since ${standing.at} it is in ${standing.to} (${standing.by}). Nothing was written. Let state in the documents name that place.`,
      );
    case 'incoming':
      throw new BackendError(
        'STATE_MOVE_OPEN',
        `The state of ${environment} is being moved here from ${standing.from} (${standing.by}, ${standing.at}), and that has not ended. Nothing was written. Run the same accede state migrate once more, with documents that name the former place; it ends the move.`,
      );
  }
  standing satisfies never;
}

function parseMarker(sql: Statements, body: string) {
  try {
    const parsed = markerSchema.safeParse(JSON.parse(body));
    if (parsed.success) return parsed.data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw damaged(sql.tables.standing, 'the standing', 'it has another form');
}
