import { type Diagnostic, fail, type Outcome, succeed } from '../core/diagnostic.ts';
import type { Snapshot } from '../state/model.ts';
import { type EditRequest, editState } from './edit.ts';
import type { EngineContext } from './engine.ts';
import { type Past, readPast } from './past.ts';

/** What is to be kept of the past: the last environments that were in force, that in force included, or everything from a serial on. */
export type PruneBound = { readonly keep: number } | { readonly before: number };

export interface PruneResult {
  /** Of the operation; without anything to forget none was begun, and it is the one that was there. */
  readonly serial: number;
  /** The oldest operation that is left. */
  readonly from: number;
  /** How many operations and how many environments that were in force were forgotten. */
  readonly operations: number;
  readonly environments: number;
}

/**
 * Forgets the past before a bound, as an operation of its own. What is in force and what is not settled is never forgotten, nor anything that
 * came after it; while an operation is open nothing is. Audit and evidence stay.
 */
export async function pruneState(context: EngineContext, request: EditRequest, bound: PruneBound): Promise<Outcome<PruneResult>> {
  let told = { from: 0, operations: 0, environments: 0 };
  const edited = await editState(context, request, {
    kind: 'state-prune',
    purpose: 'state prune',
    decide: async (snapshot) => {
      if (snapshot.open !== null) return fail(operationOpen(snapshot.open.operation.id));
      const past = await readPast(context.store, snapshot);
      const wanted = boundOf(past, bound);
      const { serial: before, why } = heldBack(wanted, past, snapshot);
      const operations = past.operations.filter(({ serial }) => serial < before).length;
      const environments = past.environments.filter(({ serial }) => serial < before).length;
      told = { from: operations === 0 ? (past.operations.at(-1)?.serial ?? 0) : before, operations, environments };
      return succeed({
        mutations: operations === 0 ? [] : [{ kind: 'prune', before }],
        changed: [],
        summary: { before, operations, environments },
        diagnostics: before < wanted && why !== undefined ? [lowered(before, why)] : [],
      });
    },
  });
  return edited.ok ? succeed({ serial: edited.value.serial, ...told }, edited.diagnostics) : edited;
}

function boundOf({ environments }: Past, bound: PruneBound): number {
  if ('before' in bound) return bound.before;
  return environments[bound.keep - 1]?.serial ?? 0;
}

/** The bound, no higher than what is still needed. */
function heldBack(wanted: number, past: Past, snapshot: Snapshot): { readonly serial: number; readonly why?: string } {
  const inForce = past.environments.find(({ isInForce }) => isInForce)?.serial;
  const unsettled = Math.min(...snapshot.unsettled.map(({ serial }) => serial));
  const limits = [
    { serial: wanted },
    ...(inForce === undefined ? [] : [{ serial: inForce, why: `#${inForce} is in force` }]),
    ...(Number.isFinite(unsettled) ? [{ serial: unsettled, why: `#${unsettled} has steps whose outcome is not known` }] : []),
    { serial: snapshot.head.serial, why: `#${snapshot.head.serial} is the last operation` },
  ];
  return limits.reduce((least, limit) => (limit.serial < least.serial ? limit : least));
}

function operationOpen(id: string): Diagnostic {
  return {
    severity: 'error',
    code: 'STATE_PRUNE_OPEN',
    summary: 'Nothing is forgotten while an operation is open',
    detail: `${id} has not ended, and what came before it may be needed to end it. Nothing was changed.`,
    next: 'accede recover',
  };
}

function lowered(from: number, why: string): Diagnostic {
  return {
    severity: 'warning',
    code: 'STATE_PRUNE_HELD_BACK',
    summary: 'Less is forgotten than was asked for',
    detail: `Everything from #${from} on is kept: ${why}.`,
  };
}
