import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { Duplex, Readable } from 'node:stream';
import { withDeadline } from '../../core/deadline.ts';
import { reveal, type Sensitive } from '../../core/value.ts';
import { ProviderError } from '../contract.ts';
import { deadlineError, isStaleConnection, providerError } from './errors.ts';
import { SshAgent, type SshTarget } from './ssh.ts';

/** Where an engine listens, with everything that it takes to speak to it. */
export type Endpoint =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls?: TlsMaterial }
  | ({ readonly kind: 'ssh' } & SshTarget);

/** Certificates and key in PEM form. */
export interface TlsMaterial {
  /** Who may vouch for the engine; those that this machine trusts when it is absent. */
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  /** The engine's certificate is taken unseen. */
  readonly isUnverified?: boolean;
}

export type Query = { readonly [name: string]: string | number | boolean | object | undefined };

export interface RequestOptions {
  readonly signal: AbortSignal;
  /** In words, for errors: `list the containers`. */
  readonly doing: string;
  readonly query?: Query;
  /** Milliseconds; 30 s unless said otherwise. */
  readonly timeout?: number;
  /** False for a request that changes nothing that serves although it is no GET: a lost reply is no unknown outcome then. */
  readonly mutates?: boolean;
  /** The login that the engine needs at a registry for this request. */
  readonly registryAuth?: Sensitive | undefined;
}

/** All that plan may do with an engine: requests that the engine answers from what is. */
export interface ReadClient {
  /** The parsed reply. Throws `ProviderError`. */
  get(path: string, options: RequestOptions): Promise<unknown>;
  /** The reply's bytes, cut off after `limit`. Throws `ProviderError`. */
  bytes(path: string, options: RequestOptions & { readonly limit: number }): Promise<Buffer>;
  /** Hands each chunk of the reply over and waits until it is taken. Throws `ProviderError`, that of `take` as well. */
  follow(path: string, options: RequestOptions & { readonly take: (chunk: Buffer) => Promise<void> }): Promise<void>;
}

/** What apply gets beside: requests that change the engine. A reply that is lost is `UNKNOWN_OUTCOME`. */
export interface WriteClient extends ReadClient {
  post(path: string, options: RequestOptions & { readonly body?: object }): Promise<unknown>;
  /** Sends `file` as the body and hands each chunk of the reply over; resolves at its end. */
  stream(path: string, options: RequestOptions & StreamOptions): Promise<void>;
  /** Opens a connection of its own that goes both ways once the engine has agreed. The caller closes it. */
  duplex(path: string, options: RequestOptions & { readonly body: object }): Promise<Duplex>;
  put(path: string, options: RequestOptions & { readonly file: Buffer }): Promise<unknown>;
  remove(path: string, options: RequestOptions): Promise<unknown>;
}

export interface StreamOptions {
  readonly body?: object;
  readonly file?: Buffer;
  readonly onChunk: (chunk: Buffer) => void;
}

export interface Connection {
  readonly reader: ReadClient;
  readonly writer: WriteClient;
  /** From now on every request names this version of the API. */
  pin(apiVersion: string): void;
  close(): void;
}

const REQUEST_TIMEOUT = 30_000;
const MOST_SOCKETS = 8;
const ACCEPTED = { 200: true, 201: true, 202: true, 204: true, 304: true };

interface Dial {
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly statusCodes: typeof ACCEPTED;
  readonly isStream: boolean;
  readonly hijack: boolean;
  readonly abortSignal: AbortSignal;
  readonly options?: { readonly _query: object; readonly _body: object };
  readonly file?: Buffer;
  readonly authconfig?: { readonly base64: string };
}

interface Modem {
  version?: string;
  dial(dial: Dial, done: (error: unknown, reply: unknown) => void): void;
}

/**
 * Connects to an engine. It opens no socket before the first request, keeps at most eight (four over SSH), and never looks at `DOCKER_HOST`. Throws when the
 * SDK cannot be set up.
 */
export async function connect(endpoint: Endpoint): Promise<Connection> {
  const { default: Docker } = await import('dockerode');
  const agent = agentOf(endpoint);
  // Every option that the SDK would take from DOCKER_* variables is named, so that the environment block alone says which engine is meant.
  const settings = { ...targetOf(endpoint), pathPrefix: '/', username: undefined, ca: undefined, cert: undefined, key: undefined };
  const docker = new Docker({ ...settings, timeout: undefined, agent } as unknown as ConstructorParameters<typeof Docker>[0]);
  const modem = docker.modem as unknown as Modem;

  const get: ReadClient['get'] = async (path, options) => {
    const reply = await request(modem, { path, method: 'GET' }, options);
    // The SDK answers with the bytes when JSON is falsy: `null` is such a reply.
    return Buffer.isBuffer(reply) ? null : reply;
  };
  const bytes: ReadClient['bytes'] = async (path, options) => {
    const chunks: Buffer[] = [];
    let size = 0;
    await consume(modem, { path, method: 'GET' }, options, (chunk) => {
      if (size < options.limit) chunks.push(chunk.subarray(0, options.limit - size));
      size += chunk.length;
    });
    return Buffer.concat(chunks);
  };
  const follow: ReadClient['follow'] = async (path, options) => {
    const call: Call = { path, method: 'GET' };
    let hasBegun = false;
    await bounded(call, options, async (signal) => {
      // What was handed over cannot be taken back, so that only a reply which never began is asked for again.
      if (hasBegun) throw new ProviderError('UNREACHABLE', `The connection to the engine broke on the attempt to ${options.doing}.`);
      const stream = (await dial(modem, call, options, { signal, isStream: true })) as Readable;
      for await (const chunk of stream) {
        hasBegun = true;
        await options.take(chunk as Buffer);
      }
    });
  };
  const writer: WriteClient = {
    get,
    bytes,
    follow,
    post: (path, options) => request(modem, { path, method: 'POST', body: options.body ?? {} }, options),
    stream: (path, options) =>
      consume(
        modem,
        { path, method: 'POST', ...(options.file === undefined ? { body: options.body ?? {} } : { file: options.file }) },
        options,
        options.onChunk,
      ),
    duplex: async (path, options) => {
      const call: Call = { path, method: 'POST', body: options.body };
      return (await bounded(call, options, (signal) => dial(modem, call, options, { signal, isStream: true, isDuplex: true }))) as Duplex;
    },
    put: (path, options) => request(modem, { path, method: 'PUT', file: options.file }, options),
    remove: (path, options) => request(modem, { path, method: 'DELETE' }, options),
  };
  return {
    reader: { get, bytes, follow },
    writer,
    pin: (apiVersion) => {
      modem.version = `v${apiVersion}`;
    },
    close: () => agent.destroy(),
  };
}

function agentOf(endpoint: Endpoint): Agent {
  if (endpoint.kind === 'ssh') return new SshAgent(endpoint);
  const limits = { keepAlive: true, maxSockets: MOST_SOCKETS };
  if (endpoint.kind === 'unix' || endpoint.tls === undefined) return new Agent(limits);
  const { isUnverified, ...material } = endpoint.tls;
  return new TlsAgent({ ...limits, ...material, rejectUnauthorized: isUnverified !== true });
}

function targetOf(endpoint: Endpoint): object {
  switch (endpoint.kind) {
    case 'unix':
      return { socketPath: endpoint.path, host: undefined, port: undefined, protocol: 'http' };
    case 'tcp':
      return { socketPath: undefined, host: endpoint.host, port: endpoint.port, protocol: endpoint.tls === undefined ? 'http' : 'https' };
    case 'ssh':
      // The agent knows where to go; this is the name that the engine is called by in each request.
      return { socketPath: undefined, host: 'docker', port: undefined, protocol: 'http' };
    default:
      return endpoint satisfies never;
  }
}

interface Call {
  readonly path: string;
  readonly method: Dial['method'];
  readonly body?: object;
  readonly file?: Buffer;
}

async function request(modem: Modem, call: Call, options: RequestOptions): Promise<unknown> {
  return bounded(call, options, (signal) => dial(modem, call, options, { signal, isStream: false }));
}

async function consume(modem: Modem, call: Call, options: RequestOptions, onChunk: (chunk: Buffer) => void): Promise<void> {
  await bounded(call, options, async (signal) => {
    const stream = (await dial(modem, call, options, { signal, isStream: true })) as Readable;
    for await (const chunk of stream) onChunk(chunk as Buffer);
  });
}

/** Runs one request with its deadline. A read whose idle connection turned out to be closed is asked again once. */
async function bounded<T>(call: Call, options: RequestOptions, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const subject = { doing: options.doing, mutates: options.mutates ?? call.method !== 'GET' };
  return withDeadline(options.signal, options.timeout ?? REQUEST_TIMEOUT, async ({ signal, isOver }) => {
    try {
      return await run(signal).catch((error: unknown) => {
        if (call.method === 'GET' && !signal.aborted && isStaleConnection(error)) return run(signal);
        throw error;
      });
    } catch (error) {
      if (isOver()) throw deadlineError(error, subject, 'deadline');
      if (options.signal.aborted) throw deadlineError(error, subject, 'cancelled');
      throw providerError(error, subject);
    }
  });
}

function dial(
  modem: Modem,
  call: Call,
  options: RequestOptions,
  how: { readonly signal: AbortSignal; readonly isStream: boolean; readonly isDuplex?: boolean },
): Promise<unknown> {
  const known = Object.entries(options.query ?? {}).filter(([, value]) => value !== undefined);
  return new Promise((resolve, reject) => {
    modem.dial(
      {
        path: `${call.path}?`,
        method: call.method,
        statusCodes: ACCEPTED,
        isStream: how.isStream,
        hijack: how.isDuplex === true,
        abortSignal: how.signal,
        options: { _query: Object.fromEntries(known), _body: call.body ?? {} },
        ...(call.file === undefined ? {} : { file: call.file }),
        ...(options.registryAuth === undefined ? {} : { authconfig: { base64: String(reveal(options.registryAuth)) } }),
      },
      (error, reply) => {
        if (error === null || error === undefined) resolve(reply);
        else reject(error as Error);
      },
    );
  });
}
