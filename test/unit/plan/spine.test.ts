import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { desired, Reference } from '../../support/desired.ts';
import { EngineBench, outline } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

const one = desired('fake.thing.a', { size: 1 });
const two = desired('fake.service.b', { needs: new Reference('fake.thing.a', 'id') });

describe('plan, apply, plan', () => {
  it('must create in graph order, and then have nothing to do', async () => {
    const { document } = await bench.prepare([one, two]);
    expect(outline(document)).toMatchInlineSnapshot(`
      "initial
      create fake.service.b: not there yet
      create fake.thing.a: not there yet
        fake.service.b:create < fake.thing.a:create
        fake.service.b:ready < fake.service.b:start
        fake.service.b:start < fake.service.b:create
        fake.thing.a:create"
    `);
    const result = await bench.apply(document, [one, two]);
    expect(result).toMatchObject({ exitCode: 0, outcome: 'done', steps: { notDone: [], unknown: [] } });
    expect(result.steps.done).toEqual(document.steps.map((step) => step.id));
    expect(outline((await bench.prepare([one, two])).document)).toMatchInlineSnapshot(`"no-op"`);
  });
});
