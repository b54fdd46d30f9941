import { oneLine } from './layout.ts';

/** Addresses for a shell: one per line and nothing else. */
export function renderAddresses(addresses: readonly string[]): string {
  return addresses.map((address) => `${oneLine(address)}\n`).join('');
}
