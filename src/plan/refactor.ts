import { baseAddress, formatAddress, parseAddress, type ResourceAddress } from '../core/address.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { MovedBlock } from '../spec/environment.ts';
import type { ResourceRow } from '../state/model.ts';

/** A recorded resource under the address that it has after all `moved` entries. */
export interface RecordedResource {
  readonly row: ResourceRow;
  /** Where the state has it, when that differs. */
  readonly movedFrom: ResourceAddress | undefined;
  /** The state does not hold it: it stands for what the mark of an object tells. */
  readonly byMark?: boolean;
}

/**
 * Applies `moved` to the recorded resources, entry by entry in their order, so that a chain of moves works. An entry whose `from` is not
 * recorded is done already. One whose `to` is taken by another recorded object is an error.
 */
export function moveRows(
  rows: ReadonlyMap<ResourceAddress, ResourceRow>,
  moved: readonly MovedBlock[],
): { readonly recorded: ReadonlyMap<ResourceAddress, RecordedResource>; readonly diagnostics: readonly Diagnostic[] } {
  const recorded = new Map<ResourceAddress, RecordedResource>();
  for (const [address, row] of rows) recorded.set(address, { row, movedFrom: undefined });
  const diagnostics: Diagnostic[] = [];
  for (const entry of moved) {
    for (const [address, resource] of Array.from(recorded)) {
      const target = targetOf(address, entry);
      if (target === undefined || target === address) continue;
      if (recorded.has(target)) {
        diagnostics.push({
          severity: 'error',
          code: 'MOVE_TARGET_EXISTS',
          summary: 'A moved entry names an address that has an object of its own',
          detail: `${address} should become ${target}, but the state holds another object at ${target}. Remove that one first, or take the entry away.`,
          address: target,
          source: entry.source,
        });
        continue;
      }
      recorded.delete(address);
      recorded.set(target, { row: resource.row, movedFrom: resource.row.address === target ? undefined : resource.row.address });
    }
  }
  return { recorded, diagnostics };
}

function targetOf(address: ResourceAddress, entry: MovedBlock): ResourceAddress | undefined {
  if (address === entry.from) {
    const to = parseAddress(entry.to);
    return to === undefined ? undefined : formatAddress(to);
  }
  if (baseAddress(address) !== entry.from) return undefined;
  // An entry without a key moves every instance, and the keys stay.
  const parts = parseAddress(address);
  const to = parseAddress(entry.to);
  if (parts?.key === undefined || to === undefined || to.key !== undefined) return undefined;
  return formatAddress({ ...to, key: parts.key });
}

/**
 * Who has a live object by the record, by type and live id: an index, since a search per resource would cost the square of them. A predecessor
 * that still has to go is as much its address's own as what came in its place.
 */
export function holdersOf(
  recorded: ReadonlyMap<ResourceAddress, RecordedResource>,
): (type: string, ref: string) => readonly ResourceAddress[] {
  const holders = new Map<string, readonly ResourceAddress[]>();
  for (const [address, { row }] of recorded) {
    for (const ref of [row.ref, ...row.deposed.map((deposed) => deposed.ref)]) {
      if (ref === null) continue;
      const object = `${row.type} ${ref}`;
      holders.set(object, [...(holders.get(object) ?? []), address]);
    }
  }
  return (type, ref) => holders.get(`${type} ${ref}`) ?? [];
}
