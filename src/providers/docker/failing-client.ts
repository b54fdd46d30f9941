import { type FailPoint, InjectedFault, passing } from '../../core/fail-point.ts';
import { ProviderError } from '../contract.ts';
import type { RequestOptions, WriteClient } from './client.ts';

/** A client that tells of each request that may change the engine. For tests alone. */
export function failingClient(inner: WriteClient, faults: FailPoint): WriteClient {
  const through = async <T>(about: string, { mutates = true }: RequestOptions, act: () => Promise<T>): Promise<T> => {
    if (!mutates) return act();
    try {
      return await passing(faults, 'target.call', about, act);
    } catch (error) {
      throw error instanceof InjectedFault ? callError(error, about) : error;
    }
  };
  return {
    ...inner,
    post: (path, options) => through(`POST ${path}`, options, () => inner.post(path, options)),
    stream: (path, options) => through(`POST ${path}`, options, () => inner.stream(path, options)),
    duplex: (path, options) => through(`POST ${path}`, options, () => inner.duplex(path, options)),
    put: (path, options) => through(`PUT ${path}`, options, () => inner.put(path, options)),
    remove: (path, options) => through(`DELETE ${path}`, options, () => inner.remove(path, options)),
  };
}

function callError(fault: InjectedFault, about: string): ProviderError {
  const what = `${about} broke off: a test asked for it.`;
  const code = fault.kind === 'lost-reply' ? 'UNKNOWN_OUTCOME' : fault.kind === 'enospc' ? 'EXHAUSTED' : 'UNREACHABLE';
  return new ProviderError(code, what, { cause: fault });
}
