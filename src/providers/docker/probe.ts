import { connect } from 'node:net';
import { z } from 'zod';
import { withDeadline } from '../../core/deadline.ts';
import { ProviderError } from '../contract.ts';
import type { Acting } from './acting.ts';
import { isMissingProgram } from './errors.ts';
import { demultiplex } from './logs.ts';
import { createdReply, execReply } from './wire.ts';

const TRY_TIMEOUT = 5000;
/** The programs inside of a container are given more, since some cannot be told a limit. */
const INSIDE_TIMEOUT = 10_000;
const BODY_LIMIT = 64 * 1024;

/** What `ready` asks of a container, in normal form. */
export const readySpec = z.object({
  docker: z.literal(true).optional(),
  http: z
    .object({ url: z.string(), in: z.literal('container').optional(), status: z.array(z.number()).optional(), body: z.string().optional() })
    .optional(),
  tcp: z.string().optional(),
  command: z.array(z.string()).optional(),
  timeout: z.number().default(480_000),
  interval: z.number().default(1000),
});
export type ReadySpec = z.output<typeof readySpec>;

/** The answer of one try: undefined for yes, else why not, in words. */
export type Answer = string | undefined;

/** Asks a URL from this machine. */
export async function probeHttp(http: NonNullable<ReadySpec['http']>, signal: AbortSignal): Promise<Answer> {
  try {
    return await withDeadline(signal, TRY_TIMEOUT, async (cut) => {
      const response = await fetch(http.url, { redirect: 'manual', headers: { connection: 'close' }, signal: cut.signal });
      const body = http.body === undefined ? await response.body?.cancel() : (await response.text()).slice(0, BODY_LIMIT);
      return judge(http, response.status, typeof body === 'string' ? body : '');
    });
  } catch (error) {
    signal.throwIfAborted();
    return `${http.url} does not answer (${reasonOf(error)})`;
  }
}

function judge(http: NonNullable<ReadySpec['http']>, status: number, body: string): Answer {
  const isAccepted = http.status === undefined ? status >= 200 && status < 400 : http.status.includes(status);
  if (!isAccepted) return `${http.url} answers with status ${status}`;
  return http.body !== undefined && !body.includes(http.body) ? `${http.url} answers without the expected text` : undefined;
}

/** Connects to an address from this machine. */
export function probeTcp(address: string, signal: AbortSignal): Promise<Answer> {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(address.slice(colon + 1)), timeout: TRY_TIMEOUT });
    const end = (answer: Answer) => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve(answer);
    };
    const onAbort = () => {
      socket.destroy();
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => end(undefined));
    socket.once('timeout', () => end(`${address} does not answer in time`));
    socket.once('error', (error) => end(`${address} cannot be connected to (${reasonOf(error)})`));
  });
}

/** Runs a command in the container; exit code 0 is yes. */
export async function probeCommand(acting: Acting, id: string, argv: readonly string[]): Promise<Answer> {
  const { code, output } = await runInside(acting, id, argv);
  if (code === 0) return undefined;
  const words = output.trim().split('\n').at(-1) ?? '';
  return `the command ended with code ${code}${words === '' ? '' : `: ${words.slice(0, 200)}`}`;
}

/** Asks a URL from inside of the container, with curl or wget, whichever the image has. Throws `INVALID` when it has neither. */
export async function probeInside(acting: Acting, id: string, http: NonNullable<ReadySpec['http']>): Promise<Answer> {
  const curl = await runInside(acting, id, ['curl', '-s', '-m', '5', '-o', '-', '-w', '\n%{http_code}', http.url]);
  if (!isAbsent(curl)) {
    const status = Number(curl.output.trimEnd().split('\n').at(-1));
    if (curl.code !== 0 || !(status >= 100)) return `${http.url} does not answer inside of the container`;
    return judge(http, status, curl.output);
  }
  const wget = await runInside(acting, id, ['wget', '-S', '-O', '-', http.url]);
  if (isAbsent(wget)) {
    throw new ProviderError('INVALID', 'The image has neither curl nor wget, so a URL cannot be asked from inside of the container.', {
      next: 'Use ready.command, or ready.http without in: container.',
    });
  }
  const status = /HTTP\/\d(?:\.\d)? (\d{3})/.exec(wget.output)?.[1];
  return status === undefined ? `${http.url} does not answer inside of the container` : judge(http, Number(status), wget.output);
}

interface Execution {
  readonly code: number;
  readonly output: string;
}

function isAbsent(execution: Execution): boolean {
  return (execution.code === 126 || execution.code === 127) && (execution.output === '' || isMissingProgram(execution.output));
}

async function runInside(acting: Acting, id: string, argv: readonly string[]): Promise<Execution> {
  const { client, io } = acting;
  const doing = `run ${argv[0]} in the container`;
  const reply = await client.post(`/containers/${id}/exec`, {
    signal: io.signal,
    doing,
    body: { AttachStdout: true, AttachStderr: true, Tty: false, Cmd: argv },
  });
  const { Id } = createdReply.parse(reply);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    await client.stream(`/exec/${Id}/start`, {
      signal: io.signal,
      doing,
      timeout: INSIDE_TIMEOUT,
      body: { Detach: false, Tty: false },
      onChunk: (chunk) => {
        if (size < BODY_LIMIT) chunks.push(chunk);
        size += chunk.length;
      },
    });
  } catch (error) {
    // A probe changes nothing, so that it did not end in time only means "not yet".
    if (!(error instanceof ProviderError) || error.code !== 'UNKNOWN_OUTCOME' || io.signal.aborted) throw error;
    return { code: -1, output: `${argv[0]} did not end within ${INSIDE_TIMEOUT / 1000} s` };
  }
  const { ExitCode } = execReply.parse(await client.get(`/exec/${Id}/json`, { signal: io.signal, doing }));
  return { code: ExitCode ?? -1, output: demultiplex(Buffer.concat(chunks)).toString('utf8') };
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (typeof cause === 'object' && cause !== null && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return error instanceof Error && error.name === 'TimeoutError'
    ? 'no answer in time'
    : String(error instanceof Error ? error.message : error);
}
