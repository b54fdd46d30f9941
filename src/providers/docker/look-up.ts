import { ProviderError, type ReadIo } from '../contract.ts';
import type { ImageFacts, ImageLookUp, ImageQuestion } from '../image-seam.ts';
import type { Connection } from './client.ts';
import { spellImage } from './pull.ts';
import { findImage } from './read.ts';
import { parseImageReference } from './reference.ts';
import { World } from './world.ts';

/** Looks images up through the engine: it is the one that reaches the registry and that pulls. */
export function imageLookUp(connection: Pick<Connection, 'reader' | 'close'>): ImageLookUp {
  const world = new World(connection.reader);
  return { image: (question, io) => lookUp(question, world, io), close: async () => connection.close() };
}

async function lookUp({ repository: written, version, labels }: ImageQuestion, world: World, io: ReadIo): Promise<ImageFacts> {
  const text = 'tag' in version ? `${written}:${version.tag}` : `${written}@${version.digest}`;
  const reference = parseImageReference(text);
  if (reference === undefined || reference.kind === 'id') {
    throw new ProviderError('INVALID', `${text} names no image: a repository and a tag or a digest are needed.`);
  }
  const { repository } = reference;
  const digest = reference.kind === 'tag' ? await world.tagDigest(repository, reference.tag, io) : reference.digest;
  if (!labels) return { repository: written, digest };
  const name = { repository, digest };
  const image = await findImage(name, world, io.signal);
  if (image !== undefined) return { repository: written, digest, labels: image.Config?.Labels ?? {} };
  // The engine shows the labels of no image that it does not hold.
  throw new ProviderError('NOT_FOUND', `The labels of ${spellImage(name)} cannot be read: the engine does not hold the image.`, {
    next: `docker pull ${spellImage(name)}`,
  });
}
