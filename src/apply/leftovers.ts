import { MAY_APPEAR } from '../plan/decide.ts';
import type { PlanDocument } from '../plan/model.ts';
import type { Residue } from '../providers/contract.ts';
import type { Mutation } from '../state/contract.ts';
import type { Snapshot } from '../state/model.ts';
import { isOfEnvironment } from './environment-run.ts';

/** Steps of earlier runs at addresses that this run was about, and those of the environment itself: whatever they left, the plan has dealt with it now. */
export function settledSteps(snapshot: Snapshot, document: PlanDocument): readonly Mutation[] {
  const dealtWith = document.changes.filter((change) => change.reason !== MAY_APPEAR);
  const about = new Set(dealtWith.flatMap((change) => [change.address, change.movedFrom ?? change.address]));
  return snapshot.unsettled
    .filter((step) => about.has(step.address) || isOfEnvironment(step))
    .map((step): Mutation => ({ kind: 'step', step: { ...step, status: 'settled' } }));
}

/** Where runs that broke off may have left something of a provider block. */
export function residueOf(snapshot: Snapshot, alias: string): readonly Residue[] {
  const mark = { environment: snapshot.identity.environment, lineage: snapshot.identity.lineage };
  return snapshot.unsettled
    .filter((step) => step.provider === alias)
    .map(({ address, type, identity, ref }) => ({ address, type, identity, ref, mark }));
}
