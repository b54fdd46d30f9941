import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResourceAddress, TypeName } from '../../../src/core/address.ts';
import { Sensitive } from '../../../src/core/value.ts';
import type { PlanOptions } from '../../../src/plan/model.ts';
import type { Environment, ResourceInstance } from '../../../src/spec/environment.ts';
import { condition, desired, environment, Reference } from '../../support/desired.ts';
import { EngineBench, outline } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

const where = { file: 'environment.yaml', line: 1, column: 1, endLine: 1, endColumn: 2 };
const thing = (name: string, attributes = {}, options = {}) => desired(`fake.thing.${name}`, attributes, options);
const plan = async (resources: readonly ResourceInstance[] | Environment, options: Partial<PlanOptions> = {}) =>
  outline((await bench.prepare(resources, options)).document);

const makeForeign = (name: string) =>
  bench.world.add({ type: 'fake.thing' as TypeName, name, attributes: { name, image: 'base', size: 1, settings: { colour: 'grey' } } });

describe('a change of the documents', () => {
  it('must update in place what can be, and replace what cannot', async () => {
    await bench.converge([thing('a'), thing('b')]);
    expect(await plan([thing('a', { size: 2 }), thing('b', { image: 'v2' })])).toMatchInlineSnapshot(`
      "configuration
      update fake.thing.a: size differs
      replace fake.thing.b destroy-first: image differs
        fake.thing.a:update
        fake.thing.b:create < fake.thing.b:remove
        fake.thing.b:remove"
    `);
  });

  it('must replace what is bound to a replaced object, its old one going first', async () => {
    const bound = (image: string) => [thing('a', { image }), desired('fake.service.s', { wants: new Reference('fake.thing.a', 'name') })];
    await bench.converge(bound('v1'));
    expect(await plan(bound('v2'))).toMatchInlineSnapshot(`
      "configuration
      replace fake.service.s destroy-first: wants differs
      replace fake.thing.a destroy-first: image differs
        fake.service.s:create < fake.service.s:depose, fake.thing.a:create
        fake.service.s:depose < fake.service.s:stop
        fake.service.s:ready < fake.service.s:start
        fake.service.s:retire < fake.service.s:ready
        fake.service.s:start < fake.service.s:create
        fake.service.s:stop
        fake.thing.a:create < fake.thing.a:remove
        fake.thing.a:remove < fake.service.s:depose"
    `);
    await bench.converge(bound('v2'));
    expect(await plan(bound('v2'))).toMatchInlineSnapshot(`"no-op"`);
  });

  it('must bring the successor first when asked to, and hand that down to what it needs', async () => {
    const chain = (image: string) => [
      thing('a', { image }),
      thing('b', { image, wants: new Reference('fake.thing.a', 'name') }, { lifecycle: { createBeforeDestroy: true } }),
    ];
    await bench.converge(chain('v1'));
    expect(await plan(chain('v2'))).toMatchInlineSnapshot(`
      "configuration
      replace fake.thing.a create-first: image differs
      replace fake.thing.b create-first: image, wants differ
        fake.thing.a:create < fake.thing.a:depose
        fake.thing.a:depose
        fake.thing.a:retire < fake.thing.a:create, fake.thing.b:create, fake.thing.b:retire
        fake.thing.b:create < fake.thing.b:depose
        fake.thing.b:depose < fake.thing.a:create
        fake.thing.b:retire < fake.thing.b:create"
    `);
    await bench.converge(chain('v2'));
    expect(bench.world.objects()).toHaveLength(2);
    expect(await plan(chain('v2'))).toMatchInlineSnapshot(`"no-op"`);
  });

  it('must delete dependants before what they depended on', async () => {
    await bench.converge([thing('a'), thing('b', { needs: new Reference('fake.thing.a', 'id') }), thing('c')]);
    expect(await plan([thing('c')])).toMatchInlineSnapshot(`
      "topology
      delete fake.thing.a: no longer in the documents
      delete fake.thing.b: no longer in the documents
        fake.thing.a:remove < fake.thing.b:remove
        fake.thing.b:remove"
    `);
    await bench.converge([thing('c')]);
    expect(bench.world.objects().map((object) => object.name)).toEqual(['test-c']);
  });

  it('must replace when another resource that triggers it changes', async () => {
    const pair = (size: number) => [
      thing('a', { size }),
      thing('b', {}, { lifecycle: { replaceTriggeredBy: [{ type: 'fake.thing', name: 'a', path: ['size'] }] } }),
    ];
    await bench.converge(pair(1));
    expect(await plan(pair(2))).toMatchInlineSnapshot(`
      "configuration
      update fake.thing.a: size differs
      replace fake.thing.b destroy-first: follows fake.thing.a.size
        fake.thing.a:update
        fake.thing.b:create < fake.thing.a:update, fake.thing.b:remove
        fake.thing.b:remove"
    `);
  });

  it('must leave ignored places to the live world', async () => {
    const own = (size: number) => [thing('a', { size, needs: 'x' }, { lifecycle: { ignoreChanges: ['size'] } })];
    await bench.converge(own(1));
    bench.world.set('test-a', { size: 9 });
    expect(await plan(own(5))).toMatchInlineSnapshot(`"no-op"`);
  });

  it('must record a change that concerns the record alone', async () => {
    await bench.converge([thing('a'), thing('b')]);
    const guarded = [thing('a', {}, { lifecycle: { preventDestroy: true } }), thing('b', {}, { dependsOn: ['fake.thing.a'] })];
    expect(await plan(guarded)).toMatchInlineSnapshot(`
      "policy-change
      update fake.thing.a: lifecycle.prevent_destroy differs
      update fake.thing.b: depends_on differs
        fake.thing.a:record
        fake.thing.b:record < fake.thing.a:record"
    `);
    const before = bench.world.calls().length;
    await bench.converge(guarded);
    expect(bench.world.calls()).toHaveLength(before);
    expect(await plan(guarded)).toBe('no-op');
  });

  it('must adopt what lives already as the documents want it', async () => {
    await bench.converge([thing('a', { size: 1 })]);
    bench.world.set('test-a', { size: 2 });
    expect(await plan([thing('a', { size: 2 })])).toMatchInlineSnapshot(`
      "configuration
      adopt fake.thing.a: already live as the documents have it: size
        fake.thing.a:record
      drift changed fake.thing.a: is what the documents want now"
    `);
  });
});

describe('drift', () => {
  it('must be shown apart, whatever its kind, and be repaired', async () => {
    const all = [thing('a'), thing('b', { size: 1 }), desired('fake.service.c', {})];
    await bench.converge(all);
    bench.world.delete('test-a');
    bench.world.set('test-b', { size: 7 });
    bench.world.stop('test-c');
    expect(await plan(all)).toMatchInlineSnapshot(`
      "drift-repair
      start fake.service.c: exited with code 1
      create fake.thing.a: recorded, but no longer there
      update fake.thing.b: size differs
        fake.service.c:ready < fake.service.c:start
        fake.service.c:start
        fake.thing.a:create
        fake.thing.b:update
      drift stopped fake.service.c: will start
      drift missing fake.thing.a: will be created again
      drift changed fake.thing.b: will be put back"
    `);
    await bench.converge(all);
    expect(await plan(all)).toBe('no-op');
  });

  it('must be taken over by a refresh alone, without touching anything', async () => {
    const all = [thing('a'), thing('b', { size: 1 })];
    await bench.converge(all);
    bench.world.delete('test-a');
    bench.world.set('test-b', { size: 7 });
    const calls = bench.world.calls().length;
    expect(await plan(all, { refreshOnly: true })).toMatchInlineSnapshot(`
      "drift-repair
      forget fake.thing.a: no longer there
      update fake.thing.b: recorded as it is
        fake.thing.a:record
        fake.thing.b:record
      drift missing fake.thing.a: will be forgotten
      drift changed fake.thing.b: will be recorded as it is"
    `);
    await bench.converge(all, { refreshOnly: true });
    expect(bench.world.calls()).toHaveLength(calls);
    expect(await plan(all)).toMatchInlineSnapshot(`
      "topology
      create fake.thing.a: not there yet
      update fake.thing.b: size differs
        fake.thing.a:create
        fake.thing.b:update"
    `);
  });

  it('must not be looked for without a refresh', async () => {
    await bench.converge([thing('a')]);
    bench.world.delete('test-a');
    const reads = bench.world.reads;
    expect(await plan([thing('a')], { refresh: false })).toBe('no-op');
    expect(bench.world.reads).toBe(reads);
  });
});

describe('what is not ours', () => {
  it('must be refused and left alone', async () => {
    await bench.converge([thing('a')]);
    makeForeign('test-b');
    expect(await plan([thing('a'), thing('b')])).toMatchInlineSnapshot(`
      "refuse (not applicable)
      refuse fake.thing.b: something that is not ours is in its place
      refused THING_FOREIGN fake.thing.b"
    `);
  });

  it('must be refused under a new name as well', async () => {
    await bench.converge([thing('a')]);
    makeForeign('taken');
    expect(await plan([thing('a', { name: 'taken' })])).toMatchInlineSnapshot(`
      "refuse (not applicable)
      refuse fake.thing.a: something that is not ours is in its place
      refused THING_FOREIGN fake.thing.a"
    `);
  });

  it('must never be taken for absent when it cannot be seen', async () => {
    await bench.converge([thing('a')]);
    bench.world.unreachable = true;
    const { document } = await bench.prepare([thing('a'), desired('local.value.v', { input: 1 })]);
    expect(outline(document)).toMatchInlineSnapshot(`
      "refuse (not applicable)
      refuse fake.thing.a: cannot be seen
      create local.value.v: not there yet
        local.value.v:create
      refused UNREACHABLE fake.thing.a"
    `);
    expect(document.applicable).toBe(false);
    bench.world.unreachable = false;
    expect(await plan([thing('a')])).toBe('no-op');
  });

  it('must let the rest be planned when what cannot be seen is excluded', async () => {
    await bench.converge([thing('a')]);
    bench.world.unreachable = true;
    const { document } = await bench.prepare([thing('a'), desired('local.value.v', { input: 1 })], { excludes: ['fake.thing.a'] });
    expect(outline(document)).toMatchInlineSnapshot(`
      "topology
      create local.value.v: not there yet
        local.value.v:create"
    `);
    expect(document.applicable).toBe(true);
  });
});

describe('refactoring', () => {
  const moved = [{ from: 'fake.thing.a', to: 'fake.thing.z', source: where }];

  it('must move the record and keep the object', async () => {
    await bench.converge([thing('a', { name: 'fixed' }), thing('b', { needs: 'x' }, { dependsOn: ['fake.thing.a'] })]);
    const ref = bench.world.named('fixed')?.ref;
    const after = environment([thing('z', { name: 'fixed' }), thing('b', { needs: 'x' }, { dependsOn: ['fake.thing.z'] })], { moved });
    expect(await plan(after)).toMatchInlineSnapshot(`
      "annotation
      move fake.thing.z: moved in the documents
        fake.thing.z:record"
    `);
    await bench.converge(after);
    expect(bench.world.named('fixed')?.ref).toBe(ref);
    expect(await plan(after)).toBe('no-op');
  });

  it('must move all instances of a name', async () => {
    const old = ['x', 'y'].map((key) => desired(`fake.thing.a["${key}"]`, { name: key }));
    await bench.converge(old);
    const after = environment(
      ['x', 'y'].map((key) => desired(`fake.thing.z["${key}"]`, { name: key })),
      { moved },
    );
    expect(await plan(after)).toMatchInlineSnapshot(`
      "annotation
      move fake.thing.z["x"]: moved in the documents
      move fake.thing.z["y"]: moved in the documents
        fake.thing.z["x"]:record
        fake.thing.z["y"]:record"
    `);
  });

  it('must refuse to move onto what has an object', async () => {
    await bench.converge([thing('a'), thing('z')]);
    const mistakes = await bench.mistakes(environment([thing('z')], { moved }));
    expect(mistakes.map((mistake) => mistake.code)).toEqual(['MOVE_TARGET_EXISTS']);
  });

  it('must forget what the documents give up, and leave the object', async () => {
    await bench.converge([thing('a'), thing('b')]);
    const after = environment([thing('b')], { removed: [{ address: 'fake.thing.a', destroy: false, source: where }] });
    expect(await plan(after)).toMatchInlineSnapshot(`
      "policy-change
      forget fake.thing.a: the documents give it up
        fake.thing.a:record"
    `);
    await bench.converge(after);
    expect(bench.world.named('test-a')).toBeDefined();
    expect(await plan(after)).toBe('no-op');
  });

  it('must take over an object that an import names', async () => {
    makeForeign('theirs');
    const ref = bench.world.named('theirs')?.ref ?? '';
    const after = environment([thing('a', { name: 'theirs' })], {
      imports: [{ address: 'fake.thing.a' as ResourceAddress, id: ref, source: where }],
    });
    expect(await plan(after)).toMatchInlineSnapshot(`
      "initial
      adopt fake.thing.a: imported
        fake.thing.a:record"
    `);
    await bench.converge(after);
    expect(await plan(after)).toBe('no-op');
    expect(bench.world.named('theirs')?.ref).toBe(ref);
  });

  it('must refuse to take over an object that is recorded under another address, which would remove it from there', async () => {
    await bench.converge([thing('a', { name: 'one' })]);
    const ref = bench.world.named('one')?.ref ?? '';
    const imports = [{ address: 'fake.thing.b' as ResourceAddress, id: ref, source: where }];
    const kept = [thing('a', { name: 'one' }), thing('b', { name: 'two' })];
    const refused = (await bench.prepare(environment(kept, { imports }))).document;
    expect(refused.succession.refusals).toMatchObject([{ code: 'ALREADY_RECORDED', path: 'fake.thing.b' }]);
    const renamed = (await bench.prepare(environment([thing('b', { name: 'one' })], { imports }))).document;
    expect(renamed.succession.refusals).toMatchObject([
      { code: 'ALREADY_RECORDED', path: 'fake.thing.b', next: "accede state mv 'fake.thing.a' 'fake.thing.b'" },
    ]);
  });
});

describe('protection', () => {
  const store = (attributes = {}, options = {}) => desired('fake.store.s', attributes, options);

  it('must block what would remove the object, and plan the rest', async () => {
    await bench.converge([store(), thing('a')]);
    expect(await plan([thing('a', { size: 2 })])).toMatchInlineSnapshot(`
      "refuse (not applicable)
      refuse fake.store.s: protected; would be deleted
      update fake.thing.a: size differs
        fake.thing.a:update
      refused PROTECTED fake.store.s"
    `);
    expect(await plan([store({ image: 'v2' }), thing('a')])).toMatchInlineSnapshot(`
      "refuse (not applicable)
      refuse fake.store.s: protected; would be replaced: image differs
      refused PROTECTED fake.store.s"
    `);
  });

  it('must outlive the document that drops it', async () => {
    await bench.converge([store()]);
    expect(await plan([store({ image: 'v2' }, { lifecycle: { preventDestroy: false } })])).toMatchInlineSnapshot(`
      "refuse (not applicable)
      refuse fake.store.s: protected; would be replaced: image differs
      refused PROTECTED fake.store.s"
    `);
    await bench.converge([store({}, { lifecycle: { preventDestroy: false } })]);
    expect(await plan([thing('a')])).toMatchInlineSnapshot(`
      "topology
      delete fake.store.s: no longer in the documents
      create fake.thing.a: not there yet
        fake.store.s:remove
        fake.thing.a:create"
    `);
  });

  it('must hold against destroy unless asked otherwise', async () => {
    await bench.converge([store(), thing('a'), thing('b')]);
    const all = [store(), thing('a'), thing('b')];
    expect(await plan(all, { destroy: true })).toMatchInlineSnapshot(`
      "refuse (not applicable)
      refuse fake.store.s: protected; would be deleted
      delete fake.thing.a: asked for: destroy
      delete fake.thing.b: asked for: destroy
        fake.thing.a:remove
        fake.thing.b:remove
      refused PROTECTED fake.store.s"
    `);
    expect(await plan(all, { destroy: true, keepProtected: true })).toMatchInlineSnapshot(`
      "destroy
      delete fake.thing.a: asked for: destroy
      delete fake.thing.b: asked for: destroy
        fake.thing.a:remove
        fake.thing.b:remove"
    `);
    expect(await plan(all, { destroy: true, includeProtected: true })).toMatchInlineSnapshot(`
      "destroy
      delete fake.store.s: asked for: destroy
      delete fake.thing.a: asked for: destroy
      delete fake.thing.b: asked for: destroy
        fake.store.s:remove
        fake.thing.a:remove
        fake.thing.b:remove"
    `);
  });

  it('must take what needs a target along in a destroy, and keep what an excluded one needs', async () => {
    const all = [thing('a'), thing('b', { needs: new Reference('fake.thing.a', 'id') }), thing('c')];
    await bench.converge(all);
    expect(await plan(all, { destroy: true, targets: ['fake.thing.b'] })).toMatchInlineSnapshot(`
      "destroy
      delete fake.thing.b: asked for: destroy
        fake.thing.b:remove"
    `);
    expect(await plan(all, { destroy: true, targets: ['fake.thing.a'] })).toMatchInlineSnapshot(`
      "destroy
      delete fake.thing.a: asked for: destroy
      delete fake.thing.b: asked for: destroy
        fake.thing.a:remove < fake.thing.b:remove
        fake.thing.b:remove"
    `);
    expect(await plan(all, { destroy: true, excludes: ['fake.thing.b'] })).toMatchInlineSnapshot(`
      "destroy
      delete fake.thing.c: asked for: destroy
        fake.thing.c:remove"
    `);
  });

  it('must compare what cannot be read back with what the record says', async () => {
    const token = (value: string) => [thing('a', { token: Sensitive.open(value, ['token']) })];
    await bench.converge(token('one'));
    const [change] = (await bench.prepare(token('two'))).document.changes;
    expect(change?.paths.map((path) => path.path)).toEqual(['token']);
    expect(change?.before?.['token']).toMatchObject({ $accede: 'sensitive' });
    expect(change?.before?.['token']).not.toEqual(change?.after?.['token']);
  });

  it('must list only what is recorded in a destroy', async () => {
    await bench.converge([thing('a')]);
    const { document } = await bench.prepare([thing('a'), thing('b')], { destroy: true });
    expect(document.changes.map(({ address }) => address)).toEqual(['fake.thing.a']);
  });

  it('must tell what the documents change from what drifted', async () => {
    const b = (size: number) => thing('b', { size });
    await bench.converge([thing('a', { size: 1 }), b(1), thing('c')]);
    bench.world.set('test-a', { size: 5 });
    const rule = async (size: number, options = {}) =>
      (await bench.prepare([thing('a', { size: 1 }), b(size), thing('c')], options)).document.succession;
    expect((await rule(2)).changedPaths.map(({ path }) => path)).toEqual(['fake.thing.b.size']);
    expect((await rule(1, { replace: ['fake.thing.c'] })).changedPaths.map(({ path }) => path)).toEqual(['fake.thing.c']);
    expect((await rule(1)).class).toBe('drift-repair');
    expect((await rule(2, { refreshOnly: true })).rule).toBe(
      'the record takes over what is live; the documents are left aside, as asked for',
    );
  });

  it('must follow the policy where the resource says nothing', async () => {
    const policy = { prevent_destroy: ['fake.thing.*'] };
    await bench.converge(environment([thing('a'), thing('b', {}, { lifecycle: { preventDestroy: false } })], { policy }));
    expect(await plan(environment([desired('local.value.v', { input: 1 })], { policy }))).toMatchInlineSnapshot(`
      "refuse (not applicable)
      refuse fake.thing.a: protected; would be deleted
      delete fake.thing.b: no longer in the documents
      create local.value.v: not there yet
        fake.thing.b:remove
        local.value.v:create
      refused PROTECTED fake.thing.a"
    `);
  });
});

describe('a part of the environment', () => {
  it('must be chosen by targets with all that they need', async () => {
    const all = [thing('a'), thing('b', { needs: new Reference('fake.thing.a', 'id') }), thing('c')];
    expect(await plan(all, { targets: ['fake.thing.b'] })).toMatchInlineSnapshot(`
      "initial
      create fake.thing.a: not there yet
      create fake.thing.b: not there yet
        fake.thing.a:create
        fake.thing.b:create < fake.thing.a:create"
    `);
    expect((await bench.mistakes(all, { targets: ['fake.thing.d'] })).map(({ code }) => code)).toEqual(['UNKNOWN_ADDRESS']);
  });

  it('must be left out by excludes with all that needs them', async () => {
    const all = [thing('a'), thing('b', { needs: new Reference('fake.thing.a', 'id') }), thing('c')];
    expect(await plan(all, { excludes: ['fake.thing.a'] })).toMatchInlineSnapshot(`
      "initial
      create fake.thing.c: not there yet
        fake.thing.c:create"
    `);
  });

  it('must be replaced on request', async () => {
    await bench.converge([thing('a')]);
    expect(await plan([thing('a')], { replace: ['fake.thing.a'] })).toMatchInlineSnapshot(`
      "configuration
      replace fake.thing.a destroy-first: asked for: --replace fake.thing.a
        fake.thing.a:create < fake.thing.a:remove
        fake.thing.a:remove"
    `);
  });

  it('must not be nothing by accident', async () => {
    await bench.converge([thing('a')]);
    expect(await plan([])).toMatchInlineSnapshot(`
      "refuse (not applicable)
      delete fake.thing.a: no longer in the documents
        fake.thing.a:remove
      refused EMPTY_ENVIRONMENT test"
    `);
    await bench.converge([], { destroy: true });
    expect(bench.world.objects()).toEqual([]);
    // Nothing is in force any more: what comes next is a beginning.
    expect((await bench.prepare([thing('a')])).document.succession.class).toBe('initial');
  });
});

describe('conditions', () => {
  it('must refuse when a precondition is known not to hold', async () => {
    const isBig = condition('fake.thing.a', 'size', (value) => typeof value === 'number' && value > 5);
    const guarded = (size: number) => [
      thing('a', { size }),
      thing('b', {}, { lifecycle: { preconditions: [{ that: isBig, message: 'a must be big' }] } }),
    ];
    expect(await plan(guarded(1))).toMatchInlineSnapshot(`
      "refuse (not applicable)
      create fake.thing.a: not there yet
      create fake.thing.b: not there yet
        fake.thing.a:create
        fake.thing.b:create < fake.thing.a:create
      refused PRECONDITION_FAILED fake.thing.b"
    `);
    expect(await plan(guarded(6))).toMatchInlineSnapshot(`
      "initial
      create fake.thing.a: not there yet
      create fake.thing.b: not there yet
        fake.thing.a:create
        fake.thing.b:create < fake.thing.a:create"
    `);
  });
});
