import { z } from 'zod';
import { type Diagnostic, fail, type Outcome, succeed } from '../../core/diagnostic.ts';
import { type Attributes, isAttributes } from '../../core/value.ts';
import type { EffectIo, Provider, ReadIo, ReadSession, Session } from '../contract.ts';
import { ProviderError } from '../contract.ts';
import { attribute } from '../define.ts';
import type { ImageLookUp } from '../image-seam.ts';
import { type Connection, connect, type Endpoint } from './client.ts';
import { containerType } from './container/type.ts';
import { imageContentType } from './content/type.ts';
import { resolveEndpoint } from './endpoint.ts';
import { unreachedReason } from './errors.ts';
import { failingClient } from './failing-client.ts';
import { DEFAULT_HOST, parseHost } from './host-address.ts';
import { imageType } from './image.ts';
import { inventoryType } from './inventory.ts';
import { jobType } from './job/type.ts';
import { bareText } from './lift.ts';
import { imageLookUp } from './look-up.ts';
import { networkType } from './network.ts';
import { openReadSession, openSession } from './session.ts';
import { volumeType } from './volume.ts';
import { versionReply } from './wire.ts';

/** The oldest and the newest version of the API that this provider was made for. */
const OLDEST_API = '1.41';
const NEWEST_API = '1.52';

const pemPath = z
  .string()
  .regex(/^(?:\/|~\/)./, 'an absolute path, or one that begins with ~/')
  .optional();

const config = z.strictObject({
  host: attribute(
    z
      .string()
      .refine((text) => parseHost(text) !== undefined, {
        error:
          "an address of an engine such as unix:///var/run/docker.sock, tcp://10.0.0.5:2376, ssh://deploy@10.0.0.5, or context://NAME for one of Docker's contexts",
      })
      .optional(),
    `Address of the engine: \`unix://\`, \`tcp://\`, \`ssh://\` through the OpenSSH client, or \`context://NAME\` for a context of Docker's own; default \`${DEFAULT_HOST}\`. DOCKER_HOST is not looked at.`,
    { facet: 'placement' },
  ),
  tls: attribute(
    z
      .strictObject({
        ca: attribute(pemPath, 'Certificate of who vouches for the engine; those that the machine trusts when it is left out.'),
        cert: attribute(pemPath, 'Certificate to show to the engine.'),
        key: attribute(pemPath, 'Key of that certificate.'),
      })
      .refine((tls) => (tls.cert === undefined) === (tls.key === undefined), { error: 'cert and key together, or neither' })
      .optional(),
    'Files for TLS with an engine at `tcp://`, each an absolute path or one that begins with `~/`. `{}` trusts what the machine trusts.',
  ),
  address: attribute(z.string().min(1).optional(), 'Free text for references: how others reach what is published there.'),
  allow_tags: attribute(
    z.boolean().optional(),
    'Lets containers name images by tag; default false. A tag is looked up when its text is new, and the container keeps what it meant.',
    { facet: 'governance' },
  ),
});

/** The provider `docker`: images, networks, volumes, containers and jobs of one Docker Engine. */
export const dockerProvider: Provider = {
  name: 'docker',
  summary: 'Images, networks, volumes and containers of a Docker Engine.',
  config,
  types: [containerType, imageContentType, imageType, inventoryType, jobType, networkType, volumeType],
  exposes: ['address'],
  openReadOnly: async (attributes, io): Promise<Outcome<ReadSession>> => {
    const opened = await open(attributes, io);
    return opened.ok ? succeed(openReadSession(opened.value.connection, opened.value.versions)) : opened;
  },
  open: async (attributes, io: EffectIo): Promise<Outcome<Session>> => {
    const opened = await open(attributes, io);
    if (!opened.ok) return opened;
    const { connection, versions } = opened.value;
    const writer = io.faults === undefined ? connection.writer : failingClient(connection.writer, io.faults);
    return succeed(openSession({ ...connection, writer }, versions));
  },
  openImages: async (attributes, io): Promise<Outcome<ImageLookUp>> => {
    const opened = await open(attributes, io);
    return opened.ok ? succeed(imageLookUp(opened.value.connection)) : opened;
  },
};

interface Opened {
  readonly connection: Connection;
  readonly versions: { readonly engine: string; readonly api: string };
}

/** Connects, and agrees with the engine on the version of the API. */
async function open(attributes: Attributes, io: ReadIo): Promise<Outcome<Opened>> {
  const host = bareText(attributes['host']) ?? DEFAULT_HOST;
  const endpoint = await endpointOf(host, attributes['tls'], io);
  if (!endpoint.ok) return endpoint;
  const connection = await connect(endpoint.value);
  try {
    const version = versionReply.parse(
      await connection.reader.get('/version', { signal: io.signal, doing: 'tell its version', timeout: 10_000 }),
    );
    const api = agreedVersion(version.ApiVersion, version.MinAPIVersion);
    if (api === undefined) {
      connection.close();
      return fail(unsupported(host, version.Version, version.ApiVersion, version.MinAPIVersion));
    }
    connection.pin(api);
    return succeed({ connection, versions: { engine: version.Version, api } });
  } catch (error) {
    connection.close();
    if (error instanceof ProviderError || error instanceof z.ZodError) return fail(unreachable(host, error));
    throw error;
  }
}

async function endpointOf(host: string, tls: Attributes[string] | undefined, io: ReadIo): Promise<Outcome<Endpoint>> {
  if (tls !== undefined && tls !== null && parseHost(host)?.kind !== 'tcp') return fail(tlsWithoutTcp(host));
  const text = (name: string) => bareText(isAttributes(tls) ? tls[name] : undefined);
  const paths = isAttributes(tls) ? { ca: text('ca'), cert: text('cert'), key: text('key') } : undefined;
  try {
    return succeed(await resolveEndpoint(host, paths, io));
  } catch (error) {
    if (error instanceof ProviderError) return fail(unusableHost(error));
    throw error;
  }
}

/** The newest version that both sides speak; undefined when there is none. */
export function agreedVersion(newest: string, oldest: string): string | undefined {
  const agreed = compareVersions(newest, NEWEST_API) < 0 ? newest : NEWEST_API;
  if (compareVersions(agreed, OLDEST_API) < 0) return undefined;
  return oldest !== '' && compareVersions(agreed, oldest) < 0 ? undefined : agreed;
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split('.').map(Number));
  return (left?.[0] ?? 0) - (right?.[0] ?? 0) || (left?.[1] ?? 0) - (right?.[1] ?? 0);
}

function unreachable(host: string, error: ProviderError | z.ZodError): Diagnostic {
  const reason = error instanceof ProviderError ? unreachedReason(error.cause) : 'what answers there is no Docker Engine';
  return {
    severity: 'error',
    code: 'DOCKER_UNREACHABLE',
    summary: 'Docker Engine cannot be reached',
    detail: `The Docker Engine at ${host} cannot be reached: ${reason ?? `${error.message.replace(/\.$/, '')}`}. Start it, or correct the provider's host.`,
    expected: 'a Docker Engine that answers',
    next: `docker --host ${host} version`,
  };
}

function unusableHost(error: ProviderError): Diagnostic {
  return {
    severity: 'error',
    code: 'DOCKER_HOST_UNUSABLE',
    summary: 'Address of the Docker Engine cannot be used',
    detail: error.message,
    ...(error.next === undefined ? {} : { next: error.next }),
  };
}

function tlsWithoutTcp(host: string): Diagnostic {
  return {
    severity: 'error',
    code: 'DOCKER_TLS_WITHOUT_TCP',
    summary: 'TLS without tcp://',
    detail: `The provider has tls, but its host ${host} is not one of tcp://. Leave tls out: a context brings its own certificates, and the others speak no TLS.`,
    expected: 'tls beside tcp:// alone',
  };
}

function unsupported(host: string, engine: string, newest: string, oldest: string): Diagnostic {
  return {
    severity: 'error',
    code: 'DOCKER_API_UNSUPPORTED',
    summary: 'Docker Engine of another age',
    detail: `The Docker Engine ${engine} at ${host} speaks the API from ${oldest || 'its beginning'} to ${newest}; this provider speaks ${OLDEST_API} to ${NEWEST_API}.`,
    expected: `an engine that speaks a version from ${OLDEST_API} to ${NEWEST_API}`,
    observed: newest,
  };
}
