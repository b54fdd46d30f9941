import type { ResourceAddress } from '../core/address.ts';
import { canonicalText } from '../core/canonical.ts';
import type { PlanDocument } from '../plan/model.ts';
import type { StateStore } from '../state/contract.ts';
import { digestOfRows, sealRow } from '../state/digest.ts';
import type { OperationRow, ResourceRow, Snapshot } from '../state/model.ts';

/**
 * The snapshot as a plan may see it that was made before: with the head that the plan knew, where what moved it since then is none of the plan's
 * concern. That are runs which ended before anything but their preflight was done, and runs on request of addresses that the plan leaves as
 * they are. It is made again from the rows of now all the same, so that one whose outcome they change is stale. Throws `BackendError`.
 */
export async function asPlanned(store: StateStore, plan: PlanDocument, snapshot: Snapshot): Promise<Snapshot> {
  const { serial, digest, lineage } = plan.state;
  const { head, identity } = snapshot;
  if (head.serial <= serial || (lineage !== null && lineage !== identity.lineage)) return snapshot;
  const since = (await store.history()).filter((operation) => operation.serial > serial);
  const touching = since.filter((operation) => !isUntouched(operation));
  if (touching.length === 0) return lineage !== null && digest !== head.digest ? snapshot : { ...snapshot, head: { ...head, serial } };
  if (!touching.every(isEndedRun)) return snapshot;
  const ran = new Set<ResourceAddress>();
  for (const operation of touching) for (const step of await store.steps(operation.serial)) ran.add(step.address);
  if (plan.changes.some((change) => change.action !== 'noop' && ran.has(change.address))) return snapshot;
  const past = await store.readAt(serial);
  if (past === undefined || digestOfRows(past.resources.values(), past.outputs) !== digest) return snapshot;
  if (canonicalText([...past.outputs]) !== canonicalText([...snapshot.outputs])) return snapshot;
  const isSame = differingAddresses(past.resources, snapshot.resources).every((address) => ran.has(address));
  return isSame ? { ...snapshot, head: { serial, digest } } : snapshot;
}

/** Whether a run ended before anything but its preflight was done. */
function isUntouched({ summary, outcome }: OperationRow): boolean {
  const isStopped = outcome === 'failed' || outcome === 'interrupted';
  return isStopped && typeof summary === 'object' && summary !== null && 'untouched' in summary && summary['untouched'] === true;
}

/** Whether it is a run on request that came to an end of its own. It writes the record of its own address alone. */
function isEndedRun({ kind, outcome }: OperationRow): boolean {
  return kind === 'run' && (outcome === 'done' || outcome === 'failed' || outcome === 'interrupted');
}

function differingAddresses(
  past: ReadonlyMap<ResourceAddress, ResourceRow>,
  now: ReadonlyMap<ResourceAddress, ResourceRow>,
): readonly ResourceAddress[] {
  const digestIn = (rows: ReadonlyMap<ResourceAddress, ResourceRow>, address: ResourceAddress) => {
    const row = rows.get(address);
    return row === undefined ? undefined : sealRow(row).digest;
  };
  return [...new Set([...past.keys(), ...now.keys()])].filter((address) => digestIn(past, address) !== digestIn(now, address));
}
