import type { SourceRange } from '../core/diagnostic.ts';
import type { Scalar } from '../core/value.ts';

/** The longest excerpt that a diagnostic carries. */
const EXCERPT = 200;

/** One YAML file as it was read. */
export interface SourceFile {
  /** Relative to the environment's folder, with `/`. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  /** Absolute folder: what relative paths in the document are relative to. */
  readonly folder: string;
  readonly text: string;
  /** Offsets at which lines begin. */
  readonly lines: readonly number[];
}

/** A piece of a document that knows its place. */
interface Located {
  readonly file: SourceFile;
  readonly start: number;
  readonly end: number;
}

export interface ScalarNode extends Located {
  readonly kind: 'scalar';
  readonly value: Scalar;
}

export interface ListNode extends Located {
  readonly kind: 'list';
  readonly items: readonly YamlNode[];
}

export interface MapNode extends Located {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, MapEntry>;
}

export interface MapEntry {
  readonly key: ScalarNode;
  readonly value: YamlNode;
}

export type YamlNode = ScalarNode | ListNode | MapNode;

export function sourceFile(name: string, path: string, folder: string, text: string): SourceFile {
  const lines = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines.push(at + 1);
  return { name, path, folder, text, lines };
}

/** Line and column of an offset, from 1. */
export function positionOf(file: SourceFile, offset: number): { readonly line: number; readonly column: number } {
  let low = 0;
  let high = file.lines.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((file.lines[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - (file.lines[low] ?? 0) + 1 };
}

/** The range between two offsets of a file, with the excerpt of its first line. */
export function rangeOf(file: SourceFile, start: number, end: number): SourceRange {
  const from = positionOf(file, start);
  const to = positionOf(file, Math.max(start, end));
  const lineStart = file.lines[from.line - 1] ?? 0;
  const lineEnd = file.text.indexOf('\n', lineStart);
  const line = file.text.slice(lineStart, lineEnd === -1 ? undefined : lineEnd).replace(/\r$/, '');
  return {
    file: file.name,
    line: from.line,
    column: from.column,
    endLine: to.line,
    endColumn: to.column,
    excerpt: line.length > EXCERPT ? `${line.slice(0, EXCERPT)}…` : line,
  };
}

/** The place of a node; that of a map or list is its beginning. */
export function nodeRange(node: YamlNode): SourceRange {
  if (node.kind === 'scalar') return rangeOf(node.file, node.start, node.end);
  const from = rangeOf(node.file, node.start, node.start + 1);
  return from;
}

/** The file offset of a character of a scalar's value, where the two can be matched, else the scalar's beginning. */
export function scalarOffset(node: ScalarNode, offset: number): number {
  if (typeof node.value !== 'string') return node.start;
  const { text } = node.file;
  if (text.startsWith(node.value, node.start)) return node.start + offset;
  const quote = text[node.start];
  if ((quote === '"' || quote === "'") && text.startsWith(node.value, node.start + 1)) return node.start + 1 + offset;
  return node.start;
}

export function memberOf(node: YamlNode | undefined, name: string): YamlNode | undefined {
  return node?.kind === 'map' ? node.entries.get(name)?.value : undefined;
}

/** The node at a path, or its nearest parent that is written; for a map's member optionally the key. */
export function nodeAt(root: YamlNode, path: readonly (string | number)[]): YamlNode {
  let node = root;
  for (const step of path) {
    const next: YamlNode | undefined =
      node.kind === 'map'
        ? node.entries.get(String(step))?.value
        : node.kind === 'list' && typeof step === 'number'
          ? node.items[step]
          : undefined;
    if (next === undefined) return node;
    node = next;
  }
  return node;
}

/** The place of the key at the end of a path, else of the node there. */
export function keyRange(root: YamlNode, path: readonly (string | number)[]): SourceRange {
  const parent = nodeAt(root, path.slice(0, -1));
  const last = path.at(-1);
  const entry = parent.kind === 'map' && last !== undefined ? parent.entries.get(String(last)) : undefined;
  return nodeRange(entry?.key ?? nodeAt(root, path));
}

/** Where a problem with a value stands: at the key when the key is wrong, at the map when one is missing, else at the value. */
export function problemPlace(
  root: YamlNode,
  problem: { readonly code: string; readonly path?: readonly (string | number)[] },
): SourceRange {
  const path = problem.path ?? [];
  if (problem.code === 'UNKNOWN_KEY' || problem.code === 'BAD_KEY' || problem.code === 'COMPUTED_ATTRIBUTE') return keyRange(root, path);
  if (problem.code === 'MISSING_KEY') return path.length < 2 ? nodeRange(root) : keyRange(root, path.slice(0, -1));
  return nodeRange(nodeAt(root, path));
}

/** Plain data of a node, places forgotten. */
export function plainOf(node: YamlNode): Scalar | readonly unknown[] | { readonly [name: string]: unknown } {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(plainOf);
    case 'map':
      return Object.fromEntries([...node.entries].map(([name, { value }]) => [name, plainOf(value)]));
  }
  return node satisfies never;
}
