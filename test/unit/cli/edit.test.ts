import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EditRequest, forgetResource, moveResource, pushState, taintResource } from '../../../src/apply/edit.ts';
import { importObject } from '../../../src/apply/import.ts';
import type { ResourceAddress, TypeName } from '../../../src/core/address.ts';
import { Sensitive } from '../../../src/core/value.ts';
import { exportState, parseState, type StateDocument } from '../../../src/state/document.ts';
import { desired, environment, Reference } from '../../support/desired.ts';
import { EngineBench, outline } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

const thing = (name: string, attributes = {}, options = {}) => desired(`fake.thing.${name}`, attributes, options);
const at = (name: string) => `fake.thing.${name}` as ResourceAddress;
const pair = [thing('a', { name: 'test-a' }), thing('b', { needs: new Reference('fake.thing.a', 'id') })];
const STAMP = { commit: null, folder: '.' };

function request(more: Partial<EditRequest> = {}): EditRequest {
  return { actor: 'tester@here', reason: 'a test', lockTimeout: 0, stop: new AbortController().signal, emit: () => undefined, ...more };
}

async function snapshot() {
  const found = await (await bench.store()).read();
  if (found === undefined) throw new Error('there is no state');
  return found;
}

describe('an edit of the state', () => {
  it('must move a resource, take what depends on it along, and leave the live world', async () => {
    await bench.converge(pair);
    const before = bench.world.mutations().length;
    const result = await moveResource(await bench.context(pair), request(), { from: at('a'), to: at('z') });
    expect(result).toMatchObject({ ok: true, value: { serial: 2, changed: [at('a'), at('z')] } });
    const after = await snapshot();
    expect([...after.resources.keys()]).toEqual([at('b'), at('z')]);
    expect(after.resources.get(at('b'))?.dependencies).toEqual([at('z')]);
    expect(after.lastOperation).toMatchObject({ kind: 'state-mv', outcome: 'done', actor: 'tester@here', reason: 'a test' });
    expect(bench.world.mutations()).toHaveLength(before);
    const moved = [thing('z', { name: 'test-a' }), thing('b', { needs: new Reference('fake.thing.z', 'id') })];
    expect((await bench.prepare(moved)).document.summary).toMatchObject({ create: 0, delete: 0, replace: 0 });
  });

  it.each([
    ['an address that is not recorded', 'aa', 'z', 'NOT_RECORDED'],
    ['an address that is taken', 'a', 'b', 'STATE_ADDRESS_TAKEN'],
  ])('must refuse to move %s, and write nothing', async (_name, from, to, code) => {
    await bench.converge(pair);
    const result = await moveResource(await bench.context(pair), request(), { from: at(from), to: at(to) });
    expect(result).toMatchObject({ ok: false, diagnostics: [{ code }] });
    expect((await snapshot()).head.serial).toBe(1);
    expect((await snapshot()).lock).toBeNull();
  });

  it('must refuse to make a resource one of another type', async () => {
    await bench.converge(pair);
    const result = await moveResource(await bench.context(pair), request(), { from: at('a'), to: 'fake.service.a' as ResourceAddress });
    expect(result).toMatchObject({ ok: false, diagnostics: [{ code: 'STATE_MOVE_TYPE' }] });
  });

  it('must forget a resource and leave its object', async () => {
    await bench.converge(pair);
    expect(await forgetResource(await bench.context(pair), request(), at('a'))).toMatchObject({ ok: true, value: { serial: 2 } });
    const after = await snapshot();
    expect([...after.resources.keys()]).toEqual([at('b')]);
    expect(after.resources.get(at('b'))?.dependencies).toEqual([]);
    expect(bench.world.named('test-a')).toBeDefined();
  });

  it('must taint, so that the next plan replaces, and untaint, so that it does not', async () => {
    await bench.converge([thing('a')]);
    const context = await bench.context([thing('a')]);
    expect(await taintResource(context, request(), { address: at('a'), tainted: true })).toMatchObject({ ok: true, value: { serial: 2 } });
    expect(outline((await bench.prepare([thing('a')])).document)).toContain('replace fake.thing.a');
    expect(await taintResource(context, request(), { address: at('a'), tainted: true })).toMatchObject({
      ok: true,
      value: { serial: 2, changed: [] },
    });
    expect(await taintResource(context, request(), { address: at('a'), tainted: false })).toMatchObject({ ok: true, value: { serial: 3 } });
    expect((await bench.prepare([thing('a')])).document.succession.class).toBe('no-op');
  });

  it('must answer busy while somebody holds the lock, and work within the timeout once he gives it back', async () => {
    await bench.converge([thing('a')]);
    const store = await bench.store();
    const held = await store.acquire({ who: 'other@there', purpose: 'apply' });
    if (held.kind === 'busy') throw new Error('busy');
    const context = await bench.context([thing('a')]);
    const busy = await forgetResource(context, request(), at('a'));
    expect(busy).toMatchObject({ ok: false, diagnostics: [{ code: 'LOCK_BUSY', next: `accede unlock ${held.lock.lockId}` }] });
    const told: string[] = [];
    const waiting = forgetResource(
      context,
      request({
        lockTimeout: 60_000,
        emit: (event) => {
          told.push(event.type);
          void held.session.release();
        },
      }),
      at('a'),
    );
    expect(await waiting).toMatchObject({ ok: true, value: { serial: 2 } });
    expect(told).toEqual(['lock.waiting']);
  });

  it('must end its wait for the lock when it is stopped, and change nothing', async () => {
    await bench.converge([thing('a')]);
    const held = await (await bench.store()).acquire({ who: 'other@there', purpose: 'apply' });
    if (held.kind === 'busy') throw new Error('busy');
    const stop = new AbortController();
    const waiting = forgetResource(
      await bench.context([thing('a')]),
      request({ lockTimeout: 60_000, stop: stop.signal, emit: () => stop.abort(new Error('stopped')) }),
      at('a'),
    );
    await expect(waiting).rejects.toThrow('stopped');
    expect((await snapshot()).head.serial).toBe(1);
    await held.session.release();
  });

  it('must say that there is no state instead of making one', async () => {
    expect(await forgetResource(await bench.context([thing('a')]), request(), at('a'))).toMatchObject({
      ok: false,
      diagnostics: [{ code: 'STATE_UNREACHABLE' }],
    });
    expect(await (await bench.store()).read()).toBeUndefined();
  });
});

describe('state push', () => {
  async function pulled(change: (document: Record<string, unknown>) => void = () => undefined): Promise<StateDocument> {
    const data = JSON.parse(JSON.stringify(exportState(await snapshot()))) as Record<string, unknown>;
    change(data);
    const parsed = parseState(JSON.stringify(data));
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
    return parsed.value;
  }

  it('must take back what was pulled as an operation of its own', async () => {
    await bench.converge(pair);
    const before = await snapshot();
    expect(await pushState(await bench.context(pair), request(), await pulled())).toMatchObject({ ok: true, value: { serial: 2 } });
    const after = await snapshot();
    expect(after.head.digest).toBe(before.head.digest);
    expect(after.lastOperation).toMatchObject({ kind: 'state-push', outcome: 'done' });
    expect(after.sealed).toMatchObject({ serial: 2 });
  });

  it('must refuse another lineage and an older serial', async () => {
    await bench.converge(pair);
    const foreign = await pulled((data) => (data['lineage'] = '0'.repeat(32)));
    const old = await pulled();
    await bench.converge([...pair, thing('c')]);
    for (const document of [foreign, old]) {
      expect(await pushState(await bench.context(pair), request(), document)).toMatchObject({
        ok: false,
        diagnostics: [{ code: 'STATE_PUSH_REFUSED' }],
      });
    }
    expect((await snapshot()).head.serial).toBe(2);
  });
});

describe('import', () => {
  async function unrecorded(): Promise<void> {
    await bench.converge([thing('a', { size: 3 })]);
    await forgetResource(await bench.context([]), request(), at('a'));
  }

  it('must record an object that is there, change nothing live, and leave no difference', async () => {
    await unrecorded();
    const before = bench.world.mutations().length;
    const context = await bench.context([thing('a', { size: 3 })]);
    expect(await importObject(context, request(), { address: at('a'), id: 'test-a', stamp: STAMP })).toMatchObject({
      ok: true,
      value: { changed: [at('a')] },
    });
    expect(bench.world.mutations()).toHaveLength(before);
    expect((await snapshot()).resources.get(at('a'))).toMatchObject({ status: 'ready', attributes: { size: 3 } });
    expect((await bench.prepare([thing('a', { size: 3 })])).document.summary).toMatchObject({ create: 0, update: 0, replace: 0 });
  });

  it('must record the name that the object has, so that the documents may come to it without a replacement', async () => {
    bench.world.add({ type: 'fake.thing' as TypeName, name: 'legacy', attributes: { name: 'legacy', image: 'base', size: 3 } });
    const context = await bench.context([thing('a', { size: 3 })]);
    await importObject(context, request(), { address: at('a'), id: 'legacy', stamp: STAMP });
    expect((await snapshot()).resources.get(at('a'))).toMatchObject({ identity: 'legacy', attributes: { name: 'legacy' } });
    expect(outline((await bench.prepare([thing('a', { size: 3 })])).document)).toContain(
      'replace fake.thing.a destroy-first: name differs',
    );
    const named = await bench.prepare([thing('a', { size: 3, name: 'legacy' })]);
    expect(named.document.changes).toMatchObject([{ address: at('a') }]);
    expect(named.document.summary).toMatchObject({ create: 0, replace: 0, delete: 0 });
  });

  it('must leave what differs from the documents to the next plan', async () => {
    await unrecorded();
    await importObject(await bench.context([thing('a', { size: 4 })]), request(), { address: at('a'), id: 'test-a', stamp: STAMP });
    expect(outline((await bench.prepare([thing('a', { size: 4 })])).document)).toContain('update fake.thing.a');
  });

  it('must not record a secret that the object shows', async () => {
    await unrecorded();
    bench.world.set('test-a', { settings: { password: 'old-live-secret' } });
    const wanted = thing('a', { size: 3, settings: { password: Sensitive.open('new-secret', ['one']) } });
    expect(await importObject(await bench.context([wanted]), request(), { address: at('a'), id: 'test-a', stamp: STAMP })).toMatchObject({
      ok: true,
    });
    expect(JSON.stringify((await snapshot()).resources.get(at('a')))).not.toMatch(/old-live-secret|new-secret/);
  });

  it.each([
    ['an object that is not there', 'a', 'nothing', 'IMPORT_NOT_FOUND'],
    ['an address that the documents do not hold', 'x', 'test-a', 'NOT_IN_DOCUMENTS'],
    ['an address that is recorded', 'b', 'test-a', 'ALREADY_RECORDED'],
  ])('must refuse %s', async (_name, address, id, code) => {
    await bench.converge([thing('a'), thing('b')]);
    await forgetResource(await bench.context([]), request(), at('a'));
    const context = await bench.context([thing('a'), thing('b')]);
    expect(await importObject(context, request(), { address: at(address), id, stamp: STAMP })).toMatchObject({
      ok: false,
      diagnostics: [{ code }],
    });
    expect((await snapshot()).head.serial).toBe(2);
  });

  it('must refuse an object that is recorded at another address', async () => {
    await bench.converge([thing('a')]);
    const context = await bench.context([thing('a'), thing('c')]);
    expect(await importObject(context, request(), { address: at('c'), id: 'test-a', stamp: STAMP })).toMatchObject({
      ok: false,
      diagnostics: [{ code: 'ALREADY_RECORDED', next: `accede state mv '${at('a')}' '${at('c')}'` }],
    });
  });

  it('must not leave an empty state behind when it fails', async () => {
    const context = await bench.context(environment([thing('a')]));
    expect((await importObject(context, request(), { address: at('a'), id: 'nothing', stamp: STAMP })).ok).toBe(false);
    expect(await (await bench.store()).read()).toBeUndefined();
  });
});
