import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { systemClock } from '../core/clock.ts';
import { BackendError } from './contract.ts';
import type { LeaseThread } from './lease.ts';
import type { HeldLock } from './lock.ts';
import type { StateLocation } from './open.ts';

/** What a thread needs to renew a lease by itself. */
export interface LeaseOrder {
  readonly location: StateLocation;
  readonly environment: string;
  readonly held: HeldLock;
  readonly leaseMs: number;
}

const ORDER = 'accede lease';

/** Starts a thread of its own connection that renews the lease until it is stopped. */
export function startLeaseThread(order: LeaseOrder, lost: (error: BackendError) => void): LeaseThread {
  // The thread runs this very module, whose last lines are for it.
  const thread = new Worker(new URL(import.meta.url), { workerData: { [ORDER]: order } });
  const ended = new Promise<void>((resolve) => {
    thread.once('exit', () => resolve());
    // A thread that can't be started or breaks is no loss: the main thread renews as well.
    thread.once('error', () => resolve());
  });
  thread.on('message', (message: string) => lost(new BackendError('FENCED', message, { next: 'accede status' })));
  thread.unref();
  return {
    stop: async () => {
      // Nothing else may keep the process alive by now, and its end is waited for.
      thread.ref();
      thread.postMessage('stop');
      await ended;
    },
  };
}

/** The thread's own life. */
async function keep({ location, environment, held, leaseMs }: LeaseOrder): Promise<void> {
  const { openLeaseRenewal } = await import('./open.ts');
  const renewal = openLeaseRenewal(location, { environment, leaseMs });
  const stopped = new AbortController();
  parentPort?.once('message', () => stopped.abort());
  let pause = 0;
  while (!stopped.signal.aborted) {
    try {
      await systemClock.sleep(pause, stopped.signal);
      // A store that can't be reached is asked again soon.
      pause = leaseMs / 30;
      await renewal.renew(held);
      pause = leaseMs / 3;
    } catch (error) {
      if (stopped.signal.aborted) break;
      if (!(error instanceof BackendError)) throw error;
      if (error.code !== 'FENCED') continue;
      parentPort?.postMessage(error.message);
      break;
    }
  }
  await renewal.close();
  parentPort?.close();
}

function isOrdered(data: unknown): data is { readonly [ORDER]: LeaseOrder } {
  return typeof data === 'object' && data !== null && ORDER in data;
}

// Not awaited: what it loads needs this module to be whole. What it throws ends the thread.
if (!isMainThread && isOrdered(workerData)) void keep(workerData[ORDER]);
