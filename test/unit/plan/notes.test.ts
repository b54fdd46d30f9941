import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { desired } from '../../support/desired.ts';
import { EngineBench } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

const thing = (size: number) => [desired('fake.thing.a', { size })];
const codes = async (size: number) => (await bench.prepare(thing(size))).document.warnings.map(({ code }) => code);

describe('a note of what is true for as long as its object is there', () => {
  it('must be said when the object was made and where a plan does something about it, and not by every plan', async () => {
    bench.world.notes.set('test-a', [{ code: 'LASTING', message: 'Its data has no name.', lasting: true }]);
    expect(await codes(1)).toEqual([]);
    const made = await bench.converge(thing(1));
    expect(made.diagnostics).toMatchObject([{ severity: 'warning', code: 'LASTING', address: 'fake.thing.a' }]);
    expect(await codes(1)).toEqual([]);
    expect(await codes(2)).toEqual(['LASTING']);
    // The plan has told it already.
    expect((await bench.converge(thing(2))).diagnostics).toEqual([]);
    const [evidence] = (await (await bench.store()).evidence()) as readonly { readonly body: unknown }[];
    expect(evidence?.body).toMatchObject({ outcome: 'done', errors: [] });
  });

  it('must be told from one of now, which every plan says', async () => {
    await bench.converge(thing(1));
    bench.world.notes.set('test-a', [{ code: 'OF_NOW', message: 'Its tag moved.' }]);
    expect(await codes(1)).toEqual(['OF_NOW']);
  });
});
