import type { ResourceAddress } from '../core/address.ts';
import { canonicalText, type Digest } from '../core/canonical.ts';
import type { Clock, IdSource } from '../core/clock.ts';
import type { StateBoundary } from '../core/fail-point.ts';
import type { Plain } from '../core/value.ts';
import { AuditChain, type AuditEntry, type AuditRecord, type AuditVerdict } from './audit.ts';
import { type Acquired, BackendError, type Busy, type LockRequest, type StateStore } from './contract.ts';
import { findIdentity } from './identity.ts';
import { type HeldLock, LEASE_MS, Lock } from './lock.ts';
import type {
  EvidenceRow,
  Hold,
  Identity,
  LockInfo,
  OperationRow,
  ResourceRow,
  Sealing,
  Snapshot,
  StepRow,
  StoredOutput,
} from './model.ts';
import type { ProcessIdentity } from './process.ts';
import { parseApproval, parseCount, parseEvidence, parseHold, parseOperation } from './rows.ts';
import { createTables, findTables } from './schema.ts';
import { type SessionParts, SqlSession } from './session.ts';
import { loadContentsAt, loadOperation, loadSnapshot, loadSteps } from './snapshot.ts';
import { loadSealings, loadSources } from './sources.ts';
import { type Driver, SERVER_CLOCK, type Transaction } from './sql.ts';
import { loadStanding, requireInUse } from './standing.ts';
import { type Statements, statements } from './statements.ts';

export interface SqlStoreOptions {
  readonly environment: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly host: ProcessIdentity;
  readonly prefix: string;
  /** How long a lock outlives its last renewal; `LEASE_MS` when left out. */
  readonly leaseMs?: number;
  /** Renews a lease beside the main thread. */
  readonly startThread?: NonNullable<SessionParts['startThread']>;
}

/** The store over any SQL driver. */
export class SqlStore implements StateStore {
  readonly #driver: Driver;
  readonly #sql: Statements;
  readonly #environment: string;
  readonly #options: SqlStoreOptions;
  readonly #lock: Lock;
  readonly #chain: AuditChain;
  readonly #sessions = new Set<SqlSession>();

  constructor(driver: Driver, options: SqlStoreOptions) {
    this.#driver = driver;
    this.#sql = statements(driver.dialect, options.prefix);
    this.#environment = options.environment;
    this.#options = options;
    this.#lock = new Lock(this.#sql, options.environment, {
      clock: options.clock,
      ids: options.ids,
      host: options.host,
      leaseMs: options.leaseMs ?? LEASE_MS,
      now: (transaction) => driver.now(transaction),
    });
    this.#chain = new AuditChain(this.#sql, options.environment, options);
  }

  read(): Promise<Snapshot | undefined> {
    return this.#view(async (transaction, identity) => {
      await this.#requireInUse(transaction);
      const snapshot = await loadSnapshot(transaction, this.#sql, identity);
      // A lock whose holder is known to be dead, or did not renew it, holds nobody off, so it is nobody's.
      return snapshot.lock === null ? snapshot : { ...snapshot, lock: (await this.#lock.liveHolder(transaction)) ?? null };
    });
  }

  readAt(serial: number): Promise<
    | {
        readonly operation: OperationRow;
        readonly resources: ReadonlyMap<ResourceAddress, ResourceRow>;
        readonly outputs: readonly StoredOutput[];
      }
    | undefined
  > {
    return this.#view(async (transaction) => {
      const operation = await loadOperation(transaction, this.#sql, this.#environment, serial);
      return operation && { operation, ...(await loadContentsAt(transaction, this.#sql, this.#environment, serial)) };
    });
  }

  async sealings(): Promise<readonly Sealing[]> {
    return (await this.#view((transaction) => loadSealings(transaction, this.#sql, this.#environment))) ?? [];
  }

  async sourceDigests(): Promise<ReadonlySet<string>> {
    const rows = await this.#view((transaction) => transaction.query(this.#sql.sourceDigests, [this.#environment]));
    return new Set(rows?.map((row) => String(row['digest'])));
  }

  async sources(digests: readonly Digest[]): Promise<ReadonlyMap<Digest, string>> {
    return (await this.#view((transaction) => loadSources(transaction, this.#sql, this.#environment, digests))) ?? new Map();
  }

  async history(): Promise<readonly OperationRow[]> {
    const found = await this.#view(async (transaction) => {
      const rows = await transaction.query(this.#sql.operations, [this.#environment]);
      return rows.map((row) => parseOperation(this.#sql.tables.operation, row));
    });
    return found ?? [];
  }

  async steps(serial: number): Promise<readonly StepRow[]> {
    return (await this.#view((transaction) => loadSteps(transaction, this.#sql, this.#environment, serial))) ?? [];
  }

  spentBy(planDigest: string): Promise<OperationRow | undefined> {
    return this.#view(async (transaction) => {
      const row = (await transaction.query(this.#sql.spent, [this.#environment, planDigest]))[0];
      if (row === undefined) return undefined;
      return loadOperation(transaction, this.#sql, this.#environment, parseCount(this.#sql.tables.spent, row, 'serial'));
    });
  }

  async acquire(request: LockRequest): Promise<Acquired | Busy> {
    const create = request.create;
    if (create !== undefined && create.identity.environment !== this.#environment) {
      throw new Error(`a state of ${create.identity.environment} was to be made in the store of ${this.#environment}`);
    }
    // Looking first keeps a foreign file untouched, and answers `busy` even while the holder is in the middle of a transaction.
    const found = await this.#view(async (transaction) => {
      await this.#requireInUse(transaction);
      return { holder: await this.#lock.liveHolder(transaction) };
    });
    if (found?.holder !== undefined) return { kind: 'busy', holder: found.holder };
    if (found === undefined && create === undefined) {
      throw new BackendError('STATE_UNREACHABLE', `There is no state of ${this.#environment} at ${this.#driver.place} yet.`, {
        next: 'accede apply',
      });
    }
    if (found === undefined) await this.#defineTables();
    const answer = await this.#driver.write(
      async (transaction) => {
        await this.#ensureState(transaction, request);
        const taken = await this.#lock.take(transaction, request);
        // Whoever takes the store out of use holds the lock, so that it is told now or not at all.
        await this.#requireInUse(transaction);
        if (taken.kind === 'taken' && taken.tookOver !== undefined) await this.#auditTakeover(transaction, request.who, taken.tookOver);
        return { ...taken, lastOrdinal: await this.#lastOrdinal(transaction) };
      },
      { boundary: 'state.acquire', create: create !== undefined },
    );
    if (answer.kind === 'busy') return { kind: 'busy', holder: answer.holder };
    const { held, tookOver, lastOrdinal } = answer;
    return { kind: 'acquired', lock: held.info, tookOver, session: this.#session(held, lastOrdinal) };
  }

  async unlock(lockId: string, who: string): Promise<boolean> {
    if ((await this.#view(async () => true)) === undefined) return false;
    return this.#driver.write(
      async (transaction) => {
        const isBroken = await this.#lock.breakLock(transaction, lockId);
        if (isBroken) await this.#chain.append(transaction, { what: 'lock.broken', serial: null, actor: who, detail: { lockId } });
        return isBroken;
      },
      { boundary: 'state.unlock' },
    );
  }

  async audit(): Promise<readonly AuditRecord[]> {
    return (await this.#view((transaction) => this.#chain.list(transaction))) ?? [];
  }

  verifyAudit(): Promise<AuditVerdict | undefined> {
    return this.#view((transaction) => this.#chain.verify(transaction));
  }

  async evidence(serial?: number): Promise<readonly EvidenceRow[]> {
    const found = await this.#view(async (transaction) => {
      const rows =
        serial === undefined
          ? await transaction.query(this.#sql.evidence, [this.#environment])
          : await transaction.query(this.#sql.evidenceOf, [this.#environment, serial]);
      return rows.map((row) => parseEvidence(this.#sql.tables.evidence, row));
    });
    return found ?? [];
  }

  async now(): Promise<number> {
    const found = await this.#driver.read((transaction) => this.#driver.now(transaction));
    // A store on this machine has no other clock than the machine's; leases count on one that never steps, which is none of the day.
    return found?.domain === SERVER_CLOCK ? found.ms : this.#options.clock.now();
  }

  async setHold(hold: Hold): Promise<boolean> {
    return this.#audited('state.hold', { what: 'hold.set', serial: null, actor: hold.by, detail: { ...hold } }, async (transaction) => {
      await transaction.execute(this.#sql.putHold, [this.#environment, hold.kind, canonicalText(hold)]);
    });
  }

  async liftHolds(who: string, reason: string): Promise<readonly Hold[]> {
    if ((await this.#view(async () => true)) === undefined) return [];
    return this.#driver.write(
      async (transaction) => {
        const rows = await transaction.query(this.#sql.holds, [this.#environment]);
        const holds = rows.map((row) => parseHold(this.#sql.tables.holds, row));
        for (const { kind } of holds) await transaction.execute(this.#sql.dropHold, [this.#environment, kind]);
        if (holds.length > 0) {
          const detail = { reason, lifted: holds.map((hold): Plain => ({ ...hold })) };
          await this.#chain.append(transaction, { what: 'hold.lifted', serial: null, actor: who, detail });
          await this.#requireInUse(transaction);
        }
        return holds;
      },
      { boundary: 'state.hold' },
    );
  }

  async approvals(planDigest: string): Promise<readonly Plain[]> {
    const found = await this.#view(async (transaction) => {
      const rows = await transaction.query(this.#sql.approvals, [this.#environment, planDigest]);
      return rows.map((row) => parseApproval(this.#sql.tables.approval, row));
    });
    return found ?? [];
  }

  async putApproval(
    approval: { readonly planDigest: string; readonly signer: string; readonly body: Plain },
    who: string,
  ): Promise<boolean> {
    const { planDigest, signer, body } = approval;
    return this.#audited(
      'state.approve',
      { what: 'plan.approved', serial: null, actor: who, detail: { planDigest, signer } },
      async (transaction) => {
        await transaction.execute(this.#sql.putApproval, [this.#environment, planDigest, signer, canonicalText(body)]);
      },
    );
  }

  /** Writes without the lock, together with its record in the chain. False when there is no state. */
  async #audited(boundary: StateBoundary, entry: AuditEntry, write: (transaction: Transaction) => Promise<void>): Promise<boolean> {
    if ((await this.#view(async () => true)) === undefined) return false;
    await this.#driver.write(
      async (transaction) => {
        await write(transaction);
        await this.#chain.append(transaction, entry);
        // Whoever takes the store out of use waits for the record, or this one waits for theirs.
        await this.#requireInUse(transaction);
      },
      { boundary },
    );
    return true;
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) await session.abandon();
    await this.#driver.close();
  }

  #session(held: HeldLock, lastOrdinal: number): SqlSession {
    const { clock, startThread } = this.#options;
    const session = new SqlSession(
      {
        driver: this.#driver,
        sql: this.#sql,
        environment: this.#environment,
        lock: this.#lock,
        chain: this.#chain,
        clock,
        lastOrdinal,
        read: () => this.read(),
        ...(startThread === undefined ? {} : { startThread }),
      },
      held,
    );
    this.#sessions.add(session);
    return session;
  }

  /** Runs `work` on the state; undefined when there is none. */
  async #view<T>(work: (transaction: Transaction, identity: Identity) => Promise<T>): Promise<T | undefined> {
    return this.#driver.read(async (transaction) => {
      const identity = await this.#identity(transaction);
      return identity === undefined ? undefined : work(transaction, identity);
    });
  }

  #identity(transaction: Transaction): Promise<Identity | undefined> {
    return findIdentity(transaction, this.#driver, this.#sql, this.#environment);
  }

  async #requireInUse(transaction: Transaction): Promise<void> {
    requireInUse((await loadStanding(transaction, this.#sql, this.#environment)).standing, this.#environment);
  }

  /** Makes the state when it is not there. Of several that do this at once one makes it, and the others find it. */
  async #ensureState(transaction: Transaction, { create, who }: LockRequest): Promise<void> {
    if ((await this.#identity(transaction)) !== undefined) return;
    if (create === undefined) throw new BackendError('STATE_UNREACHABLE', `The state at ${this.#driver.place} was removed meanwhile.`);
    const { identity, serial = 0 } = create;
    if (this.#driver.dialect.definesInTransaction) await createTables(transaction, this.#driver.dialect, this.#sql.tables);
    await transaction.execute(this.#sql.putIdentity, [
      identity.environment,
      identity.format,
      identity.lineage,
      identity.fingerprintKey,
      identity.createdAt,
    ]);
    await transaction.execute(this.#sql.firstHead, [this.#environment, serial]);
    await transaction.execute(this.#sql.firstFence, [this.#environment, 0]);
    // Another process may have made it in the same moment; then it has told of it.
    if ((await this.#identity(transaction))?.lineage !== identity.lineage) return;
    if (identity.encryption !== null) {
      await transaction.execute(this.#sql.putEncryption, [this.#environment, canonicalText(identity.encryption)]);
    }
    const detail = { lineage: identity.lineage, head: serial };
    await this.#chain.append(transaction, { what: 'state.created', serial: null, actor: who, detail });
  }

  #auditTakeover(transaction: Transaction, actor: string, from: LockInfo): Promise<void> {
    const { lockId, fence, who, host, pid, purpose, since } = from;
    const detail = { lockId, fence, who, host, pid, purpose, since };
    return this.#chain.append(transaction, { what: 'lock.taken-over', serial: null, actor, detail });
  }

  /** Makes the tables ahead of the state where that is no part of a transaction. A state without an identity is no state yet. */
  async #defineTables(): Promise<void> {
    const { dialect } = this.#driver;
    const { tables } = this.#sql;
    if (dialect.definesInTransaction) return;
    if (await this.#driver.read((transaction) => findTables(transaction, this.#driver, tables))) return;
    await this.#driver.define((transaction) => createTables(transaction, dialect, tables), { boundary: 'state.define' });
  }

  async #lastOrdinal(transaction: Transaction): Promise<number> {
    const row = (await transaction.query(this.#sql.lastOrdinal, [this.#environment]))[0];
    return row?.['ordinal'] === null ? 0 : parseCount(this.#sql.tables.step, row, 'ordinal');
  }
}
