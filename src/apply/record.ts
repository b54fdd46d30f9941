import path from 'node:path';
import type { ResourceAddress } from '../core/address.ts';
import { type Attributes, encodeValue, type Plain } from '../core/value.ts';
import { fingerprintOfObserved, liveComputed, type Masks } from '../plan/live.ts';
import type { Observed, ResourceType } from '../providers/contract.ts';
import type { ResourceRow } from '../state/model.ts';

/** What a row is made from, beside the live object. */
export interface Recorded {
  readonly address: ResourceAddress;
  readonly type: ResourceType;
  readonly provider: string;
  readonly role: string;
  readonly identity: string;
  readonly id: string;
  readonly ref: string | null;
  readonly marked: boolean;
  readonly status: ResourceRow['status'];
  readonly attributes: Attributes;
  readonly computed: Attributes;
  readonly dependencies: readonly ResourceAddress[];
  readonly protected: boolean;
  readonly deposed: ResourceRow['deposed'];
  /** Absolute. */
  readonly folder: string;
  readonly environmentFolder: string;
  readonly fingerprint: string;
}

/** The row of a resource: attributes encoded, so that no secret is in it. */
export function resourceRow(recorded: Recorded, key: Buffer): ResourceRow {
  return {
    address: recorded.address,
    type: recorded.type.type,
    provider: recorded.provider,
    schemaVersion: recorded.type.schemaVersion,
    id: recorded.id,
    ref: recorded.ref,
    identity: recorded.identity,
    status: recorded.status,
    marked: recorded.marked,
    attributes: encodedAttributes(recorded.attributes, key),
    computed: encodedAttributes(recorded.computed, key),
    fingerprint: recorded.fingerprint,
    dependencies: recorded.dependencies,
    protected: recorded.protected,
    role: recorded.role,
    deposed: recorded.deposed,
    folder: relativeFolder(recorded.environmentFolder, recorded.folder),
  };
}

export function encodedAttributes(attributes: Attributes, key: Buffer): { readonly [name: string]: Plain } {
  return encodeValue(attributes, key) as { readonly [name: string]: Plain };
}

/** A folder as it is recorded: relative to the environment's, so that both may move together. */
export function relativeFolder(environmentFolder: string, folder: string): string {
  return path.relative(environmentFolder, folder) || '.';
}

/** What a read tells for the record: live id, our id where the object bears it, computed attributes, fingerprint. */
export function recordOfObserved(type: ResourceType, observed: Observed, masks: Masks, key: Buffer) {
  const fingerprint = fingerprintOfObserved(type, observed, masks, key) ?? '';
  if (observed.kind !== 'found') return { ref: null, id: undefined, computed: {}, fingerprint };
  return { ref: observed.ref, id: observed.id, computed: liveComputed(type, observed, masks), fingerprint };
}
