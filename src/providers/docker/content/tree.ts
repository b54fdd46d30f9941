import { compareText } from '../../../core/address.ts';
import { type Digest, digestOf } from '../../../core/canonical.ts';

/** One member of a layer, as far as the content of a path depends on it. Paths have no slash at their ends. */
export type Member =
  | { readonly kind: 'file'; readonly path: string; readonly mode: number; readonly digest: Digest }
  | { readonly kind: 'directory' | 'device'; readonly path: string; readonly mode: number }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string }
  /** The same file under another name; `target` is a path in the image. */
  | { readonly kind: 'hardlink'; readonly path: string; readonly target: string };

/** What one layer does: what it takes away from the layers below, then what it brings, in its own order. */
export interface Layer {
  /** Paths that are gone with all that is below them. */
  readonly whiteouts: readonly string[];
  /** Folders whose content of the layers below is gone. */
  readonly opaque: readonly string[];
  readonly members: readonly Member[];
}

type Node = Exclude<Member, { kind: 'hardlink' }>;

/** What stands at a path of an image. */
export type Content =
  | { readonly kind: 'absent' }
  /** The path leads through a symbolic link, which is not followed. */
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  /** Hard links lead to files that were not collected: they are needed as well. */
  | { readonly kind: 'more'; readonly paths: readonly string[] }
  | { readonly kind: 'found'; readonly tree: Digest; readonly digest: Digest };

/** Puts the layers of an image on top of one another, the lowest first, and says what stands at a path. */
export function contentAt(layers: readonly Layer[], path: string): Content {
  const nodes = new Map<string, Node>();
  const missing = new Set<string>();
  for (const layer of layers) {
    for (const folder of layer.opaque) removeBelow(nodes, folder);
    for (const gone of layer.whiteouts) {
      nodes.delete(gone);
      removeBelow(nodes, gone);
    }
    for (const member of layer.members) {
      const node = member.kind === 'hardlink' ? linked(nodes.get(member.target), member.path) : member;
      if (node === undefined) {
        if (member.kind === 'hardlink') missing.add(member.target);
        continue;
      }
      if (node.kind !== 'directory') removeBelow(nodes, node.path);
      nodes.set(node.path, node);
    }
  }
  if (missing.size > 0) return { kind: 'more', paths: [...missing].sort(compareText) };
  return contentOf(nodes, path);
}

function contentOf(nodes: ReadonlyMap<string, Node>, path: string): Content {
  for (const place of placesOn(path)) {
    const node = nodes.get(place);
    if (node?.kind === 'symlink') return { kind: 'link', path: `/${place}`, target: node.target };
  }
  const top = nodes.get(path);
  if (top !== undefined && top.kind !== 'directory') return found([shown(top, '')], top.kind === 'file' ? top.digest : undefined);
  const below = [...nodes.values()].filter((node) => isBelowPath(node.path, path));
  if (top === undefined && below.length === 0 && path !== '') return { kind: 'absent' };
  const start = path === '' ? 0 : path.length + 1;
  return found(
    below.map((node) => shown(node, node.path.slice(start))),
    undefined,
  );
}

interface Shown {
  readonly path: string;
  readonly kind: Node['kind'];
  readonly mode: string;
  readonly content?: string;
}

function shown(node: Node, path: string): Shown {
  // The mode of a symbolic link means nothing and differs between tools.
  const mode = node.kind === 'symlink' ? '0777' : node.mode.toString(8).padStart(4, '0');
  const content = node.kind === 'file' ? node.digest : node.kind === 'symlink' ? node.target : undefined;
  return { path, kind: node.kind, mode, ...(content === undefined ? {} : { content }) };
}

function found(list: readonly Shown[], own: Digest | undefined): Content {
  const sorted = list.toSorted((a, b) => compareText(a.path, b.path));
  const bare = sorted.map(({ mode: _mode, ...rest }) => rest);
  return { kind: 'found', tree: digestOf(sorted), digest: own ?? digestOf(bare) };
}

function linked(node: Node | undefined, path: string): Node | undefined {
  return node === undefined ? undefined : { ...node, path };
}

function removeBelow(nodes: Map<string, Node>, folder: string): void {
  for (const path of nodes.keys()) if (isBelowPath(path, folder)) nodes.delete(path);
}

/** Whether a path lies below a folder; everything but the root itself lies below the root. */
export function isBelowPath(path: string, folder: string): boolean {
  return folder === '' ? path !== '' : path.startsWith(`${folder}/`);
}

/** A path and the folders on the way to it, the highest first. */
function placesOn(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
