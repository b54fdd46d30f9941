import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TypeName } from '../../../src/core/address.ts';
import { localHost } from '../../../src/host/local.ts';
import { fakeProvider } from '../../../src/providers/fake/provider.ts';
import { FakeWorld } from '../../../src/providers/fake/world.ts';
import { fileWorld } from '../../../src/providers/fake/world-file.ts';
import { Driver } from '../../conformance/driver.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

const driverOn = (world: FakeWorld, zone = 'default') =>
  new Driver({ provider: fakeProvider(world), config: { zone }, host: localHost(), folder: '/' });

describe('the fake world', () => {
  it('must fail as often as told, before anything is done', async () => {
    const world = new FakeWorld();
    const driver = driverOn(world);
    world.failOn('fake.thing.a:create', 'EXHAUSTED', 2, { lines: ['last words'] });
    for (let time = 0; time < 2; time++) {
      await expect(driver.create('fake.thing', 'a', {})).rejects.toMatchObject({ code: 'EXHAUSTED', lines: ['last words'] });
    }
    await driver.create('fake.thing', 'b', {});
    await driver.create('fake.thing', 'a', {});
    expect(world.calls().map((call) => call.result)).toEqual(['failed', 'failed', 'done', 'done']);
    expect(world.objects().map((object) => object.name)).toEqual(['conformance-b', 'conformance-a']);
  });

  it('must do the effect and lose its reply, so that a repetition finds it done', async () => {
    const world = new FakeWorld();
    const driver = driverOn(world);
    world.loseReply('create');
    await expect(driver.create('fake.thing', 'a', {})).rejects.toMatchObject({ code: 'UNKNOWN_OUTCOME' });
    expect(world.objects()).toHaveLength(1);
    expect(world.mutations().map((call) => call.result)).toEqual(['lost']);
    const observed = await driver.read('fake.thing', 'a', { desired: {} });
    expect(observed).toMatchObject({ kind: 'found', owner: 'ours', id: world.objects()[0]?.mark?.id });
  });

  it('must never give a live id twice', async () => {
    const world = new FakeWorld();
    const driver = driverOn(world);
    await driver.create('fake.thing', 'a', {});
    await driver.change('fake.thing', 'a', { image: 'other' });
    expect(world.objects().map((object) => object.ref)).toEqual(['fake-2']);
  });

  it('must walk a service through start and ready, and keep its predecessor aside until it is retired', async () => {
    const world = new FakeWorld();
    const driver = driverOn(world);
    await driver.create('fake.service', 'a', {});
    await driver.change('fake.service', 'a', { image: 'other' }, 'create-first');
    const effects = world.calls().map((call) => call.effect);
    expect(effects).toEqual(['create', 'start', 'ready', 'depose', 'create', 'start', 'ready', 'retire']);
    expect(world.objects().map((object) => object.name)).toEqual(['conformance-a']);
  });

  it('must tell the owners apart', async () => {
    const world = new FakeWorld();
    const driver = driverOn(world);
    await driver.create('fake.thing', 'a', {});
    world.markForeign('conformance-a', 'other');
    expect(await driver.read('fake.thing', 'a')).toMatchObject({ owner: 'other' });
    await expect(driver.delete('fake.thing', 'a')).rejects.toMatchObject({ code: 'FOREIGN' });
    world.markForeign('conformance-a', 'nobody');
    expect(await driver.read('fake.thing', 'a')).toMatchObject({ owner: 'ours' });
    const session = await driver.readSession();
    expect(await session.inventory?.('fake.thing' as TypeName, driver.mark, driver.readIo())).toEqual([]);
  });

  it('must keep zones apart', async () => {
    const world = new FakeWorld();
    await driverOn(world, 'north').create('fake.thing', 'a', {});
    expect(await driverOn(world, 'south').read('fake.thing', 'a', { desired: {} })).toEqual({ kind: 'absent' });
    expect(world.named('conformance-a', 'north')).toBeDefined();
  });

  it('must count reads and say when it is not to be opened', async () => {
    const world = new FakeWorld();
    const driver = driverOn(world);
    await driver.read('fake.thing', 'a', { desired: {} });
    expect(world.reads).toBe(1);
    world.refusesToOpen = true;
    const outcome = await fakeProvider(world).openReadOnly({}, driver.readIo());
    expect(outcome).toMatchObject({ ok: false, diagnostics: [{ code: 'FAKE_CLOSED' }] });
  });

  it('must outlive the process in a file, see what others append, and pass over a torn line', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'accede-world-'));
    folders.push(folder);
    const path = join(folder, 'world.jsonl');
    const [one, two] = [fileWorld(path), fileWorld(path)];
    await driverOn(one).create('fake.thing', 'a', { size: 5 });
    expect(two.named('conformance-a')).toMatchObject({ attributes: { size: 5 } });
    expect((await readFile(path, 'utf8')).trim().split('\n')).toHaveLength(1);
    await appendFile(path, '{"call":{"operation":"op-2"');
    await driverOn(two).create('fake.thing', 'b', {});
    for (const world of [one, two, fileWorld(path)]) {
      expect(world.objects().map((object) => object.name)).toEqual(['conformance-a', 'conformance-b']);
      expect(world.calls().map((call) => call.effect)).toEqual(['create', 'create']);
    }
  });
});
