import type { Clock } from '../core/clock.ts';
import { BackendError } from './contract.ts';

/** Renews a lease beside the main thread, however long that one computes. */
export interface LeaseThread {
  /** Ends it; resolves when it is gone. */
  stop(): Promise<void>;
}

/** What keeps a lease. */
export interface LeaseParts {
  readonly clock: Clock;
  /** Milliseconds between two renewals. */
  readonly every: number;
  /** Renews once. Throws `FENCED` when the lock is lost, and another `BackendError` when the store can't be asked now. */
  renew(): Promise<void>;
  /** Starts a thread that renews as well; it calls back when it finds the lock lost. */
  startThread?(lost: (error: BackendError) => void): LeaseThread;
}

/**
 * Renews the lease of a lock until it is stopped. Most runs end before the first renewal is due. One that does not gets a thread for it, so
 * that the lease outlives any time in which the event loop is not free; should the thread end, renewing goes on here.
 */
export class LeaseKeeper {
  readonly #parts: LeaseParts;
  readonly #stopped = new AbortController();
  readonly #loop: Promise<void>;
  #thread: LeaseThread | undefined;
  #lost: BackendError | undefined;

  constructor(parts: LeaseParts) {
    this.#parts = parts;
    this.#loop = this.#run();
  }

  /** Set once the lock was found lost; it stays so. */
  get lost(): BackendError | undefined {
    return this.#lost;
  }

  /** Ends the renewals. Nothing of them is under way when it resolves. May be called twice. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
    await this.#thread?.stop();
  }

  async #run(): Promise<void> {
    const { clock, every } = this.#parts;
    while (this.#lost === undefined) {
      try {
        await clock.sleep(every, this.#stopped.signal);
      } catch (error) {
        if (this.#stopped.signal.aborted) return;
        throw error;
      }
      try {
        await this.#parts.renew();
        this.#thread ??= this.#parts.startThread?.((error) => this.#lose(error));
      } catch (error) {
        if (!(error instanceof BackendError)) throw error;
        // A store that can't be reached now may be there for the next renewal. When it is not, the writes say so.
        if (error.code === 'FENCED') this.#lose(error);
      }
    }
  }

  #lose(error: BackendError): void {
    this.#lost ??= error;
  }
}
