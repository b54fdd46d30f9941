import { rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importObject } from '../../../src/apply/import.ts';
import { initState } from '../../../src/apply/init.ts';
import type { ResourceAddress, TypeName } from '../../../src/core/address.ts';
import type { PlanOptions } from '../../../src/plan/model.ts';
import type { Environment, ProviderBlock, ResourceInstance } from '../../../src/spec/environment.ts';
import type { ResourceRow, Snapshot } from '../../../src/state/model.ts';
import { desired, environment, Reference } from '../../support/desired.ts';
import { EngineBench, outline } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

type Documents = readonly ResourceInstance[] | Environment;

const thing = desired('fake.thing.a', { size: 1, settings: { level: 'info' } });
const store = desired('fake.store.data', {});
const service = desired('fake.service.b["one"]', { needs: new Reference('fake.thing.a', 'id') });
const all = [thing, store, service];
const AT = { file: 'environment.yaml', line: 1, column: 1, endLine: 1, endColumn: 2 };
const EDIT = { actor: 'tester@here', reason: null, lockTimeout: 0, stop: new AbortController().signal, emit: () => undefined };

async function state(): Promise<Snapshot> {
  const snapshot = await (await bench.store()).read();
  if (snapshot === undefined) throw new Error('there is no state');
  return snapshot;
}

const lose = () => rmSync(path.join(bench.folder, '.accede'), { recursive: true });
const plan = async (documents: Documents, options: Partial<PlanOptions> = {}) => (await bench.prepare(documents, options)).document;
const warnings = async (documents: Documents, options: Partial<PlanOptions> = {}) =>
  (await plan(documents, options)).warnings.map(({ code, address }) => (address === undefined ? code : `${code} ${address}`));
const names = () => bench.world.objects().map(({ name }) => name);

/** The names of what bears the mark of another lineage from now on. */
function remark(name: string, lineage: string): void {
  const object = bench.world.named(name);
  if (object?.mark === undefined) throw new Error(`${name} bears no mark`);
  bench.world.write({ put: [{ ...object, mark: { ...object.mark, lineage } }] });
}

const importing = async (documents: Documents, address: string, id: string) =>
  importObject(await bench.context(documents), EDIT, { address: address as ResourceAddress, id, stamp: { commit: null, folder: '.' } });

describe('a state that was lost', () => {
  it('must be found again by the marks: the same lineage, the same rows, and nothing done to any object', async () => {
    await bench.converge(all);
    const before = await state();
    lose();
    const { document } = await bench.prepare(all);
    expect(document.state).toMatchObject({ lineage: null, serial: 0, begins: before.identity.lineage });
    expect(outline(document)).toMatchInlineSnapshot(`
      "initial
      adopt fake.service.b["one"]: carries our mark, and the state does not know it
      adopt fake.store.data: carries our mark, and the state does not know it
      adopt fake.thing.a: carries our mark, and the state does not know it
        fake.service.b["one"]:record < fake.thing.a:record
        fake.store.data:record
        fake.thing.a:record"
    `);
    const made = bench.world.mutations().length;
    expect(await bench.apply(document, all)).toMatchObject({ exitCode: 0 });
    expect(bench.world.mutations()).toHaveLength(made);
    const after = await state();
    expect(after.identity.lineage).toBe(before.identity.lineage);
    expect([...after.resources.values()]).toEqual([...before.resources.values()]);
    expect(after.head.digest).toBe(before.head.digest);
    expect(outline(await plan(all))).toBe('no-op');
    expect(await warnings(all)).toEqual([]);
  });

  it('must say that it is lost and with which lineage it begins, as a part of what the digest covers', async () => {
    await bench.converge(all);
    const { lineage } = (await state()).identity;
    lose();
    const document = await plan(all);
    expect(document.warnings).toEqual([expect.objectContaining({ code: 'STATE_LOST', message: expect.stringContaining(lineage) })]);
    expect(document.succession.guards.find(({ name }) => name === 'state')?.observed).toContain(lineage);
    const other = 'd'.repeat(32);
    for (const name of names()) remark(name, other);
    const again = await plan(all);
    expect(again.state.begins).toBe(other);
    expect(again.digest).not.toBe(document.digest);
    expect(await bench.apply(document, all)).toMatchObject({ exitCode: 4, outcome: 'stale' });
  });

  it('must begin with a lineage of its own where nothing bears a mark', async () => {
    const document = await plan(all);
    expect(document.state).toMatchObject({ lineage: null, begins: null });
    expect(document.warnings).toEqual([]);
  });

  it('must change what differs from the documents in the plan that takes it over, and replace what cannot change', async () => {
    await bench.converge(all);
    lose();
    const changed = [desired('fake.thing.a', { size: 2 }), store, desired('fake.service.b["one"]', { image: 'base:2' })];
    expect(outline(await plan(changed))).toMatchInlineSnapshot(`
      "initial
      replace fake.service.b["one"] destroy-first: carries our mark, and the state does not know it; image, needs differ
      adopt fake.store.data: carries our mark, and the state does not know it
      adopt fake.thing.a: carries our mark, and the state does not know it; settings, size differ
        fake.service.b["one"]:create < fake.service.b["one"]:depose
        fake.service.b["one"]:depose < fake.service.b["one"]:stop
        fake.service.b["one"]:ready < fake.service.b["one"]:start
        fake.service.b["one"]:retire < fake.service.b["one"]:ready
        fake.service.b["one"]:start < fake.service.b["one"]:create
        fake.service.b["one"]:stop
        fake.store.data:record
        fake.thing.a:update"
    `);
    await bench.converge(changed);
    expect(bench.world.named('test-a')?.attributes['size']).toBe(2);
    expect(outline(await plan(changed))).toBe('no-op');
  });

  it('must start what does not run', async () => {
    await bench.converge(all);
    lose();
    bench.world.stop('test-b-one');
    await bench.converge(all);
    expect(bench.world.named('test-b-one')?.running).toBe(true);
    expect(outline(await plan(all))).toBe('no-op');
  });

  it('must leave ignored places to the live world when it takes over', async () => {
    const ignoring = [desired('fake.thing.a', { size: 1, image: 'base' }, { lifecycle: { ignoreChanges: ['size', 'image'] } })];
    await bench.converge(ignoring);
    bench.world.set('test-a', { size: 7, image: 'by-hand' });
    lose();
    const made = bench.world.mutations().length;
    await bench.converge(ignoring);
    expect(bench.world.mutations()).toHaveLength(made);
    expect(outline(await plan(ignoring))).toBe('no-op');
  });

  it('must not lose protected data to a replacement, though no record says that it is protected', async () => {
    await bench.converge(all);
    lose();
    const changed = [thing, desired('fake.store.data', { image: 'base:2' }), service];
    expect(outline(await plan(changed))).toContain('refused PROTECTED fake.store.data');
    const freed = [thing, desired('fake.store.data', { image: 'base:2' }, { lifecycle: { preventDestroy: false } }), service];
    expect(outline(await plan(freed))).toContain('replace fake.store.data');
  });

  it('must say what it takes on trust, since it cannot be read back', async () => {
    const hidden = [desired('fake.thing.a', { token: 'hush' })];
    await bench.converge(hidden);
    lose();
    expect(await warnings(hidden)).toEqual(['ADOPTED_ON_TRUST fake.thing.a', 'STATE_LOST']);
    await bench.converge(hidden);
    expect(await warnings(hidden)).toEqual([]);
  });

  it('must be looked for without a refresh as well, since nothing is recorded that could be trusted', async () => {
    await bench.converge(all);
    lose();
    expect(outline(await plan(all, { refresh: false }))).toBe(outline(await plan(all)));
  });

  it('must be taken up part by part', async () => {
    await bench.converge(all);
    const before = await state();
    lose();
    await bench.converge(all, { targets: ['fake.thing.a'] });
    expect((await state()).identity.lineage).toBe(before.identity.lineage);
    await bench.converge(all);
    expect([...(await state()).resources.values()]).toEqual([...before.resources.values()]);
  });

  it('must be taken up after a run that broke off in the middle of taking it up', async () => {
    await bench.converge(all);
    const before = await state();
    lose();
    const { document } = await bench.prepare(all);
    const result = await bench.applyUntil(document, all, (mutation) => mutation.kind === 'row' && mutation.row.type === 'fake.service');
    expect(result.exitCode).not.toBe(0);
    expect((await state()).identity.lineage).toBe(before.identity.lineage);
    expect((await plan(all)).warnings.map(({ code }) => code)).not.toContain('MARKED_UNCLAIMED');
    await bench.converge(all);
    expect([...(await state()).resources.values()]).toEqual([...before.resources.values()]);
    expect(outline(await plan(all))).toBe('no-op');
  });

  it('must cost one list of each type, and nothing once a state is in force', async () => {
    await bench.converge(all);
    const listed = bench.world.lists;
    await plan(all);
    await plan(all, { destroy: true });
    expect(bench.world.lists).toBe(listed);
    lose();
    await plan(all);
    const types = bench.registry.types.filter(({ type }) => type.startsWith('fake.'));
    expect(bench.world.lists - listed).toBe(types.length);
  });

  it('must be found in every provider block', async () => {
    const second: ProviderBlock = { alias: 'fake:second', provider: 'fake', config: { zone: 'second' }, folder: '/environment' };
    const two = environment([thing, desired('fake.thing.far', {}, { provider: 'fake:second' })], { providers: [second] });
    await bench.converge(two);
    const before = await state();
    lose();
    await bench.converge(two);
    expect([...(await state()).resources.values()]).toEqual([...before.resources.values()]);
  });
});

describe('marks that are not of one lost state', () => {
  it('must be refused when they name two lineages, with both of them and a way out', async () => {
    await bench.converge(all);
    const { lineage } = (await state()).identity;
    lose();
    const other = 'd'.repeat(32);
    remark('test-data', other);
    const document = await plan(all);
    expect(document.applicable).toBe(false);
    const refusal = document.succession.refusals.find(({ code }) => code === 'LINEAGE_AMBIGUOUS');
    expect(refusal).toMatchObject({ path: 'test', next: 'accede state init --lineage LINEAGE' });
    expect(refusal?.message).toContain(lineage);
    expect(refusal?.message).toContain(other);
    expect(await importing(all, 'fake.thing.a', 'test-a')).toMatchObject({ ok: false, diagnostics: [{ code: 'LINEAGE_AMBIGUOUS' }] });
    expect(await initState(await bench.context(all), EDIT, { lineage: undefined })).toMatchObject({ ok: false });
    expect(await (await bench.store()).read()).toBeUndefined();
    expect(await initState(await bench.context(all), EDIT, { lineage })).toMatchObject({ ok: true, value: { lineage, serial: 1 } });
    const settled = await plan(all);
    expect(settled.succession.refusals.map(({ code, path: at }) => `${code} ${at}`)).toEqual(['STORE_FOREIGN fake.store.data']);
    await bench.converge([thing, service]);
    expect(names()).toContain('test-data');
  });

  it('must stay foreign when they name another environment', async () => {
    await bench.converge(all);
    lose();
    for (const name of names()) bench.world.markForeign(name, 'other');
    const document = await plan(all);
    expect(document.state.begins).toBeNull();
    expect(document.succession.refusals.map(({ code }) => code).sort()).toEqual(['SERVICE_FOREIGN', 'STORE_FOREIGN', 'THING_FOREIGN']);
  });

  it('must not be guessed when a block cannot be looked into, even one that is left out', async () => {
    const second: ProviderBlock = { alias: 'fake:second', provider: 'fake', config: { zone: 'second' }, folder: '/environment' };
    const value = desired('local.value.v', { input: 1 });
    const documents = environment([value, desired('fake.thing.far', {}, { provider: 'fake:second' })], { providers: [second] });
    bench.world.unreachable = true;
    const document = await plan(documents, { excludes: ['fake.thing.far'] });
    expect(document.succession.refusals).toEqual([
      expect.objectContaining({
        code: 'LINEAGE_UNSEEN',
        next: 'accede state init --lineage new',
        message: expect.stringContaining('fake:second'),
      }),
    ]);
    expect(await initState(await bench.context(documents), EDIT, { lineage: undefined })).toMatchObject({
      ok: false,
      diagnostics: [{ code: 'LINEAGE_UNSEEN' }],
    });
    expect(await initState(await bench.context(documents), EDIT, { lineage: 'new' })).toMatchObject({ ok: true });
    expect((await plan(documents, { excludes: ['fake.thing.far'] })).applicable).toBe(true);
  });
});

describe('what the marks do not tell', () => {
  it('must be asked for by name where it bears no mark, and be recorded under the lost lineage when it is imported', async () => {
    bench.world.add({ type: 'fake.thing' as TypeName, name: 'test-old', attributes: { name: 'test-old', image: 'base', size: 1 } });
    const old = desired('fake.thing.old', {});
    const taken = environment([...all, old], { imports: [{ address: old.address, id: 'test-old', source: AT }] });
    await bench.converge(taken);
    const before = await state();
    expect(before.resources.get(old.address)).toMatchObject({ marked: false });
    lose();
    const without = environment([...all, old]);
    const document = await plan(without);
    expect(document.succession.refusals).toEqual([
      expect.objectContaining({
        code: 'THING_FOREIGN',
        path: old.address,
        next: expect.stringMatching(/^accede import 'fake\.thing\.old' fake-\d+$/),
      }),
    ]);
    expect(document.changes.filter(({ action }) => action === 'adopt')).toHaveLength(3);
    expect(await importing(without, old.address, 'test-old')).toMatchObject({ ok: true });
    expect((await state()).identity.lineage).toBe(before.identity.lineage);
    await bench.converge(without);
    const same = ({ id: _id, ...row }: ResourceRow) => (row.marked ? { ...row, id: _id } : row);
    expect([...(await state()).resources.values()].map(same)).toEqual([...before.resources.values()].map(same));
    expect(outline(await plan(without))).toBe('no-op');
  });

  it('must be taken over by an import entry without a word', async () => {
    bench.world.add({ type: 'fake.thing' as TypeName, name: 'test-old', attributes: { name: 'test-old', image: 'base', size: 1 } });
    const old = desired('fake.thing.old', {});
    const taken = environment([...all, old], { imports: [{ address: old.address, id: 'test-old', source: AT }] });
    await bench.converge(taken);
    lose();
    await bench.converge(taken);
    expect(outline(await plan(taken))).toBe('no-op');
  });

  it('must be named and left alone where no address of the documents has it', async () => {
    await bench.converge([...all, desired('fake.thing.stray', {})]);
    lose();
    const document = await plan(all);
    expect(document.warnings).toEqual([
      expect.objectContaining({
        code: 'MARKED_UNCLAIMED',
        address: 'fake.thing.stray',
        message: expect.stringContaining('made as fake.thing.stray'),
      }),
      expect.objectContaining({ code: 'STATE_LOST' }),
    ]);
    await bench.converge(all);
    expect(names()).toContain('test-stray');
    expect(outline(await plan(all))).toBe('no-op');
  });

  it('must be removed when the documents name it as removed, and be left without a word when they give it up', async () => {
    await bench.converge([...all, desired('fake.thing.stray', {}), desired('fake.thing.given', {})]);
    lose();
    const removed = [
      { address: 'fake.thing.stray', destroy: true, source: AT },
      { address: 'fake.thing.given', destroy: false, source: AT },
    ];
    const documents = environment(all, { removed });
    expect(await warnings(documents)).toEqual(['STATE_LOST']);
    expect(outline(await plan(documents))).toContain('delete fake.thing.stray: no longer in the documents; carries our mark');
    await bench.converge(documents);
    expect(names()).toContain('test-given');
    expect(names()).not.toContain('test-stray');
    expect(outline(await plan(documents))).toBe('no-op');
  });

  it('must not be made a second time beside itself when it stands elsewhere than the documents put it', async () => {
    await bench.converge(all);
    lose();
    const renamed = [desired('fake.thing.a', { name: 'another' }), store, service];
    const document = await plan(renamed);
    expect(document.succession.refusals).toEqual([
      expect.objectContaining({
        code: 'MARKED_ELSEWHERE',
        path: 'fake.thing.a',
        next: expect.stringContaining("accede import 'fake.thing.a' fake-"),
      }),
    ]);
    const ref = bench.world.named('test-a')?.ref ?? '';
    expect(await importing(renamed, 'fake.thing.a', ref)).toMatchObject({ ok: true });
    expect((await state()).resources.get('fake.thing.a' as ResourceAddress)).toMatchObject({ ref, marked: true });
    expect(outline(await plan(renamed))).toContain('replace fake.thing.a');
  });

  it('must not be mistaken for what stepped aside for it', async () => {
    await bench.converge(all);
    const changed = [thing, store, desired('fake.service.b["one"]', { image: 'base:2' }, { lifecycle: { createBeforeDestroy: true } })];
    bench.world.failOn('retire', 'CONFLICT');
    const { document } = await bench.prepare(changed);
    await bench.apply(document, changed);
    const before = names();
    expect(before.some((name) => name.startsWith('test-b-one~'))).toBe(true);
    lose();
    expect(await warnings(changed)).toEqual(['MARKED_LEFT fake.service.b["one"]', 'STATE_LOST']);
    await bench.converge(changed);
    expect(names()).toEqual(before);
    expect((await state()).resources.get(service.address)).toMatchObject({ ref: bench.world.named('test-b-one')?.ref });
  });
});

describe('a destroy with the state lost', () => {
  it('must remove what bears our mark, wherever it stands, in an order that works, and leave the rest with a word', async () => {
    const old = desired('fake.thing.old', {});
    bench.world.add({ type: 'fake.thing' as TypeName, name: 'test-old', attributes: { name: 'test-old', image: 'base', size: 1 } });
    const stray = desired('fake.service.stray', {});
    const taken = environment([...all, old, stray], { imports: [{ address: old.address, id: 'test-old', source: AT }] });
    await bench.converge(taken);
    lose();
    const rest = environment([...all, old]);
    const document = await plan(rest, { destroy: true, includeProtected: true });
    expect(outline(document)).toMatchInlineSnapshot(`
      "destroy
      delete fake.service.b["one"]: asked for: destroy; carries our mark, and the state does not know it
      delete fake.service.stray: asked for: destroy; carries our mark, and the state does not know it
      delete fake.store.data: asked for: destroy; carries our mark, and the state does not know it
      delete fake.thing.a: asked for: destroy; carries our mark, and the state does not know it
        fake.service.b["one"]:remove < fake.service.b["one"]:stop
        fake.service.b["one"]:stop
        fake.service.stray:remove < fake.service.stray:stop
        fake.service.stray:stop
        fake.store.data:remove < fake.service.stray:remove
        fake.thing.a:remove < fake.service.b["one"]:remove, fake.service.stray:remove"
    `);
    expect(await warnings(rest, { destroy: true })).toEqual(['LEFT_UNMARKED fake.thing.old', 'STATE_LOST']);
    expect(await bench.apply(document, rest)).toMatchObject({ exitCode: 0 });
    expect(names()).toEqual(['test-old']);
    expect((await state()).resources.size).toBe(0);
    expect(outline(await plan(rest, { destroy: true }))).toBe('destroy');
  });

  it('must hold what is protected back unless it is asked for', async () => {
    await bench.converge([...all, desired('fake.store.stray', {})]);
    lose();
    const { succession } = await plan(all, { destroy: true });
    expect(succession.refusals.map(({ code, path: at }) => `${code} ${at}`)).toEqual([
      'PROTECTED fake.store.data',
      'PROTECTED fake.store.stray',
    ]);
    await bench.converge(all, { destroy: true, keepProtected: true });
    expect(names()).toEqual(['test-data', 'test-stray']);
  });

  it('must leave what is excluded and what was given up', async () => {
    await bench.converge([...all, desired('fake.thing.given', {})]);
    lose();
    const documents = environment(all, { removed: [{ address: 'fake.thing.given', destroy: false, source: AT }] });
    await bench.converge(documents, { destroy: true, excludes: ['fake.service.b'], includeProtected: true });
    expect(names()).toEqual(['test-a', 'test-given', 'test-b-one']);
  });

  it('must go on where one broke off', async () => {
    await bench.converge([...all, desired('fake.thing.stray', {})]);
    lose();
    const options = { destroy: true, includeProtected: true };
    const document = await plan(all, options);
    await bench.applyUntil(document, all, (mutation) => mutation.kind === 'drop' && mutation.address === 'fake.thing.a');
    await bench.converge(all, options);
    expect(names()).toEqual([]);
    expect((await state()).resources.size).toBe(0);
  });

  it('must not take along what was forgotten on purpose', async () => {
    await bench.converge([...all, desired('fake.thing.given', {})]);
    await bench.converge(environment(all, { removed: [{ address: 'fake.thing.given', destroy: false, source: AT }] }));
    await bench.converge(all, { destroy: true, includeProtected: true });
    expect(names()).toEqual(['test-given']);
    await bench.converge(all, { destroy: true, includeProtected: true });
    expect(names()).toEqual(['test-given']);
  });
});

describe('an empty state that is made by hand', () => {
  it('must go on with the lineage of the marks, and be refused where there is one', async () => {
    await bench.converge(all);
    const before = await state();
    const context = await bench.context(all);
    expect(await initState(context, EDIT, { lineage: undefined })).toMatchObject({ ok: false, diagnostics: [{ code: 'STATE_EXISTS' }] });
    lose();
    const { lineage } = before.identity;
    expect(await initState(await bench.context(all), EDIT, { lineage: undefined })).toMatchObject({
      ok: true,
      value: { lineage, marked: 3 },
    });
    expect((await (await bench.store()).history()).map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual(['init done']);
    await bench.converge(all);
    expect([...(await state()).resources.values()]).toEqual([...before.resources.values()]);
  });

  it('must make a plan stale that was to begin another one', async () => {
    await bench.converge(all);
    lose();
    const document = await plan(all);
    await initState(await bench.context(all), EDIT, { lineage: 'new' });
    expect(await bench.apply(document, all)).toMatchObject({ exitCode: 4, outcome: 'stale' });
  });
});
