import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EditRequest } from '../../src/apply/edit.ts';
import { migrateState } from '../../src/apply/migrate.ts';
import { examineRestore, restoreState } from '../../src/apply/restore.ts';
import { encodeContent } from '../../src/core/bundle.ts';
import { digestBytes } from '../../src/core/canonical.ts';
import { randomIds, systemClock } from '../../src/core/clock.ts';
import { takeBackup, takeCopy } from '../../src/state/backup.ts';
import { BackupFile } from '../../src/state/backup-file.ts';
import type { Acquired, StateStore } from '../../src/state/contract.ts';
import { receiveCopy } from '../../src/state/migrate.ts';
import { openStore, type StoreOptions } from '../../src/state/open.ts';
import { describePlace, lookInto } from '../../src/state/place.ts';
import { systemProcessIdentity } from '../../src/state/process.ts';
import { restoreBackup } from '../../src/state/restore.ts';
import { acquired, addressOf, begun, rowOf, stepOf } from '../support/state-rows.ts';
import type { StatePlace } from './state.ts';

const ENVIRONMENT = 'crm';
const PLAN = digestBytes('a plan');
const SOURCE = digestBytes('ü𝄞');

/** What every backend must do with a backup, and what must hold when a state moves from one store to another of its kind. */
export function backupConformance(name: string, factory: () => Promise<StatePlace>): void {
  describe(`backup, restore and move of a state on ${name}`, () => {
    let places: StatePlace[];
    let open: StateStore[];
    let folder: string;
    let file: string;

    beforeEach(async () => {
      places = [await factory(), await factory()];
      open = [];
      folder = await mkdtemp(join(tmpdir(), 'accede-backup-'));
      file = join(folder, 'one');
    });
    afterEach(async () => {
      for (const store of open) await store.close();
      for (const place of places) await place.remove();
      await rm(folder, { recursive: true, force: true });
    });

    const optionsOf = (index: number, environment = ENVIRONMENT): StoreOptions => {
      const location = places[index]?.location;
      if (location === undefined) throw new Error('there is no such place');
      return { location, environment, clock: systemClock, ids: randomIds, host: systemProcessIdentity() };
    };
    const storeAt = async (index: number) => {
      const store = await openStore(optionsOf(index));
      open.push(store);
      return store;
    };
    const request: EditRequest = {
      actor: 'ann@here',
      reason: null,
      lockTimeout: 0,
      stop: new AbortController().signal,
      emit: () => undefined,
    };
    /** Two operations that leave something in every part of the state; the second is open when `isOpen` says so. */
    const filled = async (index = 0, isOpen = false): Promise<{ readonly store: StateStore; readonly held: Acquired }> => {
      const store = await storeAt(index);
      const held = await acquired(store, ENVIRONMENT);
      const { session } = held;
      await begun(store, session, { planDigest: PLAN, reason: 'because \u2028 "ü"' });
      await session.write([
        ...Array.from({ length: 90 }, (_, row) => ({ kind: 'row' as const, row: rowOf(row) })),
        { kind: 'spend', planDigest: PLAN, serial: 1 },
        { kind: 'source', digest: SOURCE, body: encodeContent(Buffer.from('ü𝄞')) },
        { kind: 'outputs', outputs: [{ name: 'url', value: 'http://crm' }] },
        { kind: 'step', step: stepOf(1, 'one', { status: 'done' }) },
      ]);
      const sealed = {
        serial: 1,
        sourceDigest: 'sha256:s',
        releaseDigest: null,
        governance: {},
        commit: null,
        secrets: {},
        source: SOURCE,
      };
      await session.end(1, 'done', { tally: 1 }, sealed, { format: 'accede.evidence/v1', number: 1 });
      await begun(store, session);
      await session.write([
        { kind: 'drop', address: addressOf(0) },
        { kind: 'step', step: stepOf(2, 'two') },
      ]);
      if (!isOpen) await session.end(2, 'failed', null);
      return { store, held };
    };
    const backedUp = async (index = 0) => {
      const taken = await takeBackup(optionsOf(index), { path: file, by: 'ann@here' });
      if (taken === undefined) throw new Error('there is no state');
      return taken;
    };
    const opened = async <T>(use: (backup: BackupFile) => Promise<T>): Promise<T> => {
      const backup = await BackupFile.open(file);
      try {
        return await use(backup);
      } finally {
        await backup.close();
      }
    };
    const restored = (lostUpTo: number, index = 1) =>
      opened((backup) => restoreBackup(optionsOf(index), backup, { actor: 'ann@here', reason: null, lostUpTo }));
    const migrated = async (from: number, to: number) => {
      const outcome = await migrateState(optionsOf(from), optionsOf(to), request);
      if (!outcome.ok) throw new Error(JSON.stringify(outcome.diagnostics));
      return outcome.value;
    };

    it('must back up what is there at one moment, tell of it in the chain, and hold nobody up', async () => {
      const { store, held } = await filled();
      const taken = await backedUp();
      expect(taken).toMatchObject({
        environment: ENVIRONMENT,
        epoch: 1,
        serial: 2,
        resources: 89,
        operations: 2,
        open: null,
        audited: true,
      });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect((await store.audit()).at(-1)).toMatchObject({ what: 'state.backed-up', actor: 'ann@here', detail: { backup: taken.backup } });
      expect((await store.verifyAudit())?.problem).toBeNull();
      await begun(store, held.session);
      await expect(takeBackup(optionsOf(0), { path: file, by: 'ann@here' })).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
      expect(await takeBackup(optionsOf(1), { path: join(folder, 'none'), by: 'ann@here' })).toBeUndefined();
    });

    it('must put back every part, behind what is lost, with a greater fence and epoch', async () => {
      const { store } = await filled();
      const before = await store.read();
      await backedUp();
      expect(await restored(7)).toEqual({ serial: 8, epoch: 2, fence: 2 });
      const copy = await storeAt(1);
      const after = await copy.read();
      expect(after).toMatchObject({ epoch: 2, head: { serial: 8, digest: before?.head.digest }, lock: null, open: null });
      for (const part of ['identity', 'resources', 'outputs', 'sealed', 'unsettled'] as const)
        expect(after?.[part]).toEqual(before?.[part]);
      expect((await copy.history()).slice(1)).toEqual(await store.history());
      expect((await copy.history())[0]).toMatchObject({
        kind: 'state-restore',
        outcome: 'done',
        summary: { lost: { from: 3, to: 7 }, serial: 2 },
      });
      expect(await copy.readAt(1)).toEqual(await store.readAt(1));
      expect(await copy.steps(1)).toEqual(await store.steps(1));
      expect(await copy.evidence()).toEqual(await store.evidence());
      expect(await copy.sealings()).toEqual(await store.sealings());
      expect(await copy.sources([SOURCE])).toEqual(await store.sources([SOURCE]));
      expect((await copy.spentBy(PLAN))?.serial).toBe(1);
      expect((await copy.audit()).at(-1)).toMatchObject({
        what: 'state.restored',
        serial: 8,
        detail: { lost: '3..7', fence: 2, epoch: 2 },
      });
      expect((await copy.verifyAudit())?.problem).toBeNull();
      expect((await acquired(copy, ENVIRONMENT)).lock.fence).toBe(3);
    });

    it('must be restored to an empty place of the same environment alone', async () => {
      await filled();
      await backedUp();
      await expect(restored(2, 0)).rejects.toMatchObject({ code: 'STATE_NOT_EMPTY' });
      await opened(async (backup) => {
        const order = { actor: 'ann@here', reason: null, lostUpTo: 2 };
        await expect(restoreBackup(optionsOf(1, 'other'), backup, order)).rejects.toMatchObject({ code: 'STATE_BACKUP_FOREIGN' });
        const racing = [1, 2, 3].map(() => () => restoreBackup(optionsOf(1), backup, order));
        const { backend } = optionsOf(1).location;
        // Who waits for a SQLite file waits with its whole process, in which the one that is waited for would be.
        const racers = backend === 'mysql' ? await Promise.allSettled(racing.map((race) => race())) : await oneByOne(racing);
        expect(racers.filter(({ status }) => status === 'fulfilled').length).toBe(1);
        for (const racer of racers) {
          if (racer.status === 'rejected') expect(racer.reason).toMatchObject({ code: 'STATE_NOT_EMPTY' });
        }
      });
      expect((await (await storeAt(1)).verifyAudit())?.problem).toBeNull();
    });

    it('must work with an open operation, and leave its steps to the next run', async () => {
      const { store } = await filled(0, true);
      expect(await backedUp()).toMatchObject({ open: 'op-2' });
      await restored(2);
      const copy = await storeAt(1);
      expect(await copy.read()).toMatchObject({ open: null, unsettled: (await store.read())?.unsettled });
      expect((await copy.history()).map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
        'state-restore done',
        'apply abandoned',
        'apply done',
      ]);
    });

    it('must refuse whoever holds the lock of the store whose place a backup takes', async () => {
      const { store, held } = await filled();
      await backedUp();
      await held.session.end((await begun(store, held.session)).serial, 'done', null);
      const order = { ...request, loss: { from: 3, to: 3 }, replaced: optionsOf(0) };
      await opened(async (backup) => {
        expect(await examineRestore(optionsOf(1), backup, optionsOf(0))).toMatchObject({ ok: true, value: { loss: { from: 3, to: 3 } } });
        expect(await restoreState(optionsOf(1), backup, order)).toMatchObject({ ok: false, diagnostics: [{ code: 'LOCK_BUSY' }] });
        await store.unlock(held.lock.lockId, 'ann@here');
        const less = { ...order, loss: { from: 3, to: 2 } };
        expect(await restoreState(optionsOf(1), backup, less)).toMatchObject({ ok: false, diagnostics: [{ code: 'STATE_MOVED' }] });
        expect(await restoreState(optionsOf(1), backup, order)).toMatchObject({ ok: true, value: { serial: 4, epoch: 2 } });
      });
      const named = expect.stringContaining(describePlace(optionsOf(1).location));
      await expect(begun(await storeAt(1), held.session)).rejects.toMatchObject({ code: 'STATE_RETIRED', message: named });
      await expect(store.acquire({ who: 'a', purpose: 'b' })).rejects.toMatchObject({ code: 'STATE_RETIRED', message: named });
      // The old fence is below every one that is given from now on.
      expect((await acquired(await storeAt(1), ENVIRONMENT)).lock.fence).toBeGreaterThan((await lookInto(optionsOf(0)))?.fence ?? 0);
    });

    it('must move a state there and back, and refuse whoever comes late', async () => {
      const { store, held } = await filled();
      const before = await store.read();
      expect(await migrateState(optionsOf(0), optionsOf(1), request)).toMatchObject({ ok: false, diagnostics: [{ code: 'LOCK_BUSY' }] });
      await held.session.release();
      const there = describePlace(optionsOf(1).location);
      expect(await migrated(0, 1)).toMatchObject({ to: there, serial: 2, epoch: 2, resources: 89, open: null, resumed: false });
      const moved = { code: 'STATE_RETIRED', message: expect.stringContaining(there) };
      await expect(store.read()).rejects.toMatchObject(moved);
      await expect(store.acquire({ who: 'a', purpose: 'b' })).rejects.toMatchObject(moved);
      await expect(takeBackup(optionsOf(0), { path: file, by: 'a' })).rejects.toMatchObject(moved);
      expect((await store.audit()).at(-1)).toMatchObject({ what: 'state.retired', detail: { to: there } });
      expect((await store.verifyAudit())?.problem).toBeNull();
      const copy = await storeAt(1);
      expect(await copy.read()).toMatchObject({ epoch: 2, head: before?.head, resources: before?.resources, lock: null });
      expect((await copy.audit()).at(-1)).toMatchObject({ what: 'state.migrated' });
      // Run again, it is done already.
      expect(await migrated(0, 1)).toMatchObject({ epoch: 2, resumed: true });
      const { session } = await acquired(copy, ENVIRONMENT);
      await session.end((await begun(copy, session)).serial, 'done', null);
      await session.release();
      expect(await migrated(1, 0)).toMatchObject({ serial: 3, epoch: 3 });
      await expect(copy.read()).rejects.toMatchObject({ code: 'STATE_RETIRED' });
      expect(await store.read()).toMatchObject({ epoch: 3, head: { serial: 3, digest: before?.head.digest } });
      expect((await store.verifyAudit())?.problem).toBeNull();
      expect((await acquired(store, ENVIRONMENT)).lock.fence).toBeGreaterThan(session.fence);
    });

    it('must take holds along, and neither lose one that comes while the state moves nor take one afterwards', async () => {
      const { store, held } = await filled();
      const hold = {
        kind: 'hand',
        source: null,
        variables: null,
        reason: 'stop',
        by: 'ann@here',
        since: '2026-01-01T12:00:00.000Z',
        until: null,
        serial: null,
      } as const;
      await store.setHold(hold);
      const records = (await store.audit()).length;
      const early = { to: 'there', move: 'm', by: 'ann@here', auditedUpTo: records - 1 };
      await expect(held.session.retire(early)).rejects.toMatchObject({ code: 'STATE_MOVED' });
      await held.session.release();
      await migrated(0, 1);
      expect((await (await storeAt(1)).read())?.holds).toEqual([hold]);
      await expect(store.setHold(hold)).rejects.toMatchObject({ code: 'STATE_RETIRED' });
      await expect(store.liftHolds('ann@here', 'go')).rejects.toMatchObject({ code: 'STATE_RETIRED' });
      expect((await store.verifyAudit())?.problem).toBeNull();
    });

    it('must say to a holder that was stopped where the state went', async () => {
      const { held } = await filled();
      await places[0]?.age(120_000);
      await migrated(0, 1);
      await expect(held.session.write([{ kind: 'row', row: rowOf(1) }])).rejects.toThrow();
      await expect(begun(await storeAt(1), held.session)).rejects.toMatchObject({ code: 'STATE_RETIRED' });
    });

    it('must never have two stores in use, wherever a move is cut off, and end with the next run', async () => {
      const { store, held } = await filled();
      await held.session.release();
      const cutOff = async (id: string) => {
        const path = join(folder, id);
        await takeCopy(optionsOf(0), { path, by: 'ann@here' });
        const copy = await BackupFile.open(path);
        await receiveCopy(optionsOf(1), copy, { id, from: 'there', by: 'ann@here' });
        await copy.close();
      };
      // After the copy: the former store goes on, and its copy is made anew.
      await cutOff('first');
      const copy = await storeAt(1);
      const incomplete = { code: 'STATE_MOVE_OPEN' };
      await expect(copy.read()).rejects.toMatchObject(incomplete);
      await expect(copy.acquire({ who: 'a', purpose: 'b' })).rejects.toMatchObject(incomplete);
      expect(await migrateState(optionsOf(1), optionsOf(0), request)).toMatchObject({ ok: false, diagnostics: [incomplete] });
      const { session } = await acquired(store, ENVIRONMENT);
      await session.end((await begun(store, session)).serial, 'done', null);
      // After the former store was taken out of use: none of both is written to.
      await cutOff('second');
      await session.retire({ to: describePlace(optionsOf(1).location), move: 'second', by: 'ann@here' });
      await session.release();
      await expect(store.read()).rejects.toMatchObject({ code: 'STATE_RETIRED' });
      await expect(copy.read()).rejects.toMatchObject(incomplete);
      expect(await migrated(0, 1)).toMatchObject({ serial: 3, epoch: 2, resumed: true });
      expect(await copy.read()).toMatchObject({ head: { serial: 3 }, epoch: 2 });
      expect((await copy.verifyAudit())?.problem).toBeNull();
    });

    it('must not move a state over another one, nor to where it is', async () => {
      const { held } = await filled();
      await held.session.release();
      const same = await migrateState(optionsOf(0), optionsOf(0), request);
      expect(same).toMatchObject({ ok: false, diagnostics: [{ code: 'STATE_NOT_EMPTY' }] });
      const other = await filled(1);
      const before = await other.store.read();
      expect(await migrateState(optionsOf(0), optionsOf(1), request)).toMatchObject({
        ok: false,
        diagnostics: [{ code: 'STATE_NOT_EMPTY' }],
      });
      expect(await other.store.read()).toEqual(before);
      expect((await (await storeAt(0)).read())?.epoch).toBe(1);
    });
  });
}

async function oneByOne<T>(runs: readonly (() => Promise<T>)[]): Promise<readonly PromiseSettledResult<T>[]> {
  const ended: PromiseSettledResult<T>[] = [];
  for (const run of runs) ended.push(...(await Promise.allSettled([run()])));
  return ended;
}
