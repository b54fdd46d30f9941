import type { ResourceAddress } from '../core/address.ts';
import type { Digest } from '../core/canonical.ts';
import type { Plain } from '../core/value.ts';
import type { AuditRecord, AuditVerdict } from './audit.ts';
import type { Encryption } from './encryption.ts';
import type {
  EvidenceRow,
  Hold,
  Identity,
  LockInfo,
  OperationKind,
  OperationOutcome,
  OperationRow,
  ResourceRow,
  Sealed,
  Sealing,
  Snapshot,
  StepRow,
  StoredOutput,
} from './model.ts';

/**
 * The one store of everything that must agree: identity, head, rows, history, lock, journal, spent plans. Reading never waits for a lock
 * and never writes. Writing needs the lock, and each write is compared with the fence, so that a holder that lost it cannot land one.
 */
export interface StateStore {
  /** A consistent snapshot, or undefined when there is no state yet. Creates nothing. Throws `BackendError`. */
  read(): Promise<Snapshot | undefined>;
  /** The rows as they were when the operation of that serial ended. Undefined when there is no such serial. */
  readAt(serial: number): Promise<
    | {
        readonly operation: OperationRow;
        readonly resources: ReadonlyMap<ResourceAddress, ResourceRow>;
        readonly outputs: readonly StoredOutput[];
      }
    | undefined
  >;
  /** What operations put in force, newest first. */
  sealings(): Promise<readonly Sealing[]>;
  /** Digests of all contents that are kept. */
  sourceDigests(): Promise<ReadonlySet<string>>;
  /** Contents that are kept, as they were given to `write`, by digest. What is not kept is missing in the answer. */
  sources(digests: readonly Digest[]): Promise<ReadonlyMap<Digest, string>>;
  /** All operations, newest first. */
  history(): Promise<readonly OperationRow[]>;
  /** Steps of one operation in the order in which they were intended. */
  steps(serial: number): Promise<readonly StepRow[]>;
  /** The operation that spent this plan, or undefined. */
  spentBy(planDigest: string): Promise<OperationRow | undefined>;
  /**
   * Takes the lock. With no state yet, the state is made first (only here, and only when `create` is given). Answers `busy` at once; waiting
   * is the caller's. A holder that is dead on this very host, or that did not renew its lease in time, is taken over with a greater fence.
   */
  acquire(request: LockRequest): Promise<Acquired | Busy>;
  /** Ends a lock by its id and raises the fence. False when no such lock is held. */
  unlock(lockId: string, who: string): Promise<boolean>;
  /** The audit chain, oldest record first. */
  audit(): Promise<readonly AuditRecord[]>;
  /** Goes through the audit chain; undefined when there is no state. */
  verifyAudit(): Promise<AuditVerdict | undefined>;
  /** What runs left as evidence, oldest first; of one operation alone where `serial` is given. */
  evidence(serial?: number): Promise<readonly EvidenceRow[]>;
  /** The time on the store's clock, in milliseconds since the epoch: the same for all who use the store. */
  now(): Promise<number>;
  /** Sets a hold in place of one of its kind, without the lock: it keeps off what comes, not what runs. False when there is no state. */
  setHold(hold: Hold): Promise<boolean>;
  /** Lifts every hold and answers what was lifted. */
  liftHolds(who: string, reason: string): Promise<readonly Hold[]>;
  /** The approvals of a plan that were put into the store, by whom they were signed, sorted. Nothing is known of what is in them. */
  approvals(planDigest: string): Promise<readonly Plain[]>;
  /** Keeps an approval of a plan in place of one by the same signer. False when there is no state. */
  putApproval(approval: { readonly planDigest: string; readonly signer: string; readonly body: Plain }, who: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface LockRequest {
  readonly who: string;
  readonly purpose: string;
  /** Makes the state when there is none. `serial` is where its head starts: above 0 only for a state that comes from elsewhere. */
  readonly create?: { readonly identity: Identity; readonly serial?: number };
}

export interface Busy {
  readonly kind: 'busy';
  readonly holder: LockInfo;
}

export interface Acquired {
  readonly kind: 'acquired';
  readonly lock: LockInfo;
  /** The holder that was found dead and taken over. */
  readonly tookOver: LockInfo | undefined;
  readonly session: WriteSession;
}

/**
 * Writing under the lock, whose lease is renewed until `release`. `write` resolves when its mutations are durable: all of them or none. Calls
 * that come while one is being made durable are grouped into the next transaction, so a thousand parallel steps do not cost a thousand
 * syncs. Every method throws `BackendError` with `FENCED` when the lock was lost or its lease ran out. After `STATE_UNREACHABLE` nobody knows
 * whether a write is in, and no further one is taken.
 */
export interface WriteSession {
  readonly fence: number;
  read(): Promise<Snapshot>;
  /** Begins an operation: compares the head with `expected`, ends an operation that a dead holder left open as `abandoned`, and moves the serial by one. */
  begin(operation: NewOperation, expected: { readonly serial: number; readonly digest: Digest }): Promise<OperationRow>;
  /** Takes over an operation whose own run is gone, to end it: what is written from now on belongs to it. It must be the last one and still open. */
  resume(serial: number): Promise<OperationRow>;
  write(mutations: readonly Mutation[]): Promise<void>;
  /** Ends the operation, keeps the evidence of its run, and seals what it put in force when `sealed` is given; null says that nothing is in force any more. */
  end(serial: number, outcome: OperationOutcome, summary: Plain, sealed?: Sealed | null, evidence?: Plain): Promise<void>;
  /** Takes this store out of use for good: every later write is refused with `STATE_RETIRED`, which names the new place. */
  retire(retirement: Retirement): Promise<void>;
  /** Gives the lock back. Never throws for a lock that is lost already, nor for one that can't be given back: that ends with its lease. */
  release(): Promise<void>;
}

/** Why a store is taken out of use. */
export interface Retirement {
  /** The new place in words, without a user or password. */
  readonly to: string;
  /** Tells this move from every other one. */
  readonly move: string;
  readonly by: string;
  /** The last record of the audit chain that went along. One that was added since, without the lock, would be lost: then it is `STATE_MOVED`. */
  readonly auditedUpTo?: number;
}

export interface NewOperation {
  readonly kind: OperationKind;
  readonly planDigest: string | null;
  readonly class: string | null;
  readonly actor: string;
  readonly reason: string | null;
  readonly startedAt: string;
  /** What is known of it from the start; that of its end takes its place. */
  readonly summary?: Plain;
}

export type Mutation =
  | { readonly kind: 'row'; readonly row: ResourceRow }
  | { readonly kind: 'drop'; readonly address: ResourceAddress }
  | { readonly kind: 'step'; readonly step: StepRow }
  /** Written once: the account of one run of the operation. */
  | { readonly kind: 'evidence'; readonly body: Plain }
  | { readonly kind: 'outputs'; readonly outputs: readonly StoredOutput[] }
  /** How the state keeps its data key from now on. */
  | { readonly kind: 'encryption'; readonly encryption: Encryption }
  /** Marks the plan as spent by the operation of the write session. Written with the first effect's intent. */
  | { readonly kind: 'spend'; readonly planDigest: string; readonly serial: number }
  /** Keeps a content (`encodeContent`) by the digest of its bytes; one that is kept already is left. */
  | { readonly kind: 'source'; readonly digest: Digest; readonly body: string }
  /** Holds the source that the operation left, in place of the one that was held; null: none is held any more. Audited. */
  | { readonly kind: 'hold'; readonly hold: Hold | null }
  /** Forgets the oldest evidence, until so much is left. */
  | { readonly kind: 'retain'; readonly evidence: number }
  /**
   * Forgets what is older than the operation `before`: operations, steps, spent plans, what was in force, and contents that nothing else names.
   * Never what later serials build on. `before` may not be above what is in force, what is open and what is unsettled.
   */
  | { readonly kind: 'prune'; readonly before: number };

export const BACKEND_ERROR_CODES = [
  /** Another environment's or lineage's state, or a format that this version does not know. */
  'STATE_FOREIGN',
  'STATE_FORMAT',
  /** The store is damaged: a row that does not parse, a digest that does not match. */
  'STATE_CORRUPT',
  /** Wrong owner, mode or kind of the file. */
  'STATE_FILE_UNSAFE',
  'STATE_UNREACHABLE',
  'STATE_FULL',
  /** What the state keeps encrypted cannot be opened: no key was given, another one, or none can be read. */
  'STATE_KEY_MISSING',
  'STATE_KEY_WRONG',
  'STATE_KEY_UNUSABLE',
  /** A ciphertext was altered or stands in another place than it was made for. */
  'STATE_CIPHER_DAMAGED',
  /** The state is kept in another store now. */
  'STATE_RETIRED',
  /** The state is being moved into this store, and that has not ended. */
  'STATE_MOVE_OPEN',
  /** A state was to be put into a store that is not empty, or from one that is another's. */
  'STATE_NOT_EMPTY',
  /** A backup that was altered or cut, of another format, or of another environment or lineage. */
  'STATE_BACKUP_DAMAGED',
  'STATE_BACKUP_FORMAT',
  'STATE_BACKUP_FOREIGN',
  /** The audit chain is not what was written. */
  'AUDIT_BROKEN',
  /** A file that is no part of the store. */
  'FILE_UNREADABLE',
  'FILE_UNWRITABLE',
  /** The lock was lost. */
  'FENCED',
  /** The head is not the expected one. */
  'STATE_MOVED',
] as const;
export type BackendErrorCode = (typeof BACKEND_ERROR_CODES)[number];

/** What a store throws; turned into a diagnostic at one place. */
export class BackendError extends Error {
  override readonly name = 'BackendError';
  readonly code: BackendErrorCode;
  readonly next: string | undefined;
  constructor(code: BackendErrorCode, message: string, options: { readonly cause?: unknown; readonly next?: string } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.next = options.next;
  }
}
