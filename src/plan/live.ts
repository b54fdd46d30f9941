import { digestOf } from '../core/canonical.ts';
import { type Attributes, decodeValue, encodeValue, isAttributes, sameValue, Unknown, type Value } from '../core/value.ts';
import { decryptAt, type Vault } from '../core/vault.ts';
import type { Found, Observed, ResourceType } from '../providers/contract.ts';
import type { ResourceRow } from '../state/model.ts';
import { maskLive } from './masking.ts';

/** What tells secrets in live values: the desired and the recorded attributes, and the run's secrets as texts. */
export interface Masks {
  readonly desired: Attributes | undefined;
  readonly recorded: Attributes | undefined;
  readonly secrets: readonly string[];
}

/** The recorded attributes of a row in the present normal form, secrets sealed. */
export function recordedAttributes(type: ResourceType, row: ResourceRow): Attributes {
  const stored = decodeValue(row.attributes);
  if (!isAttributes(stored)) throw new Error(`${row.address}: the stored attributes are not a map`);
  if (row.schemaVersion === type.schemaVersion) return stored;
  if (type.upgrade === undefined)
    throw new Error(`${row.address}: no way from schema version ${row.schemaVersion} to ${type.schemaVersion}`);
  return type.upgrade(stored, row.schemaVersion);
}

/** The recorded computed attributes of a row; secrets that are kept come open when there is a vault. */
export function recordedComputed(row: ResourceRow, vault?: Vault): Attributes {
  const stored = decodeValue(row.computed, decryptAt(vault, row.address, 'computed'));
  if (!isAttributes(stored)) throw new Error(`${row.address}: the stored computed attributes are not a map`);
  return stored;
}

/** The live attributes in terms of `against`, secrets wrapped. */
export function alignedLive(type: ResourceType, found: Found, against: Attributes, masks: Masks): Attributes {
  return maskLive(type.align?.(against, found.attributes) ?? found.attributes, type, masks);
}

/** What is live as the server tells it, secrets wrapped. */
export function maskedLive(type: ResourceType, found: Found, masks: Masks): Attributes {
  return maskLive(found.attributes, type, masks);
}

/** Computed attributes, of a read or as an effect told them, with the secret ones wrapped. */
export function liveComputed(type: ResourceType, found: Pick<Found, 'computed'>, masks: Masks): Attributes {
  return maskLive(found.computed, type, masks);
}

/** What was foreseen of computed attributes, with what it leaves open taken from those that are known of the object. */
export function filledIn(foreseen: Attributes, known: Attributes): Attributes {
  const fill = (value: Value, found: Value | undefined): Value => {
    if (value instanceof Unknown) return found ?? value;
    return isAttributes(value) && isAttributes(found ?? null) ? filledIn(value, found as Attributes) : value;
  };
  return Object.fromEntries(Object.entries(foreseen).map(([name, value]) => [name, fill(value, known[name])]));
}

/**
 * The fingerprint of an object: the digest of its live id and its managed attributes, secrets as keyed fingerprints. Null for an absent
 * object. Nothing volatile may be in a provider's attributes.
 */
export function fingerprintOfObserved(type: ResourceType, observed: Observed, masks: Masks, key: Buffer | undefined): string | null {
  if (observed.kind !== 'found') return null;
  const attributes = encodeValue(maskLive(observed.attributes, type, masks), key);
  return digestOf({ ref: observed.ref, owner: observed.owner, attributes });
}

/**
 * Whether two looks found the same object with the same attributes, compared as a plan compares: what a server gives by itself, and may have
 * given anew between the two, does not count.
 */
export function isSameObject(
  type: ResourceType,
  [one, other]: readonly [Observed, Observed],
  row: ResourceRow | undefined,
  masks: Masks,
  key: Buffer,
): boolean {
  if (one.kind !== 'found' || other.kind !== 'found' || one.ref !== other.ref || one.owner !== other.owner) return false;
  const against = row === undefined ? one.attributes : recordedAttributes(type, row);
  return sameValue(alignedLive(type, one, against, masks), alignedLive(type, other, against, masks), key);
}
