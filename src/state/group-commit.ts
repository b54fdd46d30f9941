import type { StateBoundary } from '../core/fail-point.ts';
import { BackendError } from './contract.ts';
import type { Driver, Transaction } from './sql.ts';

interface Job {
  readonly boundary: StateBoundary;
  run(transaction: Transaction): Promise<void>;
  reject(error: unknown): void;
  resolve(): void;
}

/** The most calls in one transaction, so that one bad call does not make too many others start again. */
const GROUP = 256;

/**
 * Groups calls into transactions: what comes in one turn of the event loop, and what comes while a transaction is being made durable, shares
 * the next one and its sync. Calls take effect in the order in which they came. When a group fails, each of its calls gets a transaction of
 * its own, so that a call fails for its own reasons alone.
 */
export class GroupCommit {
  readonly #driver: Driver;
  readonly #guard: (transaction: Transaction) => Promise<void>;
  readonly #waiting: Job[] = [];
  #flushing = false;

  /** `guard` runs first in every transaction; its throw fails all that is in it. */
  constructor(driver: Driver, guard: (transaction: Transaction) => Promise<void>) {
    this.#driver = driver;
    this.#guard = guard;
  }

  /** Resolves when what `run` wrote is durable. `run` may run twice; only the last time counts. */
  submit<T>(boundary: StateBoundary, run: (transaction: Transaction) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: { readonly value: T } | undefined;
      this.#waiting.push({
        boundary,
        run: async (transaction) => {
          result = { value: await run(transaction) };
        },
        reject,
        resolve: () => {
          if (result !== undefined) resolve(result.value);
        },
      });
      if (this.#flushing) return;
      this.#flushing = true;
      setImmediate(() => void this.#flush());
    });
  }

  async #flush(): Promise<void> {
    for (let group = this.#waiting.splice(0, GROUP); group.length > 0; group = this.#waiting.splice(0, GROUP)) {
      const error = await this.#commit(group);
      if (error === undefined) continue;
      const single = group.length === 1 || isOfAll(error.cause);
      for (const job of group) {
        const own = single ? error : await this.#commit([job]);
        if (own !== undefined) job.reject(own.cause);
      }
    }
    this.#flushing = false;
  }

  /** Undefined when all of the group is durable, else what was thrown. */
  async #commit(group: readonly Job[]): Promise<{ readonly cause: unknown } | undefined> {
    try {
      await this.#driver.write(
        async (transaction) => {
          await this.#guard(transaction);
          for (const job of group) await job.run(transaction);
        },
        { boundary: group[0]?.boundary ?? 'state.write' },
      );
    } catch (cause) {
      return { cause };
    }
    for (const job of group) job.resolve();
    // Callers that only waited for this transaction get their turn, and their next calls share the next one.
    await new Promise((resolve) => setImmediate(resolve));
    return undefined;
  }
}

/** Whether the fault is no call's own. A store that is not reached may have taken the group, so that none of it may be tried again. */
function isOfAll(cause: unknown): boolean {
  return cause instanceof BackendError && (cause.code === 'FENCED' || cause.code === 'STATE_UNREACHABLE');
}
