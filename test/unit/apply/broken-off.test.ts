import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Mutation } from '../../../src/state/contract.ts';
import { desired } from '../../support/desired.ts';
import { EngineBench, outline } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

/** The moment after an effect, before it is recorded. */
const afterEffect = (mutation: Mutation) => mutation.kind === 'step' && mutation.step.status === 'done';
/** The moment before an effect, before its intent is recorded. */
const beforeIntent = (mutation: Mutation) => mutation.kind === 'step' && mutation.step.status === 'intended';

const file = (content: string) => [desired('local.file.f', { path: path.join(bench.folder, 'f.txt'), content })];
const content = () => readFileSync(path.join(bench.folder, 'f.txt'), 'utf8');

describe('an object that can bear no mark', () => {
  it('must be known as ours when the run that made it was lost before it could say so', async () => {
    const { document } = await bench.prepare(file('one'));
    expect(await bench.applyUntil(document, file('one'), afterEffect)).toMatchObject({ exitCode: 6, outcome: 'failed' });
    expect(content()).toBe('one');
    expect(outline((await bench.prepare(file('one'))).document)).toMatchInlineSnapshot(`
      "initial
      adopt local.file.f: made by a run that broke off
        local.file.f:record"
    `);
    await bench.converge(file('one'));
    expect(outline((await bench.prepare(file('one'))).document)).toBe('no-op');
  });

  it('must be known as ours after several runs were lost, each with other content', async () => {
    for (const text of ['one', 'two', 'three']) {
      const { document } = await bench.prepare(file(text));
      await bench.applyUntil(document, file(text), afterEffect);
      expect(content()).toBe(text);
    }
    await bench.converge(file('four'));
    expect(content()).toBe('four');
  });

  it('must not be taken for ours when somebody else wrote something else there meanwhile', async () => {
    const { document } = await bench.prepare(file('one'));
    await bench.applyUntil(document, file('one'), afterEffect);
    writeFileSync(path.join(bench.folder, 'f.txt'), 'theirs');
    const next = await bench.prepare(file('one'));
    expect(next.document.succession.refusals.map(({ code }) => code)).toEqual(['FILE_FOREIGN']);
    expect(content()).toBe('theirs');
  });

  it('must be removed when the documents do not want it any more', async () => {
    const { document } = await bench.prepare(file('one'));
    await bench.applyUntil(document, file('one'), afterEffect);
    await bench.converge([desired('local.value.other', { input: 1 })]);
    expect(existsSync(path.join(bench.folder, 'f.txt'))).toBe(false);
  });

  it('must go with everything else although the documents still hold it and nothing is recorded', async () => {
    const { document } = await bench.prepare(file('one'));
    await bench.applyUntil(document, file('one'), afterEffect);
    const { document: destroying } = await bench.prepare(file('one'), { destroy: true });
    expect(outline(destroying)).toMatchInlineSnapshot(`
      "destroy
      delete local.file.f: asked for: destroy
        local.file.f:remove"
    `);
    await bench.converge(file('one'), { destroy: true });
    expect(existsSync(path.join(bench.folder, 'f.txt'))).toBe(false);
    expect((await (await bench.store()).read())?.unsettled).toEqual([]);
  });

  it('must leave alone what somebody else put in its place, when everything goes', async () => {
    const { document } = await bench.prepare(file('one'));
    await bench.applyUntil(document, file('one'), afterEffect);
    writeFileSync(path.join(bench.folder, 'f.txt'), 'theirs');
    await bench.converge(file('one'), { destroy: true });
    expect(content()).toBe('theirs');
  });
});

describe('an object that comes after its run was lost and looked for', () => {
  it('must be found by the next apply, though nobody wants it any more', async () => {
    const wanted = [desired('fake.thing.late', {})];
    const other = [desired('local.value.other', { input: 1 })];
    const { document } = await bench.prepare(wanted);
    await bench.applyUntil(document, wanted, afterEffect);
    const late = bench.world.named('test-late');
    if (late === undefined) throw new Error('the effect was not done');
    // The server takes its time: at first the object is not there.
    bench.world.delete('test-late');
    await bench.converge(other);
    bench.world.add(late);
    await bench.converge(other);
    expect(bench.world.objects()).toEqual([]);
    expect((await (await bench.store()).read())?.unsettled).toEqual([]);
  });

  it('must be forgotten when the next apply does not find it either', async () => {
    const wanted = [desired('fake.thing.late', {})];
    const other = [desired('local.value.other', { input: 1 })];
    await bench.applyUntil((await bench.prepare(wanted)).document, wanted, afterEffect);
    bench.world.delete('test-late');
    await bench.converge(other);
    expect((await (await bench.store()).read())?.unsettled).toHaveLength(1);
    expect(outline((await bench.prepare(other)).document)).toBe('no-op');
    await bench.converge(other);
    expect((await (await bench.store()).read())?.unsettled).toEqual([]);
    expect(outline((await bench.prepare(other)).document)).toBe('no-op');
  });
});

describe('a creation that was lost, and whose object stepped aside in a run that was lost as well', () => {
  it('must be settled with that, so that nobody takes its object for what is to come', async () => {
    const service = (image: string) => [desired('fake.service.s', { image }, { lifecycle: { createBeforeDestroy: true } })];
    const lose = async (image: string, status: string) => {
      const { document } = await bench.prepare(service(image));
      const isCreate = (mutation: Mutation) =>
        mutation.kind === 'step' && mutation.step.effect === 'create' && mutation.step.status === status;
      await bench.applyUntil(document, service(image), isCreate);
    };
    await bench.converge(service('v1'));
    await lose('v2', 'done');
    expect((await (await bench.store()).read())?.unsettled).toHaveLength(1);
    await lose('v3', 'intended');
    expect((await (await bench.store()).read())?.unsettled).toEqual([]);
    const { document } = await bench.prepare(service('v3'));
    expect(document.changes.map(({ action }) => action)).toEqual(['create']);
    await bench.converge(service('v3'));
    expect(bench.world.objects()).toMatchObject([{ name: 'test-s', attributes: { image: 'v3' } }]);
    expect(outline((await bench.prepare(service('v3'))).document)).toBe('no-op');
  });
});

describe('a run that is lost', () => {
  it('must have touched nothing when it could not write its first intent', async () => {
    const { document } = await bench.prepare(file('one'));
    await bench.applyUntil(document, file('one'), beforeIntent);
    expect(existsSync(path.join(bench.folder, 'f.txt'))).toBe(false);
    await bench.converge(file('one'));
  });

  it('must account for what it had done', async () => {
    const two = [desired('fake.thing.a', {}), desired('fake.thing.b', {}, { dependsOn: ['fake.thing.a'] })];
    const { document } = await bench.prepare(two);
    const result = await bench.applyUntil(
      document,
      two,
      (mutation) => mutation.kind === 'step' && mutation.step.step === 'fake.thing.b:create',
    );
    expect(result).toMatchObject({ exitCode: 6, steps: { done: ['fake.thing.a:create'], notDone: ['fake.thing.b:create'] } });
    expect(result.diagnostics.map(({ code }) => code)).toEqual(['STATE_UNREACHABLE']);
  });

  it('must be told apart from one that still goes on, when somebody comes with the same plan', async () => {
    const { document } = await bench.prepare(file('one'));
    await bench.applyUntil(document, file('one'), afterEffect);
    const answer = await (await bench.store()).acquire({ who: 'somebody@here', purpose: 'apply' });
    if (answer.kind === 'busy') throw new Error('the lock was not given back');
    expect(await bench.apply(document, file('one'))).toMatchObject({ exitCode: 75, outcome: 'busy' });
    await answer.session.release();
    expect(await bench.apply(document, file('one'))).toMatchObject({ exitCode: 4, outcome: 'spent' });
  });
});

describe('a predecessor that a killed run left set aside', () => {
  it('must not be taken over by another address that names it', async () => {
    const at = (name: string) => ({ path: path.join(bench.folder, name) });
    const moved = (name: string) => desired('local.directory.a', at(name), { lifecycle: { createBeforeDestroy: true } });
    await bench.converge([moved('old')]);
    const { document } = await bench.prepare([moved('new')]);
    const isRetiring = (mutation: Mutation) => mutation.kind === 'step' && mutation.step.object === 'retire';
    await bench.applyUntil(document, [moved('new')], isRetiring);
    const both = [moved('new'), desired('local.directory.b', at('old'))];
    expect((await bench.prepare(both)).document.succession.refusals).toMatchObject([
      { code: 'ALREADY_RECORDED', path: 'local.directory.b', message: expect.stringContaining('local.directory.a') },
    ]);
    // Once it is gone its place is free.
    await bench.converge([moved('new')]);
    await bench.converge(both);
    expect(['old', 'new'].map((name) => existsSync(path.join(bench.folder, name)))).toEqual([true, true]);
  });
});
