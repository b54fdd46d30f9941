import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConformanceCase } from './case.ts';
import { Driver } from './driver.ts';
import { caseOf } from './given.ts';
import { handler } from './handler.ts';
import { inventory } from './inventory.ts';
import { liveWorld } from './live-world.ts';
import { pureHalf } from './pure-half.ts';

/**
 * What every provider has to show. `types` are all its type names; `prepare` makes a fresh case. Cases that a type cannot have (drift of what
 * exists in the state alone) are not registered, so none passes without asserting anything.
 */
export function providerConformance(
  name: string,
  types: readonly { readonly type: string; readonly live: boolean }[],
  prepare: () => Promise<ConformanceCase>,
): void {
  describe(`${name} as a provider`, () => {
    let workspace: ConformanceCase;
    let driver: Driver;
    beforeEach(async () => {
      workspace = await prepare();
      driver = new Driver(workspace);
    });
    afterEach(async () => {
      await driver.close();
      await workspace.close();
    });

    it('must have a case for every type and no other', () => {
      const named = types.map((one) => one.type);
      expect(workspace.types.map((one) => one.type)).toEqual(named);
      // What is only read has no effects and no record to conform.
      const lasting = workspace.provider.types.filter((one) => !one.data);
      expect(lasting.map((one) => one.type as string).sort()).toEqual([...named].sort());
      for (const { type, live } of types) expect(caseOf(workspace, type).live !== undefined, type).toBe(live);
    });

    it('must open for reading without changing anything, and without a way to change anything', async () => {
      const before = await workspace.snapshot();
      const session = await driver.readSession();
      expect('perform' in session).toBe(false);
      expect('reconcile' in session).toBe(false);
      for (const [what, version] of Object.entries(session.versions)) expect(version, what).toBeTypeOf('string');
      expect(await workspace.snapshot()).toEqual(before);
    });

    it('must refuse a configuration with an unknown key', () => {
      expect(workspace.provider.config.safeParse({ ...workspace.config, no_such_key: 1 }).success).toBe(false);
      expect(workspace.provider.config.safeParse(workspace.config).success).toBe(true);
    });

    for (const { type, live } of types) {
      describe(type, () => {
        pureHalf(type, () => ({ workspace, driver }));
        handler(type, () => ({ workspace, driver }));
        inventory(type, live, () => ({ workspace, driver }));
        if (live) liveWorld(type, () => ({ workspace, driver }));
      });
    }
  });
}
