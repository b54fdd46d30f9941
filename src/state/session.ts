import { canonicalText, type Digest } from '../core/canonical.ts';
import type { Clock } from '../core/clock.ts';
import type { StateBoundary } from '../core/fail-point.ts';
import type { Plain } from '../core/value.ts';
import type { AuditChain, AuditEntry } from './audit.ts';
import { BackendError, type Mutation, type NewOperation, type Retirement, type WriteSession } from './contract.ts';
import { GroupCommit } from './group-commit.ts';
import { verifyIntegrity } from './integrity.ts';
import { LeaseKeeper, type LeaseThread } from './lease.ts';
import { type HeldLock, type Lock, lostLock } from './lock.ts';
import type { Hold, OperationOutcome, OperationRow, Sealed, Snapshot } from './model.ts';
import { applyMutation } from './mutations.ts';
import { putOperation } from './operations.ts';
import { loadHead, loadOperation } from './snapshot.ts';
import type { Driver, Transaction } from './sql.ts';
import { loadStanding, putStanding } from './standing.ts';
import type { Statements } from './statements.ts';

/** What a session works with. */
export interface SessionParts {
  readonly driver: Driver;
  readonly sql: Statements;
  readonly environment: string;
  readonly lock: Lock;
  readonly chain: AuditChain;
  readonly clock: Clock;
  /** The place of the last step that is in the store. */
  readonly lastOrdinal: number;
  readonly read: () => Promise<Snapshot | undefined>;
  /** Renews the lease beside the main thread. */
  readonly startThread?: (held: HeldLock, lost: (error: BackendError) => void) => LeaseThread;
}

/** Writing under a lock that was taken. */
export class SqlSession implements WriteSession {
  readonly fence: number;
  readonly #parts: SessionParts;
  readonly #held: HeldLock;
  readonly #group: GroupCommit;
  readonly #lease: LeaseKeeper;
  #ordinal: number;
  /** Serial of the operation that this session began and has not ended. */
  #serial: number | undefined;
  #released = false;
  /** After a write of which nobody knows whether it is in, no other may follow: the journal could have a hole. */
  #broken: BackendError | undefined;

  constructor(parts: SessionParts, held: HeldLock) {
    this.#parts = parts;
    this.#held = held;
    this.#ordinal = parts.lastOrdinal;
    this.#group = new GroupCommit(parts.driver, (transaction) => parts.lock.check(transaction, held));
    this.fence = held.info.fence;
    const { startThread } = parts;
    this.#lease = new LeaseKeeper({
      clock: parts.clock,
      every: parts.lock.renewEvery,
      renew: () => parts.driver.write((transaction) => parts.lock.renew(transaction, held), { boundary: 'state.renew' }),
      ...(startThread === undefined ? {} : { startThread: (lost) => startThread(held, lost) }),
    });
  }

  /** Ends the renewals of the lease without giving the lock back. */
  async abandon(): Promise<void> {
    await this.#lease.stop();
  }

  async read(): Promise<Snapshot> {
    const snapshot = await this.#parts.read();
    if (this.#released || snapshot === undefined || snapshot.lock?.lockId !== this.#held.info.lockId) {
      throw lostLock(this.#held.info, snapshot?.lock ?? undefined);
    }
    const problem = verifyIntegrity(snapshot).find((diagnostic) => diagnostic.severity === 'error');
    if (problem !== undefined) {
      throw new BackendError('STATE_CORRUPT', `${problem.summary}: ${problem.detail} Put a copy of the state from before in its place.`);
    }
    return snapshot;
  }

  async begin(operation: NewOperation, expected: { readonly serial: number; readonly digest: Digest }): Promise<OperationRow> {
    const begun = await this.#submit('state.begin', (transaction) => this.#begin(transaction, operation, expected));
    this.#serial = begun.serial;
    return begun;
  }

  async resume(serial: number): Promise<OperationRow> {
    const resumed = await this.#submit('state.resume', async (transaction) => {
      const { sql, environment } = this.#parts;
      const head = await loadHead(transaction, sql, environment);
      const found = await loadOperation(transaction, sql, environment, serial);
      if (head.serial !== serial || found?.outcome !== null) {
        throw new BackendError('STATE_MOVED', `The operation op-${serial} is not open any more.`, { next: 'accede status' });
      }
      const taken: OperationRow = { ...found, fence: this.fence };
      await putOperation(transaction, sql, environment, taken);
      await this.#audit(transaction, 'operation.resumed', taken);
      return taken;
    });
    this.#serial = serial;
    return resumed;
  }

  async write(mutations: readonly Mutation[]): Promise<void> {
    const serial = this.#openSerial();
    const { sql, environment } = this.#parts;
    const target = { environment, serial, nextOrdinal: () => ++this.#ordinal };
    await this.#submit('state.write', async (transaction) => {
      for (const mutation of mutations) {
        if (mutation.kind === 'hold') await this.#auditHold(transaction, serial, mutation.hold);
        await applyMutation(transaction, sql, target, mutation);
      }
    });
  }

  async end(serial: number, outcome: OperationOutcome, summary: Plain, sealed?: Sealed | null, evidence?: Plain): Promise<void> {
    if (serial !== this.#openSerial()) throw new Error(`operation ${serial} is not the one that this session began`);
    await this.#submit('state.end', async (transaction) => {
      const { sql, environment } = this.#parts;
      const found = await loadOperation(transaction, sql, environment, serial);
      if (found === undefined) throw new BackendError('STATE_CORRUPT', `The operation op-${serial} is not in the state any more.`);
      // Begun by another process, whose clock may have been ahead.
      const now = this.#now();
      const ended: OperationRow = { ...found, outcome, summary, endedAt: now < found.startedAt ? found.startedAt : now };
      await putOperation(transaction, sql, environment, ended);
      await this.#audit(transaction, 'operation.ended', ended);
      if (evidence !== undefined) {
        const target = { environment, serial, nextOrdinal: () => ++this.#ordinal };
        await applyMutation(transaction, sql, target, { kind: 'evidence', body: evidence });
      }
      if (sealed !== undefined)
        await transaction.execute(sql.putSealed, [environment, serial, canonicalText(sealed === null ? null : { ...sealed, serial })]);
    });
    this.#serial = undefined;
  }

  async retire({ to, move, by, auditedUpTo }: Retirement): Promise<void> {
    await this.#submit('state.retire', async (transaction) => {
      const { sql, environment, chain } = this.#parts;
      const [tip] = await transaction.query(sql.auditTipForUpdate, [environment]);
      if (auditedUpTo !== undefined && tip?.['ordinal'] !== auditedUpTo) {
        throw new BackendError(
          'STATE_MOVED',
          'The state was written to while it was moved, as by a hold or an approval. It stays where it is.',
          {
            next: 'accede state migrate',
          },
        );
      }
      const { epoch } = await loadStanding(transaction, sql, environment);
      await putStanding(transaction, sql, environment, { epoch, standing: { kind: 'retired', to, move, by, at: this.#now() } });
      await chain.append(transaction, { what: 'state.retired', serial: null, actor: by, detail: { to, move, epoch, fence: this.fence } });
    });
  }

  async release(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    await this.#lease.stop();
    // What was handed over before is made durable first; its own callers hear of a failure.
    await this.#group.submit('state.write', async () => undefined).catch(passBackendError);
    // A lock that can't be given back ends with its lease, or with this process.
    const { driver, lock } = this.#parts;
    await driver.write((transaction) => lock.release(transaction, this.#held), { boundary: 'state.release' }).catch(passBackendError);
  }

  async #begin(
    transaction: Transaction,
    operation: NewOperation,
    expected: { readonly serial: number; readonly digest: Digest },
  ): Promise<OperationRow> {
    const { sql, environment } = this.#parts;
    const head = await loadHead(transaction, sql, environment);
    if (head.serial !== expected.serial || head.digest !== expected.digest) {
      const moved = head.serial === expected.serial ? 'its content is another' : `it is at serial ${head.serial}`;
      throw new BackendError(
        'STATE_MOVED',
        `The state is not the one that was read: serial ${expected.serial} was expected, and ${moved}.`,
        {
          next: 'accede plan',
        },
      );
    }
    const older = await loadOperation(transaction, sql, environment, head.serial);
    if (older?.outcome === null) {
      const abandoned: OperationRow = { ...older, outcome: 'abandoned', endedAt: this.#now() };
      await putOperation(transaction, sql, environment, abandoned);
      await this.#audit(transaction, 'operation.abandoned', abandoned);
    }
    const serial = head.serial + 1;
    const begun: OperationRow = {
      serial,
      id: `op-${serial}`,
      ...operation,
      fence: this.fence,
      endedAt: null,
      outcome: null,
      summary: operation.summary ?? null,
    };
    await putOperation(transaction, sql, environment, begun);
    await this.#audit(transaction, 'operation.begun', begun);
    await transaction.execute(sql.putHead, [environment, serial]);
    return begun;
  }

  #audit(transaction: Transaction, what: AuditEntry['what'], operation: OperationRow): Promise<void> {
    const { serial, kind, planDigest, class: successor, reason, outcome } = operation;
    const detail = { kind, planDigest, class: successor, reason, outcome, fence: this.fence };
    return this.#parts.chain.append(transaction, { what, serial, actor: this.#held.info.who, detail });
  }

  /** A hold that ends since another source came in force is no act of anybody, and there may have been none. */
  async #auditHold(transaction: Transaction, serial: number, hold: Hold | null): Promise<void> {
    if (hold === null) return;
    await this.#parts.chain.append(transaction, { what: 'hold.set', serial, actor: hold.by, detail: { ...hold } });
  }

  async #submit<T>(boundary: StateBoundary, run: (transaction: Transaction) => Promise<T>): Promise<T> {
    if (this.#released) throw lostLock(this.#held.info, undefined);
    const lost = this.#lease.lost ?? this.#broken;
    if (lost !== undefined) throw lost;
    try {
      return await this.#group.submit(boundary, run);
    } catch (error) {
      if (error instanceof BackendError && error.code === 'STATE_UNREACHABLE') this.#broken ??= error;
      throw error;
    }
  }

  #openSerial(): number {
    if (this.#serial === undefined) throw new Error('the session wrote without an operation of its own that is open');
    return this.#serial;
  }

  #now(): string {
    return new Date(this.#parts.clock.now()).toISOString();
  }
}

function passBackendError(error: unknown): void {
  if (!(error instanceof BackendError)) throw error;
}
