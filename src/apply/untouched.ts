import type { PlanDocument } from '../plan/model.ts';
import type { StateStore } from '../state/contract.ts';
import type { OperationRow, Snapshot } from '../state/model.ts';

/**
 * The snapshot as the plan may see it. Runs that ended in preflight left everything as it was and moved nothing but the serial: they do not
 * make a plan stale.
 */
export async function snapshotAsPlanned(store: StateStore, snapshot: Snapshot, plan: PlanDocument): Promise<Snapshot> {
  const { serial, digest, lineage } = plan.state;
  const { head, identity } = snapshot;
  if (head.serial <= serial || (lineage !== null && (lineage !== identity.lineage || digest !== head.digest))) return snapshot;
  const since = (await store.history()).filter((operation) => operation.serial > serial);
  if (!since.every(isUntouched)) return snapshot;
  return { ...snapshot, head: { ...head, serial } };
}

/** Whether a run ended before anything but its preflight was done. */
function isUntouched(operation: OperationRow): boolean {
  const { summary, outcome } = operation;
  return outcome === 'failed' && typeof summary === 'object' && summary !== null && 'untouched' in summary && summary['untouched'] === true;
}
