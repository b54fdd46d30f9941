import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { randomIds, systemClock } from '../../src/core/clock.ts';
import type { StateStore } from '../../src/state/contract.ts';
import { initialHead } from '../../src/state/digest.ts';
import { openStore } from '../../src/state/open.ts';
import { type ProcessIdentity, systemProcessIdentity } from '../../src/state/process.ts';
import type { ChildOrder } from '../support/state-child.ts';
import { StateChild } from '../support/state-children.ts';
import { acquired, addressOf, begun, operationOf, rowOf } from '../support/state-rows.ts';
import type { StatePlace } from './state.ts';

const ENVIRONMENT = 'crm';
const LEASE = 60_000;
/** Of leases whose time really passes. */
const SHORT = 2_000;
const RACERS = 8;
const RACE_MS = 1_000 * Number(process.env['ACCEDE_RACE_SECONDS'] ?? 10);
const FENCED = { name: 'BackendError', code: 'FENCED' };

/** What every backend of the state must do with the lease of its lock. */
export function leaseConformance(name: string, factory: () => Promise<StatePlace>): void {
  describe(`the lease of the lock on ${name}`, () => {
    let place: StatePlace;
    let open: StateStore[];
    let children: StateChild[];

    beforeEach(async () => {
      place = await factory();
      open = [];
      children = [];
    });
    afterEach(async () => {
      for (const child of children) await child.kill();
      for (const store of open) await store.close();
      await place.remove();
    });

    const store = async (options: { readonly host?: ProcessIdentity; readonly leaseMs?: number } = {}) => {
      const opened = await openStore({
        location: place.location,
        environment: ENVIRONMENT,
        clock: systemClock,
        ids: randomIds,
        host: systemProcessIdentity(),
        ...options,
      });
      open.push(opened);
      return opened;
    };
    const child = (command: ChildOrder['command'], more: Partial<ChildOrder> = {}) => {
      const started = new StateChild({ location: place.location, environment: ENVIRONMENT, command, ...more });
      children.push(started);
      return started;
    };
    const elsewhere = { ...systemProcessIdentity(), host: 'elsewhere', pid: 1 };

    it('must be taken over when it ran out, with a greater fence, and never by its old holder again', async () => {
      const first = await store({ host: elsewhere });
      const old = await acquired(first, ENVIRONMENT);
      const operation = await begun(first, old.session);
      const second = await store();
      expect((await second.acquire({ who: 'a', purpose: 'b' })).kind).toBe('busy');
      await place.age(LEASE - 10_000);
      expect((await second.acquire({ who: 'a', purpose: 'b' })).kind).toBe('busy');
      await place.age(10_001);
      expect((await second.read())?.lock).toBeNull();
      const next = await acquired(second, ENVIRONMENT);
      expect(next.tookOver).toEqual(old.lock);
      expect(next.lock.fence).toBeGreaterThan(old.lock.fence);
      const before = await second.read();
      await expect(old.session.write([{ kind: 'row', row: rowOf(1) }])).rejects.toMatchObject(FENCED);
      await expect(old.session.end(operation.serial, 'done', null)).rejects.toMatchObject(FENCED);
      await expect(old.session.read()).rejects.toMatchObject(FENCED);
      await old.session.release();
      expect(await second.read()).toEqual(before);
    });

    it('must not be used by its holder when it ran out, even if nobody took it over', async () => {
      const opened = await store();
      const { session } = await acquired(opened, ENVIRONMENT);
      const operation = await begun(opened, session);
      await place.age(LEASE);
      await expect(session.write([{ kind: 'row', row: rowOf(1) }])).rejects.toMatchObject({
        ...FENCED,
        message: expect.stringContaining('not renewed in time'),
      });
      await expect(session.begin(operationOf(), initialHead())).rejects.toMatchObject(FENCED);
      await session.release();
      const snapshot = await opened.read();
      expect(snapshot?.resources.size).toBe(0);
      expect(snapshot?.open?.operation.serial).toBe(operation.serial);
    });

    it('must be a whole one again after a commit that came late in it', async () => {
      const opened = await store();
      const { session } = await acquired(opened, ENVIRONMENT);
      await begun(opened, session);
      for (const name of [1, 2, 3]) {
        await place.age(LEASE - 10_000);
        await session.write([{ kind: 'row', row: rowOf(name) }]);
      }
      expect((await opened.read())?.resources.size).toBe(3);
    });

    it('must be ended by its id though it ran out, and raise the fence', async () => {
      const opened = await store();
      const { lock } = await acquired(opened, ENVIRONMENT);
      await place.age(LEASE);
      expect(await opened.unlock(lock.lockId, 'tester@here')).toBe(true);
      expect((await acquired(opened, ENVIRONMENT)).lock.fence).toBe(lock.fence + 2);
    });

    it('must hold others off for as long as its holder lives and renews it, whatever its age', { timeout: 60_000 }, async () => {
      const holder = child('late', { leaseMs: SHORT });
      await holder.answer(0);
      const other = await store({ leaseMs: SHORT });
      for (const until = systemClock.monotonic() + 4 * SHORT; systemClock.monotonic() < until; ) {
        expect((await other.acquire({ who: 'a', purpose: 'b' })).kind).toBe('busy');
        await systemClock.sleep(50);
      }
      holder.tell('write');
      expect(await holder.answer(1)).toEqual({ written: true });
      expect(await holder.answer(2)).toEqual({ ended: true });
      expect(await holder.exit()).toBe(0);
    });

    it('must be renewed while the event loop of its holder is not free', { timeout: 120_000 }, async () => {
      const leaseMs = 2 * SHORT;
      const holder = child('deaf', { leaseMs });
      await holder.answer(0);
      const other = await store({ leaseMs });
      for (const until = systemClock.monotonic() + 2 * leaseMs; systemClock.monotonic() < until; ) {
        expect((await other.acquire({ who: 'a', purpose: 'b' })).kind).toBe('busy');
        await systemClock.sleep(50);
      }
      expect(await holder.answer(1)).toEqual({ written: true });
      expect(await holder.exit()).toBe(0);
    });

    it('must be lost by a holder that is stopped for too long', { timeout: 60_000 }, async () => {
      const holder = child('late', { leaseMs: SHORT });
      const { fence } = (await holder.answer(0)) as { readonly fence: number };
      process.kill(holder.pid, 'SIGSTOP');
      const other = await store({ leaseMs: SHORT });
      let answer = await other.acquire({ who: 'a', purpose: 'b' });
      while (answer.kind === 'busy') {
        await systemClock.sleep(20);
        answer = await other.acquire({ who: 'a', purpose: 'b' });
      }
      expect(answer.lock.fence).toBeGreaterThan(fence);
      const serial = (await begun(other, answer.session)).serial;
      holder.tell('write');
      process.kill(holder.pid, 'SIGCONT');
      expect(await holder.answer(1)).toMatchObject({ code: 'FENCED' });
      expect(await holder.answer(2)).toMatchObject({ code: 'FENCED' });
      expect(await holder.exit()).toBe(0);
      await answer.session.write([{ kind: 'row', row: rowOf('mine') }]);
      await answer.session.end(serial, 'done', null);
      expect([...((await other.read())?.resources.keys() ?? [])]).toEqual([addressOf('mine')]);
    });

    it(`must go from one to the next of ${RACERS} processes, never to two`, { timeout: 60_000 + 2 * RACE_MS }, async () => {
      const witness = join(tmpdir(), `accede-race-${randomIds.id()}`);
      const racer = () => child('compete', { witness });
      let racing = Array.from({ length: RACERS }, racer);
      for (const one of racing) await one.answer(0);
      const begin = systemClock.monotonic();
      // Some of them die in the middle of whatever they do, and others come in their place.
      for (let round = 0; systemClock.monotonic() - begin < RACE_MS; round++) {
        await systemClock.sleep(Math.min(1_500, RACE_MS));
        const [victim, ...rest] = racing;
        if (victim === undefined) break;
        await victim.kill();
        racing = [...rest, racer()];
      }
      for (const one of racing) one.tell('stop');
      const codes = await Promise.all(racing.map((one) => one.exit()));
      await rm(witness, { force: true });
      expect(codes).toEqual(racing.map(() => 0));
      const turns = children.flatMap(({ answers }) => answers.filter((answer) => 'fence' in answer)) as { fence: number; count: number }[];
      const fences = turns.map(({ fence }) => fence);
      expect(new Set(fences).size).toBe(fences.length);
      const inOrder = [...turns].sort((a, b) => a.fence - b.fence).map(({ count }) => count);
      expect(inOrder).toEqual([...new Set(inOrder)].sort((a, b) => a - b));
      // Nobody wrote over the number of another: it is as high as there were turns, and those of the killed that were not told.
      const last = (await (await store()).read())?.resources.get(addressOf('count'))?.attributes['size'];
      expect(Number(last)).toBeGreaterThanOrEqual(turns.length);
      expect(Number(last)).toBeLessThanOrEqual(turns.length + children.length - racing.length);
      expect(turns.length).toBeGreaterThan(RACERS);
    });
  });
}
