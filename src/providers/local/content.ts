import { type Attributes, isAttributes, type Plain, Sensitive, Unknown, type Value } from '../../core/value.ts';

/** The most that a file's content may have. */
export const CONTENT_LIMIT = 1024 * 1024;

/** The content in normal form: one member, `content` for what is UTF-8, else `content_base64`. */
export function contentOfBytes(bytes: Uint8Array): { readonly content: string } | { readonly content_base64: string } {
  try {
    return { content: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { content_base64: Buffer.from(bytes).toString('base64') };
  }
}

/** What stands for the content of a file that is too large to be held. No base64 looks like this, so that no document can be taken for it. */
export function tooLarge(bytes: number): { readonly content_base64: string } {
  return { content_base64: `(${bytes} bytes, which is more than a local.file holds)` };
}

/** Whether a `content_base64` only stands for a content that is too large. */
export function isTooLarge(encoded: Value | undefined): boolean {
  return typeof encoded === 'string' && encoded.startsWith('(');
}

/** The bytes of a content in normal form, known and in clear; undefined when there is none. */
export function bytesOfContent(attributes: { readonly [name: string]: Plain }): Uint8Array | undefined {
  const { content, content_base64: encoded } = attributes;
  if (typeof content === 'string') return Buffer.from(content, 'utf8');
  if (typeof encoded === 'string') return Buffer.from(encoded, 'base64');
  return undefined;
}

/**
 * The content that the YAML gives, in normal form. `source` is what the loader made of the file's name. What is unknown or wrapped as a whole
 * cannot be told apart and stands as `content`.
 */
export function desiredContent(attributes: Attributes): Attributes {
  const { content, source } = attributes;
  if (content !== undefined) return { content };
  if (source === undefined) return {};
  if (source instanceof Sensitive) return wrapMembers(contentOfSource(source.isOpen ? source.reveal() : source), source.names);
  return contentOfSource(source);
}

/** How many bytes the content has; undefined while it is unknown or a secret. */
export function contentSize(normal: Attributes): number | undefined {
  if (typeof normal['content'] === 'string') return Buffer.byteLength(normal['content'], 'utf8');
  if (typeof normal['content_base64'] === 'string') return Buffer.byteLength(normal['content_base64'], 'base64');
  return undefined;
}

function contentOfSource(source: Value): Attributes {
  if (!isAttributes(source)) return { content: source };
  if (source['text'] !== undefined) return { content: source['text'] };
  if (source['base64'] !== undefined) return { content_base64: source['base64'] };
  return {};
}

function wrapMembers(content: Attributes, names: readonly string[]): Attributes {
  return Object.fromEntries(
    Object.entries(content).map(([name, value]) => [name, value instanceof Unknown ? value : Sensitive.open(value, names)]),
  );
}
