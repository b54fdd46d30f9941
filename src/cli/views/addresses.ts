import { oneLine } from './layout.ts';

/** Addresses for a shell: one per line. A note stands behind its address, after a tab. */
export function renderAddresses(addresses: readonly string[], notes: ReadonlyMap<string, string> = new Map()): string {
  const note = (address: string) => (notes.has(address) ? `\t${notes.get(address)}` : '');
  return addresses.map((address) => `${oneLine(address)}${note(address)}\n`).join('');
}
