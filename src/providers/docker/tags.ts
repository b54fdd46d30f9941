import { z } from 'zod';
import { compareText } from '../../core/address.ts';
import type { ReadIo } from '../contract.ts';
import type { ReadClient } from './client.ts';
import { registryAuth } from './credentials.ts';
import { registryFailure } from './pull.ts';
import { canonicalRepository } from './reference.ts';
import type { ImageReply } from './wire.ts';

const LOOKUP_TIMEOUT = 60_000;

const distributionReply = z.object({ Descriptor: z.object({ digest: z.string().regex(/^sha256:[0-9a-f]{64}$/) }) });

/** The digest that a tag means in its registry now; the engine asks, since it is the one that pulls. Throws `ProviderError` as `pull` does. */
export async function tagDigest(
  acting: { readonly client: ReadClient; readonly io: Pick<ReadIo, 'host' | 'signal'> },
  repository: string,
  tag: string,
): Promise<string> {
  const reference = `${repository}:${tag}`;
  const auth = await registryAuth(acting.io, repository);
  try {
    const reply = await acting.client.get(`/distribution/${reference}/json`, {
      signal: acting.io.signal,
      doing: `look up the image ${reference} in its registry`,
      timeout: LOOKUP_TIMEOUT,
      registryAuth: auth,
    });
    return distributionReply.parse(reply).Descriptor.digest;
  } catch (error) {
    throw registryFailure(error, { image: reference, repository, isLoggedIn: auth !== undefined });
  }
}

/** The digest of an image in a repository; undefined when it did not come from there. */
export function digestIn(image: ImageReply, repository: string): string | undefined {
  const digests = image.RepoDigests.map((text) => text.split('@')).filter(([name = '']) => canonicalRepository(name) === repository);
  return digests.flatMap(([, digest]) => digest ?? []).toSorted(compareText)[0];
}
