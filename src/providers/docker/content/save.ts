import { DecompressionStream, ReadableStream, TransformStream } from 'node:stream/web';
import type { ParsedTarEntry } from 'modern-tar';
import { z } from 'zod';
import { ProviderError } from '../../contract.ts';
import type { ReadClient } from '../client.ts';
import { Budget, canonicalMember, entriesOf, readLayer, type Wanted } from './layer.ts';
import { type Content, contentAt, type Layer } from './tree.ts';

const SAVE_TIMEOUT = 30 * 60_000;
const MANIFEST = 'manifest.json';
const MANIFEST_LIMIT = 4 * 1024 * 1024;
/** Where a tar archive says that it is one. */
const MAGIC_AT = 257;
const HEAD = 512;
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Hard links to hard links: each step needs one more look. */
const MOST_LOOKS = 4;

const manifestReply = z.array(z.object({ Layers: z.array(z.string()) })).min(1);

/**
 * What stands at a path of an image. The engine is only read: it sends the whole image as `docker save` does, and what is not needed streams
 * by. Nothing is made or started. Throws `ProviderError`.
 */
export async function readImageContent(client: ReadClient, id: string, path: string, signal: AbortSignal): Promise<Content> {
  const place = canonicalMember(path);
  const files = new Set<string>();
  for (let looks = 1; ; looks++) {
    const content = contentAt(await readImage(client, id, { path: place, files }, signal), place);
    if (content.kind !== 'more') return content;
    if (looks === MOST_LOOKS || content.paths.every((file) => files.has(file))) {
      throw unreadable(`a hard link leads to ${content.paths[0]}, which is in none of its layers`);
    }
    for (const file of content.paths) files.add(file);
  }
}

async function readImage(client: ReadClient, id: string, wanted: Wanted, signal: AbortSignal): Promise<readonly Layer[]> {
  const pipe = new TransformStream<Uint8Array, Uint8Array>();
  const writer = pipe.writable.getWriter();
  const saved = readSaved(pipe.readable, wanted);
  // It is looked at below, and until then it may not count as unhandled.
  const broken = saved.then(
    () => new Promise<never>(() => undefined),
    (error: unknown) => Promise.reject(error as Error),
  );
  broken.catch(() => undefined);
  try {
    await client.follow(`/images/${encodeURIComponent(id)}/get`, {
      signal,
      doing: 'send the content of the image',
      timeout: SAVE_TIMEOUT,
      take: (chunk) => Promise.race([writer.write(chunk), broken]),
    });
  } catch (error) {
    await writer.abort(error);
    await saved.then(
      () => undefined,
      () => undefined,
    );
    throw error;
  }
  await writer.close();
  return saved;
}

/** Reads an archive of `docker save`, in the form of any engine: layers by name, links between them, and the manifest that orders them. */
export async function readSaved(archive: ReadableStream<Uint8Array>, wanted: Wanted): Promise<readonly Layer[]> {
  const budget = new Budget();
  const layers = new Map<string, Layer>();
  const links = new Map<string, string>();
  let manifest: string | undefined;
  for await (const entry of entriesOf(archive)) {
    const name = canonicalMember(entry.header.name);
    const { type = 'file', linkname = '' } = entry.header;
    if (type === 'symlink' || type === 'link') links.set(name, type === 'link' ? canonicalMember(linkname) : resolved(name, linkname));
    if (name === MANIFEST) {
      manifest = await textOf(entry);
      continue;
    }
    const layer = type === 'file' ? await layerBytes(entry) : undefined;
    if (layer === undefined) await drain(entry);
    else layers.set(name, await readLayer(layer, wanted, budget));
  }
  if (manifest === undefined) throw unreadable('the engine sent no manifest');
  const parsed = manifestReply.safeParse(JSON.parse(manifest));
  if (!parsed.success) throw unreadable('its manifest names no layers');
  return (parsed.data[0]?.Layers ?? []).map((name) => {
    const layer = layers.get(name) ?? layers.get(links.get(name) ?? '');
    if (layer === undefined) throw unreadable(`its layer ${name} is no tar archive that can be read`);
    return layer;
  });
}

/** The bytes of a member that is a layer, unpacked; undefined for what is none. */
async function layerBytes(entry: ParsedTarEntry): Promise<ReadableStream<Uint8Array> | undefined> {
  const reader = (entry.body as unknown as ReadableStream<Uint8Array>).getReader();
  const head: Uint8Array[] = [];
  let size = 0;
  while (size < HEAD) {
    const { value } = await reader.read();
    if (value === undefined) break;
    head.push(value);
    size += value.byteLength;
  }
  const start = Buffer.concat(head).subarray(0, HEAD);
  const whole = (): ReadableStream<Uint8Array> =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of head) controller.enqueue(chunk);
      },
      async pull(controller) {
        const { value } = await reader.read();
        if (value === undefined) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    });
  if (start[0] === 0x1f && start[1] === 0x8b) return whole().pipeThrough(new DecompressionStream('gzip') as never);
  if (start.subarray(0, 4).equals(ZSTD)) throw unreadable('its layers are packed with zstd, which is not available yet');
  const isTar = start.toString('latin1', MAGIC_AT, MAGIC_AT + 5) === 'ustar' || (size >= HEAD && start.every((byte) => byte === 0));
  if (isTar) return whole();
  reader.releaseLock();
  return undefined;
}

async function textOf(entry: ParsedTarEntry): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of entry.body as unknown as ReadableStream<Uint8Array>) {
    size += chunk.byteLength;
    if (size > MANIFEST_LIMIT) throw unreadable('its manifest is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function drain(entry: ParsedTarEntry): Promise<void> {
  await entry.body.cancel();
}

function resolved(name: string, target: string): string {
  const parts = target.startsWith('/') ? [] : name.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

function unreadable(why: string): ProviderError {
  return new ProviderError('INVALID', `The content of the image cannot be read: ${why}.`);
}
