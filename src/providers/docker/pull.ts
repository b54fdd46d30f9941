import { ProviderError } from '../contract.ts';
import type { Acting } from './acting.ts';
import { registryAuth } from './credentials.ts';
import { engineWordsOf } from './errors.ts';
import type { ImageName } from './read.ts';
import { registryOf } from './registry-host.ts';
import { transfer } from './transfer.ts';

/**
 * Pulls an image by digest, with the login that Docker's configuration has for its registry. Throws `NOT_FOUND` when there is no repository to
 * pull it from or the registry does not have it, `FORBIDDEN` when the registry refuses the login, `UNREACHABLE` when it does not answer, and
 * `INVALID` when it has the image for other platforms alone.
 */
export async function pull(acting: Pick<Acting, 'client' | 'world' | 'io'>, name: ImageName, platform?: string): Promise<void> {
  const { repository, digest } = name;
  if (repository === undefined) throw missing(name);
  const query = { fromImage: repository, tag: digest, ...(platform === undefined ? {} : { platform }) };
  const auth = await registryAuth(acting.io, repository);
  const about: RegistryRequest = { image: spellImage(name), repository, isLoggedIn: auth !== undefined, platform };
  let failure: string | undefined;
  try {
    failure = await transfer(acting, { doing: `pull the image ${spellImage(name)}`, path: '/images/create', query, registryAuth: auth });
  } catch (error) {
    throw registryFailure(error, about);
  } finally {
    acting.world.refresh();
  }
  if (failure !== undefined) throw registryFailure(new ProviderError('OTHER', failure), about);
}

/** What was asked of a registry, for the sentence of its failure. */
export interface RegistryRequest {
  readonly image: string;
  readonly repository: string;
  readonly isLoggedIn: boolean;
  readonly platform?: string | undefined;
}

/** What an engine says when the registry is at fault, told apart by its words: the status is 500 for most of them. */
const FAULTS: readonly { readonly words: RegExp; readonly tell: (about: RegistryRequest, registry: string) => ProviderError }[] = [
  {
    words: /no matching manifest for|does not match the specified platform|no match for platform/i,
    tell: ({ image, platform }) =>
      new ProviderError('INVALID', `The registry has the image ${image}, but not for ${platform ?? 'the platform of this engine'}.`, {
        next: 'Name the digest of an image for that platform, or correct the platform.',
      }),
  },
  {
    words: /repository does not exist or may require/i,
    tell: ({ image }, registry) =>
      new ProviderError(
        'FORBIDDEN',
        `The registry ${registry} says that the repository of the image ${image} does not exist or needs another login.`,
        {
          next: `Correct the repository, or: docker login ${registry}`,
        },
      ),
  },
  {
    words:
      /unauthorized|no basic auth credentials|authentication required|pull access denied|denied:|forbidden|incorrect username or password/i,
    tell: ({ image, isLoggedIn }, registry) =>
      new ProviderError(
        'FORBIDDEN',
        isLoggedIn
          ? `The registry ${registry} refuses the image ${image} to the login that the Docker configuration has for it.`
          : `The registry ${registry} gives the image ${image} to nobody without a login, and the Docker configuration has none for it.`,
        { next: `docker login ${registry}` },
      ),
  },
  {
    words: /manifest unknown|manifest for .* not found|name unknown|repository .* not found|not found: does not exist/i,
    tell: ({ image }) =>
      new ProviderError('NOT_FOUND', `The image ${image} is not on the engine and its registry does not have it.`, {
        next: 'Correct the digest, or push the image.',
      }),
  },
  {
    words:
      /connection refused|no such host|no route to host|network is unreachable|i\/o timeout|client\.timeout exceeded|deadline exceeded|connection reset|x509:|server gave http response to https client|tls:|: eof|bad gateway|service unavailable/i,
    tell: ({ image }, registry) =>
      new ProviderError('UNREACHABLE', `The engine cannot reach the registry ${registry} for the image ${image}.`, {
        next: 'Start the registry or correct its address; the engine needs to reach it, not this machine.',
      }),
  },
];

/** The error for a request in which the engine had to ask a registry. One that is not the registry's fault stays what it is. */
export function registryFailure(error: unknown, about: RegistryRequest): unknown {
  if (!(error instanceof ProviderError)) return error;
  const words = error.cause === undefined ? error.message : engineWordsOf(error);
  const fault = words === undefined ? undefined : FAULTS.find((one) => one.words.test(words));
  if (words === undefined) return error;
  if (fault !== undefined) {
    const told = fault.tell(about, registryOf(about.repository));
    return new ProviderError(told.code, told.message, {
      cause: error,
      lines: [words],
      ...(told.next === undefined ? {} : { next: told.next }),
    });
  }
  if (error.cause !== undefined) return error;
  return new ProviderError('OTHER', `The engine could not pull the image ${about.image}: ${words.replace(/[.\s]*$/, '')}.`, {
    cause: error,
  });
}

/** The error for an image that is not there and comes from nowhere. */
export function missing(name: ImageName): ProviderError {
  return new ProviderError(
    'NOT_FOUND',
    `The image ${spellImage(name)} is not on the engine${name.repository === undefined ? '' : ' and its registry does not have it'}.`,
    { next: 'Load it with docker load, declare a docker.image with its archive, or correct the digest.' },
  );
}

export function spellImage(name: ImageName): string {
  return name.repository === undefined ? name.digest : `${name.repository}@${name.digest}`;
}
