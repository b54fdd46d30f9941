import type { IdSource } from '../core/clock.ts';
import { type Decrypt, decodeValue, holdsCiphertext, isAttributes, isList, type Plain, Sensitive, type Value } from '../core/value.ts';
import { CipherDamaged, decryptAt, type Vault, vaultOf } from '../core/vault.ts';
import type { OpenedVault } from '../plan/inputs.ts';
import type { Environment } from '../spec/environment.ts';
import { BackendError } from '../state/contract.ts';
import { createEncryption, type Encryption, type KeySource, openEncryption } from '../state/encryption.ts';
import { readKeyFile } from '../state/key-file.ts';
import type { Identity, ResourceRow, Snapshot } from '../state/model.ts';

/** What a vault is opened with. */
export interface VaultContext {
  readonly environment: Environment;
  readonly ids: IdSource;
  /** Told each secret that a vault gives out. */
  conceal?(secrets: readonly Sensitive[]): void;
}

/**
 * The vault of a state; undefined for one that has none, and where the documents name no key and it is not `needed`. Throws `BackendError` for a
 * key that does not open it, and for a missing one that is needed.
 */
export async function openVault(
  { environment, ids }: VaultContext,
  identity: Identity,
  options: { readonly needed: boolean } = { needed: true },
): Promise<Vault | undefined> {
  const { encryption } = identity;
  if (encryption === null) return undefined;
  const source = keySource(environment);
  if (source === undefined) {
    if (options.needed) throw keyMissing();
    return undefined;
  }
  return vaultOf(await openEncryption(encryption, source, identity), identity, ids);
}

/** The vault of a state with every secret that its records keep; each of them is tried. Throws `BackendError` as `openVault`, and for what does not open. */
export async function openedVault(context: VaultContext, snapshot: Snapshot | undefined): Promise<OpenedVault | undefined> {
  await requireKey(context);
  const rows = [...(snapshot?.resources.values() ?? [])];
  const needed = rows.some((row) => holdsCiphertext(row.attributes) || holdsCiphertext(row.computed));
  const vault = snapshot === undefined ? undefined : await openVault(context, snapshot.identity, { needed });
  if (vault === undefined) return undefined;
  const secrets = rows.flatMap((row) => keptSecrets(row, vault));
  context.conceal?.(secrets);
  return { vault, secrets };
}

/** Makes sure that a key which the documents name can be used. Throws `BackendError`. */
export async function requireKey({ environment }: VaultContext): Promise<void> {
  const source = keySource(environment);
  if (source?.kind === 'key-file') await readKeyFile(source.path);
}

/** Begins to keep secrets in a state that does not yet, where the documents name a key. Throws `BackendError` for a key that cannot be used. */
export async function beginEncryption(
  { environment, ids }: VaultContext,
  identity: Identity,
): Promise<{ readonly encryption: Encryption; readonly vault: Vault } | undefined> {
  const source = keySource(environment);
  if (source === undefined || identity.encryption !== null) return undefined;
  const { encryption, dataKey } = await createEncryption(source, identity, ids);
  return { encryption, vault: vaultOf(dataKey, identity, ids) };
}

/** Where the key comes from, as the documents say it; undefined when they name none. Throws `BackendError` for a passphrase that was not read. */
export function keySource({ encryption }: Environment): KeySource | undefined {
  if (encryption === undefined || encryption.kind === 'key-file') return encryption;
  const { passphrase } = encryption;
  const text = passphrase.isOpen ? passphrase.reveal() : undefined;
  if (typeof text === 'string') return { kind: 'passphrase', passphrase: text };
  throw new BackendError('STATE_KEY_UNUSABLE', 'The passphrase of the state was not read, or is no text.');
}

/** The error of a state that keeps secrets while no key is named. */
export function keyMissing(): BackendError {
  return new BackendError(
    'STATE_KEY_MISSING',
    'The state keeps secrets encrypted, and the documents have no state.encryption to open them with. Nothing was changed and nothing is lost: write it as it was.',
  );
}

/** Opens one part of a record. Throws `BackendError` for a ciphertext that was altered or moved. */
export function decodePart(stored: Plain, vault: Vault | undefined, place: { readonly address: string; readonly part: string }): Value {
  const decrypt = decryptAt(vault, place.address, place.part);
  return decodeValue(stored, decrypt === undefined ? undefined : guarded(decrypt, place.address));
}

function guarded(decrypt: Decrypt, address: string): Decrypt {
  return (ciphertext, path) => {
    try {
      return decrypt(ciphertext, path);
    } catch (error) {
      if (!(error instanceof CipherDamaged)) throw error;
      throw new BackendError(
        'STATE_CIPHER_DAMAGED',
        `A secret that the state keeps of ${address} was altered, or was put there from another place: the key is right and does not open it. Put a copy of the state from before in its place.`,
        { cause: error },
      );
    }
  };
}

function keptSecrets(row: ResourceRow, vault: Vault): readonly Sensitive[] {
  return (['attributes', 'computed'] as const).flatMap((part) =>
    holdsCiphertext(row[part]) ? openSecrets(decodePart(row[part], vault, { address: row.address, part })) : [],
  );
}

/** Every secret in a value that is open. */
export function openSecrets(value: Value): readonly Sensitive[] {
  if (value instanceof Sensitive) return value.isOpen ? [value] : [];
  if (isList(value)) return value.flatMap(openSecrets);
  return isAttributes(value) ? Object.values(value).flatMap(openSecrets) : [];
}
