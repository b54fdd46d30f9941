import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Brand } from './naming.ts';

/** `sha256:` and 64 lower-case hexadecimal digits. */
export type Digest = Brand<string, 'Digest'>;

/** RFC 8785 canonical JSON. Takes plain data; throws on what JSON cannot hold (NaN, lone surrogates, cycles), which the loader refuses before. */
export function canonicalText(data: unknown): string {
  const text = canonicalize(data);
  if (text === undefined) throw new Error('undefined has no canonical form');
  return text;
}

/** The digest of bytes or of text in UTF-8. */
export function digestBytes(data: string | Uint8Array): Digest {
  return `sha256:${createHash('sha256').update(data).digest('hex')}` as Digest;
}

/** The digest of plain data in canonical form. */
export function digestOf(data: unknown): Digest {
  return digestBytes(canonicalText(data));
}

export function isDigest(text: string): text is Digest {
  return /^sha256:[0-9a-f]{64}$/.test(text);
}
