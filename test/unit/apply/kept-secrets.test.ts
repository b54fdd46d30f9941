import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { moveResource, pushState } from '../../../src/apply/edit.ts';
import { preparePlan } from '../../../src/apply/prepare.ts';
import { rekeyState } from '../../../src/apply/rekey.ts';
import { openVault } from '../../../src/apply/vaults.ts';
import type { ResourceAddress } from '../../../src/core/address.ts';
import { canonicalText } from '../../../src/core/canonical.ts';
import { Sensitive, type Value } from '../../../src/core/value.ts';
import { DEFAULT_OPTIONS } from '../../../src/plan/inputs.ts';
import { recordedComputed } from '../../../src/plan/live.ts';
import type { Environment, ResourceInstance, StateEncryption } from '../../../src/spec/environment.ts';
import type { Mutation } from '../../../src/state/contract.ts';
import { exportState, parseState } from '../../../src/state/document.ts';
import type { ResourceRow } from '../../../src/state/model.ts';
import { desired, environment, Reference } from '../../support/desired.ts';
import { EngineBench, outline } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
  writeFileSync(path.join(bench.folder, 'state.key'), Buffer.alloc(32, 5), { mode: 0o600 });
});
afterEach(async () => {
  await bench.close();
});

const keyFile = (name = 'state.key'): StateEncryption => ({ kind: 'key-file', path: path.join(bench.folder, name) });
const keyed = (resources: readonly ResourceInstance[], more: Partial<Environment> = {}): Environment =>
  environment(resources, { encryption: keyFile(), ...more });

const secret = (name: string, generation = 1) => desired(`local.secret.${name}`, { generation });
const value = (name: string) => new Reference(`local.secret.${name}`, 'value');
const file = (name: string, content: Value | Reference) =>
  desired(`local.file.${name}`, { path: path.join(bench.folder, `${name}.txt`), content, mode: '0600' });
const content = (name: string) => readFileSync(path.join(bench.folder, `${name}.txt`), 'utf8');

async function snapshot() {
  const found = await (await bench.store()).read();
  if (found === undefined) throw new Error('there is no state');
  return found;
}

async function row(address: string): Promise<ResourceRow> {
  const found = (await snapshot()).resources.get(address as ResourceAddress);
  if (found === undefined) throw new Error(`${address} is not recorded`);
  return found;
}

/** What the state keeps of an address, in clear. */
async function kept(address: string): Promise<{ readonly [name: string]: unknown }> {
  const { environment: documents, ids } = await bench.context(keyed([]));
  const vault = await openVault({ environment: documents, ids }, (await snapshot()).identity);
  const computed = recordedComputed(await row(address), vault);
  return Object.fromEntries(Object.entries(computed).map(([name, item]) => [name, item instanceof Sensitive ? item.reveal() : item]));
}

/** Every byte that the state consists of. */
function stateBytes(): Buffer {
  const folder = path.join(bench.folder, '.accede');
  return Buffer.concat(readdirSync(folder).map((name) => readFileSync(path.join(folder, name))));
}

async function mistakes(documents: Environment): Promise<readonly string[]> {
  const outcome = await preparePlan(await bench.context(documents), DEFAULT_OPTIONS, { commit: null, folder: '.' });
  return outcome.ok ? [] : outcome.diagnostics.map(({ code }) => code);
}

/** The moment after an effect, before it is recorded. */
const afterEffect = (mutation: Mutation) => mutation.kind === 'step' && mutation.step.status === 'done';

describe('a secret that Accede makes', () => {
  it('must be made once, reach what refers to it, and stand in the state encrypted alone', async () => {
    const documents = keyed([secret('db'), file('env', value('db'))]);
    const { document } = await bench.prepare(documents);
    expect(document.changes.find(({ address }) => address === 'local.file.env')?.unknown).toEqual(['content']);
    await bench.apply(document, documents);
    const made = content('env');
    expect(made).toMatch(/^[0-9a-f]{64}$/);
    expect(await kept('local.secret.db')).toEqual({ value: made, previous: null });
    const bytes = stateBytes();
    for (const text of [
      made,
      Buffer.from(made).toString('base64').slice(0, 40),
      Buffer.from(made, 'hex').toString('base64').slice(0, 40),
      Buffer.from(made).toString('hex'),
    ]) {
      expect(bytes.includes(text)).toBe(false);
    }
    const again = await bench.prepare(documents);
    expect(outline(again.document)).toBe('no-op');
    for (const shown of [document, again.document])
      expect(canonicalText(JSON.parse(JSON.stringify(shown)))).not.toMatch(/aes-256-gcm|"encrypted"/);
    expect(canonicalText(JSON.parse(JSON.stringify(bench.events)))).not.toContain(made);
    await bench.converge(keyed([secret('db'), file('env', value('db')), secret('other')]));
    expect(content('env')).toBe(made);
  });

  it('must restart exactly what refers to it when it is rotated, and keep the value before', async () => {
    const at = (generation: number) =>
      keyed([
        secret('db', generation),
        secret('unrelated'),
        desired('fake.service.app', { token: value('db') }),
        desired('fake.service.other', { token: value('unrelated') }),
        file('env', value('db')),
      ]);
    await bench.converge(at(1));
    const first = content('env');
    const { document } = await bench.prepare(at(2));
    expect(outline(document)).toMatchInlineSnapshot(`
      "configuration
      update fake.service.app: token differs
      update local.file.env: content differs
      update local.secret.db: generation differs
        fake.service.app:ready < fake.service.app:start
        fake.service.app:start < fake.service.app:update
        fake.service.app:update < local.secret.db:update
        local.file.env:update < local.secret.db:update
        local.secret.db:update"
    `);
    await bench.apply(document, at(2));
    const second = content('env');
    expect(second).not.toBe(first);
    expect(await kept('local.secret.db')).toEqual({ value: second, previous: first });
    expect(outline((await bench.prepare(at(2))).document)).toBe('no-op');
  });

  it('must not be made without a key to keep it with', async () => {
    const { document } = await bench.prepare([secret('db')]);
    expect(document.applicable).toBe(false);
    expect(document.succession.refusals.map(({ code, path: at }) => `${code} ${at}`)).toEqual(['STATE_KEY_NEEDED local.secret.db']);
  });

  it('must be made anew when its run was lost before it was recorded, since nobody got to know it', async () => {
    const documents = keyed([secret('db'), desired('local.keypair.signer', {}), file('env', value('db'))]);
    const { document } = await bench.prepare(documents);
    expect(await bench.applyUntil(document, documents, afterEffect)).toMatchObject({ exitCode: 6 });
    expect(existsSync(path.join(bench.folder, 'env.txt'))).toBe(false);
    await bench.converge(documents);
    expect(content('env')).toBe((await kept('local.secret.db'))['value']);
    expect(outline((await bench.prepare(documents)).document)).toBe('no-op');
  });

  it('must keep its former value when its rotation was lost before it was recorded', async () => {
    const at = (generation: number) => keyed([secret('db', generation), file('env', value('db'))]);
    await bench.converge(at(1));
    const first = content('env');
    await bench.applyUntil((await bench.prepare(at(2))).document, at(2), afterEffect);
    expect(content('env')).toBe(first);
    await bench.converge(at(2));
    expect(await kept('local.secret.db')).toEqual({ value: content('env'), previous: first });
  });

  it('must be what it was when a rotation fails and is taken back', async () => {
    const at = (generation: number) =>
      keyed([
        secret('db', generation),
        file('env', value('db')),
        ...(generation > 1 ? [desired('fake.thing.new', {}, { dependsOn: ['local.file.env'] })] : []),
      ]);
    await bench.converge(at(1));
    const first = content('env');
    bench.world.failOn('fake.thing.new:create', 'CONFLICT');
    const { document } = await bench.prepare(at(2));
    expect(await bench.apply(document, at(2))).toMatchObject({ exitCode: 5, outcome: 'compensated' });
    expect(content('env')).toBe(first);
    expect(await kept('local.secret.db')).toEqual({ value: first, previous: null });
    expect(outline((await bench.prepare(at(1))).document)).toBe('no-op');
  });

  it('must go along to another address, by the documents and by hand', async () => {
    await bench.converge(keyed([secret('db')]));
    const { value: made } = await kept('local.secret.db');
    const where = { file: 'environment.yaml', line: 1, column: 1, endLine: 1, endColumn: 1 };
    await bench.converge(keyed([secret('named')], { moved: [{ from: 'local.secret.db', to: 'local.secret.named', source: where }] }));
    expect((await kept('local.secret.named'))['value']).toBe(made);
    const moved = await moveResource(
      await bench.context(keyed([])),
      { actor: 'a', reason: null, lockTimeout: 0, stop: new AbortController().signal, emit: () => undefined },
      { from: 'local.secret.named' as ResourceAddress, to: 'local.secret.third' as ResourceAddress },
    );
    expect(moved.ok).toBe(true);
    expect((await kept('local.secret.third'))['value']).toBe(made);
    expect(outline((await bench.prepare(keyed([secret('third')]))).document)).toBe('no-op');
  });

  it('must be the same in a state that was pushed into an empty store', async () => {
    const documents = keyed([secret('db'), file('env', value('db'))]);
    await bench.converge(documents);
    const text = canonicalText(exportState(await snapshot()));
    const made = content('env');
    expect(text).not.toContain(made);
    const other = new EngineBench();
    try {
      const parsed = parseState(text);
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
      const context = await other.context(documents);
      const request = { actor: 'a', reason: null, lockTimeout: 0, stop: new AbortController().signal, emit: () => undefined };
      expect((await pushState(context, request, parsed.value)).ok).toBe(true);
      const found = await context.store.read();
      const pushed = found?.resources.get('local.secret.db' as ResourceAddress);
      if (found === undefined || pushed === undefined) throw new Error('nothing was pushed');
      const vault = await openVault(context, found.identity);
      const kept = recordedComputed(pushed, vault)['value'];
      expect(kept instanceof Sensitive && kept.reveal()).toBe(made);
    } finally {
      await other.close();
    }
  });
});

describe('the key of a state', () => {
  it('must be asked for when the documents do not name it, and lose nothing', async () => {
    await bench.converge(keyed([secret('db'), file('env', value('db'))]));
    expect(await mistakes(environment([secret('db')]))).toEqual(['STATE_KEY_MISSING']);
    expect(await mistakes(environment([]))).toEqual(['STATE_KEY_MISSING']);
    expect(outline((await bench.prepare(keyed([secret('db'), file('env', value('db'))]))).document)).toBe('no-op');
  });

  it('must not be asked for any more when nothing is kept with it', async () => {
    const plain = [desired('local.value.a', { input: 1 })];
    await bench.converge(keyed([...plain, secret('db')]));
    await bench.converge(keyed(plain));
    expect(outline((await bench.prepare(plain)).document)).toBe('no-op');
    await bench.converge([...plain, desired('local.value.b', { input: 2 })]);
    await bench.converge(keyed([...plain, secret('db')]));
    expect(await mistakes(environment(plain))).toEqual(['STATE_KEY_MISSING']);
  });

  it('must be the one that the state was encrypted with', async () => {
    await bench.converge(keyed([secret('db')]));
    writeFileSync(path.join(bench.folder, 'other.key'), Buffer.alloc(32, 6), { mode: 0o600 });
    expect(await mistakes(keyed([secret('db')], { encryption: keyFile('other.key') }))).toEqual(['STATE_KEY_WRONG']);
    const passphrase = Sensitive.open('a passphrase of some length', ['p']);
    expect(await mistakes(keyed([secret('db')], { encryption: { kind: 'passphrase', passphrase } }))).toEqual(['STATE_KEY_WRONG']);
    expect(await mistakes(keyed([secret('db')], { encryption: keyFile('none.key') }))).toEqual(['STATE_KEY_UNUSABLE']);
    expect(outline((await bench.prepare(keyed([secret('db')]))).document)).toBe('no-op');
  });

  it('must be usable before a state begins that will need it', async () => {
    expect(await mistakes(keyed([secret('db')], { encryption: keyFile('none.key') }))).toEqual(['STATE_KEY_UNUSABLE']);
    const { document } = await bench.prepare(keyed([secret('db')]));
    const result = await bench.apply(document, keyed([secret('db')], { encryption: keyFile('none.key') }));
    expect(result).toMatchObject({ exitCode: 1, diagnostics: [{ code: 'STATE_KEY_UNUSABLE' }] });
    expect(await (await bench.store()).read()).toBeUndefined();
  });

  it('must be taken on by a state that had none, with its next apply', async () => {
    await bench.converge([desired('local.value.a', { input: 1 })]);
    expect((await snapshot()).identity.encryption).toBeNull();
    await bench.converge(keyed([desired('local.value.a', { input: 1 }), secret('db')]));
    expect((await snapshot()).identity.encryption).toMatchObject({ version: 1, passphrase: null });
  });

  it('must not open what was put in the place of another secret', async () => {
    await bench.converge(keyed([secret('a'), secret('b')]));
    const [a, b] = [await row('local.secret.a'), await row('local.secret.b')];
    const store = await bench.store();
    const answer = await store.acquire({ who: 'thief', purpose: 'test' });
    if (answer.kind === 'busy') throw new Error('busy');
    const operation = {
      kind: 'taint',
      planDigest: null,
      class: null,
      actor: 'thief',
      reason: null,
      startedAt: '2026-01-01T00:00:00.000Z',
    } as const;
    const { serial } = await answer.session.begin(operation, (await snapshot()).head);
    await answer.session.write([{ kind: 'row', row: { ...a, computed: b.computed } }]);
    await answer.session.end(serial, 'done', null);
    await answer.session.release();
    const outcome = await preparePlan(await bench.context(keyed([secret('a'), secret('b')])), DEFAULT_OPTIONS, {
      commit: null,
      folder: '.',
    });
    expect(outcome.diagnostics).toMatchObject([{ code: 'STATE_CIPHER_DAMAGED', detail: expect.stringContaining('local.secret.a') }]);
  });
});

describe('another key', () => {
  const request = { actor: 'a', reason: null, lockTimeout: 0, stop: new AbortController().signal, emit: () => undefined };
  const passphrase: StateEncryption = { kind: 'passphrase', passphrase: Sensitive.open('a passphrase of some length', ['p']) };
  const rekey = async (encryption: StateEncryption, former: Parameters<typeof rekeyState>[2]) =>
    rekeyState(await bench.context(keyed([], { encryption })), request, former);
  const place = (name: string) => path.join(bench.folder, name);

  it('must open everything that the former one opened, and the former one nothing any more', async () => {
    const at = (encryption: StateEncryption) => keyed([secret('db'), file('env', value('db'))], { encryption });
    await bench.converge(at(keyFile()));
    const [rows, made] = [[...(await snapshot()).resources.values()], content('env')];
    expect(await rekey(passphrase, { kind: 'key-file', path: place('state.key') })).toMatchObject({ ok: true, value: { serial: 2 } });
    expect([...(await snapshot()).resources.values()]).toEqual(rows);
    expect(await mistakes(at(keyFile()))).toEqual(['STATE_KEY_WRONG']);
    expect(outline((await bench.prepare(at(passphrase))).document)).toBe('no-op');
    writeFileSync(place('passphrase'), 'a passphrase of some length\n', { mode: 0o600 });
    writeFileSync(place('new.key'), Buffer.alloc(32, 9), { mode: 0o600 });
    const back = { kind: 'passphrase-file', path: place('passphrase') } as const;
    expect(await rekey(keyFile('new.key'), back)).toMatchObject({ ok: true, value: { serial: 3 } });
    // A second time nothing is left to do.
    expect(await rekey(keyFile('new.key'), back)).toMatchObject({ ok: true, value: { serial: 3 } });
    await bench.converge(at(keyFile('new.key')));
    expect(content('env')).toBe(made);
  });

  it('must be refused without the former one, or where there is nothing to open', async () => {
    writeFileSync(place('new.key'), Buffer.alloc(32, 9), { mode: 0o600 });
    await bench.converge([desired('local.value.a', { input: 1 })]);
    const codes = async (encryption: StateEncryption, former: string) => {
      const result = await rekey(encryption, { kind: 'key-file', path: place(former) });
      return result.diagnostics.map(({ code }) => code);
    };
    expect(await codes(keyFile('new.key'), 'state.key')).toEqual(['STATE_NOT_ENCRYPTED']);
    await bench.converge(keyed([secret('db')]));
    expect(await codes(keyFile('new.key'), 'new.key')).toEqual(['STATE_KEY_WRONG']);
    expect(await codes(keyFile('new.key'), 'none.key')).toEqual(['STATE_KEY_UNUSABLE']);
    expect(outline((await bench.prepare(keyed([secret('db')]))).document)).toBe('no-op');
  });
});

describe('a secret that comes from elsewhere', () => {
  const CANARY = 'canary-former-71f3';
  const withSecret = (text: string) => [
    file('f', Sensitive.open(text, ['s'])),
    desired('fake.thing.last', { size: text.length }, { dependsOn: ['local.file.f'] }),
  ];

  it('must be put back after a run that is gone, from what the journal kept encrypted', async () => {
    await bench.converge(keyed(withSecret(CANARY)));
    const next = keyed(withSecret('another'));
    const { document } = await bench.prepare(next);
    expect(document.warnings).toEqual([]);
    await bench.applyUntil(document, next, (mutation) => mutation.kind === 'step' && mutation.step.step === 'fake.thing.last:update');
    expect(content('f')).toBe('another');
    expect(stateBytes().includes(CANARY)).toBe(false);
    expect(await bench.recoverBack(next)).toMatchObject({ exitCode: 0 });
    expect(content('f')).toBe(CANARY);
    expect(outline((await bench.prepare(keyed(withSecret(CANARY)))).document)).toBe('no-op');
  });

  it('must go again when its file was made by a run that is gone', async () => {
    const documents = keyed(withSecret(CANARY));
    const { document } = await bench.prepare(documents);
    await bench.applyUntil(document, documents, (mutation) => mutation.kind === 'step' && mutation.step.step === 'fake.thing.last:create');
    expect(content('f')).toBe(CANARY);
    expect(await bench.recoverBack(documents)).toMatchObject({ exitCode: 0 });
    expect(existsSync(path.join(bench.folder, 'f.txt'))).toBe(false);
  });

  it('must be said not to be kept where there is no key, and need its source to go back', async () => {
    await bench.converge(withSecret(CANARY));
    const { document } = await bench.prepare(withSecret('another'));
    expect(document.warnings.map(({ code, address }) => `${code} ${address}`)).toEqual(['SECRET_NOT_KEPT local.file.f']);
    await bench.applyUntil(
      document,
      withSecret('another'),
      (mutation) => mutation.kind === 'step' && mutation.step.step === 'fake.thing.last:update',
    );
    expect(await bench.recoverBack(withSecret('another'))).toMatchObject({ exitCode: 6, diagnostics: [{ code: 'NOT_TAKEN_BACK' }] });
  });
});
