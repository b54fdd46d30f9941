import { ReadableStream } from 'node:stream/web';
import { gzipSync } from 'node:zlib';
import { packTar, type TarEntry } from 'modern-tar';
import { describe, expect, it } from 'vitest';
import { digestBytes, digestOf } from '../../../src/core/canonical.ts';
import { readSaved } from '../../../src/providers/docker/content/save.ts';
import { type Content, contentAt } from '../../../src/providers/docker/content/tree.ts';

const file = (name: string, text: string, mode = 0o644): TarEntry => ({
  header: { name, size: Buffer.byteLength(text), mode },
  body: text,
});
const folder = (name: string, mode = 0o755): TarEntry => ({ header: { name: `${name}/`, size: 0, type: 'directory', mode } });
const link = (name: string, linkname: string, type: 'symlink' | 'link'): TarEntry => ({ header: { name, size: 0, type, linkname } });

function chunked(bytes: Uint8Array, size: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.subarray(at, at + size));
      at += size;
    },
  });
}

interface Saved {
  readonly layers: readonly (readonly TarEntry[])[];
  readonly packed?: boolean;
  readonly more?: readonly TarEntry[];
  readonly names?: readonly string[];
}

/** An archive of `docker save`: the layers in an order of their own, the manifest last, as engines send it. */
async function saved({ layers, packed = false, more = [], names }: Saved): Promise<Uint8Array> {
  const archives = await Promise.all(layers.map((layer) => packTar([...layer])));
  const entries = archives.map((archive, index): TarEntry => {
    const body = packed ? gzipSync(archive) : archive;
    return { header: { name: `blobs/sha256/${index}`, size: body.length }, body };
  });
  const manifest = JSON.stringify([{ Config: 'config.json', Layers: names ?? entries.map(({ header }) => header.name) }]);
  return packTar([...entries.toReversed(), file('config.json', '{"os":"linux"}'), ...more, file('manifest.json', manifest)]);
}

async function content(of: Saved, path: string, chunk = 1000): Promise<Content> {
  const archive = await saved(of);
  const files = new Set<string>();
  for (;;) {
    const found = contentAt(await readSaved(chunked(archive, chunk), { path, files }), path);
    if (found.kind !== 'more' || found.paths.every((one) => files.has(one))) return found;
    for (const one of found.paths) files.add(one);
  }
}

function tree(...members: readonly (readonly [path: string, kind: string, mode: string, content?: string])[]) {
  return digestOf(members.map(([path, kind, mode, text]) => ({ path, kind, mode, ...(text === undefined ? {} : { content: text }) })));
}

describe('the content of an image', () => {
  it('must be the digest over the sorted paths, modes and content below the path', async () => {
    const found = await content(
      { layers: [[folder('srv'), folder('srv/site'), file('srv/site/b', 'two', 0o600), file('./srv/site/a', 'one')]] },
      'srv/site',
    );
    const expected = tree(['a', 'file', '0644', digestBytes('one')], ['b', 'file', '0600', digestBytes('two')]);
    expect(found).toMatchObject({ kind: 'found', tree: expected });
  });

  it('must tell a change of mode by the tree alone and a change of content by both', async () => {
    const [first, mode, text] = (await Promise.all([
      content({ layers: [[file('a/x', 'one')]] }, 'a'),
      content({ layers: [[file('a/x', 'one', 0o755)]] }, 'a'),
      content({ layers: [[file('a/x', 'two')]] }, 'a'),
    ])) as Extract<Content, { kind: 'found' }>[];
    expect(mode?.tree).not.toBe(first?.tree);
    expect(mode?.digest).toBe(first?.digest);
    expect(text?.tree).not.toBe(first?.tree);
    expect(text?.digest).not.toBe(first?.digest);
  });

  it('must be the digest of its bytes for a file', async () => {
    expect(await content({ layers: [[file('etc/conf', 'text')]] }, 'etc/conf')).toMatchObject({ digest: digestBytes('text') });
  });

  it('must let upper layers replace and take away, whatever order the archive has', async () => {
    const layers = [
      [folder('s'), file('s/a', '1'), file('s/b', '1'), folder('s/old'), file('s/old/x', '1'), folder('s/dir'), file('s/dir/y', '1')],
      [folder('s'), file('s/.wh.b', ''), file('s/a', '2'), folder('s/old'), file('s/old/.wh..wh..opq', ''), file('s/old/z', '2')],
      [file('s/dir', 'now a file')],
    ];
    const found = await content({ layers }, 's', 333);
    const expected = tree(
      ['a', 'file', '0644', digestBytes('2')],
      ['dir', 'file', '0644', digestBytes('now a file')],
      ['old', 'directory', '0755'],
      ['old/z', 'file', '0644', digestBytes('2')],
    );
    expect(found).toMatchObject({ tree: expected });
  });

  it('must take away what stands below a folder that a higher layer took away', async () => {
    expect(await content({ layers: [[file('a/b/c', '1')], [file('.wh.a', '')]] }, 'a/b')).toEqual({ kind: 'absent' });
    expect(await content({ layers: [[file('a/b/c', '1')], [file('a/.wh..wh..opq', '')]] }, 'a/b')).toEqual({ kind: 'absent' });
  });

  it('must follow hard links to files elsewhere, and show symbolic links as they are', async () => {
    const layers = [
      [file('opt/real', 'body', 0o755), folder('s'), link('s/hard', 'opt/real', 'link'), link('s/soft', '../opt/real', 'symlink')],
    ];
    const expected = tree(['hard', 'file', '0755', digestBytes('body')], ['soft', 'symlink', '0777', '../opt/real']);
    expect(await content({ layers }, 's')).toMatchObject({ tree: expected });
  });

  it('must name a symbolic link on the way instead of following it', async () => {
    const layers = [[folder('srv'), file('srv/x', '1'), link('www', 'srv', 'symlink')]];
    expect(await content({ layers }, 'www/x')).toEqual({ kind: 'link', path: '/www', target: 'srv' });
  });

  it('must say absent of what is not there', async () => {
    expect(await content({ layers: [[file('a/x', '1')]] }, 'a/y')).toEqual({ kind: 'absent' });
    expect(await content({ layers: [[file('a/x', '1')]] }, 'a/x/y')).toEqual({ kind: 'absent' });
  });

  it('must read packed layers, and layers that stand under another name', async () => {
    const layers = [[file('a/x', '1')], [file('a/y', '2')]];
    const plain = await content({ layers }, 'a');
    expect(plain.kind).toBe('found');
    expect(await content({ layers, packed: true }, 'a')).toEqual(plain);
    const more = [link('old/layer.tar', '../blobs/sha256/1', 'symlink')];
    expect(await content({ layers, more, names: ['blobs/sha256/0', 'old/layer.tar'] }, 'a')).toEqual(plain);
  });

  it('must refuse a layer that cannot be read instead of leaving it out', async () => {
    await expect(content({ layers: [[file('a/x', '1')]], names: ['blobs/sha256/7'] }, 'a')).rejects.toThrow(/no tar archive/);
    const zstd = { header: { name: 'blobs/z', size: 8 }, body: Buffer.from('28b52ffd00000000', 'hex') };
    await expect(content({ layers: [[file('a/x', '1')]], more: [zstd] }, 'a')).rejects.toThrow(/zstd/);
  });
});
