import type { Clock } from '../core/clock.ts';
import type { Acquired, Busy, LockRequest, StateStore } from '../state/contract.ts';
import type { Emitter } from './emitter.ts';

/** How often a busy lock is asked for again. */
const POLL = 250;

/** Takes the lock, waiting up to `timeout` milliseconds for a holder to give it back. */
export async function acquireLock(
  store: StateStore,
  request: LockRequest,
  options: { readonly timeout: number; readonly clock: Clock; readonly stop: AbortSignal; readonly emitter?: Emitter },
): Promise<Acquired | Busy> {
  const deadline = options.clock.monotonic() + options.timeout;
  let told = false;
  for (;;) {
    const answer = await store.acquire(request);
    const left = deadline - options.clock.monotonic();
    if (answer.kind === 'acquired' || left <= 0 || options.stop.aborted) return answer;
    if (!told) {
      const { who, since, purpose } = answer.holder;
      options.emitter?.emit({ type: 'lock.waiting', holder: who, since, purpose });
      told = true;
    }
    try {
      await options.clock.sleep(Math.min(POLL, left), options.stop);
    } catch (error) {
      if (!options.stop.aborted) throw error;
      return answer;
    }
  }
}
