import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AccedeEvent } from '../../../src/apply/events.ts';
import { Sensitive } from '../../../src/core/value.ts';
import { condition, desired, environment, Reference } from '../../support/desired.ts';
import { EngineBench, outline } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

const thing = (name: string, attributes = {}, options = {}) => desired(`fake.thing.${name}`, attributes, options);
const chain = [thing('a'), thing('b', { needs: new Reference('fake.thing.a', 'id') }), thing('c')];

describe('a plan', () => {
  it('must be applied once', async () => {
    const { document } = await bench.prepare([thing('a')]);
    expect(await bench.apply(document, [thing('a')])).toMatchObject({ exitCode: 0 });
    const again = await bench.apply(document, [thing('a')]);
    expect(again).toMatchObject({ exitCode: 4, outcome: 'spent', diagnostics: [{ code: 'PLAN_SPENT' }] });
    expect(await bench.apply(document, [thing('a')], { ifDone: true })).toMatchObject({ exitCode: 0, outcome: 'spent' });
    expect(bench.world.mutations()).toHaveLength(1);
  });

  it('must be stale after another apply, and change nothing', async () => {
    await bench.converge([thing('a')]);
    const { document } = await bench.prepare([thing('a', { size: 2 })]);
    await bench.converge([thing('a'), thing('b')]);
    const before = bench.world.mutations().length;
    const result = await bench.apply(document, [thing('a', { size: 2 })]);
    expect(result).toMatchObject({ exitCode: 4, outcome: 'stale', diagnostics: [{ code: 'PLAN_STALE' }] });
    expect(result.diagnostics[0]?.detail).toContain('the state went from #1 to #2');
    expect(bench.world.mutations()).toHaveLength(before);
  });

  it('must be stale when its state was moved away, and not begin an empty one in its place', async () => {
    await bench.converge([thing('a')]);
    const { document } = await bench.prepare([thing('a', { size: 2 })]);
    const state = join(bench.folder, '.accede');
    renameSync(state, `${state}-moved`);
    const result = await bench.apply(document, [thing('a', { size: 2 })]);
    expect(result).toMatchObject({ outcome: 'stale', exitCode: 4 });
    expect(existsSync(state)).toBe(false);
  });

  it('must be stale when a live object moved, and usable again when it moved back', async () => {
    await bench.converge([thing('a', { size: 1 })]);
    const { document } = await bench.prepare([thing('a', { size: 2 })]);
    bench.world.set('test-a', { size: 5 });
    const result = await bench.apply(document, [thing('a', { size: 2 })]);
    expect(result).toMatchObject({ exitCode: 4, outcome: 'stale' });
    expect(result.diagnostics[0]?.detail).toContain('live objects changed: fake.thing.a');
    expect(bench.world.named('test-a')?.attributes['size']).toBe(5);
    bench.world.set('test-a', { size: 1 });
    expect(await bench.apply(document, [thing('a', { size: 2 })])).toMatchObject({ exitCode: 0 });
  });

  it('must be stale when the documents say something else by now', async () => {
    const { document } = await bench.prepare([thing('a')]);
    const result = await bench.apply(document, [thing('a', { size: 9 })]);
    expect(result).toMatchObject({ exitCode: 4, outcome: 'stale' });
    expect(result.diagnostics[0]?.detail).toContain('the documents changed');
  });

  it('must have the same digest whenever nothing moved', async () => {
    await bench.converge(chain);
    const next = [...chain, thing('d')];
    const [first, second] = [await bench.prepare(next), await bench.prepare([...next].reverse())];
    expect(first.document.digest).toBe(second.document.digest);
  });

  it('must be refused when it is too old', async () => {
    const { document } = await bench.prepare([thing('a')]);
    const result = await bench.apply({ ...document, expiresAt: '2001-01-01T00:00:00.000Z' }, [thing('a')]);
    expect(result).toMatchObject({ exitCode: 4, diagnostics: [{ code: 'PLAN_EXPIRED' }] });
  });

  it('must be refused when its class is refuse', async () => {
    const { document } = await bench.prepare([]);
    expect(await bench.apply(document, [])).toMatchObject({ exitCode: 3, outcome: 'refused' });
  });
});

describe('a busy lock', () => {
  it('must end the run with nothing changed', async () => {
    const { document } = await bench.prepare([thing('a')]);
    await bench.converge([desired('local.value.v', { input: 1 })]);
    const store = await bench.store();
    const held = await store.acquire({ who: 'other@there', purpose: 'apply' });
    const result = await bench.apply(document, [thing('a')], { lockTimeout: 300 });
    expect(result).toMatchObject({ exitCode: 75, outcome: 'busy', diagnostics: [{ code: 'LOCK_BUSY' }] });
    expect(result.diagnostics[0]?.detail).toContain('other@there');
    if (held.kind === 'acquired') await held.session.release();
    expect(bench.world.mutations()).toEqual([]);
  });
});

describe('a failed step', () => {
  it('must leave what was done recorded, skip what depends on it, and account for every step', async () => {
    await bench.breakOff();
    const { document } = await bench.prepare(chain);
    bench.world.failOn('fake.thing.a', 'CONFLICT');
    const result = await bench.apply(document, chain);
    expect(result).toMatchObject({
      exitCode: 6,
      outcome: 'failed',
      steps: { done: ['fake.thing.c:create'], notDone: ['fake.thing.a:create', 'fake.thing.b:create'], unknown: [] },
      diagnostics: [{ code: 'CONFLICT', address: 'fake.thing.a' }],
    });
    const skipped = bench.events.flatMap((event) => (event.type === 'step.skipped' ? [`${event.step} because ${event.because}`] : []));
    expect(skipped).toEqual(['fake.thing.b:create because fake.thing.a:create']);
    const next = await bench.prepare(chain);
    expect(outline(next.document)).toMatchInlineSnapshot(`
      "initial
      create fake.thing.a: not there yet
      create fake.thing.b: not there yet
        fake.thing.a:create
        fake.thing.b:create < fake.thing.a:create"
    `);
    expect(await bench.apply(next.document, chain)).toMatchObject({ exitCode: 0 });
    expect(bench.world.objects()).toHaveLength(3);
    expect(outline((await bench.prepare(chain)).document)).toBe('no-op');
  });

  it('must find again what a lost reply made, and not make it twice', async () => {
    await bench.breakOff();
    const { document } = await bench.prepare([thing('a')]);
    bench.world.loseReply('create');
    const result = await bench.apply(document, [thing('a')]);
    expect(result).toMatchObject({ exitCode: 6, steps: { unknown: ['fake.thing.a:create'] } });
    const next = await bench.prepare([thing('a')]);
    expect(outline(next.document)).toMatchInlineSnapshot(`
      "initial
      adopt fake.thing.a: made by a run that broke off
        fake.thing.a:record"
    `);
    expect(await bench.apply(next.document, [thing('a')])).toMatchObject({ exitCode: 0 });
    expect(bench.world.objects()).toHaveLength(1);
    expect(outline((await bench.prepare([thing('a')])).document)).toBe('no-op');
  });

  it('must leave a service that does not get ready as unfinished, and finish it next time', async () => {
    const service = [desired('fake.service.s', {})];
    await bench.breakOff();
    const { document } = await bench.prepare(service);
    bench.world.failOn('ready', 'NOT_READY');
    expect(await bench.apply(document, service)).toMatchObject({ exitCode: 6, diagnostics: [{ code: 'NOT_READY' }] });
    const next = await bench.prepare(service);
    expect(outline(next.document)).toMatchInlineSnapshot(`
      "initial
      start fake.service.s: it was made but not finished
        fake.service.s:ready < fake.service.s:start
        fake.service.s:start
      drift unfinished fake.service.s: will start"
    `);
    expect(await bench.apply(next.document, service)).toMatchObject({ exitCode: 0 });
    expect(bench.world.objects()).toHaveLength(1);
    expect(outline((await bench.prepare(service)).document)).toBe('no-op');
  });

  it('must go on from a replacement that was broken off in the middle', async () => {
    await bench.converge([thing('a', { image: 'v1' })]);
    const after = [thing('a', { image: 'v2' })];
    const { document } = await bench.prepare(after);
    bench.world.failOn('fake.thing.a:create', 'EXHAUSTED');
    expect(await bench.apply(document, after)).toMatchObject({ exitCode: 6, steps: { done: ['fake.thing.a:remove'] } });
    const next = await bench.prepare(after);
    expect(outline(next.document)).toMatchInlineSnapshot(`
      "configuration
      create fake.thing.a: its predecessor was removed and it has not come yet
        fake.thing.a:create"
    `);
    expect(await bench.apply(next.document, after)).toMatchObject({ exitCode: 0 });
    expect(outline((await bench.prepare(after)).document)).toBe('no-op');
  });

  it('must remove a predecessor that a broken-off run left', async () => {
    const at = (image: string) => [thing('a', { image }, { lifecycle: { createBeforeDestroy: true } })];
    await bench.converge(at('v1'));
    const { document } = await bench.prepare(at('v2'));
    bench.world.failOn('retire', 'UNREACHABLE');
    expect(await bench.apply(document, at('v2'))).toMatchObject({ exitCode: 6 });
    expect(bench.world.objects()).toHaveLength(2);
    const next = await bench.prepare(at('v2'));
    expect(outline(next.document)).toMatchInlineSnapshot(`
      "drift-repair
      update fake.thing.a: a predecessor is left to remove
        fake.thing.a:retire"
    `);
    expect(await bench.apply(next.document, at('v2'))).toMatchObject({ exitCode: 0 });
    expect(bench.world.objects()).toHaveLength(1);
  });

  it('must fail at a postcondition and test it again next time', async () => {
    let allowed = false;
    const holds = condition('fake.thing.a', 'id', () => allowed);
    const guarded = [thing('a', {}, { lifecycle: { postconditions: [{ that: holds, message: 'not yet' }] } })];
    await bench.breakOff();
    const { document } = await bench.prepare(guarded);
    expect(await bench.apply(document, guarded)).toMatchObject({ exitCode: 6, diagnostics: [{ code: 'POSTCONDITION_FAILED' }] });
    allowed = true;
    const next = await bench.prepare(guarded);
    expect(outline(next.document)).toMatchInlineSnapshot(`
      "initial
      start fake.thing.a: it was made but not finished
        fake.thing.a:record
      drift unfinished fake.thing.a: will start"
    `);
    expect(await bench.apply(next.document, guarded)).toMatchObject({ exitCode: 0 });
    expect(bench.world.objects()).toHaveLength(1);
  });

  it('must leave alone an object that moved between the guards and its own step', async () => {
    await bench.converge([thing('a', { size: 1 }), thing('b', { size: 1, needs: new Reference('fake.thing.a', 'name') })]);
    const after = [thing('a', { size: 2 }), thing('b', { size: 2, needs: new Reference('fake.thing.a', 'name') })];
    await bench.breakOff();
    const { document } = await bench.prepare(after);
    const result = await bench.apply(document, after, {
      emit: (event) => {
        bench.events.push(event);
        if (event.type === 'step.done' && event.step === 'fake.thing.a:update') bench.world.set('test-b', { size: 7 });
      },
    });
    expect(result).toMatchObject({ exitCode: 6, steps: { done: ['fake.thing.a:update'] }, diagnostics: [{ code: 'LIVE_MOVED' }] });
    expect(bench.world.named('test-b')?.attributes['size']).toBe(7);
  });
});

describe('an interruption', () => {
  it('must finish what is under way, record it, and begin nothing new', async () => {
    const stop = new AbortController();
    const all = Array.from({ length: 12 }, (_, index) => thing(`t${String(index).padStart(2, '0')}`));
    const { document } = await bench.prepare(all);
    const result = await bench.apply(document, all, {
      stop: stop.signal,
      emit: (event) => {
        if (event.type === 'step.done') stop.abort();
      },
    });
    expect(result).toMatchObject({ exitCode: 130, outcome: 'interrupted' });
    expect(bench.world.objects()).toHaveLength(result.steps.done.length);
    expect(result.steps.done.length + result.steps.notDone.length).toBe(12);
    expect(result.steps.notDone.length).toBeGreaterThan(0);
    await bench.converge(all);
    expect(bench.world.objects()).toHaveLength(12);
  });

  /** A run of two things that is stopped once the first is there. */
  async function stopped() {
    const both = [thing('a'), thing('b', { needs: new Reference('fake.thing.a', 'name') })];
    const stop = new AbortController();
    const { document } = await bench.prepare(both);
    const result = await bench.apply(document, both, {
      stop: stop.signal,
      emit: (event) => {
        if (event.type === 'step.done') stop.abort();
      },
    });
    expect(result).toMatchObject({ exitCode: 130, steps: { done: ['fake.thing.a:create'], notDone: ['fake.thing.b:create'] } });
    return { both, serial: result.serial };
  }

  it('must leave the operation open, so that it can be taken back', async () => {
    const { both, serial } = await stopped();
    expect((await (await bench.store()).read())?.open?.operation).toMatchObject({ serial, outcome: null });
    expect(await bench.recoverBack(both)).toMatchObject({ exitCode: 0, serial });
    expect(bench.world.objects()).toEqual([]);
    const snapshot = await (await bench.store()).read();
    expect(snapshot).toMatchObject({ open: null, lastOperation: { serial, outcome: 'compensated' } });
    expect(snapshot?.resources.size).toBe(0);
  });

  it('must be gone on from by the next apply, which does only what is left', async () => {
    const { both } = await stopped();
    const { document } = await bench.prepare(both);
    expect(document.warnings.map(({ code }) => code)).toContain('OPERATION_OPEN');
    expect(await bench.converge(both)).toMatchObject({ steps: { done: ['fake.thing.b:create'] } });
    expect((await (await bench.store()).read())?.open).toBeNull();
  });

  it('must end the operation that has done nothing yet, and leave the plan as it was', async () => {
    const stop = new AbortController();
    const all = [thing('a')];
    const { document } = await bench.prepare(all);
    const emit = (event: AccedeEvent) => {
      if (event.type === 'operation.started') stop.abort();
    };
    expect(await bench.apply(document, all, { stop: stop.signal, emit })).toMatchObject({ exitCode: 130, steps: { done: [] } });
    expect((await (await bench.store()).read())?.open).toBeNull();
  });
});

describe('a secret', () => {
  it('must reach the object and nothing else', async () => {
    const secret = Sensitive.open('canary-4711', ['token']);
    const own = environment([thing('a', { secret, settings: { password: secret } })], { secrets: new Map([['token', secret]]) });
    const { document } = await bench.prepare(own);
    await bench.apply(document, own);
    expect(bench.world.named('test-a')?.attributes).toMatchObject({ secret: 'canary-4711', settings: { password: 'canary-4711' } });
    const again = await bench.prepare(own);
    expect(outline(again.document)).toBe('no-op');
    const snapshot = await (await bench.store()).read();
    const texts = [document, again.document, bench.events, [...(snapshot?.resources.values() ?? [])]].map((item) => JSON.stringify(item));
    for (const text of texts) expect(text).not.toContain('canary');
    expect(texts[3]).toContain('hmac-sha256:');
  });

  it('must be seen to change, by name', async () => {
    const own = (value: string) => {
      const secret = Sensitive.open(value, ['token']);
      return environment([thing('a', { secret }), thing('b')], { secrets: new Map([['token', secret]]) });
    };
    await bench.converge(own('first-value'));
    const { document } = await bench.prepare(own('second-value'));
    expect(document.secretsChanged).toEqual([{ name: 'token', addresses: ['fake.thing.a'] }]);
    await bench.converge(own('second-value'));
    expect(bench.world.named('test-a')?.attributes['secret']).toBe('second-value');
    bench.world.set('test-a', { secret: 'tampered' });
    const drifted = (await bench.prepare(own('second-value'))).document;
    expect(outline(drifted)).toMatchInlineSnapshot(`
      "drift-repair
      update fake.thing.a: secret differs
        fake.thing.a:update
      drift changed fake.thing.a: will be put back"
    `);
    expect(JSON.stringify(drifted)).not.toContain('tampered');
  });
});
