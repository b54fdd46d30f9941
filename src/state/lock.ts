import { digestBytes } from '../core/canonical.ts';
import type { Clock, IdSource } from '../core/clock.ts';
import { BackendError, type LockRequest } from './contract.ts';
import type { LockInfo } from './model.ts';
import type { ProcessIdentity } from './process.ts';
import { parseCount, parseLock } from './rows.ts';
import type { Transaction } from './sql.ts';
import type { Statements } from './statements.ts';

/** What proves that the lock is ours: the token, of which the store keeps a digest alone. */
export interface HeldLock {
  readonly info: LockInfo;
  readonly token: string;
}

export type LockAnswer =
  | { readonly kind: 'taken'; readonly held: HeldLock; readonly tookOver: LockInfo | undefined }
  | { readonly kind: 'busy'; readonly holder: LockInfo };

/** The one lock of an environment: a row while it is held, and a fence that outlives every holder and only grows. */
export class Lock {
  readonly #sql: Statements;
  readonly #environment: string;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #host: ProcessIdentity;

  constructor(
    sql: Statements,
    environment: string,
    sources: { readonly clock: Clock; readonly ids: IdSource; readonly host: ProcessIdentity },
  ) {
    this.#sql = sql;
    this.#environment = environment;
    this.#clock = sources.clock;
    this.#ids = sources.ids;
    this.#host = sources.host;
  }

  /** The holder who keeps others out; undefined when there is none, or when it is certainly dead. */
  async liveHolder(transaction: Transaction): Promise<LockInfo | undefined> {
    const holder = await this.#holder(transaction, this.#sql.lock);
    return holder === undefined || this.isAbandoned(holder.info) ? undefined : holder.info;
  }

  async take(transaction: Transaction, request: LockRequest): Promise<LockAnswer> {
    const holder = await this.#holder(transaction, this.#sql.lockForUpdate);
    if (holder !== undefined && !this.isAbandoned(holder.info)) return { kind: 'busy', holder: holder.info };
    const info: LockInfo = {
      lockId: this.#ids.id(),
      fence: await this.#raiseFence(transaction),
      who: request.who,
      host: this.#host.host,
      bootId: this.#host.bootId,
      pid: this.#host.pid,
      processStart: this.#host.processStart,
      purpose: request.purpose,
      since: new Date(this.#clock.now()).toISOString(),
    };
    const token = this.#ids.id();
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
    ]);
    return { kind: 'taken', held: { info, token }, tookOver: holder?.info };
  }

  /** Throws `FENCED` unless the lock is still the one that was taken. Part of every writing transaction. */
  async check(transaction: Transaction, held: HeldLock): Promise<void> {
    const holder = await this.#holder(transaction, this.#sql.lockForUpdate);
    if (holder !== undefined && holder.info.fence === held.info.fence && holder.tokenDigest === digestBytes(held.token)) return;
    throw lostLock(held.info, holder?.info);
  }

  /** Gives the lock back; nothing happens when it is held by another by now. */
  async release(transaction: Transaction, held: HeldLock): Promise<void> {
    await transaction.execute(this.#sql.dropLock, [this.#environment, held.info.lockId]);
  }

  /** Ends a lock by its id and raises the fence. False when another lock is held, or none. */
  async breakLock(transaction: Transaction, lockId: string): Promise<boolean> {
    const dropped = await transaction.execute(this.#sql.dropLock, [this.#environment, lockId]);
    if (dropped === 0) return false;
    await this.#raiseFence(transaction);
    return true;
  }

  /** Whether the holder is known to be dead: it ran on this very host and runs no more. */
  isAbandoned(holder: LockInfo): boolean {
    return this.#host.isAlive(holder) === false;
  }

  async #holder(transaction: Transaction, select: string) {
    const row = (await transaction.query(select, [this.#environment]))[0];
    return row === undefined ? undefined : parseLock(this.#sql.tables.lock, row);
  }

  async #raiseFence(transaction: Transaction): Promise<number> {
    const row = (await transaction.query(this.#sql.fence, [this.#environment]))[0];
    const next = parseCount(this.#sql.tables.fence, row, 'fence') + 1;
    await transaction.execute(this.#sql.putFence, [this.#environment, next]);
    return next;
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
