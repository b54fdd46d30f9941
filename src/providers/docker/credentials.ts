import { z } from 'zod';
import { Sensitive } from '../../core/value.ts';
import { ProviderError, type ReadIo, type Run } from '../contract.ts';
import { type DockerConfig, type Login, parseJson, readDockerConfig } from './docker-config.ts';
import { credentialKey, entriesFor, registryOf } from './registry-host.ts';

const HELPER_TIMEOUT = 30_000;
/** A helper's name becomes part of a program's name, so it may hold no path. */
const HELPER_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;
/** The user for which a helper answers when the secret is a token. */
const TOKEN_USER = '<token>';

const helperReply = z.looseObject({ Username: z.string(), Secret: z.string() });

/** How to log in at a registry. */
interface Credentials {
  readonly username?: string;
  readonly password?: string;
  readonly identitytoken?: string;
  readonly registrytoken?: string;
}

/**
 * What the engine has to send to the registry of a repository, as its header wants it; undefined when nobody has logged in there. Looked for as
 * Docker's own client does: the helper of that registry, else the one for all, else the file. Throws `ProviderError`, never with a secret or
 * with what a helper printed.
 */
export async function registryAuth(io: Pick<ReadIo, 'host' | 'signal'>, repository: string): Promise<Sensitive | undefined> {
  const registry = registryOf(repository);
  const config = await readDockerConfig(io);
  const helper = entriesFor(config.credHelpers, registry)[0]?.[1] ?? config.credsStore;
  const found = (helper === undefined ? undefined : await askHelper(helper, registry, config, io)) ?? fromFile(config, registry);
  if (found === undefined) return undefined;
  const json = JSON.stringify({ ...found, serveraddress: credentialKey(registry) });
  return Sensitive.open(Buffer.from(json, 'utf8').toString('base64').replaceAll('+', '-').replaceAll('/', '_'));
}

function fromFile(config: DockerConfig, registry: string): Credentials | undefined {
  for (const [, login] of entriesFor(config.auths, registry)) {
    const credentials = credentialsOf(login);
    if (credentials === 'damaged') {
      throw new ProviderError('INVALID', `The login for ${registry} in ${config.path} is damaged.`, { next: `docker login ${registry}` });
    }
    // An empty entry says only that a helper has it.
    if (credentials !== undefined) return credentials;
  }
  return undefined;
}

function credentialsOf(login: Login): Credentials | 'damaged' | undefined {
  if (login.identitytoken) return { identitytoken: login.identitytoken };
  if (login.registrytoken) return { registrytoken: login.registrytoken };
  if (login.auth) {
    const text = Buffer.from(login.auth, 'base64').toString('utf8');
    const colon = text.indexOf(':');
    if (colon <= 0) return 'damaged';
    return { username: text.slice(0, colon), password: text.slice(colon + 1).replace(/\0+$/, '') };
  }
  return login.username && login.password ? { username: login.username, password: login.password } : undefined;
}

async function askHelper(
  name: string,
  registry: string,
  config: DockerConfig,
  io: Pick<ReadIo, 'host' | 'signal'>,
): Promise<Credentials | undefined> {
  if (!HELPER_NAME.test(name)) {
    throw new ProviderError('INVALID', `The Docker configuration ${config.path} names a credential helper that is no name of a program.`);
  }
  const program = `docker-credential-${name}`;
  const run = await runHelper(program, registry, io);
  if (run.code !== 0) {
    if (/credentials not found/i.test(run.stdout)) return undefined;
    throw new ProviderError(
      'FORBIDDEN',
      `The credential helper ${program} gave no login for ${registry}: it ended with code ${run.code}.`,
      {
        next: `docker login ${registry}`,
      },
    );
  }
  const reply = helperReply.safeParse(parseJson(Buffer.from(run.stdout)));
  if (!reply.success) throw new ProviderError('INVALID', `The credential helper ${program} answered something that is no login.`);
  const { Username, Secret } = reply.data;
  if (Secret === '') return undefined;
  return Username === TOKEN_USER ? { identitytoken: Secret } : { username: Username, password: Secret };
}

async function runHelper(program: string, registry: string, io: Pick<ReadIo, 'host' | 'signal'>): Promise<Run> {
  try {
    const input = Buffer.from(credentialKey(registry));
    return await io.host.inspect([program, 'get'], { signal: io.signal, timeout: HELPER_TIMEOUT, input });
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code !== 'NOT_FOUND') throw error;
    throw new ProviderError('NOT_FOUND', `The credential helper ${program} that Docker is configured with is not there.`, {
      cause: error,
      next: 'Install it where PATH finds it, or correct credHelpers and credsStore in the Docker configuration.',
    });
  }
}
