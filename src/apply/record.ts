import path from 'node:path';
import type { ResourceAddress } from '../core/address.ts';
import { digestOf } from '../core/canonical.ts';
import { formatPath, type PathSegment } from '../core/path.ts';
import { type Attributes, type Encrypt, encodeValue, holdsCiphertext, type Plain } from '../core/value.ts';
import { encryptAt, type Vault } from '../core/vault.ts';
import { fingerprintOfObserved, liveComputed, type Masks, maskedLive } from '../plan/live.ts';
import type { PreparedChange } from '../plan/prepared.ts';
import type { Effect, Observed, Receipt, ResourceType } from '../providers/contract.ts';
import { traitsAt } from '../providers/define.ts';
import type { ResourceRow } from '../state/model.ts';
import type { RunContext } from './run-context.ts';
import { decodePart, keyMissing, openSecrets } from './vaults.ts';

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

/** The row of a resource: attributes encoded, so that no secret is in it but those that the type keeps, encrypted. */
export function resourceRow(recorded: Recorded, { key, vault }: Pick<RunContext, 'key' | 'vault'>): ResourceRow {
  const keeps = (path: readonly PathSegment[]) => traitsAt(recorded.type, formatPath(path)).kept;
  const encrypt = (part: 'attributes' | 'computed') => encryptAt(vault, recorded.address, part, keeps);
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
    attributes: encodedAttributes(recorded.attributes, key, encrypt('attributes')),
    computed: encodedAttributes(recorded.computed, key, encrypt('computed')),
    fingerprint: recorded.fingerprint,
    dependencies: recorded.dependencies,
    protected: recorded.protected,
    role: recorded.role,
    deposed: recorded.deposed,
    folder: relativeFolder(recorded.environmentFolder, recorded.folder),
  };
}

export function encodedAttributes(attributes: Attributes, key: Buffer, encrypt?: Encrypt): { readonly [name: string]: Plain } {
  return encodeValue(attributes, key, encrypt) as { readonly [name: string]: Plain };
}

/** Attributes as a step of the journal holds them: with a vault every secret is kept encrypted, so that a step can be taken back without its run. */
export function journalForm(
  attributes: Attributes | undefined,
  run: Pick<RunContext, 'key' | 'vault'>,
  address: ResourceAddress,
  part: 'desired' | 'preimage',
): { readonly [name: string]: Plain } | null {
  return attributes === undefined ? null : encodedAttributes(attributes, run.key, encryptAt(run.vault, address, part));
}

/** The idempotency key of an effect: from its operation and what is wanted, secrets as fingerprints. No ciphertext is in it, which is another one each time. */
export function effectKey(
  run: Pick<RunContext, 'operation' | 'key'>,
  address: ResourceAddress,
  effect: Pick<Effect, 'name'>,
  wanted: Attributes | undefined,
): string {
  return digestOf([run.operation, address, effect.name, wanted === undefined ? null : encodedAttributes(wanted, run.key)]);
}

/** The object as the plan saw it; undefined where there was none. */
export function seenBefore({ observed, type, masks }: Pick<PreparedChange, 'observed' | 'type' | 'masks'>): Attributes | undefined {
  return observed.kind === 'found' ? maskedLive(type, observed, masks) : undefined;
}

/** What an effect told, secrets wrapped: it may have made them, and a program may print what it was given. `conceal` is told each of them. */
export function maskedReceipt(receipt: Receipt, type: ResourceType, masks: Masks, conceal?: RunContext['conceal']): Receipt {
  if (receipt.computed === undefined) return receipt;
  const computed = liveComputed(type, { computed: receipt.computed }, masks);
  conceal?.(openSecrets(computed));
  return { ...receipt, computed };
}

/** The row under another address. What it keeps encrypted is encrypted anew, since a ciphertext opens at its own address alone. Throws `BackendError` without the key for that. */
export function readdressed(row: ResourceRow, address: ResourceAddress, key: Buffer, vault: Vault | undefined): ResourceRow {
  if (row.address === address) return row;
  const again = (part: 'attributes' | 'computed') => {
    if (!holdsCiphertext(row[part])) return row[part];
    if (vault === undefined) throw keyMissing();
    const open = decodePart(row[part], vault, { address: row.address, part });
    return encodedAttributes(open as Attributes, key, encryptAt(vault, address, part));
  };
  return { ...row, address, attributes: again('attributes'), computed: again('computed') };
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
