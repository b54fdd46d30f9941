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

/** A generation, a service that uses it, and something that has nothing to do with either. */
const at = (size: number, options = {}) => [
  desired('fake.generation.g', { size }, options),
  desired('fake.service.user', { size }, { dependsOn: ['fake.generation.g'] }),
  desired('fake.thing.aside', { size }),
];

describe('a resource that is activated and then committed', () => {
  it('must be committed when everything that uses it has converged and all other work is done', async () => {
    await bench.converge(at(1));
    const { document } = await bench.prepare(at(2));
    expect(document.steps.map(({ id, phase }) => `${phase} ${id}`).sort()).toMatchInlineSnapshot(`
      [
        "4 fake.thing.aside:update",
        "7 fake.generation.g:update",
        "7 fake.service.user:ready",
        "7 fake.service.user:start",
        "7 fake.service.user:update",
        "9 fake.generation.g:commit",
      ]
    `);
    expect(document.steps.find(({ id }) => id === 'fake.generation.g:commit')?.after).toEqual([
      'fake.generation.g:update',
      'fake.service.user:ready',
    ]);
    expect(document.succession).toMatchObject({ pointOfNoReturn: 'fake.generation.g:commit' });
    await bench.converge(at(2));
    expect(bench.world.named('test-g')?.running).toBe(true);
    expect(outline((await bench.prepare(at(2))).document)).toBe('no-op');
  });

  it('must wait for what commit_after names, and accept names of all instances', async () => {
    const after = at(1, { commitAfter: ['fake.thing.aside'] });
    const { document } = await bench.prepare(after);
    expect(document.steps.find(({ id }) => id === 'fake.generation.g:commit')?.after).toContain('fake.thing.aside:create');
  });

  it('must go back, uncommitted, when what uses it fails', async () => {
    await bench.converge(at(1));
    const objects = bench.world.objects();
    bench.world.failOn('fake.service.user:ready', 'NOT_READY');
    const { document } = await bench.prepare(at(2));
    expect(await bench.apply(document, at(2))).toMatchObject({ exitCode: 5 });
    const byRef = (list: typeof objects) => list.toSorted((a, b) => (a.ref < b.ref ? -1 : 1));
    expect(byRef(bench.world.objects())).toEqual(byRef(objects));
    expect(outline((await bench.prepare(at(1))).document)).toBe('no-op');
  });

  it('must be committed or taken back by whoever comes after a run that died in between', async () => {
    for (const end of ['forward', 'back'] as const) {
      await bench.close();
      bench = new EngineBench();
      await bench.converge(at(1));
      const { document } = await bench.prepare(at(2));
      await bench.applyUntil(document, at(2), (mutation) => mutation.kind === 'step' && mutation.step.effect === 'commit');
      expect(bench.world.named('test-g')).toMatchObject({ running: false, attributes: { size: 2 } });
      if (end === 'back') expect(await bench.recoverBack(at(2))).toMatchObject({ exitCode: 0 });
      else await bench.converge(at(2));
      const size = end === 'back' ? 1 : 2;
      expect(bench.world.named('test-g')).toMatchObject({ running: true, attributes: { size } });
      expect(outline((await bench.prepare(at(size))).document)).toBe('no-op');
    }
  });

  it('must be committed also where the run died before it could record that it had activated', async () => {
    await bench.converge(at(1));
    const { document } = await bench.prepare(at(2));
    const isActivated = (mutation: Mutation) =>
      mutation.kind === 'step' && mutation.step.step === 'fake.generation.g:update' && mutation.step.status === 'done';
    await bench.applyUntil(document, at(2), isActivated);
    expect(bench.world.named('test-g')).toMatchObject({ running: false, attributes: { size: 2 } });
    expect(outline((await bench.prepare(at(2))).document)).not.toBe('no-op');
    await bench.converge(at(2));
    expect(bench.world.named('test-g')).toMatchObject({ running: true, attributes: { size: 2 } });
    expect(outline((await bench.prepare(at(2))).document)).toBe('no-op');
  });

  it('must be committed and recorded where the run died before it could record that it had made it', async () => {
    const { document } = await bench.prepare(at(1));
    const isMade = (mutation: Mutation) =>
      mutation.kind === 'step' && mutation.step.step === 'fake.generation.g:create' && mutation.step.status === 'done';
    await bench.applyUntil(document, at(1), isMade);
    expect(bench.world.named('test-g')).toMatchObject({ running: false });
    await bench.converge(at(1));
    expect(bench.world.named('test-g')).toMatchObject({ running: true });
    expect(outline((await bench.prepare(at(1))).document)).toBe('no-op');
  });

  it('must not go back once it is committed', async () => {
    await bench.converge(at(1));
    bench.world.failOn('fake.generation.g:commit', 'UNREACHABLE');
    const { document } = await bench.prepare(at(2));
    expect(await bench.apply(document, at(2))).toMatchObject({ exitCode: 6 });
    expect(await bench.recoverBack(at(2))).toMatchObject({ exitCode: 3 });
    await bench.converge(at(2));
  });
});
