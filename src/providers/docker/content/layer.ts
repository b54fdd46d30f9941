import { createHash } from 'node:crypto';
import type { ReadableStream } from 'node:stream/web';
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar';
import type { Digest } from '../../../core/canonical.ts';
import { ProviderError } from '../../contract.ts';
import { isBelowPath, type Layer, type Member } from './tree.ts';

const MOST_MEMBERS = 100_000;
const MOST_BYTES = 4 * 1024 ** 3;
const WHITEOUT = '.wh.';
const OPAQUE = '.wh..wh..opq';

/** Which members of the layers are needed: what stands at the path, below it or on the way to it, and single files elsewhere. */
export interface Wanted {
  readonly path: string;
  readonly files: ReadonlySet<string>;
}

/** What was collected of an image so far; it bounds what one question may cost. */
export class Budget {
  #members = 0;
  #bytes = 0;

  /** Throws `EXHAUSTED` when the content is more than is read. */
  spend(members: number, bytes: number): void {
    this.#members += members;
    this.#bytes += bytes;
    if (this.#members <= MOST_MEMBERS && this.#bytes <= MOST_BYTES) return;
    throw new ProviderError(
      'EXHAUSTED',
      `The content at that path of the image is more than ${MOST_MEMBERS} members or ${MOST_BYTES / 1024 ** 3} GiB.`,
      { next: 'Name a path with less below it.' },
    );
  }
}

/** Reads one layer as it streams by, keeping what is wanted: names, modes and digests, never the bytes. Throws `ProviderError`. */
export async function readLayer(bytes: ReadableStream<Uint8Array>, wanted: Wanted, budget: Budget): Promise<Layer> {
  const whiteouts: string[] = [];
  const opaque: string[] = [];
  const members: Member[] = [];
  for await (const entry of entriesOf(bytes)) {
    const path = canonicalMember(entry.header.name);
    const slash = path.lastIndexOf('/');
    const name = path.slice(slash + 1);
    const folder = slash === -1 ? '' : path.slice(0, slash);
    if (name === OPAQUE || name.startsWith(WHITEOUT)) {
      const hidden = name === OPAQUE ? folder : [folder, name.slice(WHITEOUT.length)].filter((part) => part !== '').join('/');
      const isNeeded = isWanted(hidden, wanted);
      if (isNeeded) budget.spend(1, 0);
      if (isNeeded) (name === OPAQUE ? opaque : whiteouts).push(hidden);
      await entry.body.cancel();
    } else if (path !== '' && isWanted(path, wanted)) {
      members.push(await readMember(entry, path, budget));
    } else {
      await entry.body.cancel();
    }
  }
  return { whiteouts, opaque, members };
}

/** The members of a tar archive as they stream by. Each has to be read or cancelled before the next. */
export function entriesOf(bytes: ReadableStream<Uint8Array>): AsyncIterable<ParsedTarEntry> {
  const decoder = createTarDecoder() as unknown as { readable: ReadableStream<ParsedTarEntry>; writable: WritableStream<Uint8Array> };
  return bytes.pipeThrough(decoder as never) as unknown as ReadableStream<ParsedTarEntry>;
}

async function readMember(entry: ParsedTarEntry, path: string, budget: Budget): Promise<Member> {
  const { header } = entry;
  budget.spend(1, 0);
  const mode = (header.mode ?? 0o644) & 0o7777;
  const target = header.linkname ?? '';
  switch (header.type ?? 'file') {
    case 'file': {
      const hash = createHash('sha256');
      for await (const chunk of entry.body as unknown as ReadableStream<Uint8Array>) {
        budget.spend(0, chunk.byteLength);
        hash.update(chunk);
      }
      return { kind: 'file', path, mode, digest: `sha256:${hash.digest('hex')}` as Digest };
    }
    case 'symlink':
      await entry.body.cancel();
      return { kind: 'symlink', path, target };
    case 'link':
      await entry.body.cancel();
      return { kind: 'hardlink', path, target: canonicalMember(target) };
    case 'directory':
      await entry.body.cancel();
      return { kind: 'directory', path, mode };
    default:
      await entry.body.cancel();
      return { kind: 'device', path, mode };
  }
}

function isWanted(path: string, wanted: Wanted): boolean {
  if (path === wanted.path || isBelowPath(path, wanted.path) || isBelowPath(wanted.path, path)) return true;
  return wanted.files.has(path);
}

/** The path of a member from the root of the image: no leading `./` or `/`, no slash at the end. */
export function canonicalMember(name: string): string {
  return name
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}
