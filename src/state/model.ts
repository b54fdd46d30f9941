import type { ResourceAddress, TypeName } from '../core/address.ts';
import type { Digest } from '../core/canonical.ts';
import type { Stage } from '../core/facet.ts';
import type { Plain } from '../core/value.ts';
import type { Encryption } from './encryption.ts';

/** Written once, at the first apply or `state init`. */
export interface Identity {
  readonly format: 1;
  readonly environment: string;
  /** 32 random hexadecimal digits: what makes two states of one name different. */
  readonly lineage: string;
  /** The key of all fingerprints of secrets; 32 random bytes in hexadecimal. It never leaves the store but for the process that needs it. */
  readonly fingerprintKey: string;
  /** How secrets are kept that are needed again; null while none is kept. The one part of the identity that changes: with its first use and with its key. */
  readonly encryption: Encryption | null;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

/** An object that stepped aside for its successor and still has to be removed. */
export interface Deposed {
  readonly id: string;
  readonly ref: string;
}

/** What is recorded of one resource. Attributes are in encoded normal form: secrets are fingerprints, those that are kept with their ciphertext. */
export interface ResourceRow {
  readonly address: ResourceAddress;
  readonly type: TypeName;
  /** Alias of the provider block. */
  readonly provider: string;
  readonly schemaVersion: number;
  /** Our own id of the object, kept over moves and renewed with each replacement. */
  readonly id: string;
  /** Live id; null while there is no live object (it was removed to make room and its successor has not come yet). */
  readonly ref: string | null;
  readonly identity: string;
  /** `unfinished`: the object is there and an effect of its creation or change was not done. `tainted`: an operator wants a new one. */
  readonly status: 'ready' | 'unfinished' | 'tainted';
  /** Where the mark stands: `marked` on the object, `unmarked` for what was imported and bears none. */
  readonly marked: boolean;
  readonly attributes: { readonly [name: string]: Plain };
  readonly computed: { readonly [name: string]: Plain };
  /** Digest of the live id and managed attributes as last seen by us. */
  readonly fingerprint: string;
  /** Addresses that it needed when it was applied; the order of deletion when the YAML is gone. Sorted. */
  readonly dependencies: readonly ResourceAddress[];
  /** `prevent_destroy` at the last apply. */
  readonly protected: boolean;
  readonly role: string;
  readonly deposed: readonly Deposed[];
  /** Folder of the document, relative to the environment's, for types that need it to be removed. */
  readonly folder: string;
}

/** The head: which snapshot is in force. The serial is that of the last operation that wrote; every operation that writes has one of its own. */
export interface Head {
  readonly serial: number;
  /** Digest over all rows and outputs; equal contents have equal digests. */
  readonly digest: Digest;
}

export type OperationKind =
  | 'apply'
  | 'destroy'
  | 'run'
  | 'import'
  | 'state-mv'
  | 'state-rm'
  | 'state-push'
  | 'state-rekey'
  | 'taint'
  | 'untaint'
  | 'init'
  | 'rollback'
  | 'state-prune'
  | 'state-restore';
/** `compensated`: it failed, and everything that it had done was taken back. */
export type OperationOutcome = 'done' | 'failed' | 'interrupted' | 'abandoned' | 'compensated';

/** One run that writes. It is open while `outcome` is absent. */
export interface OperationRow {
  /** Strictly growing inside of a lineage: the serial that the operation writes. */
  readonly serial: number;
  /** `op-` and the serial, for people: `op-12`. */
  readonly id: string;
  readonly kind: OperationKind;
  readonly planDigest: string | null;
  readonly class: string | null;
  readonly fence: number;
  readonly actor: string;
  readonly reason: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly outcome: OperationOutcome | null;
  /** Tally and messages of the end; no secret. */
  readonly summary: Plain;
}

/**
 * `compensating`: it is being taken back. `compensated`: it was. `settled`: its outcome was never told by its own run, and a later run has
 * dealt with what it left.
 */
export type StepStatus = 'intended' | 'done' | 'failed' | 'unknown' | 'compensating' | 'compensated' | 'settled';

/** One effect in the journal. Written as `intended` and made durable before the effect, and again after it. */
export interface StepRow {
  /** Serial of its operation. */
  readonly serial: number;
  /** The plan's step id. */
  readonly step: string;
  readonly address: ResourceAddress;
  readonly type: TypeName;
  readonly provider: string;
  readonly effect: string;
  readonly object: 'create' | 'update' | 'remove' | 'depose' | 'retire' | 'keep' | 'record';
  /** What the plan said of the step, so that it can be taken back without the plan: action of its change, part, stage, direction, what it waited for. */
  readonly action: string;
  readonly part: 'prepare' | 'remove' | 'apply' | 'commit' | 'retire';
  readonly stage: Stage;
  readonly direction: 'back' | 'forward' | 'stays';
  readonly after: readonly string[];
  readonly key: string;
  readonly status: StepStatus;
  /** Our id of the object it is about; for `create` the new one's. */
  readonly id: string;
  /** Its live id; that of a new one once its effect has told it. */
  readonly ref: string | null;
  readonly identity: string;
  /** Encoded desired attributes of a `create` or `update`, so that a run after a crash can tell its own work; null for the rest. Encrypted as the preimage. */
  readonly desired: { readonly [name: string]: Plain } | null;
  /** Encoded attributes of the live object before the change, so that it can be taken back; null where there was none. With a key its secrets are kept encrypted. */
  readonly preimage: { readonly [name: string]: Plain } | null;
  /** Folder of the document, relative to the environment's. */
  readonly folder: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** Typed code and sentence of a failure; no secret, no raw output. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** The account of one run, as it was written at its end. */
export interface EvidenceRow {
  readonly serial: number;
  /** Counts the runs of the operation from 1: one that was recovered has several. */
  readonly part: number;
  /** Of the body in canonical form. */
  readonly digest: string;
  /** `accede.evidence/v1`. */
  readonly body: Plain;
}

/** The document that the last successful apply put in force. */
export interface Sealed {
  readonly serial: number;
  readonly sourceDigest: string;
  readonly releaseDigest: string | null;
  /** Policy, hooks, quiesce and refactoring documents in canonical form, for judging the next plan by what is in force. */
  readonly governance: Plain;
  readonly commit: string | null;
  /** Fingerprint of each secret of the environment by name; a bundle is one. */
  readonly secrets: { readonly [name: string]: string };
  /** Digest of what it was made of, by which that is kept; null when it is not. */
  readonly source: string | null;
}

/** What one operation put in force; null when it took everything down. */
export interface Sealing {
  readonly serial: number;
  readonly sealed: Sealed | null;
}

/** What keeps applies off: one of each kind at most. */
export interface Hold {
  /** `source`: set by a run, on the source that it left. `hand`: set by somebody, on every source. */
  readonly kind: 'source' | 'hand';
  /** Digest of the documents that are held; null for every one. */
  readonly source: string | null;
  /** Digest of the variables that they were held with; null where nobody knows it, and for every one. */
  readonly variables: string | null;
  readonly reason: string;
  /** `user@host`. */
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly since: string;
  /** When it ends by itself, on the store's clock. */
  readonly until: string | null;
  /** Serial of the operation that set it; null for one set by hand. */
  readonly serial: number | null;
}

export interface StoredOutput {
  readonly name: string;
  /** Encoded. */
  readonly value: Plain;
}

/** A consistent view of everything at one moment. */
export interface Snapshot {
  readonly identity: Identity;
  /** From 1; raised whenever the state is put back from a backup or moved to another store, so that plans from before are told apart. */
  readonly epoch: number;
  readonly head: Head;
  /** By address, sorted. */
  readonly resources: ReadonlyMap<ResourceAddress, ResourceRow>;
  readonly outputs: readonly StoredOutput[];
  readonly sealed: Sealed | null;
  /** What keeps applies off, ended ones included; one set by hand first. */
  readonly holds: readonly Hold[];
  /** The last operation that has not ended, with its steps. */
  readonly open: { readonly operation: OperationRow; readonly steps: readonly StepRow[] } | null;
  readonly lastOperation: OperationRow | null;
  /**
   * Steps of any operation, ended or not, whose effect may have happened without being recorded: every `intended`, `unknown` and
   * `compensating` one, and `failed` ones with object `create`. Oldest first. A later run writes them again as `settled`.
   */
  readonly unsettled: readonly StepRow[];
  /** Who holds the lock now, if anybody does. */
  readonly lock: LockInfo | null;
}

/** Who holds the lock. The token itself is never stored or shown. */
export interface LockInfo {
  /** What `unlock` takes. */
  readonly lockId: string;
  readonly fence: number;
  readonly who: string;
  readonly host: string;
  readonly bootId: string;
  readonly pid: number;
  /** Start time of the process in clock ticks since boot, so that a reused pid is told from the holder. */
  readonly processStart: string;
  readonly purpose: string;
  readonly since: string;
}
