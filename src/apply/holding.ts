import type { Diagnostic } from '../core/diagnostic.ts';
import type { PlanDocument } from '../plan/model.ts';
import { type HeldSource, isHeldBy, keptSource, sourceOf } from '../policy/hold.ts';
import { policyInForce } from '../policy/policy.ts';
import type { Mutation, StateStore, WriteSession } from '../state/contract.ts';
import type { Hold, OperationRow, Snapshot } from '../state/model.ts';
import type { EngineContext } from './engine.ts';
import { isWhole } from './seal.ts';

/** Codes of what says nothing of the source: what the surroundings lacked (room, access, a target that answers). */
const OF_SURROUNDINGS: readonly string[] = ['EXHAUSTED', 'FORBIDDEN', 'UNREACHABLE'];
/** How the code ends of what merely moved between plan and apply, and says nothing of the source. */
const MOVED = '_MOVED';

/**
 * Holds the source of a candidate that failed and was taken back, and says so. What destroys or goes back brings no source that could be tried
 * again.
 */
export async function holdFailed(
  session: WriteSession,
  plan: PlanDocument,
  operation: OperationRow,
  run: { readonly interrupted: boolean; readonly diagnostics: readonly Diagnostic[] },
  now: number,
): Promise<readonly Diagnostic[]> {
  if (operation.kind !== 'apply' || !hasCandidateFailed(run)) return [];
  const hold = holdAfterFailure(plan, operation, run.diagnostics[0], now);
  await session.write([{ kind: 'hold', hold }]);
  return [heldNote(hold)];
}

/** What a run that came to its end does to holds, and to the evidence of older runs. */
export async function holdsAfter(
  { store, clock, environment }: EngineContext,
  before: Snapshot,
  plan: PlanDocument,
  operation: OperationRow,
): Promise<readonly Mutation[]> {
  const evidence = policyInForce(before.sealed, environment)?.evidence;
  // The run's own comes when it has ended.
  const retained: readonly Mutation[] = evidence === undefined ? [] : [{ kind: 'retain', evidence: Math.max(0, evidence - 1) }];
  if (operation.kind !== 'rollback') return [...holdEnded(before, plan), ...retained];
  const hold = await holdAfterRollback(store, before, plan, operation, clock.now());
  return hold === undefined ? retained : [{ kind: 'hold', hold }, ...retained];
}

/** Whether a run that was taken back failed by its own candidate: neither was it stopped, nor was it anything but the source. */
function hasCandidateFailed(tally: { readonly interrupted: boolean; readonly diagnostics: readonly Diagnostic[] }): boolean {
  return !tally.interrupted && tally.diagnostics.some(({ code }) => !code.endsWith(MOVED) && !OF_SURROUNDINGS.includes(code));
}

/** The hold on a source whose candidate failed. */
function holdAfterFailure(plan: PlanDocument, operation: OperationRow, first: Diagnostic | undefined, now: number): Hold {
  const why = first === undefined ? '' : ` (${first.code}${first.address === undefined ? '' : ` at ${first.address}`})`;
  return holdOf(sourceOf(plan), operation, `its apply failed and was taken back${why}`, now);
}

/**
 * The hold on the source that a rollback left: that of the operation which was open, else of the environment that was in force. Undefined when
 * nothing was left, or the same source came back.
 */
async function holdAfterRollback(
  store: StateStore,
  before: Snapshot,
  plan: PlanDocument,
  operation: OperationRow,
  now: number,
): Promise<Hold | undefined> {
  const open = before.open?.operation;
  const left = (open?.kind === 'apply' ? keptSource(open.summary) : undefined) ?? (await sourceInForce(store, before));
  if (left === undefined) return undefined;
  const hold = holdOf(left, operation, `${operation.id} went back from it`, now);
  return isHeldBy(hold, sourceOf(plan)) ? undefined : hold;
}

async function sourceInForce(store: StateStore, { sealed }: Snapshot): Promise<HeldSource | undefined> {
  if (sealed === null) return undefined;
  const operation = (await store.history()).find(({ serial }) => serial === sealed.serial);
  const kept = operation === undefined ? undefined : keptSource(operation.summary);
  return kept?.source === sealed.sourceDigest ? kept : { source: sealed.sourceDigest, variables: null };
}

/** What a run that put another source in force does to the hold on a source: it ends it. */
function holdEnded(before: Snapshot, plan: PlanDocument): readonly Mutation[] {
  const held = before.holds.find(({ kind }) => kind === 'source');
  if (held === undefined || !isWhole(plan) || plan.inputs.options.destroy || isHeldBy(held, sourceOf(plan))) return [];
  return [{ kind: 'hold', hold: null }];
}

/** What is said of a hold that a run has set. */
function heldNote(hold: Hold): Diagnostic {
  return {
    severity: 'warning',
    code: 'SOURCE_HELD',
    summary: 'The source is held',
    detail: `The documents as they are, with these variables, are not applied again until another source comes: ${hold.reason}. If the source was not the cause, lift the hold.`,
    next: 'accede hold --lift --reason TEXT',
  };
}

function holdOf(source: HeldSource, { actor, serial }: OperationRow, reason: string, now: number): Hold {
  return { kind: 'source', ...source, reason, by: actor, since: new Date(now).toISOString(), until: null, serial };
}
