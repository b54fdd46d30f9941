import { expect, it } from 'vitest';
import type { Inventory, InventoryMark } from '../../src/providers/contract.ts';
import type { Driver } from './driver.ts';
import { caseOf, type Given, liveOf, NAME } from './given.ts';

/** What every type has to show of its marks: by them a lost state is found again. */
export function inventory(name: string, live: boolean, given: Given): void {
  it('must list all that we made with its mark under its own type, and nothing else', async () => {
    const { workspace, driver } = given();
    const type = driver.type(name);
    expect(await listed(driver)).toEqual([]);
    driver.repetitions = 2;
    await driver.create(name, NAME, caseOf(workspace, name).sample);
    const { id, ref } = driver.recorded(name, NAME);
    const { lineage, environment } = driver.mark;
    const own = type.marks === true ? [{ type: type.type, address: driver.address(name, NAME), id, ref, lineage }] : [];
    expect(await listed(driver)).toEqual(own);
    expect(await listed(driver, { environment })).toEqual(own);
    expect(await listed(driver, { environment, lineage: 'f'.repeat(32) })).toEqual([]);
    expect(await listed(driver, { environment: `${environment}-2`, lineage })).toEqual([]);
    expect(await listed(driver, { environment: `${environment}-2` })).toEqual([]);
    const observed = await driver.read(name, NAME);
    expect(observed).toMatchObject({ kind: 'found', owner: 'ours', ...(type.marks === true ? { id } : {}) });
    await driver.delete(name, NAME);
    expect(await listed(driver)).toEqual([]);
  });

  if (!live) return;
  it('must tell by its mark alone whose an object is, when nothing is recorded, and not list what is not ours', async () => {
    const { workspace, driver } = given();
    const { sample } = caseOf(workspace, name);
    const { environment } = driver.mark;
    const foreign = await liveOf(workspace, name).foreign();
    expect(await listed(driver, { environment })).toEqual([]);
    await foreign.remove();
    await driver.create(name, NAME, sample);
    const { id, ref } = driver.recorded(name, NAME);
    const other = driver.forgetful();
    const seen = await other.read(name, NAME, { desired: sample });
    expect(seen).toMatchObject({ kind: 'found', ref });
    if (seen.kind === 'found') {
      expect(seen.id).toBe(driver.type(name).marks === true ? id : undefined);
      if (driver.type(name).marks === true) expect(seen.owner).toBe('ours');
    }
    await other.close();
  });
}

/** What is listed of all types. */
async function listed(driver: Driver, mark: InventoryMark = driver.mark): Promise<readonly Inventory[]> {
  const session = await driver.readSession();
  const lists = await Promise.all(
    driver.provider.types.map(async ({ type }) => (await session.inventory?.(type, mark, driver.readIo())) ?? []),
  );
  return lists.flat();
}
