import { digestOf } from '../../core/canonical.ts';
import { type AttributePath, isBelow } from '../../core/path.ts';
import type { Plain } from '../../core/value.ts';
import type { Found, Inventory, InventoryMark, Mark, Operation } from '../contract.ts';

/** Every label of ours begins so; operators may not write such labels. */
export const LABEL_PREFIX = 'io.accede.';

const ENVIRONMENT = `${LABEL_PREFIX}environment`;
const LINEAGE = `${LABEL_PREFIX}lineage`;
const ID = `${LABEL_PREFIX}id`;
const CREATED = `${LABEL_PREFIX}created`;
const SPEC = `${LABEL_PREFIX}spec`;

/** Labels of a container of a run on request: which run it is, the digest of its inputs, and the fingerprint of what it was asked. */
export const RUN_LABELS = { run: `${LABEL_PREFIX}run`, inputs: `${LABEL_PREFIX}inputs`, request: `${LABEL_PREFIX}request` } as const;

type Labels = { readonly [name: string]: string };

/**
 * The labels of a new object. They say only what stays true, since the engine never changes labels: whose it is, our id of it, which operation
 * made it at which address, and the digest of what it was made from.
 */
export function ownerLabels(operation: Operation, hidden: readonly AttributePath[] = []): Labels {
  return {
    [ENVIRONMENT]: operation.mark.environment,
    [LINEAGE]: operation.mark.lineage,
    [ID]: operation.id,
    [CREATED]: `${operation.operation} ${operation.address}`,
    [SPEC]: specDigest(operation.desired, hidden),
  };
}

/** The digest of a spec without the attributes that may hold secrets: an unkeyed digest of a short secret could be guessed. */
function specDigest(desired: { readonly [name: string]: Plain }, hidden: readonly AttributePath[]): string {
  const shown = Object.entries(desired).filter(([name]) => !hidden.some((path) => isBelow(name, path)));
  return digestOf(Object.fromEntries(shown));
}

/** Whose an object with these labels is. `isRecorded` says that its live id is the recorded one: what was imported bears no mark. */
export function ownerOf(labels: Labels, mark: Mark, isRecorded: boolean): Found['owner'] {
  if (isRecorded || isMarked(labels, mark)) return 'ours';
  return labels[LINEAGE] === undefined ? 'nobody' : 'other';
}

export function isMarked(labels: Labels, mark: Mark): boolean {
  return labels[LINEAGE] === mark.lineage && labels[ENVIRONMENT] === mark.environment;
}

/** Whether an object bears the mark of an environment, of whatever state. */
export function isOfEnvironment(labels: Labels, environment: string): boolean {
  return labels[LINEAGE] !== undefined && labels[ENVIRONMENT] === environment;
}

/** Our id of an object, from its mark. */
export function markedId(labels: Labels): string | undefined {
  return labels[ID];
}

/** The address at which an object with our mark was made. */
export function createdAt(labels: Labels): string | undefined {
  return labels[CREATED]?.split(' ')[1];
}

/** The entry of an inventory for an object with a mark of the environment; without a lineage in question whatever state made it. */
export function inventoryEntry(type: Inventory['type'], labels: Labels, ref: string, mark: InventoryMark): Inventory | undefined {
  const { [ID]: id, [LINEAGE]: lineage, [ENVIRONMENT]: environment } = labels;
  if (id === undefined || lineage === undefined || !/^[0-9a-f]{32}$/.test(lineage) || environment !== mark.environment) return undefined;
  if (mark.lineage !== undefined && mark.lineage !== lineage) return undefined;
  const address = createdAt(labels);
  return { type, id, ref, lineage, ...(address === undefined ? {} : { address }) };
}

/** The labels that are not ours. */
export function ownLabels(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => !name.startsWith(LABEL_PREFIX)));
}
