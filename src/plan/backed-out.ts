import type { ResourceAddress } from '../core/address.ts';
import type { ResourceRow, Snapshot, StoredOutput } from '../state/model.ts';
import type { BackOut, PlanInputs } from './inputs.ts';
import { openOperation } from './succession/open-facts.ts';

/** What was recorded before an operation began. */
export interface PastRecord {
  readonly resources: ReadonlyMap<ResourceAddress, ResourceRow>;
  readonly outputs: readonly StoredOutput[];
}

/**
 * Whether the open operation would have to be taken back before the documents can be applied: it is for other documents, nothing of it is
 * past its point of no return, and all of it can be taken back. Undefined where none is open, or where it is gone on with.
 */
export function backOutOf(inputs: Pick<PlanInputs, 'snapshot' | 'options' | 'environment'>): BackOut | undefined {
  const facts = openOperation(inputs);
  const open = inputs.snapshot?.open ?? null;
  if (facts === undefined || open === null || facts.crossed || !facts.compensable) return undefined;
  if (facts.sourceDigest === inputs.environment.sourceDigest) return undefined;
  const begun = open.steps.filter((step) => step.status !== 'compensated' && step.status !== 'settled');
  return {
    operation: open.operation.id,
    steps: begun.map(({ step }) => step).toReversed(),
    addresses: new Set(open.steps.map(({ address }) => address)),
  };
}

/** The state as it will be once the open operation is taken back. That it is open still stands in it. */
export function backedOut(snapshot: Snapshot, past: PastRecord): Snapshot {
  const serial = snapshot.open?.operation.serial;
  return {
    ...snapshot,
    resources: past.resources,
    outputs: past.outputs,
    unsettled: snapshot.unsettled.filter((step) => step.serial !== serial),
  };
}
