import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FakeObject } from '../../../src/providers/fake/world.ts';
import type { ResourceInstance } from '../../../src/spec/environment.ts';
import type { Mutation } from '../../../src/state/contract.ts';
import { type Desired, type DesiredOptions, desired } from '../../support/desired.ts';
import { EngineBench } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(() => bench.close());

const thing = (name: string, attributes: Desired, options?: DesiredOptions) => desired(`fake.thing.${name}`, attributes, options);

/** Resources that are created, changed, replaced, moved aside and left alone. */
const at = (version: number): readonly ResourceInstance[] => [
  thing('a', { size: version }),
  desired('fake.service.s', { image: `v${version}` }, { role: 'service', dependsOn: ['fake.thing.a'] }),
  thing('n', { size: version }, { lifecycle: { createBeforeDestroy: true } }),
  thing('same', {}),
  ...(version > 1 ? [thing(`new${version}`, {}, { dependsOn: ['fake.service.s'] })] : []),
];

const OTHERS = { recover: false };

/** The moments of an apply: before and after each journalled write, counted. */
const moment = (number: number) => {
  let seen = 0;
  return (mutation: Mutation) => {
    if (mutation.kind !== 'step') return false;
    seen += 1;
    return seen > number;
  };
};

/** What stands in the world, without what a server gives anew. */
const shapes = (objects: readonly FakeObject[]) =>
  objects.map(({ type, name, attributes }) => ({ type, name, attributes })).sort((one, other) => (one.name < other.name ? -1 : 1));

async function wanted(version: number): Promise<ReturnType<typeof shapes>> {
  const other = new EngineBench();
  try {
    await other.converge(at(version));
    return shapes(other.world.objects());
  } finally {
    await other.close();
  }
}

/** Runs `then` after an apply of version 2 was killed at each moment; answers how often its plan had each class. */
async function killedEverywhere(documents: readonly ResourceInstance[], then: () => Promise<void>): Promise<ReadonlyMap<string, number>> {
  const classes = new Map<string, number>();
  for (let number = 0; ; number++) {
    await bench.close();
    bench = new EngineBench();
    await bench.converge(at(1));
    const { document } = await bench.prepare(at(2));
    const result = await bench.applyUntil(document, at(2), moment(number));
    if (result.exitCode === 0) return classes;
    const plan = (await bench.prepare(documents, OTHERS)).document;
    classes.set(plan.succession.class, (classes.get(plan.succession.class) ?? 0) + 1);
    if (plan.succession.class === 'refuse') {
      expect(plan.succession.refusals).toMatchObject([{ code: 'OPERATION_OPEN', next: 'accede recover --forward' }]);
      await bench.converge(documents);
    } else {
      const done = await bench.apply(plan, documents);
      expect(done, `killed at ${number}: ${JSON.stringify(done.diagnostics)}`).toMatchObject({ exitCode: 0, outcome: 'done' });
    }
    await then();
    expect((await bench.prepare(documents, OTHERS)).document.succession).toMatchObject({ class: 'no-op' });
  }
}

describe('other documents over an operation that was killed', () => {
  it('must back it out and then apply them, wherever it was killed, until its point of no return', async () => {
    const goal = await wanted(3);
    const classes = await killedEverywhere(at(3), async () => expect(shapes(bench.world.objects())).toEqual(goal));
    expect(classes.get('supersede')).toBeGreaterThan(8);
    expect([...classes.keys()].filter((name) => name !== 'supersede' && name !== 'refuse')).toEqual([]);
  });

  it('must take it back alone when they are those in force', async () => {
    const goal = await wanted(1);
    const classes = await killedEverywhere(at(1), async () => expect(shapes(bench.world.objects())).toEqual(goal));
    expect(classes.get('revert')).toBeGreaterThan(8);
  });

  it('must show both parts, with the steps that are taken back, and end both operations', async () => {
    await bench.converge(at(1));
    const { document } = await bench.prepare(at(2));
    await bench.applyUntil(document, at(2), moment(6));
    const plan = (await bench.prepare(at(3), OTHERS)).document;
    expect(plan.succession).toMatchObject({ class: 'supersede', then: 'topology', backsOut: { operation: 'op-2' } });
    expect(plan.succession.backsOut?.steps.length).toBeGreaterThan(1);
    expect(plan.warnings).toMatchObject([{ code: 'OPERATION_OPEN', message: expect.stringContaining('taken back first') }]);
    // What is planned is what comes after the way back: nothing that only the open operation made is touched.
    expect(plan.changes.map(({ address }) => address)).not.toContain('fake.thing.new2');
    expect((await bench.apply(plan, at(3))).exitCode).toBe(0);
    const history = await (await bench.store()).history();
    expect(history.map(({ id, outcome, class: name }) => [id, outcome, name])).toEqual([
      ['op-3', 'done', 'supersede'],
      ['op-2', 'compensated', 'topology'],
      ['op-1', 'done', 'initial'],
    ]);
  });

  it('must do nothing more when what comes after the way back is not what was planned', async () => {
    await bench.converge(at(1));
    // Somebody changed it before, and the run that was killed had put it back: the way back leaves it as it was found.
    bench.world.set('test-same', { size: 9 });
    const before = shapes(bench.world.objects());
    const { document } = await bench.prepare(at(2));
    await bench.applyUntil(document, at(2), moment(9));
    const plan = (await bench.prepare(at(3), OTHERS)).document;
    expect(plan.succession.class).toBe('supersede');
    const result = await bench.apply(plan, at(3));
    expect(result).toMatchObject({
      exitCode: 5,
      diagnostics: [{ code: 'SECOND_PART_MOVED', detail: expect.stringContaining('fake.thing.same') }],
    });
    expect(shapes(bench.world.objects())).toEqual(before);
    const again = (await bench.prepare(at(3), OTHERS)).document;
    expect(again.succession).toMatchObject({ class: 'topology', then: null });
    expect((await bench.apply(again, at(3))).exitCode).toBe(0);
  });
});
