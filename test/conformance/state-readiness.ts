import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { randomIds, systemClock } from '../../src/core/clock.ts';
import type { StateStore } from '../../src/state/contract.ts';
import { openStore, stateReadiness } from '../../src/state/open.ts';
import { systemProcessIdentity } from '../../src/state/process.ts';
import { SCHEMA_VERSION } from '../../src/state/schema.ts';
import { acquired, begun, rowOf } from '../support/state-rows.ts';
import type { StatePlace } from './state.ts';

/** What every backend must tell of whether it can be used right now. */
export function readinessConformance(name: string, factory: () => Promise<StatePlace>): void {
  describe(`the readiness of a state on ${name}`, () => {
    let place: StatePlace;
    let store: StateStore;
    const options = () => ({
      location: place.location,
      environment: 'crm',
      clock: systemClock,
      ids: randomIds,
      host: systemProcessIdentity(),
    });

    beforeEach(async () => {
      place = await factory();
      store = await openStore(options());
    });
    afterEach(async () => {
      await store.close();
      await place.remove();
    });

    it('must make nothing where there is no state', async () => {
      expect(await stateReadiness(options())).toMatchObject({ schemaVersion: null, hindrance: null });
      expect(await store.read()).toBeUndefined();
    });

    it('must be found while somebody is at work, without changing anything or keeping him off', async () => {
      const { session } = await acquired(store, 'crm');
      const { serial } = await begun(store, session);
      await session.write([{ kind: 'row', row: rowOf(1) }]);
      const before = { snapshot: await store.read(), audit: await store.audit() };
      const writes = Array.from({ length: 20 }, (_, index) => session.write([{ kind: 'row', row: rowOf(1, { identity: `i${index}` }) }]));
      const [answer] = await Promise.all([stateReadiness(options()), ...writes]);
      expect(answer).toMatchObject({ schemaVersion: SCHEMA_VERSION, writable: true, hindrance: null });
      expect(answer.readMilliseconds).toBeGreaterThanOrEqual(0);
      await session.write([{ kind: 'row', row: rowOf(1) }]);
      for (let round = 0; round < 3; round++) await stateReadiness(options());
      expect({ snapshot: await store.read(), audit: await store.audit() }).toEqual(before);
      await session.end(serial, 'done', null);
      await session.release();
    });
  });
}
