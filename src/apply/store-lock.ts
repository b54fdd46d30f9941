import { fail, type Outcome, succeed } from '../core/diagnostic.ts';
import type { Acquired } from '../state/contract.ts';
import { openStore, type StoreOptions } from '../state/open.ts';
import { busy, type EditRequest } from './edit.ts';
import { Emitter } from './emitter.ts';
import { acquireLock } from './locking.ts';

/**
 * Takes the lock of a store that is opened for that alone, for what is about the store as a whole. `close` gives the lock back and closes it.
 * `LOCK_BUSY` when somebody else works there; rejects with the reason of `stop` when that ends the wait.
 */
export async function lockStore(
  options: StoreOptions,
  purpose: string,
  request: EditRequest,
): Promise<Outcome<{ readonly acquired: Acquired; readonly close: () => Promise<void> }>> {
  const store = await openStore(options);
  const { clock } = options;
  try {
    const emitter = new Emitter(clock, (event) => request.emit(event));
    const wait = { timeout: request.lockTimeout, clock, stop: request.stop, emitter };
    const answer = await acquireLock(store, { who: request.actor, purpose }, wait);
    if (answer.kind === 'acquired') {
      const close = async () => {
        await answer.session.release();
        await store.close();
      };
      return succeed({ acquired: answer, close });
    }
    await store.close();
    request.stop.throwIfAborted();
    return fail(busy(answer.holder));
  } catch (error) {
    await store.close();
    throw error;
  }
}
