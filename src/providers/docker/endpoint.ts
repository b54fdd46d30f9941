import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { z } from 'zod';
import { ProviderError, type ReadIo } from '../contract.ts';
import type { Endpoint, TlsMaterial } from './client.ts';
import { configFolder, parseJson, readSettings } from './docker-config.ts';
import { DEFAULT_HOST, parseHost } from './host-address.ts';

const PLAIN_PORT = 2375;
const TLS_PORT = 2376;

const contextMeta = z.looseObject({
  Endpoints: z.looseObject({ docker: z.looseObject({ Host: z.string(), SkipTLSVerify: z.boolean().optional() }) }),
});

/** Paths of the files with which an engine's TLS is spoken. */
export interface TlsPaths {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

type Looking = Pick<ReadIo, 'host' | 'signal'>;

/**
 * Where the engine of a provider block listens, with everything that it takes to speak to it: certificates are read, and a named context is
 * looked up. Throws `ProviderError` when a file or a context is missing or damaged.
 */
export async function resolveEndpoint(host: string, tls: TlsPaths | undefined, io: Looking): Promise<Endpoint> {
  const address = parseHost(host);
  if (address === undefined) throw new Error(`the host ${host} passed the schema`);
  switch (address.kind) {
    case 'unix':
      return address;
    case 'tcp': {
      const material = tls === undefined ? undefined : await readMaterial(tls, io);
      const port = address.port ?? (material === undefined ? PLAIN_PORT : TLS_PORT);
      return { kind: 'tcp', host: address.host, port, ...(material === undefined ? {} : { tls: material }) };
    }
    case 'ssh':
      return { ...address, environment: io.host.variables };
    case 'context':
      return contextEndpoint(address.name, io);
    default:
      return address satisfies never;
  }
}

/** The endpoint of one of Docker's own contexts. */
async function contextEndpoint(name: string, io: Looking): Promise<Endpoint> {
  // The context with this name is built in, and stands for the engine on this machine.
  if (name === 'default') return resolveEndpoint(DEFAULT_HOST, undefined, io);
  const folder = createHash('sha256').update(name).digest('hex');
  const contexts = posix.join(configFolder(io.host), 'contexts');
  const path = posix.join(contexts, 'meta', folder, 'meta.json');
  const content = await readSettings(path, io);
  if (content === undefined) {
    throw new ProviderError('NOT_FOUND', `There is no Docker context ${name}: ${path} is not there.`, { next: 'docker context ls' });
  }
  const meta = contextMeta.safeParse(parseJson(content));
  if (!meta.success) throw new ProviderError('INVALID', `The Docker context ${name} names no engine in ${path}.`);
  const { Host: host, SkipTLSVerify: isUnverified } = meta.data.Endpoints.docker;
  const address = parseHost(host);
  if (address === undefined || address.kind === 'context') {
    throw new ProviderError('INVALID', `The Docker context ${name} has an address that is none of unix://, tcp:// and ssh://.`);
  }
  const files = posix.join(contexts, 'tls', folder, 'docker');
  if (address.kind !== 'tcp' || (await io.host.status(files)) === undefined) return resolveEndpoint(host, undefined, io);
  const present = async (file: string) => {
    const place = posix.join(files, file);
    return (await io.host.status(place)) === undefined ? undefined : place;
  };
  const endpoint = await resolveEndpoint(
    host,
    { ca: await present('ca.pem'), cert: await present('cert.pem'), key: await present('key.pem') },
    io,
  );
  return endpoint.kind === 'tcp' && endpoint.tls !== undefined && isUnverified === true
    ? { ...endpoint, tls: { ...endpoint.tls, isUnverified } }
    : endpoint;
}

async function readMaterial(paths: TlsPaths, io: Looking): Promise<TlsMaterial> {
  const [ca, cert, key] = [await readPem(paths.ca, io), await readPem(paths.cert, io), await readPem(paths.key, io)];
  return { ...(ca === undefined ? {} : { ca }), ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) };
}

async function readPem(path: string | undefined, io: Looking): Promise<Buffer | undefined> {
  if (path === undefined) return undefined;
  const place = path.startsWith('~/') ? posix.join(io.host.variables['HOME'] ?? '/', path.slice(2)) : path;
  const content = await readSettings(place, io);
  if (content === undefined) throw new ProviderError('NOT_FOUND', `The file ${place} for TLS with the engine is not there.`);
  if (!content.includes('-----BEGIN ')) throw new ProviderError('INVALID', `The file ${place} for TLS with the engine is not in PEM form.`);
  return content;
}
