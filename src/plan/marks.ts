import { compareText, formatAddress, parseAddress, type ResourceAddress } from '../core/address.ts';
import { digestOf } from '../core/canonical.ts';
import { isPlainName } from '../core/naming.ts';
import type { Inventory, Mark, ResourceType } from '../providers/contract.ts';
import type { ResourceRow } from '../state/model.ts';
import type { PlanInputs } from './inputs.ts';
import { isNamedBy } from './instances.ts';

/** An object with a mark of this environment, and the provider block through which it was seen. */
export interface MarkedObject extends Inventory {
  /** Alias of the block. */
  readonly provider: string;
}

/** A marked object that nothing is known of but its mark: no row, no step and no address of the documents has it. */
export interface Stray {
  readonly object: MarkedObject;
  /** The address that a plan gives it which removes it: the one where it was made, unless that one means something else. */
  readonly address: ResourceAddress;
  /** Where its mark says that it was made. It may have moved since. */
  readonly madeAs: ResourceAddress | undefined;
}

/** While there is no state, nothing is ours by a mark unless all marks agree on a lineage. */
export const NO_LINEAGE = '0'.repeat(32);

/** The lineages in the marks, sorted. */
export function lineagesOf(marked: readonly MarkedObject[]): readonly string[] {
  return [...new Set(marked.map((object) => object.lineage))].sort(compareText);
}

/**
 * The lineage with which a state that is not there begins: the one that all marks name, since marks cannot be changed and shall stay true.
 * Null when there is a state, when nothing is marked, and when the marks disagree.
 */
export function beginningLineage(snapshot: PlanInputs['snapshot'], marked: readonly MarkedObject[]): string | null {
  if (snapshot !== undefined) return null;
  const [first, ...more] = lineagesOf(marked);
  return first === undefined || more.length > 0 ? null : first;
}

/** The mark that our objects bear. */
export function ownMark(environment: string, snapshot: PlanInputs['snapshot'], marked: readonly MarkedObject[]): Mark {
  return { environment, lineage: snapshot?.identity.lineage ?? beginningLineage(snapshot, marked) ?? NO_LINEAGE };
}

/**
 * What bears our mark and is known from nothing else, as far as the observations tell: by its id, which is in its mark, no row, predecessor or
 * unfinished step has it, and it was not found in the place of any address. `taken` are addresses that mean something already.
 */
export function straysOf(inputs: PlanInputs, taken: ReadonlySet<ResourceAddress>): readonly Stray[] {
  if (!inputs.beginning) return [];
  const { lineage } = ownMark(inputs.environment.name, inputs.snapshot, inputs.world.marked);
  const known = knownIds(inputs, taken);
  const used = new Set<ResourceAddress>(taken);
  return inputs.world.marked.flatMap((object): Stray[] => {
    if (object.lineage !== lineage || known.has(object.id)) return [];
    const madeAs = madeAddress(object);
    const address = madeAs !== undefined && !used.has(madeAs) ? madeAs : ownAddress(object, madeAs);
    used.add(address);
    return [{ object, address, madeAs }];
  });
}

function knownIds({ snapshot, world }: PlanInputs, taken: ReadonlySet<ResourceAddress>): ReadonlySet<string> {
  const rows = [...(snapshot?.resources.values() ?? [])];
  return new Set([
    ...rows.flatMap((row) => [row.id, ...row.deposed.map((deposed) => deposed.id)]),
    ...(snapshot?.unsettled ?? []).map((step) => step.id),
    ...[...world.observations].flatMap(([address, observed]) =>
      taken.has(address) && observed.kind === 'found' && observed.owner === 'ours' && observed.id !== undefined ? [observed.id] : [],
    ),
  ]);
}

function madeAddress({ address, type }: MarkedObject): ResourceAddress | undefined {
  const parts = address === undefined ? undefined : parseAddress(address);
  if (parts?.type !== type || !isPlainName(parts.name) || (parts.key !== undefined && !isPlainName(parts.key))) return undefined;
  return formatAddress(parts);
}

/** An address that no document can have meant: it is told apart by our id. */
function ownAddress({ type, id }: MarkedObject, madeAs: ResourceAddress | undefined): ResourceAddress {
  const name = (madeAs === undefined ? undefined : parseAddress(madeAs)?.name) ?? 'marked';
  return formatAddress({ type, name, key: isPlainName(id) ? id : digestOf(id).slice(-32) });
}

/** Whether the documents give up what was made at an address (`destroy: false`), or want it gone; undefined when they say nothing. */
export function removalOf({ environment }: PlanInputs, { madeAs }: Stray): 'forget' | 'delete' | undefined {
  const entry = madeAs === undefined ? undefined : environment.removed.find(({ address }) => isNamedBy(madeAs, address));
  if (entry === undefined) return undefined;
  return entry.destroy ? 'delete' : 'forget';
}

/** A record for what only its mark tells us of: enough to find it and to remove it. */
export function rowOfMarked(
  object: Pick<MarkedObject, 'id' | 'ref' | 'provider'>,
  known: Pick<ResourceRow, 'address' | 'identity' | 'dependencies' | 'protected' | 'role' | 'folder'> & { readonly type: ResourceType },
): ResourceRow {
  const { type, ...rest } = known;
  return {
    ...rest,
    type: type.type,
    provider: object.provider,
    schemaVersion: type.schemaVersion,
    id: object.id,
    ref: object.ref,
    status: 'unfinished',
    marked: true,
    attributes: {},
    computed: {},
    fingerprint: '',
    deposed: [],
  };
}
