import type { Attributes } from '../../core/value.ts';
import { type ObjectQuery, type Observed, ProviderError, type ReadIo } from '../contract.ts';
import { absolutePath } from './file-type.ts';

/**
 * Reads an object whose live id is a path: at the recorded path, else at the desired one. What is there and is of another kind, and what cannot
 * be looked into, is not seen; it is never taken for absent.
 */
export async function readAtPath(
  query: ObjectQuery,
  observe: (path: string | undefined) => Promise<Observed | undefined>,
): Promise<Observed> {
  try {
    return (await observe(query.ref)) ?? (await observe(query.identity)) ?? { kind: 'absent' };
  } catch (error) {
    if (error instanceof ProviderError) return { kind: 'cannot-see', code: error.code, reason: error.message };
    throw error;
  }
}

/** An absolute path at which something of the kind stands is its own live id. */
export async function resolveAtPath(id: string, kind: 'file' | 'directory', io: ReadIo): Promise<string | undefined> {
  if (!id.startsWith('/') || absolutePath(id, '/') !== id) return undefined;
  return (await io.host.status(id))?.kind === kind ? id : undefined;
}

/**
 * The path as the documents spell it, where that is known: a recorded object has the recorded spelling. What stands at the desired place has
 * none of its own and takes the desired one when it is aligned, since a relative spelling starts at a folder that is not known here.
 */
export function placeOf(path: string, query: ObjectQuery): Attributes {
  const recorded = query.recorded?.attributes['path'];
  if (path === query.ref && recorded !== undefined) return { path: recorded };
  return path === query.identity ? {} : { path };
}
