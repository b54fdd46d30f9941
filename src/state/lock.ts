import { digestBytes } from '../core/canonical.ts';
import type { Clock, IdSource } from '../core/clock.ts';
import { BackendError, type LockRequest } from './contract.ts';
import type { LockInfo } from './model.ts';
import type { ProcessIdentity } from './process.ts';
import { parseCount, parseLock, type StoredLock } from './rows.ts';
import type { StoreTime, Transaction } from './sql.ts';
import { loadStanding, requireInUse } from './standing.ts';
import type { Statements } from './statements.ts';

/** How long a lock is its holder's without being renewed, in milliseconds. It is renewed three times as often. */
export const LEASE_MS = 60_000;

/** What proves that the lock is ours: the token, of which the store keeps a digest alone. */
export interface HeldLock {
  readonly info: LockInfo;
  readonly token: string;
}

export type LockAnswer =
  | { readonly kind: 'taken'; readonly held: HeldLock; readonly tookOver: LockInfo | undefined }
  | { readonly kind: 'busy'; readonly holder: LockInfo };

/** What the lock works with. */
export interface LockSources {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly host: ProcessIdentity;
  readonly leaseMs: number;
  /** The store's clock. */
  now(transaction: Transaction): Promise<StoreTime>;
}

/**
 * The one lock of an environment: a row while it is held, and a fence that outlives every holder and only grows. The row is a lease on the
 * store's clock. A holder renews it; one that does not is taken over with a greater fence, and whatever it tries to write then is refused.
 */
export class Lock {
  readonly #sql: Statements;
  readonly #environment: string;
  readonly #sources: LockSources;
  /** A lease whose clock can't be compared with the store's, and since when it was seen unchanged. */
  #watched: { readonly lockId: string; readonly end: number; readonly since: number } | undefined;

  constructor(sql: Statements, environment: string, sources: LockSources) {
    this.#sql = sql;
    this.#environment = environment;
    this.#sources = sources;
  }

  /** How often a holder renews its lease, in milliseconds. */
  get renewEvery(): number {
    return this.#sources.leaseMs / 3;
  }

  /** The holder who keeps others out; undefined when there is none, when it is certainly dead, or when its lease ran out. */
  async liveHolder(transaction: Transaction): Promise<LockInfo | undefined> {
    const holder = await this.#holder(transaction, this.#sql.lock);
    return holder === undefined || (await this.#isVacant(transaction, holder)) ? undefined : holder.info;
  }

  async take(transaction: Transaction, request: LockRequest): Promise<LockAnswer> {
    // The fence's row is there before any lock is: it lets one in at a time, where a lock's row that is not there can't.
    const fence = await this.#fence(transaction);
    const holder = await this.#holder(transaction, this.#sql.lockForUpdate);
    if (holder !== undefined && !(await this.#isVacant(transaction, holder))) return { kind: 'busy', holder: holder.info };
    const { clock, ids, host, leaseMs } = this.#sources;
    const info: LockInfo = {
      lockId: ids.id(),
      fence: fence + 1,
      who: request.who,
      host: host.host,
      bootId: host.bootId,
      pid: host.pid,
      processStart: host.processStart,
      purpose: request.purpose,
      since: new Date(clock.now()).toISOString(),
    };
    const token = ids.id();
    const now = await this.#sources.now(transaction);
    await transaction.execute(this.#sql.putFence, [this.#environment, info.fence]);
    await transaction.execute(this.#sql.putLock, [
      this.#environment,
      info.lockId,
      info.fence,
      digestBytes(token),
      info.who,
      info.host,
      info.bootId,
      info.pid,
      info.processStart,
      info.purpose,
      info.since,
      now.domain,
      now.ms + leaseMs,
    ]);
    return { kind: 'taken', held: { info, token }, tookOver: holder?.info };
  }

  /**
   * Throws `FENCED` unless the lock is still the one that was taken and enough of its lease is left. Part of every writing transaction; until
   * that ends nobody can take the lock over. A lease of which little is left is renewed on the way.
   */
  async check(transaction: Transaction, held: HeldLock): Promise<void> {
    const { left, now } = await this.#leftOf(transaction, held);
    if (left < this.#sources.leaseMs / 2) await this.#extend(transaction, held, now);
  }

  /** Makes the lease a whole one again. Throws `FENCED` when it ran out: somebody else may have worked meanwhile. */
  async renew(transaction: Transaction, held: HeldLock): Promise<void> {
    const { now } = await this.#leftOf(transaction, held);
    await this.#extend(transaction, held, now);
  }

  /** Gives the lock back; nothing happens when it is held by another by now. */
  async release(transaction: Transaction, held: HeldLock): Promise<void> {
    await transaction.execute(this.#sql.dropLock, [this.#environment, held.info.lockId]);
  }

  /** Ends a lock by its id and raises the fence. False when another lock is held, or none. */
  async breakLock(transaction: Transaction, lockId: string): Promise<boolean> {
    const fence = await this.#fence(transaction);
    const dropped = await transaction.execute(this.#sql.dropLock, [this.#environment, lockId]);
    if (dropped === 0) return false;
    await transaction.execute(this.#sql.putFence, [this.#environment, fence + 1]);
    return true;
  }

  /** Whether nobody is held off by this lock any more: its holder ran on this very host and runs no more, or its lease ran out. */
  async #isVacant(transaction: Transaction, holder: StoredLock): Promise<boolean> {
    const { host, clock, leaseMs } = this.#sources;
    if (host.isAlive(holder.info) === false) return true;
    const now = await this.#sources.now(transaction);
    const left = holder.lease.end - now.ms;
    // More than a lease can't be left on one clock: then it was set back, and the moment says as little as one of another clock.
    if (holder.lease.domain === now.domain && left <= 2 * leaseMs) return left <= 0;
    // Who renews changes the end of the lease. One that stays as it is for so long on our own clock is renewed by nobody.
    const { lockId } = holder.info;
    const { end } = holder.lease;
    if (this.#watched?.lockId !== lockId || this.#watched.end !== end) this.#watched = { lockId, end, since: clock.monotonic() };
    return clock.monotonic() - this.#watched.since > 2 * leaseMs;
  }

  async #leftOf(transaction: Transaction, held: HeldLock): Promise<{ readonly left: number; readonly now: StoreTime }> {
    const holder = await this.#holder(transaction, this.#sql.lockForUpdate);
    if (holder === undefined || holder.info.fence !== held.info.fence || holder.tokenDigest !== digestBytes(held.token)) {
      // Of a store that was taken out of use the new place is what its former holder has to know.
      requireInUse((await loadStanding(transaction, this.#sql, this.#environment)).standing, this.#environment);
      throw lostLock(held.info, holder?.info);
    }
    const now = await this.#sources.now(transaction);
    const left = holder.lease.domain === now.domain ? holder.lease.end - now.ms : 0;
    if (left < this.#sources.leaseMs / 30) throw lapsedLock(held.info);
    return { left, now };
  }

  async #extend(transaction: Transaction, held: HeldLock, now: StoreTime): Promise<void> {
    await transaction.execute(this.#sql.renewLock, [now.domain, now.ms + this.#sources.leaseMs, this.#environment, held.info.lockId]);
  }

  async #holder(transaction: Transaction, select: string): Promise<StoredLock | undefined> {
    const row = (await transaction.query(select, [this.#environment]))[0];
    return row === undefined ? undefined : parseLock(this.#sql.tables.lock, row);
  }

  async #fence(transaction: Transaction): Promise<number> {
    const row = (await transaction.query(this.#sql.fence, [this.#environment]))[0];
    return parseCount(this.#sql.tables.fence, row, 'fence');
  }
}

/** The error of a holder whose lock is gone. */
export function lostLock(held: LockInfo, holder: LockInfo | undefined): BackendError {
  const now = holder === undefined ? 'Nobody holds it now' : `${holder.who} holds it since ${holder.since} (${holder.purpose})`;
  return new BackendError(
    'FENCED',
    `The lock ${held.lockId} was ended by somebody else while it was in use. ${now}; nothing was written any more.`,
    {
      next: 'accede status',
    },
  );
}

/** The error of a holder who could not renew its lease in time. */
export function lapsedLock(held: LockInfo): BackendError {
  return new BackendError(
    'FENCED',
    `The lock ${held.lockId} ran out: it was not renewed in time, because this process was stopped, could not reach the state, or a clock was set. Somebody else may hold it by now; nothing was written any more.`,
    { next: 'accede status' },
  );
}
