import { expect, it } from 'vitest';
import type { Attributes, Value } from '../../src/core/value.ts';
import { readOnlyHost } from '../../src/host/readonly.ts';
import type { Host } from '../../src/providers/contract.ts';
import { caseOf, type Given, NAME } from './given.ts';

/** What the half that acts has to show for every type. */
export function handler(name: string, given: Given): void {
  it('must leave nothing to do after create, when every effect is repeated with the same key', async () => {
    const { workspace, driver } = given();
    const { sample } = caseOf(workspace, name);
    driver.repetitions = 2;
    await driver.create(name, NAME, sample);
    const observed = await driver.read(name, NAME);
    expect(observed.kind).toBe('found');
    if (observed.kind !== 'found') return;
    expect(observed.owner).toBe('ours');
    expect(observed.ref).toBe(driver.recorded(name, NAME).ref);
    expect(observed.dormant).toBeUndefined();
    expect(await driver.differences(name, NAME, sample)).toEqual([]);
    for (const [path, traits] of driver.type(name).traits) {
      if (!traits.computed || path.includes('.') || path.includes('[')) continue;
      expect({ ...driver.recorded(name, NAME).computed, ...observed.computed }, 'a computed attribute is missing').toHaveProperty([path]);
    }
  });

  it('must bring every changed attribute to its new value in the way that its traits say, repeated and not', async () => {
    const { workspace, driver } = given();
    const { sample, changes } = caseOf(workspace, name);
    expect(changes.length).toBeGreaterThan(0);
    for (const repetitions of [1, 2]) {
      for (const { attribute, to, expect: expected, orders } of changes) {
        const changed = withAttribute(sample, attribute, to);
        for (const order of expected === 'replace'
          ? (orders ?? (['destroy-first', 'create-first'] as const))
          : (['destroy-first'] as const)) {
          const what = `${attribute}, ${order}, ${repetitions} times`;
          driver.repetitions = repetitions;
          await driver.create(name, NAME, sample);
          expect(await driver.differences(name, NAME, changed), what).not.toEqual([]);
          expect(await driver.change(name, NAME, changed, order), what).toBe(expected);
          expect(await driver.differences(name, NAME, changed), what).toEqual([]);
          await driver.delete(name, NAME);
          expect(await workspace.leftovers(), what).toEqual([]);
        }
      }
    }
  });

  it('must leave nothing after delete, and take a delete of what is gone as done', async () => {
    const { workspace, driver } = given();
    await driver.create(name, NAME, caseOf(workspace, name).sample);
    driver.repetitions = 2;
    await driver.delete(name, NAME);
    expect((await driver.read(name, NAME, { desired: caseOf(workspace, name).sample })).kind).toBe('absent');
    expect(await workspace.leftovers()).toEqual([]);
  });

  it('must read without calling anything that changes the host, and without changing the target', async () => {
    const { workspace, driver } = given();
    const { sample } = caseOf(workspace, name);
    const guard = guarded(workspace.host);
    expect((await driver.read(name, NAME, { desired: sample, host: guard.host })).kind).toBe('absent');
    await driver.create(name, NAME, sample);
    const before = await workspace.snapshot();
    expect((await driver.read(name, NAME, { host: guard.host })).kind).toBe('found');
    const session = await driver.readSession();
    await session.inventory?.(driver.type(name).type, driver.mark, driver.readIo(guard.host));
    await session.resolve(driver.type(name).type, 'no-such-object', driver.readIo(guard.host));
    expect(guard.called).toEqual([]);
    expect(await workspace.snapshot()).toEqual(before);
  });
}

/** A host on which every method that changes something throws and is noted, whoever finds it. */
function guarded(host: Host): { readonly host: ReturnType<typeof readOnlyHost>; readonly called: readonly string[] } {
  const called: string[] = [];
  const reading = new Set(Object.keys(readOnlyHost(host)));
  const proxy = new Proxy(host, {
    get(target, member, receiver) {
      if (typeof member !== 'string' || reading.has(member)) return Reflect.get(target, member, receiver) as unknown;
      return () => {
        called.push(member);
        throw new Error(`a read called ${member}`);
      };
    },
  });
  return { host: proxy, called };
}

function withAttribute(sample: Attributes, attribute: string, to: Value | undefined): Attributes {
  const { [attribute]: _old, ...rest } = sample;
  return to === undefined ? rest : { ...rest, [attribute]: to };
}
