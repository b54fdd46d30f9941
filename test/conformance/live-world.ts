import { expect, it } from 'vitest';
import type { ProviderError } from '../../src/providers/contract.ts';
import type { ConformanceCase } from './case.ts';
import { Driver } from './driver.ts';
import { caseOf, failureOf, type Given, liveOf, NAME } from './given.ts';

/** What types with objects outside of the state have to show. */
export function liveWorld(name: string, given: Given): void {
  it('must see drift of each attribute at its path, and put it back', async () => {
    const { workspace, driver } = given();
    const { sample } = caseOf(workspace, name);
    const { drift } = liveOf(workspace, name);
    expect(Object.keys(drift).length).toBeGreaterThan(0);
    for (const [path, meddle] of Object.entries(drift)) {
      await driver.create(name, NAME, sample);
      await meddle(driver.recorded(name, NAME).ref ?? '');
      const observed = await driver.read(name, NAME);
      expect(observed, path).toMatchObject({ kind: 'found', owner: 'ours' });
      // Items that are told apart by a member have paths of their own below.
      const found = (await driver.differences(name, NAME, sample)).map((at) => (/^[.[]/.test(at.replace(path, '')) ? path : at));
      expect([...new Set(found)], path).toEqual([path]);
      await driver.change(name, NAME, sample);
      expect(await driver.differences(name, NAME, sample), path).toEqual([]);
      await driver.delete(name, NAME);
    }
  });

  it('must say absent when the object was removed by hand', async () => {
    const { workspace, driver } = given();
    const { sample } = caseOf(workspace, name);
    await driver.create(name, NAME, sample);
    await liveOf(workspace, name).remove(driver.recorded(name, NAME).ref ?? '');
    expect(await driver.read(name, NAME)).toEqual({ kind: 'absent' });
    await driver.create(name, NAME, sample);
    expect(await driver.differences(name, NAME, sample)).toEqual([]);
  });

  it('must report what is not ours, refuse to create over it, and leave it as it is', async () => {
    const { workspace, driver } = given();
    const { sample } = caseOf(workspace, name);
    const foreign = await liveOf(workspace, name).foreign();
    const before = await workspace.snapshot();
    expect(await driver.read(name, NAME, { desired: sample })).toMatchObject({ kind: 'found', owner: foreign.owner });
    const refusal = await failureOf(driver.create(name, NAME, sample));
    expect(refusal.code).toBe('FOREIGN');
    expectNoSecret(workspace, refusal);
    expect(await workspace.snapshot()).toEqual(before);
    await foreign.remove();
    expect(await workspace.leftovers()).toEqual([]);
  });

  it('must resolve what an import names, adopt it, and then find nothing to do', async () => {
    const { workspace, driver } = given();
    const { sample } = caseOf(workspace, name);
    const live = liveOf(workspace, name);
    await driver.create(name, NAME, sample);
    const ref = driver.recorded(name, NAME).ref ?? '';
    const other = new Driver(workspace);
    const type = driver.type(name).type;
    const session = await other.readSession();
    expect(await session.resolve(type, live.importId(ref), other.readIo())).toBe(ref);
    expect(await session.resolve(type, live.unknownId, other.readIo())).toBeUndefined();
    expect(await other.read(name, NAME, { desired: sample, ref })).toMatchObject({ kind: 'found', ref });
    other.adopt(name, NAME, ref, sample);
    expect(await other.differences(name, NAME, sample)).toEqual([]);
    await other.delete(name, NAME);
    expect(await workspace.leftovers()).toEqual([]);
    await other.close();
  });

  it('must say dormant when an object that should run was stopped, and start it', async () => {
    const { workspace, driver } = given();
    const { sample } = caseOf(workspace, name);
    const live = liveOf(workspace, name);
    await driver.create(name, NAME, sample);
    const observed = await driver.read(name, NAME);
    if (live.stop === undefined) {
      expect(observed).not.toHaveProperty('dormant');
      return;
    }
    await live.stop(driver.recorded(name, NAME).ref ?? '');
    expect(await driver.read(name, NAME)).toMatchObject({ kind: 'found', dormant: { reason: expect.any(String) } });
    await driver.start(name, NAME);
    expect(await driver.read(name, NAME)).not.toHaveProperty('dormant');
  });

  it('must not take what cannot be seen for absent, nor say a secret on the way', async () => {
    const { workspace, driver } = given();
    const { sample } = caseOf(workspace, name);
    await driver.create(name, NAME, sample);
    await driver.readSession();
    await driver.session();
    const mend = await workspace.unreachable?.();
    if (mend === undefined) throw new Error('a type with live objects needs a way to be cut off');
    const observed = await driver.read(name, NAME);
    expect(observed).toMatchObject({ kind: 'cannot-see', code: expect.stringMatching(/^[A-Z_]+$/), reason: expect.stringMatching(/\.$/) });
    const failure = await failureOf(driver.delete(name, NAME));
    for (const text of [JSON.stringify(observed), failure.message, ...failure.lines]) {
      for (const secret of workspace.secrets) expect(text).not.toContain(secret);
    }
    await mend();
    expect(await driver.differences(name, NAME, sample)).toEqual([]);
  });
}

function expectNoSecret(workspace: ConformanceCase, error: ProviderError): void {
  for (const text of [error.message, error.next ?? '', ...error.lines]) {
    for (const secret of workspace.secrets) expect(text).not.toContain(secret);
  }
}
