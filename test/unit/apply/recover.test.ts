import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ResourceInstance } from '../../../src/spec/environment.ts';
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

const thing = (name: string, attributes = {}, options = {}) => desired(`fake.thing.${name}`, attributes, options);
const service = (name: string, attributes = {}, options = {}) => desired(`fake.service.${name}`, attributes, options);
const file = (name: string, content: string) => desired(`local.file.${name}`, { path: path.join(bench.folder, `${name}.txt`), content });
const content = (name: string) => readFileSync(path.join(bench.folder, `${name}.txt`), 'utf8');

async function rows() {
  const snapshot = await (await bench.store()).read();
  return [...(snapshot?.resources.values() ?? [])];
}

/** Six resources that are created, changed, replaced, moved aside and left alone. */
const at = (version: number): readonly ResourceInstance[] => [
  thing('a', { size: version }),
  service('s', { image: `v${version}` }, { dependsOn: ['fake.thing.a'] }),
  file('f', `text ${version}`),
  thing('n', { name: `n${version}` }, { lifecycle: { createBeforeDestroy: true } }),
  ...(version > 1 ? [thing('new', {}, { dependsOn: ['fake.service.s'] }), file('g', 'new')] : []),
];

/** The moments of an apply: before and after each journalled write, counted. */
const moment = (number: number) => {
  let seen = 0;
  return (mutation: Mutation) => {
    if (mutation.kind !== 'step') return false;
    seen += 1;
    return seen > number;
  };
};

describe('an operation whose run is gone', () => {
  it('must be taken back from its journal alone, wherever it was killed, until its point of no return', async () => {
    let ended = 0;
    for (let number = 0; ; number++) {
      await bench.close();
      bench = new EngineBench();
      await bench.converge(at(1));
      const [objects, records] = [bench.world.objects(), await rows()];
      const { document } = await bench.prepare(at(2));
      const result = await bench.applyUntil(document, at(2), moment(number));
      if (result.exitCode === 0) break;
      const taken = await bench.recoverBack(at(1));
      if (taken.exitCode === 3) {
        expect(taken.diagnostics).toMatchObject([{ code: 'NO_WAY_BACK' }]);
        await bench.converge(at(2));
        expect(outline((await bench.prepare(at(2))).document)).toBe('no-op');
        continue;
      }
      expect(taken, `killed at write ${number}: ${JSON.stringify(taken.diagnostics)}`).toMatchObject({ exitCode: 0 });
      ended += 1;
      const byRef = (list: typeof objects) => list.toSorted((a, b) => (a.ref < b.ref ? -1 : 1));
      expect(byRef(bench.world.objects()), `killed at write ${number}`).toEqual(byRef(objects));
      expect(await rows(), `killed at write ${number}`).toEqual(records);
      expect(content('f')).toBe('text 1');
      expect(existsSync(path.join(bench.folder, 'g.txt'))).toBe(false);
      expect(outline((await bench.prepare(at(1))).document)).toBe('no-op');
      const snapshot = await (await bench.store()).read();
      expect(snapshot?.open).toBeNull();
      expect(snapshot?.lastOperation?.outcome).toBe('compensated');
    }
    expect(ended).toBeGreaterThan(10);
  });

  it('must be taken back in a second try when the first was stuck', async () => {
    await bench.converge(at(1));
    const before = bench.world.named('test-s');
    const { document } = await bench.prepare(at(2));
    bench.world.failOn('fake.thing.new:create', 'CONFLICT');
    bench.world.failOn('fake.service.s:undo-depose', 'OTHER', 2);
    expect(await bench.apply(document, at(2))).toMatchObject({ exitCode: 6 });
    expect(await bench.recoverBack(at(2))).toMatchObject({ exitCode: 6, diagnostics: [{ code: 'NOT_TAKEN_BACK' }] });
    expect(await bench.recoverBack(at(2))).toMatchObject({ exitCode: 0 });
    expect(bench.world.named('test-s')).toEqual(before);
    expect(outline((await bench.prepare(at(1))).document)).toBe('no-op');
  });

  it('must be taken back though a server gave anew meanwhile what it gives by itself, and by nothing else that differs', async () => {
    const changes = [
      { hand: { settings: { colour: 'blue' } }, exitCode: 6 },
      { hand: { settings: undefined }, exitCode: 0 },
    ];
    for (const { hand, exitCode } of changes) {
      await bench.close();
      bench = new EngineBench();
      await bench.converge(at(1));
      const before = bench.world.named('test-s');
      const { document } = await bench.prepare(at(2));
      bench.world.failOn('fake.thing.new:create', 'CONFLICT');
      bench.world.failOn('fake.service.s:undo-depose', 'OTHER');
      expect(await bench.apply(document, at(2))).toMatchObject({ exitCode: 6 });
      bench.world.set(bench.world.get(before?.ref ?? '')?.name ?? '', hand);
      const taken = await bench.recoverBack(at(2));
      expect(taken.diagnostics.map(({ code }) => code)).toEqual(exitCode === 0 ? [] : ['NOT_AS_BEFORE']);
      expect(taken.exitCode).toBe(exitCode);
      expect(outline((await bench.prepare(at(1))).document) === 'no-op').toBe(exitCode === 0);
    }
  });

  it('must not be found where there is none', async () => {
    const none = await bench.recoverBack(at(1));
    expect(none).toMatchObject({ exitCode: 0, serial: null, diagnostics: [{ code: 'NOTHING_OPEN', next: 'accede plan' }] });
    expect(none.diagnostics[0]?.detail).toContain('There is no state');
    await bench.converge(at(1));
    expect(await bench.recoverBack(at(1))).toMatchObject({ exitCode: 0, serial: null });
  });
});
