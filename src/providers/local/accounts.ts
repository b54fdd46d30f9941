import type { Value } from '../../core/value.ts';
import { ProviderError, type ReadHost } from '../contract.ts';

/** The number in the recorded spelling where that means the same account, else as digits. */
export async function accountAs(
  recorded: Value | undefined,
  number: number,
  find: (name: string) => Promise<number | undefined>,
): Promise<string> {
  if (typeof recorded !== 'string' || /^\d+$/.test(recorded)) return String(number);
  return (await find(recorded)) === number ? recorded : String(number);
}

/** The number of the user that owns something; undefined when nobody is named. Throws `ProviderError` for a name that the machine does not know. */
export async function ownerNumber(owner: unknown, host: ReadHost): Promise<number | undefined> {
  if (typeof owner !== 'string') return undefined;
  if (/^\d+$/.test(owner)) return Number(owner);
  const found = await host.userId(owner);
  if (found !== undefined) return found;
  throw new ProviderError('NOT_FOUND', `There is no user ${owner} on this machine.`, { next: 'Make the user first, or name another one.' });
}
