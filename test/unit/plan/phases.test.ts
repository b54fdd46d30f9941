import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/core/facet.ts';
import { desired, Reference } from '../../support/desired.ts';
import { EngineBench, outline } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

const two = (image: string) => [
  desired('fake.image.i', { name: `image-${image}` }, { lifecycle: { createBeforeDestroy: true } }),
  desired('fake.server.a', { image: new Reference('fake.image.i', 'name') }),
  desired('fake.server.b', { image }, { dependsOn: ['fake.server.a'] }),
];

describe('phases', () => {
  it('must fetch and prove everything before anything is stopped, and remove last', async () => {
    await bench.converge([...two('v1'), desired('fake.thing.old', {})]);
    const { document } = await bench.prepare(two('v2'));
    expect(document.steps.map(({ id, phase }) => `${phase} ${id}`).sort()).toMatchInlineSnapshot(`
      [
        "0 fake.image.i:create",
        "0 fake.image.i:depose",
        "0 fake.server.a:prove",
        "0 fake.server.b:prove",
        "11 fake.image.i:retire",
        "11 fake.server.a:retire",
        "11 fake.server.b:retire",
        "11 fake.thing.old:remove",
        "7 fake.server.a:create",
        "7 fake.server.a:depose",
        "7 fake.server.a:ready",
        "7 fake.server.a:start",
        "7 fake.server.a:stop",
        "7 fake.server.b:create",
        "7 fake.server.b:depose",
        "7 fake.server.b:ready",
        "7 fake.server.b:start",
        "7 fake.server.b:stop",
      ]
    `);
    const before = bench.world.calls().length;
    await bench.apply(document, two('v2'));
    const order = bench.world
      .calls()
      .slice(before)
      .map(({ address, effect }) => `${address}:${effect}`);
    const phase = (id: string) => document.steps.find((step) => step.id === id)?.phase ?? -1;
    expect(order.map(phase)).toEqual(order.map(phase).toSorted((a, b) => a - b));
    expect(order).toHaveLength(document.steps.length);
    expect(outline((await bench.prepare(two('v2'))).document)).toBe('no-op');
  });

  it('must leave everything as it was when preflight fails, with the plan still usable', async () => {
    await bench.converge(two('v1'));
    const before = bench.world.objects();
    const { document } = await bench.prepare(two('v2'));
    bench.world.failOn('fake.server.b:prove', 'NOT_FOUND');
    const result = await bench.apply(document, two('v2'));
    expect(result).toMatchObject({ exitCode: 5, outcome: 'failed', diagnostics: [{ code: 'NOT_FOUND' }] });
    const services = (list: typeof before) => list.filter(({ type }) => type === 'fake.server');
    expect(services(bench.world.objects())).toEqual(services(before));
    await bench.converge(two('v2'));
  });

  it('must leave the plan usable when a failed preflight fetched nothing', async () => {
    const server = (image: string) => [desired('fake.server.a', { image })];
    await bench.converge(server('v1'));
    const { document } = await bench.prepare(server('v2'));
    bench.world.failOn('prove', 'NOT_FOUND');
    expect(await bench.apply(document, server('v2'))).toMatchObject({ exitCode: 5 });
    expect(await bench.apply(document, server('v2'))).toMatchObject({ exitCode: 0 });
    expect(await bench.apply(document, server('v2'))).toMatchObject({ exitCode: 4, outcome: 'spent' });
  });

  it('must leave even a first plan usable when its preflight failed', async () => {
    const server = [desired('fake.server.a', {})];
    const { document } = await bench.prepare(server);
    bench.world.failOn('prove', 'NOT_FOUND');
    expect(await bench.apply(document, server)).toMatchObject({ exitCode: 5 });
    expect(await bench.apply(document, server)).toMatchObject({ exitCode: 0 });
  });

  it('must not remove what is not wanted any more when the work before it failed', async () => {
    await bench.converge([...two('v1'), desired('fake.thing.old', {})]);
    const { document } = await bench.prepare(two('v2'));
    bench.world.failOn('fake.server.b:create', 'CONFLICT');
    expect(await bench.apply(document, two('v2'))).toMatchObject({ exitCode: 5 });
    expect(bench.world.named('test-old')).toBeDefined();
    await bench.lift();
    await bench.converge(two('v2'));
    expect(bench.world.named('test-old')).toBeUndefined();
  });
});

describe('a hint', () => {
  const hinted = async (role: string) => {
    const all = [desired('fake.store.data', {}), desired('fake.service.db', {}, { role: role as Role, dependsOn: ['fake.store.data'] })];
    return (await bench.prepare(all)).document.warnings.map(({ code, address }) => `${code} ${address}`);
  };

  it('must suggest the role store for what comes new beside protected data, and for nothing that has chosen a role', async () => {
    expect(await hinted('service')).toEqual(['ROLE_STORE_SUGGESTED fake.service.db']);
    expect(await hinted('store')).toEqual([]);
    expect(await hinted('worker')).toEqual([]);
  });
});
