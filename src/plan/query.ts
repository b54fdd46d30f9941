import type { ResourceAddress } from '../core/address.ts';
import { type Attributes, containsUnknown, mapLeaves, Sensitive } from '../core/value.ts';
import type { Vault } from '../core/vault.ts';
import type { Mark, ObjectQuery, ResourceType } from '../providers/contract.ts';
import type { ResourceRow, Snapshot, StepRow } from '../state/model.ts';
import { recordedAttributes, recordedComputed } from './live.ts';

/** Steps of earlier runs that may have done something which was never recorded, by address. */
export function unsettledSteps(snapshot: Snapshot | undefined): ReadonlyMap<ResourceAddress, readonly StepRow[]> {
  const byAddress = new Map<ResourceAddress, StepRow[]>();
  for (const step of snapshot?.unsettled ?? []) {
    const list = byAddress.get(step.address);
    if (list === undefined) byAddress.set(step.address, [step]);
    else list.push(step);
  }
  return byAddress;
}

/**
 * How to look for the object of an address: by its recorded live id, by our id (that of a creation which broke off, where there is one), and
 * by its identity. Undefined when nothing is known to look for.
 */
export function objectQuery(
  address: ResourceAddress,
  type: ResourceType,
  mark: Mark,
  known: {
    readonly row: ResourceRow | undefined;
    readonly identity: string | undefined;
    readonly unsettled: readonly StepRow[];
    readonly importedRef: string | undefined;
    /** What a data type is asked, as far as everything of it is known; what the documents want where nothing is recorded. */
    readonly desired: Attributes | undefined;
    /** Whether the row only stands for what a mark tells, so that nothing is recorded. */
    readonly byMark?: boolean;
    readonly vault?: Vault | undefined;
  },
): ObjectQuery | undefined {
  const { row } = known;
  if (type.data) return known.desired === undefined ? undefined : dataQuery(address, type, mark, known.desired);
  const made = known.unsettled.find((step) => step.object === 'create');
  const id = made?.id ?? row?.id;
  const ref = known.importedRef ?? row?.ref ?? undefined;
  // A recorded object is looked for where it was put; a change of its identity is a change of the object, not another object.
  const identity = row?.ref !== null && row !== undefined ? row.identity : (known.identity ?? row?.identity);
  if (ref === undefined && id === undefined && identity === undefined) return undefined;
  return {
    address: row?.address ?? address,
    type: type.type,
    mark,
    ...(ref === undefined ? {} : { ref }),
    ...(id === undefined ? {} : { id }),
    ...(identity === undefined ? {} : { identity }),
    ...(row === undefined && known.desired !== undefined ? { desired: known.desired } : {}),
    ...(row === undefined || known.byMark === true
      ? {}
      : { recorded: { attributes: recordedAttributes(type, row), computed: recordedComputed(row, known.vault) } }),
  };
}

/** A query for what is only read; undefined while any part of the question is unknown. */
function dataQuery(address: ResourceAddress, type: ResourceType, mark: Mark, desired: Attributes): ObjectQuery | undefined {
  if (containsUnknown(desired)) return undefined;
  return { address, type: type.type, mark, desired: revealed(desired) };
}

/** The attributes with every secret out of its wrapper; one that was left unread stays away. */
function revealed(desired: Attributes): Attributes {
  return mapLeaves(desired, (leaf) => (leaf instanceof Sensitive ? (leaf.isOpen ? leaf.reveal() : null) : leaf)) as Attributes;
}

/**
 * A record for what a creation may have left at an address that has none: enough to look for the object and to remove it when the documents do
 * not want it any more.
 */
export function rowOfUnsettled(steps: readonly StepRow[]): ResourceRow | undefined {
  const made = steps.find((step) => step.object === 'create');
  if (made === undefined) return undefined;
  return {
    address: made.address,
    type: made.type,
    provider: made.provider,
    schemaVersion: 1,
    id: made.id,
    ref: null,
    identity: made.identity,
    status: 'unfinished',
    marked: false,
    attributes: made.desired ?? {},
    computed: {},
    fingerprint: '',
    dependencies: [],
    protected: false,
    role: 'infrastructure',
    deposed: [],
    folder: '.',
  };
}
