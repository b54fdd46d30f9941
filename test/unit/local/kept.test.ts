import { createPublicKey, sign, verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openVault } from '../../../src/apply/vaults.ts';
import type { ResourceAddress } from '../../../src/core/address.ts';
import { Sensitive, type Value } from '../../../src/core/value.ts';
import { recordedComputed } from '../../../src/plan/live.ts';
import { portsType } from '../../../src/providers/local/ports.ts';
import type { ResourceInstance } from '../../../src/spec/environment.ts';
import { type Desired, desired, environment, Reference } from '../../support/desired.ts';
import { EngineBench, outline } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
  writeFileSync(path.join(bench.folder, 'state.key'), Buffer.alloc(32, 5), { mode: 0o600 });
});
afterEach(async () => {
  await bench.close();
});

const keyed = (resources: readonly ResourceInstance[]) =>
  environment(resources, { encryption: { kind: 'key-file', path: path.join(bench.folder, 'state.key') } });

/** The recorded computed attributes of an address, in clear. */
async function computed(address: string): Promise<{ readonly [name: string]: Value }> {
  const context = await bench.context(keyed([]));
  const snapshot = await context.store.read();
  const row = snapshot?.resources.get(address as ResourceAddress);
  if (snapshot === undefined || row === undefined) throw new Error(`${address} is not recorded`);
  const recorded = recordedComputed(row, await openVault(context, snapshot.identity));
  return Object.fromEntries(Object.entries(recorded).map(([name, item]) => [name, item instanceof Sensitive ? item.reveal() : item]));
}

describe('a secret', () => {
  it('must have the bytes and the spelling that are asked for, and be another one for each address and generation', async () => {
    const seen = new Set<Value>();
    for (const [bytes, encoding, form] of [
      [16, 'hex', /^[0-9a-f]{32}$/],
      [48, 'base64', /^[A-Za-z0-9+/]{64}$/],
      [33, 'base64url', /^[A-Za-z0-9_-]{44}$/],
    ] as const) {
      await bench.converge(keyed([desired('local.secret.a', { bytes, encoding }), desired('local.secret.b', { bytes, encoding })]));
      for (const name of ['a', 'b']) {
        const { value } = await computed(`local.secret.${name}`);
        expect(value).toMatch(form);
        seen.add(value ?? null);
      }
    }
    expect(seen.size).toBe(6);
  });
});

describe('a pair of keys', () => {
  const pair = (more: Desired) => keyed([desired('local.keypair.p', more)]);
  const ids = async () =>
    ((await computed('local.keypair.p'))['public_keys'] as readonly { readonly key_id: string; readonly generation: number }[]).map(
      ({ generation }) => generation,
    );

  it('must sign what its public key proves', async () => {
    await bench.converge(pair({}));
    const { private: key, public: text, public_pem: pem, key_id: id } = await computed('local.keypair.p');
    const signature = sign(null, Buffer.from('message'), String(key));
    const fromText = createPublicKey({ key: Buffer.from(String(text).replace('ed25519:', ''), 'base64'), format: 'der', type: 'spki' });
    for (const proof of [fromText, createPublicKey(String(pem))]) expect(verify(null, Buffer.from('message'), proof, signature)).toBe(true);
    expect(id).toMatch(/^[0-9a-f]{16}$/);
  });

  it('must keep as many former public keys as overlap, newest first, and change nothing else with the overlap', async () => {
    for (const generation of [1, 2, 3]) await bench.converge(pair({ generation, overlap: 2 }));
    expect(await ids()).toEqual([3, 2, 1]);
    const before = await computed('local.keypair.p');
    await bench.converge(pair({ generation: 3, overlap: 1 }));
    expect(await ids()).toEqual([3, 2]);
    await bench.converge(pair({ generation: 3, overlap: 0 }));
    expect(await ids()).toEqual([3]);
    const { public_keys: _keys, ...after } = await computed('local.keypair.p');
    const { public_keys: _former, ...same } = before;
    expect(after).toEqual(same);
  });
});

describe('ports', () => {
  const ports = (names: readonly string[], range = '20000-20003') => desired('local.ports.p', { names, range });
  const user = (name: string) => desired(`fake.thing.${name}`, { size: new Reference('local.ports.p', 'by_name', name) });

  it('must be known at plan, before anything is made', async () => {
    const { document } = await bench.prepare([ports(['api', 'worker']), user('worker')]);
    expect(document.changes.find(({ address }) => address === 'fake.thing.worker')).toMatchObject({ after: { size: 20_001 }, unknown: [] });
  });

  it('must stay with their names, whatever comes, goes and is written in another order', async () => {
    await bench.converge([ports(['api', 'worker']), user('worker')]);
    expect((await computed('local.ports.p'))['by_name']).toEqual({ api: 20_000, worker: 20_001 });
    await bench.converge([ports(['worker', 'web', 'db']), user('worker')]);
    expect((await computed('local.ports.p'))['by_name']).toEqual({ db: 20_002, web: 20_000, worker: 20_001 });
    expect(outline((await bench.prepare([ports(['db', 'web', 'worker']), user('worker')])).document)).toBe('no-op');
    await bench.converge([ports(['worker', 'web', 'db'], '20001-20009'), user('worker')]);
    expect((await computed('local.ports.p'))['by_name']).toEqual({ db: 20_002, web: 20_003, worker: 20_001 });
  });

  it('must be given at plan exactly as they are given by the apply, when a run was lost in between', async () => {
    const { document } = await bench.prepare([ports(['b', 'a']), user('a')]);
    await bench.applyUntil(
      document,
      [ports(['b', 'a']), user('a')],
      (mutation) => mutation.kind === 'step' && mutation.step.status === 'done',
    );
    await bench.converge([ports(['b', 'a']), user('a')]);
    expect(bench.world.named('test-a')?.attributes).toMatchObject({ size: 20_001 });
  });

  it('must be refused when the range is too small or upside down, and a name twice', () => {
    const context = { environment: 'e', address: ports([]).address, name: 'p', folder: '/', config: {} };
    const codes = (names: readonly Value[], range: Value) => (portsType.check?.({ names, range }, context) ?? []).map(({ code }) => code);
    expect(codes(['a', 'b', 'c'], '1-2')).toEqual(['PORTS_EXHAUSTED']);
    expect(codes(['a', 'a'], '1-2')).toEqual(['PORT_NAME_TWICE']);
    expect(codes(['a'], Sensitive.open('1-2'))).toEqual(['PORTS_SENSITIVE']);
    expect(codes(['a', 'b'], '65534-65535')).toEqual([]);
    for (const range of ['0-5', '5-4', '1-65536', '10', 'a-b'])
      expect(portsType.schema.safeParse({ names: ['a'], range }).success, range).toBe(false);
  });
});
