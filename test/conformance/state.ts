import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digestBytes } from '../../src/core/canonical.ts';
import { randomIds, systemClock } from '../../src/core/clock.ts';
import type { StateStore, WriteSession } from '../../src/state/contract.ts';
import { digestOfRows, initialHead } from '../../src/state/digest.ts';
import { verifyIntegrity } from '../../src/state/integrity.ts';
import type { LockInfo, StepRow } from '../../src/state/model.ts';
import { openStore, type StateLocation } from '../../src/state/open.ts';
import { type ProcessIdentity, systemProcessIdentity } from '../../src/state/process.ts';
import type { ChildOrder } from '../support/state-child.ts';
import { StateChild } from '../support/state-children.ts';
import { acquired, addressOf, begun, identityOf, operationOf, rowOf, stepOf } from '../support/state-rows.ts';
import { keptConformance } from './state-kept.ts';

/** A place where nothing is kept yet, for one test. */
export interface StatePlace {
  readonly location: StateLocation;
  /** Lets the lease of every lock grow older by so many milliseconds, behind the store's back. */
  age(ms: number): Promise<void>;
  remove(): Promise<void>;
}

const ENVIRONMENT = 'crm';
const EMPTY = initialHead();
const PLAN = digestBytes('a plan');

/** What every backend of the state must do. */
export function stateConformance(name: string, factory: () => Promise<StatePlace>): void {
  describe(`state on ${name}`, () => {
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

    const store = async (host: ProcessIdentity = systemProcessIdentity(), environment = ENVIRONMENT) => {
      const opened = await openStore({ location: place.location, environment, clock: systemClock, ids: randomIds, host });
      open.push(opened);
      return opened;
    };
    const child = (command: ChildOrder['command']) => {
      const started = new StateChild({ location: place.location, environment: ENVIRONMENT, command });
      children.push(started);
      return started;
    };
    const writing = async () => {
      const opened = await store();
      const { session, lock } = await acquired(opened, ENVIRONMENT);
      return { store: opened, session, lock };
    };

    describe('identity', () => {
      it('must answer undefined, and an empty history, where there is no state', async () => {
        const empty = await store();
        expect(await empty.read()).toBeUndefined();
        expect(await empty.readAt(1)).toBeUndefined();
        expect(await empty.history()).toEqual([]);
        expect(await empty.steps(1)).toEqual([]);
        expect(await empty.spentBy(PLAN)).toBeUndefined();
        expect(await empty.unlock('none', 'tester@here')).toBe(false);
      });

      it('must not make a state for a lock that was not told to', async () => {
        const empty = await store();
        await expect(empty.acquire({ who: 'a', purpose: 'b' })).rejects.toMatchObject({ name: 'BackendError', code: 'STATE_UNREACHABLE' });
        expect(await empty.read()).toBeUndefined();
      });

      it('must keep the first identity whatever comes later', async () => {
        const first = await store();
        const identity = identityOf(ENVIRONMENT);
        const answer = await first.acquire({ who: 'a', purpose: 'b', create: { identity } });
        if (answer.kind === 'acquired') await answer.session.release();
        await acquired(await store(), ENVIRONMENT);
        expect(await first.read()).toMatchObject({ identity, head: EMPTY, open: null, lastOperation: null, sealed: null, outputs: [] });
      });

      it('must begin at the serial that a state from elsewhere brings', async () => {
        const brought = await store();
        const create = { identity: identityOf(ENVIRONMENT), serial: 12 };
        const answer = await brought.acquire({ who: 'a', purpose: 'b', create });
        expect(answer.kind).toBe('acquired');
        expect((await brought.read())?.head.serial).toBe(12);
      });

      it('must make one lineage when several processes begin at once', async () => {
        const racers = [child('race'), child('race'), child('race'), child('race')];
        for (const racer of racers) await racer.answer(0);
        for (const racer of racers) racer.tell('go');
        const answers = await Promise.all(racers.map((racer) => racer.answer(1)));
        expect(new Set(answers.map((answer) => answer['lineage'])).size).toBe(1);
        expect(answers.map((answer) => Number(answer['fence'])).sort((a, b) => a - b)).toEqual([1, 2, 3, 4]);
        for (const racer of racers) await racer.exit();
        expect((await (await store()).read())?.lock).toBeNull();
      });
    });

    describe('head', () => {
      it('must refuse to begin on another serial or another content, and change nothing', async () => {
        const { store: opened, session } = await writing();
        const first = await session.begin(operationOf(), EMPTY);
        await session.write([{ kind: 'row', row: rowOf(1) }]);
        await session.end(first.serial, 'done', null);
        const moved = { code: 'STATE_MOVED' };
        const before = await opened.read();
        const digest = before?.head.digest ?? EMPTY.digest;
        await expect(session.begin(operationOf(), EMPTY)).rejects.toMatchObject(moved);
        await expect(session.begin(operationOf(), { serial: 1, digest: EMPTY.digest })).rejects.toMatchObject(moved);
        await expect(session.begin(operationOf(), { serial: 2, digest })).rejects.toMatchObject(moved);
        expect(await opened.read()).toEqual(before);
        expect((await session.begin(operationOf(), { serial: 1, digest })).serial).toBe(2);
      });

      it('must give equal contents equal digests whatever their order, and see every change', async () => {
        const { store: opened, session } = await writing();
        const digest = async () => (await opened.read())?.head.digest;
        await session.begin(operationOf(), EMPTY);
        await session.write([{ kind: 'row', row: rowOf(2) }]);
        await session.write([{ kind: 'row', row: rowOf(1) }]);
        const outputs = [
          { name: 'b', value: 1 },
          { name: 'a', value: [2] },
        ];
        await session.write([{ kind: 'outputs', outputs }]);
        const full = await digest();
        expect(full).toBe(digestOfRows([rowOf(1), rowOf(2)], [...outputs].reverse()));
        await session.write([{ kind: 'row', row: rowOf(1, { status: 'tainted' }) }]);
        expect(await digest()).not.toBe(full);
        await session.write([{ kind: 'row', row: rowOf(1) }]);
        expect(await digest()).toBe(full);
        await session.write([{ kind: 'outputs', outputs: [] }]);
        expect(await digest()).not.toBe(full);
      });

      it('must end an operation that was left open as abandoned when the next one begins', async () => {
        const { store: opened, session } = await writing();
        const left = await begun(opened, session);
        await session.write([{ kind: 'step', step: stepOf(left.serial, 'one') }]);
        await session.release();
        expect((await opened.read())?.open).toMatchObject({ operation: { serial: 1, outcome: null }, steps: [{ step: 'one' }] });
        const next = await acquired(opened, ENVIRONMENT);
        await begun(opened, next.session);
        const [second, first] = await opened.history();
        expect(first).toMatchObject({ serial: 1, id: 'op-1', outcome: 'abandoned', endedAt: expect.stringMatching(/Z$/) });
        expect(second).toMatchObject({ serial: 2, id: 'op-2', outcome: null, endedAt: null, fence: 2 });
      });

      it('must keep what an operation said at its begin and at its end', async () => {
        const { store: opened, session } = await writing();
        const words = { planDigest: PLAN, class: 'initial', actor: 'ada', reason: 'because', kind: 'destroy' } as const;
        const operation = await begun(opened, session, words);
        const sealed = {
          serial: 1,
          sourceDigest: 'sha256:a',
          releaseDigest: null,
          governance: { policy: [1] },
          commit: 'abc',
          secrets: { db: 'hmac-sha256:1' },
          source: null,
        };
        await session.end(operation.serial, 'failed', { done: 3 }, sealed);
        const snapshot = await opened.read();
        expect(snapshot?.lastOperation).toMatchObject({ ...words, outcome: 'failed', summary: { done: 3 } });
        expect(snapshot?.open).toBeNull();
        expect(snapshot?.sealed).toEqual(sealed);
      });
    });

    describe('what was in force', () => keptConformance(writing));

    describe('rows', () => {
      it('must give back what was written, in the order of addresses', async () => {
        const { store: opened, session } = await writing();
        await begun(opened, session);
        const secret = { $accede: 'sensitive', fingerprint: `hmac-sha256:${'0'.repeat(64)}`, names: ['token'] };
        const rows = [
          rowOf('b', { dependencies: [addressOf('a')], deposed: [{ id: 'old', ref: 'old-ref' }], ref: null }),
          rowOf('a', { attributes: { text: 'ä"\\\n\u0000 \u{1f600}', number: 1.5, none: null, secret } }),
        ];
        await session.write(rows.map((row) => ({ kind: 'row', row })));
        const snapshot = await session.read();
        expect([...snapshot.resources.keys()]).toEqual([addressOf('a'), addressOf('b')]);
        expect(snapshot.resources.get(addressOf('a'))).toEqual(rows[1]);
        expect(snapshot.resources.get(addressOf('b'))).toEqual(rows[0]);
        expect(verifyIntegrity(snapshot)).toEqual([]);
      });

      it('must rebuild the end of every operation', async () => {
        const { store: opened, session } = await writing();
        const operation = async (...mutations: Parameters<WriteSession['write']>[0]) => {
          const { serial } = await begun(opened, session);
          await session.write(mutations);
          await session.end(serial, 'done', null);
        };
        const grown = rowOf(1, { attributes: { size: 2 } });
        await operation({ kind: 'row', row: rowOf(1) }, { kind: 'row', row: rowOf(2) });
        await operation(
          { kind: 'row', row: grown },
          { kind: 'drop', address: addressOf(2) },
          { kind: 'outputs', outputs: [{ name: 'o', value: 1 }] },
        );
        await operation({ kind: 'drop', address: addressOf(1) }, { kind: 'row', row: rowOf(3) }, { kind: 'drop', address: addressOf(3) });
        await operation({ kind: 'row', row: rowOf(2) }, { kind: 'outputs', outputs: [] });
        const at = async (serial: number) => {
          const found = await opened.readAt(serial);
          return [found?.operation.serial, [...(found?.resources.values() ?? [])], found?.outputs];
        };
        expect(await at(1)).toEqual([1, [rowOf(1), rowOf(2)], []]);
        expect(await at(2)).toEqual([2, [grown], [{ name: 'o', value: 1 }]]);
        expect(await at(3)).toEqual([3, [], [{ name: 'o', value: 1 }]]);
        expect(await at(4)).toEqual([4, [rowOf(2)], []]);
        expect(await opened.readAt(5)).toBeUndefined();
        expect((await opened.read())?.resources).toEqual((await opened.readAt(4))?.resources);
      });

      it('must keep steps in the order of their intent, whenever they end', async () => {
        const { store: opened, session } = await writing();
        const { serial } = await begun(opened, session);
        for (const step of ['z', 'a', 'm']) await session.write([{ kind: 'step', step: stepOf(serial, step) }]);
        const failed = stepOf(serial, 'z', { status: 'failed', endedAt: 'later', error: { code: 'X', message: 'why' } });
        await session.write([{ kind: 'step', step: failed }]);
        expect((await opened.steps(serial)).map((step) => `${step.step} ${step.status}`)).toEqual(['z failed', 'a intended', 'm intended']);
        expect((await opened.steps(serial))[0]).toEqual(failed);
      });

      it('must name every step of any operation whose effect may have happened unrecorded, oldest first', async () => {
        const { store: opened, session } = await writing();
        const first = await begun(opened, session);
        const write = (serial: number, step: string, changes: Partial<StepRow>) =>
          session.write([{ kind: 'step', step: stepOf(serial, step, changes) }]);
        await write(first.serial, 'z-intended', {});
        await write(first.serial, 'done', {});
        await write(first.serial, 'done', { status: 'done' });
        await write(first.serial, 'create-failed', { status: 'failed' });
        await write(first.serial, 'update-failed', { status: 'failed', object: 'update' });
        await session.end(first.serial, 'failed', null);
        const second = await begun(opened, session);
        await write(second.serial, 'a-unknown', { status: 'unknown', object: 'remove' });
        const names = async () => (await opened.read())?.unsettled.map((step) => `${step.serial} ${step.step}`);
        expect(await names()).toEqual(['1 z-intended', '1 create-failed', '2 a-unknown']);
        await write(first.serial, 'create-failed', { status: 'settled' });
        expect(await names()).toEqual(['1 z-intended', '2 a-unknown']);
        expect((await opened.steps(first.serial)).map((step) => step.step)).toEqual([
          'z-intended',
          'done',
          'create-failed',
          'update-failed',
        ]);
      });

      it('must write all of a call or nothing', async () => {
        const { store: opened, session } = await writing();
        const { serial } = await begun(opened, session);
        await session.write([{ kind: 'spend', planDigest: PLAN, serial }]);
        const refused = session.write([
          { kind: 'row', row: rowOf(1) },
          { kind: 'step', step: stepOf(serial, 'one') },
          { kind: 'spend', planDigest: PLAN, serial: serial + 1 },
        ]);
        await expect(refused).rejects.toMatchObject({ code: 'STATE_MOVED', message: expect.stringContaining('op-1') });
        expect((await opened.read())?.resources.size).toBe(0);
        expect(await opened.steps(serial)).toEqual([]);
        expect(await opened.readAt(serial)).toMatchObject({ resources: new Map() });
      });

      it('must not fail a call for the fault of another that came with it', async () => {
        const { store: opened, session } = await writing();
        const { serial } = await begun(opened, session);
        await session.write([{ kind: 'spend', planDigest: PLAN, serial: serial + 7 }]);
        const calls = Array.from({ length: 40 }, (_, index) =>
          session.write([
            { kind: 'row', row: rowOf(index) },
            ...(index === 17 ? [{ kind: 'spend', planDigest: PLAN, serial } as const] : []),
          ]),
        );
        const results = await Promise.allSettled(calls);
        expect(results.flatMap((result, index) => (result.status === 'rejected' ? [index] : []))).toEqual([17]);
        const resources = (await opened.read())?.resources;
        expect(resources?.size).toBe(39);
        expect(resources?.has(addressOf(17))).toBe(false);
      });

      it('must let a plan be spent by one operation alone, and twice by that', async () => {
        const { store: opened, session } = await writing();
        const first = await begun(opened, session, { planDigest: PLAN });
        expect(await opened.spentBy(PLAN)).toBeUndefined();
        await session.write([{ kind: 'spend', planDigest: PLAN, serial: first.serial }]);
        await session.write([{ kind: 'spend', planDigest: PLAN, serial: first.serial }]);
        await session.end(first.serial, 'done', null);
        const second = await begun(opened, session);
        const again = session.write([{ kind: 'spend', planDigest: PLAN, serial: second.serial }]);
        await expect(again).rejects.toMatchObject({ code: 'STATE_MOVED' });
        expect(await opened.spentBy(PLAN)).toMatchObject({ serial: 1, planDigest: PLAN, outcome: 'done' });
      });
    });

    describe('lock', () => {
      it('must answer busy with the holder, and let nobody else in', async () => {
        const { lock } = await writing();
        const other = await store();
        expect(await other.acquire({ who: 'b', purpose: 'c' })).toEqual({ kind: 'busy', holder: lock });
        expect((await other.read())?.lock).toEqual(lock);
      });

      it('must raise the fence with every holder, over releases and unlocks', async () => {
        const { store: opened, session, lock } = await writing();
        expect(session.fence).toBe(1);
        await session.release();
        await session.release();
        expect((await opened.read())?.lock).toBeNull();
        const second = await acquired(opened, ENVIRONMENT);
        expect(second.session.fence).toBe(2);
        expect(await opened.unlock(lock.lockId, 'tester@here')).toBe(false);
        expect(await opened.unlock(second.lock.lockId, 'tester@here')).toBe(true);
        expect(await opened.unlock(second.lock.lockId, 'tester@here')).toBe(false);
        expect((await acquired(opened, ENVIRONMENT)).session.fence).toBe(4);
      });

      it('must fence a holder whose lock was ended, in every method, and let it release', async () => {
        const { store: opened, session, lock } = await writing();
        const { serial } = await begun(opened, session);
        await opened.unlock(lock.lockId, 'tester@here');
        const next = await acquired(await store(), ENVIRONMENT);
        const before = await opened.read();
        const fenced = { name: 'BackendError', code: 'FENCED' };
        await expect(session.write([{ kind: 'row', row: rowOf(1) }])).rejects.toMatchObject(fenced);
        await expect(session.end(serial, 'done', null)).rejects.toMatchObject(fenced);
        await expect(session.begin(operationOf(), before?.head ?? EMPTY)).rejects.toMatchObject(fenced);
        await expect(session.read()).rejects.toMatchObject(fenced);
        await session.release();
        expect(await opened.read()).toEqual(before);
        expect(before?.lock).toEqual(next.lock);
      });

      it('must refuse writes after the release', async () => {
        const { store: opened, session } = await writing();
        await begun(opened, session);
        await session.release();
        await expect(session.write([{ kind: 'row', row: rowOf(1) }])).rejects.toMatchObject({ code: 'FENCED' });
        await expect(session.read()).rejects.toMatchObject({ code: 'FENCED' });
        expect((await opened.read())?.resources.size).toBe(0);
      });

      it('must make durable what was handed over before the release', async () => {
        const { store: opened, session } = await writing();
        await begun(opened, session);
        const write = session.write([{ kind: 'row', row: rowOf(1) }]);
        await Promise.all([write, session.release()]);
        expect((await opened.read())?.resources.size).toBe(1);
      });

      it('must be busy while another process holds it, and free when it gave it back', async () => {
        const holder = child('hold');
        const held = (await holder.answer(0))['lock'] as LockInfo;
        const waiting = await store();
        expect(await waiting.acquire({ who: 'a', purpose: 'b' })).toEqual({ kind: 'busy', holder: held });
        expect(held.pid).toBe(holder.pid);
        holder.tell('release');
        await holder.exit();
        expect(await waiting.acquire({ who: 'a', purpose: 'b' })).toMatchObject({ kind: 'acquired', tookOver: undefined });
      });

      it('must take over at once from a process that was killed', async () => {
        const holder = child('hold');
        const held = (await holder.answer(0))['lock'] as LockInfo;
        await holder.kill();
        const answer = await acquired(await store(), ENVIRONMENT);
        expect(answer.tookOver).toEqual(held);
        expect(answer.lock.fence).toBeGreaterThan(held.fence);
      });

      it('must leave alone the lock of a holder that it cannot see', async () => {
        const elsewhere = { ...systemProcessIdentity(), host: 'elsewhere', pid: 1 };
        const { lock } = await acquired(await store(elsewhere), ENVIRONMENT);
        expect(lock.host).toBe('elsewhere');
        expect((await (await store()).acquire({ who: 'a', purpose: 'b' })).kind).toBe('busy');
      });
    });

    describe('kill -9', () => {
      it('must keep every acknowledged write, and no half of any, at whatever moment the writer dies', { timeout: 120_000 }, async () => {
        const opened = await store();
        const acknowledged = new Set<string>();
        for (const moment of [0, 1, 9, 33, 64, 100, 150, 199]) {
          const writer = child('write');
          await writer.answer(0);
          writer.tell('go');
          await writer.answer(moment);
          await writer.kill();
          for (const answer of writer.answers) {
            if (typeof answer['written'] === 'string') acknowledged.add(answer['written']);
          }
          const snapshot = await opened.read();
          const serial = snapshot?.head.serial ?? 0;
          const rows = new Set<string>(snapshot?.resources.keys());
          for (const name of acknowledged) expect(rows).toContain(addressOf(name));
          const mine = [...rows].filter((address) => address.startsWith(addressOf(`${serial}-`)));
          const steps = (await opened.steps(serial)).map((step) => step.address);
          expect(mine.sort()).toEqual(steps.flatMap((address) => [address, `${address}-twin`]).sort());
          expect(snapshot && verifyIntegrity(snapshot)).toEqual([]);
          expect((await opened.readAt(serial))?.resources).toEqual(snapshot?.resources);
          expect(snapshot?.open?.operation.serial).toBe(serial);
        }
        expect(acknowledged.size).toBeGreaterThan(300);
      });
    });

    it('must group calls that are in flight together and stay fast', async () => {
      const { store: opened, session } = await writing();
      const { serial } = await begun(opened, session);
      let next = 0;
      const worker = async () => {
        for (let index = next++; index < 1_000; index = next++) {
          await session.write([
            { kind: 'row', row: rowOf(index) },
            { kind: 'step', step: stepOf(serial, `${index}`) },
          ]);
        }
      };
      await Promise.all(Array.from({ length: 16 }, worker));
      const snapshot = await opened.read();
      expect(snapshot?.resources.size).toBe(1_000);
      expect(snapshot?.open?.steps.length).toBe(1_000);
    });
  });
}
