import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { randomIds, systemClock } from '../../src/core/clock.ts';
import type { StateStore } from '../../src/state/contract.ts';
import { createEncryption, type Encryption, openEncryption, rewrapEncryption } from '../../src/state/encryption.ts';
import { openStore } from '../../src/state/open.ts';
import { systemProcessIdentity } from '../../src/state/process.ts';
import { begun, identityOf } from '../support/state-rows.ts';
import type { StatePlace } from './state.ts';

const ENVIRONMENT = 'crm';
const FIRST = { kind: 'passphrase', passphrase: 'the first passphrase of it' } as const;
const SECOND = { kind: 'passphrase', passphrase: 'the second passphrase of it' } as const;

/** What every backend of the state must do with the key of the secrets in it. */
export function encryptionConformance(name: string, factory: () => Promise<StatePlace>): void {
  describe(`the encryption of a state on ${name}`, () => {
    let place: StatePlace;
    let open: StateStore[];

    beforeEach(async () => {
      place = await factory();
      open = [];
    });
    afterEach(async () => {
      for (const store of open) await store.close();
      await place.remove();
    });

    const reopened = async () => {
      const options = {
        location: place.location,
        environment: ENVIRONMENT,
        clock: systemClock,
        ids: randomIds,
        host: systemProcessIdentity(),
      };
      const store = await openStore(options);
      open.push(store);
      return store;
    };
    const encryption = async () => (await (await reopened()).read())?.identity.encryption;

    async function make(given: Encryption | null) {
      const identity = { ...identityOf(ENVIRONMENT), encryption: given };
      const store = await reopened();
      const answer = await store.acquire({ who: 'tester', purpose: 'test', create: { identity } });
      if (answer.kind === 'busy') throw new Error('busy');
      return { identity, store, session: answer.session };
    }

    it('must begin without any, take it on in an operation, and exchange it whole', async () => {
      const { identity, store, session } = await make(null);
      expect(await encryption()).toBeNull();
      const { encryption: first, dataKey } = await createEncryption(FIRST, identity, randomIds);
      const operation = await begun(store, session);
      await session.write([{ kind: 'encryption', encryption: first }]);
      expect(await encryption()).toEqual(first);
      const second = await rewrapEncryption(dataKey, SECOND, identity, randomIds);
      await session.write([{ kind: 'encryption', encryption: second }]);
      await session.end(operation.serial, 'done', null);
      await session.release();
      const kept = await encryption();
      expect(kept).toEqual(second);
      expect(await openEncryption(kept ?? first, SECOND, identity)).toEqual(dataKey);
    });

    it('must be there from the first moment when a state comes with it, and not be taken from another that is there already', async () => {
      const home = identityOf(ENVIRONMENT);
      const { encryption: brought } = await createEncryption(FIRST, home, randomIds);
      const { session } = await make(brought);
      await session.release();
      expect(await encryption()).toEqual(brought);
      const { encryption: other } = await createEncryption(SECOND, home, randomIds);
      await (await make(other)).session.release();
      expect(await encryption()).toEqual(brought);
    });
  });
}
