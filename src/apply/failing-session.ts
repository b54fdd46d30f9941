import { type Boundary, type FailPoint, InjectedFault, passing } from '../core/fail-point.ts';
import { ProviderError, type Session } from '../providers/contract.ts';

/** A session that tells of each effect: before it is done or taken back, and after. For tests alone. */
export function failingSession(inner: Session, faults: FailPoint): Session {
  const through = async <T>(boundary: Boundary, about: string, act: () => Promise<T>): Promise<T> => {
    try {
      return await passing(faults, boundary, about, act);
    } catch (error) {
      throw error instanceof InjectedFault ? effectError(error, about) : error;
    }
  };
  return {
    ...inner,
    perform: (operation, io) =>
      through('effect.perform', `${operation.address}:${operation.effect.name}`, () => inner.perform(operation, io)),
    ...(inner.undo === undefined
      ? {}
      : {
          undo: (order, io) =>
            through('effect.undo', `${order.address}:${order.effect.name}`, () => inner.undo?.(order, io) ?? absent('undo')),
        }),
    ...(inner.reconcile === undefined
      ? {}
      : {
          reconcile: (residue, io) =>
            through(
              'effect.reconcile',
              residue.map(({ address }) => address).join(' '),
              () => inner.reconcile?.(residue, io) ?? absent('reconcile'),
            ),
        }),
    ...(inner.exec === undefined
      ? {}
      : {
          exec: (query, command, sink, io) =>
            through('effect.exec', query.address, () => inner.exec?.(query, command, sink, io) ?? absent('exec')),
        }),
  };
}

/** What was there when the session was opened is there for good. */
function absent(name: string): never {
  throw new Error(`the session has lost ${name}`);
}

function effectError(fault: InjectedFault, about: string): ProviderError {
  const what = `${about} broke off: a test asked for it.`;
  const code = fault.kind === 'lost-reply' ? 'UNKNOWN_OUTCOME' : fault.kind === 'enospc' ? 'EXHAUSTED' : 'OTHER';
  return new ProviderError(code, what, { cause: fault });
}
