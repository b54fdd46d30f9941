import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResourceInstance } from '../../../src/spec/environment.ts';
import { desired, environment } from '../../support/desired.ts';
import { EngineBench, outline } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

const thing = (name: string, attributes = {}, options = {}) => desired(`fake.thing.${name}`, attributes, options);
const service = (name: string, attributes = {}, options = {}) => desired(`fake.service.${name}`, attributes, options);
const file = (name: string, content: string) => desired(`local.file.${name}`, { path: path.join(bench.folder, `${name}.txt`), content });
const content = (name: string) => readFileSync(path.join(bench.folder, `${name}.txt`), 'utf8');

const where = { file: 'environment.yaml', line: 1, column: 1, endLine: 1, endColumn: 1 };

async function rows() {
  const snapshot = await (await bench.store()).read();
  return [...(snapshot?.resources.values() ?? [])];
}

/** Applies what has to fail, and expects the world and the record to be what they were. */
async function expectAsBefore(before: readonly ResourceInstance[], failing: readonly ResourceInstance[]) {
  const [objects, records] = [bench.world.objects(), await rows()];
  const { document } = await bench.prepare(failing);
  const result = await bench.apply(document, failing);
  expect(result).toMatchObject({ exitCode: 5, outcome: 'compensated' });
  const byRef = (list: typeof objects) => list.toSorted((a, b) => (a.ref < b.ref ? -1 : 1));
  expect(byRef(bench.world.objects())).toEqual(byRef(objects));
  expect(await rows()).toEqual(records);
  expect((await (await bench.store()).read())?.unsettled).toEqual([]);
  if (before.length > 0) expect(outline((await bench.prepare(before)).document)).toBe('no-op');
  return result;
}

describe('an apply that fails before its point of no return', () => {
  it('must leave nothing of a first apply', async () => {
    const all = [
      thing('a'),
      thing('b', {}, { dependsOn: ['fake.thing.a'] }),
      file('f', 'one'),
      service('s', {}, { dependsOn: ['fake.thing.b'] }),
    ];
    bench.world.failOn('fake.service.s:ready', 'NOT_READY', 1, { lines: ['last words'] });
    const result = await expectAsBefore([], all);
    expect(result.diagnostics).toMatchObject([{ code: 'NOT_READY', address: 'fake.service.s' }, { code: 'SOURCE_HELD' }]);
    expect(result.steps).toMatchObject({ done: [], unknown: [] });
    expect(existsSync(path.join(bench.folder, 'f.txt'))).toBe(false);
    await bench.lift();
    await bench.converge(all);
    expect(outline((await bench.prepare(all)).document)).toBe('no-op');
  });

  it('must be as before though a server gave anew meanwhile what it gives by itself, and by nothing else that differs', async () => {
    const at = (image: string) => [
      service('s', { image }),
      ...(image === 'v1' ? [] : [thing('new', {}, { dependsOn: ['fake.service.s'] })]),
    ];
    const changes = [
      { hand: { settings: { colour: 'blue' } }, exitCode: 6 },
      { hand: { settings: undefined }, exitCode: 5 },
    ];
    for (const { hand, exitCode } of changes) {
      await bench.close();
      bench = new EngineBench();
      await bench.converge(at('v1'));
      const before = bench.world.named('test-s');
      const { document } = await bench.prepare(at('v2'));
      bench.world.failOn('fake.thing.new:create', 'CONFLICT');
      const result = await bench.apply(document, at('v2'), {
        emit: ({ type }) => {
          if (type === 'compensation.started') bench.world.set(bench.world.get(before?.ref ?? '')?.name ?? '', hand);
        },
      });
      expect(result.diagnostics.map(({ code }) => code)).toEqual(['CONFLICT', exitCode === 5 ? 'SOURCE_HELD' : 'NOT_AS_BEFORE']);
      expect(result.exitCode).toBe(exitCode);
    }
  });

  it('must have the replaced object serving again under its own id, its file and its neighbours as before', async () => {
    const at = (image: string, text: string) => [
      thing('a', { size: text.length }),
      service('s', { image }, { dependsOn: ['fake.thing.a'] }),
      file('f', text),
    ];
    await bench.converge(at('v1', 'one'));
    const before = bench.world.named('test-s');
    bench.world.failOn('fake.service.s:ready', 'NOT_READY');
    await expectAsBefore(at('v1', 'one'), [...at('v2', 'three'), thing('new')]);
    expect(bench.world.named('test-s')).toEqual(before);
    expect(content('f')).toBe('one');
    const undone = bench.events.flatMap((event) => (event.type === 'step.compensated' ? [event.step] : []));
    const ofService = undone.filter((step) => step.startsWith('fake.service.s'));
    expect(ofService).toEqual(['ready', 'start', 'create', 'depose', 'stop'].map((effect) => `fake.service.s:${effect}`));
    const idle = bench.events.flatMap((event) => (event.type === 'step.compensated' && !event.changed ? [event.step] : []));
    expect(idle).toEqual(['fake.service.s:ready']);
  });

  it('must take back dependants before what they depend on', async () => {
    const chain = ['a', 'b', 'c'].map((name, index, names) =>
      thing(name, {}, index === 0 ? {} : { dependsOn: [`fake.thing.${names[index - 1]}`] }),
    );
    const last = thing('last', {}, { dependsOn: ['fake.thing.c'] });
    bench.world.failOn('fake.thing.last:create', 'CONFLICT');
    await expectAsBefore([], [...chain, last]);
    const undone = bench.events.flatMap((event) => (event.type === 'step.compensated' ? [event.step] : []));
    expect(undone).toEqual(['last', 'c', 'b', 'a'].map((name) => `fake.thing.${name}:create`));
  });

  it('must put a moved record back under its former address', async () => {
    await bench.converge([thing('old', { name: 'one' })]);
    const moved = [{ from: 'fake.thing.old', to: 'fake.thing.new', source: where }];
    const failing = environment([thing('new', { name: 'one', size: 2 }), thing('b')], { moved });
    const records = await rows();
    bench.world.failOn('fake.thing.b:create', 'CONFLICT');
    const { document } = await bench.prepare(failing);
    expect(await bench.apply(document, failing)).toMatchObject({ exitCode: 5 });
    expect(await rows()).toEqual(records);
  });

  it('must begin nothing new after the failure and break off what only waits', async () => {
    const all = [
      service('slow'),
      thing('bad', {}, { dependsOn: ['fake.thing.first'] }),
      thing('first'),
      thing('later', {}, { dependsOn: ['fake.service.slow'] }),
    ];
    bench.world.delay('fake.service.slow:ready', 60_000);
    bench.world.failOn('fake.thing.bad:create', 'CONFLICT');
    await expectAsBefore([], all);
    expect(bench.events.some((event) => event.type === 'step.intended' && event.step === 'fake.thing.later:create')).toBe(false);
  });

  it('must send a guard that moved in the middle back as well', async () => {
    const at = (size: number) => [thing('a', { size }), thing('b', { size }, { dependsOn: ['fake.thing.a'] })];
    await bench.converge(at(1));
    const { document } = await bench.prepare(at(2));
    const result = await bench.apply(document, at(2), {
      emit: (event) => {
        if (event.type === 'step.done' && event.step === 'fake.thing.a:update') bench.world.set('test-b', { size: 7 });
      },
    });
    expect(result).toMatchObject({ exitCode: 5, diagnostics: [{ code: 'LIVE_MOVED' }] });
    expect(bench.world.named('test-a')?.attributes['size']).toBe(1);
    expect(bench.world.named('test-b')?.attributes['size']).toBe(7);
  });

  it('must look again for a creation whose reply was lost', async () => {
    bench.world.loseReply('fake.thing.a:create');
    const { document } = await bench.prepare([thing('a')]);
    expect(await bench.apply(document, [thing('a')])).toMatchObject({ exitCode: 5 });
    expect(bench.world.objects()).toEqual([]);
    expect((await (await bench.store()).read())?.unsettled).toMatchObject([{ step: 'fake.thing.a:create', status: 'unknown' }]);
    await bench.lift();
    await bench.converge([thing('a')]);
    expect(bench.world.objects()).toHaveLength(1);
  });

  it('must be told in the plan, with the step from which there is no way back', async () => {
    expect((await bench.prepare([thing('a')])).document.succession).toMatchObject({
      direction: 'back: what was done is taken back, and everything is as before',
      pointOfNoReturn: null,
    });
    await bench.converge([thing('a')]);
    const replaced = [thing('a', { image: 'v2' }), thing('b')];
    expect((await bench.prepare(replaced)).document.succession).toMatchObject({
      direction: 'back before the point of no return, then forward',
      pointOfNoReturn: 'fake.thing.a:remove',
    });
    await bench.breakOff();
    expect((await bench.prepare([thing('c')])).document.succession.direction).toMatch(/^forward/);
  });
});

describe('a way back that fails itself', () => {
  it('must leave the operation open, say what is stuck, and let the next apply end it', async () => {
    const at = (image: string) => [service('s', { image }), thing('a', { size: image.length })];
    await bench.converge(at('v1'));
    bench.world.failOn('fake.service.s:ready', 'NOT_READY');
    bench.world.failOn('fake.service.s:undo-depose', 'OTHER');
    const { document } = await bench.prepare(at('v10'));
    const result = await bench.apply(document, at('v10'));
    expect(result).toMatchObject({ exitCode: 6, outcome: 'failed' });
    expect(result.diagnostics.map(({ code }) => code)).toEqual(['NOT_READY', 'NOT_TAKEN_BACK']);
    // What hangs together with nothing that is stuck is taken back all the same.
    expect(bench.world.named('test-a')?.attributes['size']).toBe(2);
    const snapshot = await (await bench.store()).read();
    expect(snapshot?.open?.operation.outcome).toBeNull();
    await bench.converge(at('v10'));
    expect(outline((await bench.prepare(at('v10'))).document)).toBe('no-op');
    expect(bench.world.objects()).toHaveLength(2);
  });

  it('must be tried again where the target does not answer for a moment', async () => {
    const at = (image: string) => [service('s', { image })];
    await bench.converge(at('v1'));
    bench.world.failOn('fake.service.s:ready', 'NOT_READY');
    bench.world.failOn('fake.service.s:undo-depose', 'UNREACHABLE', 2);
    await expectAsBefore(at('v1'), at('v2'));
  });

  it('must never remove a predecessor that serves again, when it is killed in the middle', async () => {
    const at = (image: string) => [service('s', { image })];
    await bench.converge(at('v1'));
    const before = bench.world.named('test-s');
    bench.world.failOn('fake.service.s:ready', 'NOT_READY');
    const { document } = await bench.prepare(at('v2'));
    await bench.applyUntil(
      document,
      at('v2'),
      (mutation) => mutation.kind === 'step' && mutation.step.effect === 'depose' && mutation.step.status === 'compensated',
    );
    expect(bench.world.named('test-s')?.ref).toBe(before?.ref);
    await bench.converge(at('v1'));
    expect(bench.world.named('test-s')).toEqual(before);
    expect(bench.world.objects()).toHaveLength(1);
    expect(outline((await bench.prepare(at('v1'))).document)).toBe('no-op');
  });

  it('must leave what somebody else changed meanwhile', async () => {
    const two = [file('f', 'ours'), thing('bad', {}, { dependsOn: ['local.file.f'] })];
    bench.world.failOn('fake.thing.bad:create', 'CONFLICT');
    const { document } = await bench.prepare(two);
    const result = await bench.apply(document, two, {
      emit: (event) => {
        if (event.type === 'step.failed') writeFileSync(path.join(bench.folder, 'f.txt'), 'theirs');
      },
    });
    expect(result).toMatchObject({ exitCode: 6 });
    expect(content('f')).toBe('theirs');
  });
});

describe('a store', () => {
  const store = (image: string, lifecycle = {}) => [
    service('db', { image }, { role: 'store', lifecycle }),
    thing('t', { size: image.length }),
  ];

  it('must not go back once a new version was started on its data', async () => {
    await bench.converge(store('v1'));
    bench.world.failOn('fake.service.db:ready', 'NOT_READY');
    const { document } = await bench.prepare(store('v10'));
    expect(document.succession).toMatchObject({
      direction: expect.stringMatching(/^back before/),
      pointOfNoReturn: 'fake.service.db:ready and 1 more',
    });
    expect(await bench.apply(document, store('v10'))).toMatchObject({ exitCode: 6 });
    await bench.converge(store('v10'));
  });

  it('must go back when it fails before that, and when the documents affirm that it may', async () => {
    await bench.converge(store('v1'));
    bench.world.failOn('fake.service.db:create', 'CONFLICT');
    await expectAsBefore(store('v1'), store('v10'));
    await bench.lift();
    bench.world.failOn('fake.service.db:ready', 'NOT_READY');
    await expectAsBefore([], store('v10', { reversible: true }));
  });
});
