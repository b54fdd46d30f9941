import { posix } from 'node:path';
import { z } from 'zod';
import { ProviderError, type ReadHost, type ReadIo } from '../contract.ts';

const FILE_LIMIT = 1024 * 1024;
const LOOK_TIMEOUT = 10_000;

const login = z.looseObject({
  auth: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  identitytoken: z.string().optional(),
  registrytoken: z.string().optional(),
});

const configFile = z.looseObject({
  auths: z.record(z.string(), login).nullish(),
  credHelpers: z.record(z.string(), z.string()).nullish(),
  credsStore: z.string().nullish(),
});

/** What `docker login` wrote down for one registry. */
export type Login = z.output<typeof login>;

/** The part of Docker's own configuration that tells how to log in. */
export interface DockerConfig {
  readonly path: string;
  readonly auths: { readonly [registry: string]: Login };
  readonly credHelpers: { readonly [registry: string]: string };
  readonly credsStore: string | undefined;
}

/** The folder of Docker's own configuration: `$DOCKER_CONFIG`, or `.docker` at home. */
export function configFolder(host: ReadHost): string {
  const named = host.variables['DOCKER_CONFIG'];
  return named === undefined || named === '' ? posix.join(host.variables['HOME'] ?? '/', '.docker') : named;
}

/** Reads Docker's configuration; one that is not there is empty. Throws `ProviderError` without a word of what stands in it. */
export async function readDockerConfig(io: Pick<ReadIo, 'host' | 'signal'>): Promise<DockerConfig> {
  const path = posix.join(configFolder(io.host), 'config.json');
  const content = await readSettings(path, io);
  if (content === undefined) return { path, auths: {}, credHelpers: {}, credsStore: undefined };
  const parsed = configFile.safeParse(parseJson(content));
  if (!parsed.success) {
    throw new ProviderError('INVALID', `The Docker configuration ${path} is not what docker login writes.`, {
      next: `Correct ${path}, or move it away and log in again.`,
    });
  }
  const { auths, credHelpers, credsStore } = parsed.data;
  return {
    path,
    auths: auths ?? {},
    credHelpers: credHelpers ?? {},
    credsStore: credsStore === '' ? undefined : (credsStore ?? undefined),
  };
}

/** A file of settings, which may be a symbolic link as settings often are; undefined when it is not there. */
export async function readSettings(path: string, io: Pick<ReadIo, 'host' | 'signal'>): Promise<Buffer | undefined> {
  const status = await io.host.status(path);
  if (status === undefined) return undefined;
  const place = status.kind === 'symlink' ? await targetOf(path, io) : path;
  return Buffer.from(await io.host.readFile(place, { limit: FILE_LIMIT }));
}

async function targetOf(path: string, io: Pick<ReadIo, 'host' | 'signal'>): Promise<string> {
  const run = await io.host.inspect(['readlink', '--canonicalize-existing', '--', path], { signal: io.signal, timeout: LOOK_TIMEOUT });
  if (run.code === 0) return run.stdout.replace(/\n$/, '');
  throw new ProviderError('NOT_FOUND', `The symbolic link ${path} leads to nothing.`);
}

/** The value of a JSON text; undefined when it is none, since a parser's message would quote it. */
export function parseJson(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
