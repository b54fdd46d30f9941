import { setMaxListeners } from 'node:events';
import { setTimeout as startTimer } from 'node:timers';

/** How a run under a deadline may be cut off. */
export interface Cut {
  readonly signal: AbortSignal;
  /** Whether the deadline passed, as opposed to `outer` having been aborted. */
  readonly isOver: () => boolean;
}

/** A controller whose signal many runs listen to at once: Node takes more than ten listeners for a leak and would warn on the terminal. */
export function sharedAbort(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/**
 * Runs something that ends with `outer` or after `milliseconds`, whichever comes first. One controller is held from the beginning to the end,
 * since Node 20 collects a signal of `AbortSignal.timeout` that is only held by `AbortSignal.any`, and its time then never comes.
 */
export async function withDeadline<T>(outer: AbortSignal, milliseconds: number, run: (cut: Cut) => Promise<T>): Promise<T> {
  const controller = sharedAbort();
  let isOver = false;
  const onAbort = () => controller.abort(outer.reason);
  if (outer.aborted) onAbort();
  outer.addEventListener('abort', onAbort, { once: true });
  const timer = startTimer(() => {
    isOver = true;
    controller.abort(new DOMException('the time is over', 'TimeoutError'));
  }, milliseconds);
  try {
    return await run({ signal: controller.signal, isOver: () => isOver });
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', onAbort);
  }
}
