import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProviderErrorCode } from '../../src/providers/contract.ts';
import type { FakeObject } from '../../src/providers/fake/world.ts';
import type { ResourceInstance } from '../../src/spec/environment.ts';
import { desired, Reference } from '../support/desired.ts';
import { EngineBench } from '../support/engine.ts';

/** One version of an environment: which of six things there are, of what they are made, and on whom they depend. */
const things = fc.array(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    kind: fc.constantFrom('thing', 'service'),
    image: fc.constantFrom('v1', 'v2'),
    size: fc.integer({ min: 1, max: 3 }),
    first: fc.boolean(),
    bound: fc.boolean(),
    needs: fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 6 },
);

const mishap = fc.option(
  fc.record({
    at: fc.constantFrom('create', 'update', 'remove', 'retire', 'depose', 'ready', 'start', 'stop', 'undo-create', 'undo-depose'),
    how: fc.constantFrom('CONFLICT', 'UNREACHABLE', 'lost', 'NOT_READY'),
    times: fc.integer({ min: 1, max: 2 }),
  }),
  { nil: undefined },
);

const byHand = fc.option(fc.record({ which: fc.nat(9), how: fc.constantFrom('delete', 'change', 'stop') }), { nil: undefined });

type Things = typeof things extends fc.Arbitrary<infer T> ? T : never;

/** Things with one name are one thing; a need goes to an earlier name alone, so that there is no circle. */
function documents(list: Things): readonly ResourceInstance[] {
  const byName = new Map(list.map((item) => [item.name, item]));
  return [...byName.values()].map((item) => {
    const needed = item.needs !== undefined && item.needs < item.name ? byName.get(item.needs) : undefined;
    const reference = needed === undefined ? undefined : new Reference(`fake.${needed.kind}.${needed.name}`, 'id');
    return desired(
      `fake.${item.kind}.${item.name}`,
      { image: item.image, size: item.size, ...(reference === undefined ? {} : { [item.bound ? 'wants' : 'needs']: reference }) },
      { lifecycle: { createBeforeDestroy: item.first } },
    );
  });
}

describe('any sequence of versions, mishaps and changes by hand', () => {
  it('must never lose or double an object, and must end where the documents say', async () => {
    const round = fc.record({ list: things, mishap, byHand });
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 5 }), async (rounds) => {
        const bench = new EngineBench();
        try {
          for (const { list, mishap: trouble, byHand: hand } of rounds) {
            const wanted = documents(list);
            if (hand !== undefined) meddle(bench, hand);
            if (trouble !== undefined) {
              if (trouble.how === 'lost') bench.world.loseReply(trouble.at, trouble.times);
              else bench.world.failOn(trouble.at, trouble.how as ProviderErrorCode, trouble.times);
            }
            await bench.lift();
            const { document } = await bench.prepare(wanted);
            const before = asSet(bench.world.objects());
            const result = await bench.apply(document, wanted);
            if (result.outcome === 'compensated' && result.steps.unknown.length === 0) expect(asSet(bench.world.objects())).toEqual(before);
            const accounted = [...result.steps.done, ...result.steps.notDone, ...result.steps.unknown].sort();
            expect(accounted).toEqual(document.steps.map((step) => step.id).sort());
            await expectNothingLost(bench);
          }
          bench.world.clearScripts();
          await bench.lift();
          const last = documents(rounds.at(-1)?.list ?? []);
          await bench.converge(last);
          expect((await bench.prepare(last)).document.succession.class).toBe('no-op');
          expect(
            bench.world
              .objects()
              .map((object) => object.name)
              .sort(),
          ).toEqual(last.map((instance) => `test-${instance.name}`).sort());
          await bench.converge(last, { destroy: true });
          expect(bench.world.objects()).toEqual([]);
        } finally {
          await bench.close();
        }
      }),
      { numRuns: 60 },
    );
  }, 240_000);
});

function asSet(objects: readonly FakeObject[]): ReadonlyMap<string, FakeObject> {
  return new Map(objects.map((object) => [object.ref, object]));
}

function meddle(bench: EngineBench, hand: { readonly which: number; readonly how: string }): void {
  const objects = bench.world.objects();
  const object = objects[hand.which % Math.max(1, objects.length)];
  if (object === undefined) return;
  if (hand.how === 'delete') bench.world.delete(object.name);
  else if (hand.how === 'change') bench.world.set(object.name, { size: 9 });
  else if (object.type === 'fake.service') bench.world.stop(object.name);
}

/** Every object that bears our mark is in the state: by its row, as a predecessor, or as what an unsettled step may have made. */
async function expectNothingLost(bench: EngineBench): Promise<void> {
  const snapshot = await (await bench.store()).read();
  const known = new Set<string>();
  for (const row of snapshot?.resources.values() ?? []) {
    known.add(row.id);
    for (const deposed of row.deposed) known.add(deposed.id);
  }
  for (const step of snapshot?.unsettled ?? []) known.add(step.id);
  for (const object of bench.world.objects()) expect(known).toContain(object.mark?.id);
}
