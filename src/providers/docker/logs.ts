import { z } from 'zod';
import type { ReadClient } from './client.ts';
import type { ContainerReply } from './wire.ts';

const LINES = 20;
const LIMIT = 8 * 1024;
/** Framing and lines that are cut off again need room beyond what is kept. */
const FETCHED = 256 * 1024;

/** The last lines that a container wrote, at most 20 and 8 KiB. Throws `ProviderError` when the log driver cannot be read. */
export async function lastLines(client: ReadClient, id: string, signal: AbortSignal): Promise<readonly string[]> {
  const bytes = await client.bytes(`/containers/${id}/logs`, {
    signal,
    doing: 'read the log of the container',
    query: { stdout: true, stderr: true, tail: LINES },
    limit: FETCHED,
  });
  const lines = demultiplex(bytes)
    .toString('utf8')
    .split(/\r?\n/)
    .map((line) => line.slice(-LIMIT));
  if (lines.at(-1) === '') lines.pop();
  const kept: string[] = [];
  let size = 0;
  for (const line of lines.slice(-LINES).toReversed()) {
    size += Buffer.byteLength(line) + 1;
    if (size > LIMIT && kept.length > 0) break;
    kept.unshift(line);
  }
  return kept;
}

const dieEvent = z.object({ Actor: z.object({ Attributes: z.object({ exitCode: z.coerce.number() }) }) });

/**
 * The code with which a container ended before it was started the last time. While it runs again, only the engine's own diary tells; undefined
 * when that reaches not far enough back. Throws `ProviderError`.
 */
export async function lastExitCode(client: ReadClient, container: ContainerReply, signal: AbortSignal): Promise<number | undefined> {
  const started = Date.parse(container.State.StartedAt);
  if (Number.isNaN(started)) return undefined;
  const bytes = await client.bytes('/events', {
    signal,
    doing: 'look up how the container ended',
    // The diary is asked for the past alone: with an end in the future the reply would stay open.
    query: {
      since: Math.floor(started / 1000) - 3600,
      until: (started / 1000).toFixed(3),
      filters: { container: [container.Id], event: ['die'] },
    },
    limit: FETCHED,
  });
  const last = bytes.toString('utf8').trim().split('\n').at(-1) ?? '';
  return last === '' ? undefined : dieEvent.parse(JSON.parse(last)).Actor.Attributes.exitCode;
}

/**
 * The payload of a stream in which the engine frames standard output and standard error. Bytes that are not framed (a container with a
 * terminal) come back as they are.
 */
export function demultiplex(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  while (at + 8 <= bytes.length) {
    const isFrame = (bytes[at] ?? 9) <= 2 && bytes[at + 1] === 0 && bytes[at + 2] === 0 && bytes[at + 3] === 0;
    if (!isFrame) return at === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(at)]);
    const size = bytes.readUInt32BE(at + 4);
    parts.push(bytes.subarray(at + 8, at + 8 + size));
    at += 8 + size;
  }
  return at === 0 ? bytes : Buffer.concat(parts);
}
