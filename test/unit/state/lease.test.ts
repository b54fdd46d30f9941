import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, randomIds, systemClock } from '../../../src/core/clock.ts';
import { BackendError, type StateStore } from '../../../src/state/contract.ts';
import { LeaseKeeper } from '../../../src/state/lease.ts';
import { openStore } from '../../../src/state/open.ts';
import { type ProcessIdentity, systemProcessIdentity } from '../../../src/state/process.ts';
import { StateFolder } from '../../support/state-folder.ts';
import { acquired, begun, rowOf } from '../../support/state-rows.ts';

const HOUR = 3_600_000;
const LEASE = 60_000;

/** Time that passes only when it is told to. */
class HandClock implements Clock {
  wall = 1_800_000_000_000;
  passed = 0;
  readonly #sleepers: { readonly until: number; readonly wake: () => void }[] = [];

  now = () => this.wall;
  monotonic = () => this.passed;
  sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      this.#sleepers.push({ until: this.passed + ms, wake: resolve });
    });

  /** Lets time pass, and everybody whose time came do what comes next. */
  async pass(ms: number): Promise<void> {
    this.passed += ms;
    this.wall += ms;
    const due = this.#sleepers.filter(({ until }) => until <= this.passed);
    for (const sleeper of due) {
      this.#sleepers.splice(this.#sleepers.indexOf(sleeper), 1);
      sleeper.wake();
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('the keeper of a lease', () => {
  const keeper = (clock: Clock, renew: () => Promise<void>, startThread?: () => { stop(): Promise<void> }) =>
    new LeaseKeeper({ clock, every: 20_000, renew, ...(startThread === undefined ? {} : { startThread }) });

  it('must renew again and again until it is stopped', async () => {
    const clock = new HandClock();
    let renewals = 0;
    const kept = keeper(clock, async () => {
      renewals += 1;
    });
    await clock.pass(19_999);
    expect(renewals).toBe(0);
    await clock.pass(1);
    expect(renewals).toBe(1);
    for (let round = 0; round < 5; round++) await clock.pass(20_000);
    expect(renewals).toBe(6);
    await kept.stop();
    await kept.stop();
    await clock.pass(20_000);
    expect(renewals).toBe(6);
    expect(kept.lost).toBeUndefined();
  });

  it('must start one thread with the first renewal, and end it', async () => {
    const clock = new HandClock();
    const threads: string[] = [];
    const kept = keeper(
      clock,
      async () => undefined,
      () => {
        threads.push('started');
        return { stop: async () => void threads.push('ended') };
      },
    );
    await clock.pass(10_000);
    expect(threads).toEqual([]);
    await clock.pass(10_000);
    await clock.pass(20_000);
    expect(threads).toEqual(['started']);
    await kept.stop();
    expect(threads).toEqual(['started', 'ended']);
  });

  it('must give up when the lock is lost, and go on when the store is only away', async () => {
    const clock = new HandClock();
    const answers = [new BackendError('STATE_UNREACHABLE', 'away'), undefined, new BackendError('FENCED', 'lost')];
    let renewals = 0;
    const kept = keeper(clock, async () => {
      const answer = answers[renewals++];
      if (answer !== undefined) throw answer;
    });
    await clock.pass(20_000);
    await clock.pass(20_000);
    expect(kept.lost).toBeUndefined();
    await clock.pass(20_000);
    expect(kept.lost?.message).toBe('lost');
    await clock.pass(60_000);
    expect(renewals).toBe(3);
    await kept.stop();
  });
});

describe('the lease on the clock of this machine', () => {
  let folder: StateFolder;
  let open: StateStore[];
  beforeEach(async () => {
    folder = await StateFolder.make();
    open = [];
  });
  afterEach(async () => {
    for (const store of open) await store.close();
    await folder.remove();
  });

  /** A store of a process on another host, so that no `/proc` says whether it lives. Its machine is up as long as its clock has run. */
  const store = async (clock: HandClock, machine: Partial<ProcessIdentity> = {}) => {
    const host = { ...systemProcessIdentity(), host: 'elsewhere', uptime: () => clock.passed, ...machine, isAlive: () => undefined };
    const location = { backend: 'sqlite', path: folder.path } as const;
    const opened = await openStore({ location, environment: 'crm', clock, ids: randomIds, host });
    open.push(opened);
    return opened;
  };
  const ask = { who: 'a', purpose: 'b' };

  it('must not see a step of the clock by an hour, whichever way', async () => {
    const clock = new HandClock();
    const { session } = await acquired(await store(clock), 'crm');
    const other = await store(clock);
    for (const step of [HOUR, -2 * HOUR, HOUR]) {
      clock.wall += step;
      expect((await other.acquire(ask)).kind).toBe('busy');
      await session.read();
    }
    clock.passed += LEASE;
    clock.wall -= HOUR;
    expect(await other.acquire(ask)).toMatchObject({ kind: 'acquired', tookOver: { fence: 1 }, lock: { fence: 2 } });
    await expect(session.read()).rejects.toMatchObject({ code: 'FENCED' });
  });

  it('must watch a lease of another boot, and take it over only when nobody renews it for two of its lengths', async () => {
    const there = new HandClock();
    const here = new HandClock();
    const first = await store(there, { bootId: 'there' });
    const { session } = await acquired(first, 'crm');
    await begun(first, session);
    const other = await store(here, { bootId: 'here' });
    expect((await other.acquire(ask)).kind).toBe('busy');
    here.passed += HOUR;
    // Renewed meanwhile: it begins anew.
    await there.pass(LEASE - 10_000);
    await session.write([{ kind: 'row', row: rowOf(1) }]);
    expect((await other.acquire(ask)).kind).toBe('busy');
    here.passed += 2 * LEASE;
    expect((await other.acquire(ask)).kind).toBe('busy');
    here.passed += 1;
    expect((await other.acquire(ask)).kind).toBe('acquired');
  });

  it('must use the time of the wall where boots can not be told apart, and watch a lease that is longer than any', async () => {
    const clock = new HandClock();
    await acquired(await store(clock, { bootId: '' }), 'crm');
    const other = await store(clock, { bootId: '' });
    clock.wall += LEASE - 1;
    expect((await other.acquire(ask)).kind).toBe('busy');
    clock.wall -= HOUR;
    expect((await other.acquire(ask)).kind).toBe('busy');
    clock.passed += 2 * LEASE + 1;
    expect((await other.acquire(ask)).kind).toBe('acquired');
  });

  it('must share the time since the boot with every other process', () => {
    const before = process.hrtime.bigint();
    const uptime = systemProcessIdentity().uptime();
    expect(uptime).toBeGreaterThanOrEqual(Number(before / 1_000_000n));
    expect(uptime - Number(before / 1_000_000n)).toBeLessThan(10_000);
    expect(systemClock.monotonic()).toBeLessThan(uptime);
  });
});
