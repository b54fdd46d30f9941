import { type FailPoint, InjectedFault, passing, type StateBoundary } from '../core/fail-point.ts';
import { BackendError } from './contract.ts';
import type { Driver, Transaction, WriteOptions } from './sql.ts';

/** A driver that tells of each transaction: before it begins, before it is committed, and when it is in. For tests alone. */
export function failingDriver(inner: Driver, faults: FailPoint): Driver {
  const through = async <T>(
    { boundary }: WriteOptions,
    work: (transaction: Transaction) => Promise<T>,
    run: (work: (transaction: Transaction) => Promise<T>) => Promise<T>,
  ): Promise<T> => {
    try {
      return await passing(faults, boundary, '', () =>
        run(async (transaction) => {
          const result = await work(transaction);
          await faults.pass(boundary, 'inside', '');
          return result;
        }),
      );
    } catch (error) {
      throw error instanceof InjectedFault ? storeError(error, boundary, inner.place) : error;
    }
  };
  return {
    dialect: inner.dialect,
    place: inner.place,
    read: (work) => inner.read(work),
    write: (work, options) => through(options, work, (whole) => inner.write(whole, options)),
    define: (work, options) => through(options, work, (whole) => inner.define(whole, options)),
    proveWritable: (tables) => inner.proveWritable(tables),
    now: (transaction) => inner.now(transaction),
    close: () => inner.close(),
  };
}

function storeError(fault: InjectedFault, boundary: StateBoundary, place: string): BackendError {
  const what = `The state in ${place} could not be written (${boundary}): a test asked for it.`;
  return new BackendError(fault.kind === 'enospc' ? 'STATE_FULL' : 'STATE_UNREACHABLE', what, { cause: fault });
}
