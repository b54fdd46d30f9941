import { compareText, type ResourceAddress } from '../core/address.ts';
import type { PlanDocument } from '../plan/model.ts';
import type { Mutation } from '../state/contract.ts';
import type { ResourceRow } from '../state/model.ts';

/** The rows whose dependencies name an address that this plan moved, with the new one in its place. */
export function renameDependencies(rows: ReadonlyMap<ResourceAddress, ResourceRow>, document: PlanDocument): readonly Mutation[] {
  const renamed = new Map<ResourceAddress, ResourceAddress>();
  for (const change of document.changes) {
    if (change.movedFrom !== null && rows.has(change.address)) renamed.set(change.movedFrom, change.address);
  }
  if (renamed.size === 0) return [];
  return [...rows.values()].flatMap((row): readonly Mutation[] => {
    if (!row.dependencies.some((needed) => renamed.has(needed))) return [];
    const dependencies = row.dependencies.map((needed) => renamed.get(needed) ?? needed).sort(compareText);
    return [{ kind: 'row', row: { ...row, dependencies } }];
  });
}
