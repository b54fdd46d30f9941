import { compareText } from '../core/address.ts';
import { canonicalText, type Digest, digestBytes, digestOf } from '../core/canonical.ts';
import type { Head, ResourceRow, StoredOutput } from './model.ts';

/** The stored text of a row and the digest that is kept beside it. */
export function sealRow(row: ResourceRow): { readonly body: string; readonly digest: Digest } {
  const body = canonicalText(row);
  return { body, digest: digestBytes(body) };
}

/** The digest of a head from the digests of its rows: equal contents have equal digests, whatever the order in which they were written. */
export function headDigest(rows: Iterable<readonly [address: string, digest: string]>, outputs: readonly StoredOutput[]): Digest {
  return digestOf({
    resources: [...rows].sort((a, b) => compareText(a[0], b[0])),
    outputs: [...outputs].sort((a, b) => compareText(a.name, b.name)),
  });
}

/** The digest of a head from whole rows. */
export function digestOfRows(rows: Iterable<ResourceRow>, outputs: readonly StoredOutput[]): Digest {
  return headDigest(
    [...rows].map((row) => [row.address, sealRow(row).digest] as const),
    outputs,
  );
}

/** The head of a state that was just made, and what a plan expects to find where there is no state yet. */
export function initialHead(): Head {
  return { serial: 0, digest: headDigest([], []) };
}
