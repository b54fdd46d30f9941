import { canonicalText, type Digest, digestBytes, isDigest } from './canonical.ts';
import { isAttributes, isList, type Plain } from './value.ts';

export const BUNDLE_FORMAT = 'accede.bundle/v1';

/**
 * A file that the load of an environment opened. `kept`: its content counts and is kept. `secret`: a secret is read from it, so that nothing of
 * it is kept; it is read anew. `idle`: it is there, and its content does not count.
 */
export type BundledFile = {
  /** Relative to the environment's folder, with `/`. */
  readonly path: string;
  /** What it is a link to, in the same spelling. */
  readonly real?: string;
} & ({ readonly kind: 'kept'; readonly digest: Digest; readonly bytes: number } | { readonly kind: 'secret' } | { readonly kind: 'idle' });

/** What an environment was made of, without the contents. */
export interface Manifest {
  readonly format: typeof BUNDLE_FORMAT;
  readonly environment: string;
  /** Sorted by path, each once. */
  readonly files: readonly BundledFile[];
  /** The effective values, by name. */
  readonly variables: { readonly [name: string]: Plain };
  /** The release in canonical form, which later releases are compared with; kept under its own digest. Absent without a release. */
  readonly release?: Digest;
}

/** All that an environment can be loaded from again. */
export interface Bundle {
  /** Of the manifest in canonical form: equal environments have equal ones. */
  readonly digest: Digest;
  readonly manifest: Manifest;
  /** The bytes of every file that is kept, and of the release in canonical form. */
  readonly contents: ReadonlyMap<Digest, Uint8Array>;
}

export function bundleOf(manifest: Manifest, contents: ReadonlyMap<Digest, Uint8Array>): Bundle {
  return { digest: digestBytes(canonicalText(manifest)), manifest, contents };
}

/** What is stored of a bundle: each content by its digest, and the manifest by its own. */
export function storedBundle(bundle: Bundle): ReadonlyMap<Digest, string> {
  const stored = new Map([...bundle.contents].map(([digest, bytes]) => [digest, encodeContent(bytes)] as const));
  return stored.set(bundle.digest, encodeContent(Buffer.from(canonicalText(bundle.manifest), 'utf8')));
}

/** Digests of the contents that a manifest names, each once. */
export function contentsOf(manifest: Manifest): readonly Digest[] {
  const kept = manifest.files.flatMap((file) => (file.kind === 'kept' ? [file.digest] : []));
  return [...new Set([...kept, ...(manifest.release === undefined ? [] : [manifest.release])])];
}

/** A content as it is stored: text as text where it is UTF-8, so that it can be read, else base64. */
export function encodeContent(bytes: Uint8Array): string {
  const text = decodeText(bytes);
  return canonicalText(text === undefined ? { base64: Buffer.from(bytes).toString('base64') } : { text });
}

/** The bytes of what is stored; undefined when it has another form. */
export function decodeContent(body: string): Uint8Array | undefined {
  const stored = parseJson(body);
  if (stored === undefined || !isAttributes(stored)) return undefined;
  const { text, base64 } = stored as { readonly [name: string]: Plain };
  if (typeof text === 'string') return Buffer.from(text, 'utf8');
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64') : undefined;
}

/** Reads a manifest. Undefined when it has another form or format. */
export function parseManifest(bytes: Uint8Array): Manifest | undefined {
  const text = decodeText(bytes);
  const found = text === undefined ? undefined : parseJson(text);
  if (found === undefined || !isAttributes(found)) return undefined;
  const { format, environment, files, variables, release } = found as { readonly [name: string]: Plain };
  if (format !== BUNDLE_FORMAT || typeof environment !== 'string' || !isList(files ?? null) || !isAttributes(variables ?? null))
    return undefined;
  if (release !== undefined && (typeof release !== 'string' || !isDigest(release))) return undefined;
  const isWhole = (files as readonly Plain[]).every(isBundledFile);
  return isWhole ? (found as unknown as Manifest) : undefined;
}

/** Strict UTF-8 that gives back the very same bytes, a byte order mark included; undefined for anything else. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function isBundledFile(value: Plain): boolean {
  if (!isAttributes(value)) return false;
  const { path, real, kind, digest, bytes } = value as { readonly [name: string]: Plain };
  if (typeof path !== 'string' || (real !== undefined && typeof real !== 'string')) return false;
  if (kind === 'kept') return typeof digest === 'string' && isDigest(digest) && typeof bytes === 'number';
  return kind === 'secret' || kind === 'idle';
}

function parseJson(text: string): Plain | undefined {
  try {
    return JSON.parse(text) as Plain;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
