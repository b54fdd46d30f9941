import { structuredPatch } from 'diff';
import { parseDocument } from 'yaml';
import type { Plain } from '../../core/value.ts';
import { count, printable } from './layout.ts';
import { isPlainList, isPlainMap, markerOf } from './values.ts';

/** One line of a difference between two texts. `@` separates the places. */
export interface DifferenceLine {
  readonly mark: '+' | '-' | ' ' | '@';
  readonly text: string;
}

/** Bounds of what is worth comparing on a screen; beyond them a sentence says so. */
const LONGEST_EDIT = 4_000;
const LONGEST_TIME = 500;
const LARGEST_STRUCTURE = 256 * 1024;

/** The unified difference of two texts. */
export function diffText(before: string, after: string): readonly DifferenceLine[] {
  const patch = structuredPatch('', '', before, after, undefined, undefined, {
    context: 2,
    maxEditLength: LONGEST_EDIT,
    timeout: LONGEST_TIME,
  });
  if (patch === undefined) return [{ mark: '@', text: `differs, ${count(lineCount(after), 'line')}, not shown` }];
  return patch.hunks.flatMap((hunk) => [
    { mark: '@' as const, text: `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@` },
    ...hunk.lines.map(
      (line) => ({ mark: line.startsWith('+') ? '+' : line.startsWith('-') ? '-' : ' ', text: printable(line.slice(1)) }) as const,
    ),
  ]);
}

export function lineCount(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
}

/**
 * The two texts as data when both are JSON, or YAML maps or lists, and their data differs. Undefined when they are not, or when only
 * spelling or comments differ: then the text itself is what changed.
 */
export function asStructures(before: string, after: string): { readonly before: Plain; readonly after: Plain } | undefined {
  if (before.length + after.length > LARGEST_STRUCTURE) return undefined;
  const [left, right] = [structureOf(before), structureOf(after)];
  if (left === undefined || right === undefined) return undefined;
  return JSON.stringify(left) === JSON.stringify(right) ? undefined : { before: left, after: right };
}

function structureOf(text: string): Plain | undefined {
  const document = parseDocument(text, { logLevel: 'silent', prettyErrors: false });
  if (document.errors.length > 0 || document.warnings.length > 0) return undefined;
  let data: Plain;
  try {
    data = document.toJS({ maxAliasCount: 20 }) as Plain;
  } catch (error) {
    // An alias bomb; the text view shows such a file as text.
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
  return isPlainMap(data) || isPlainList(data) ? data : undefined;
}

/** The members of two structures that differ, in the order of the later one, removed ones last. */
export function diffStructure(
  before: Plain | undefined,
  after: Plain | undefined,
  path = '',
): readonly { readonly path: string; readonly before: Plain | undefined; readonly after: Plain | undefined }[] {
  if (isPlainMap(before) && isPlainMap(after) && markerOf(before) === undefined && markerOf(after) === undefined) {
    const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
    return names.flatMap((name) => diffStructure(own(before, name), own(after, name), member(path, name)));
  }
  if (isPlainList(before) && isPlainList(after) && before.length === after.length) {
    return after.flatMap((item, index) => diffStructure(before[index], item, `${path}[${index}]`));
  }
  if (isPlainList(before) && isPlainList(after)) {
    const place = (index: number) => `${path}[${index}]`;
    const added = onlyIn(after, before).map(({ index, value }) => ({ path: place(index), before: undefined, after: value }));
    const gone = onlyIn(before, after).map(({ index, value }) => ({ path: place(index), before: value, after: undefined }));
    if (added.length + gone.length > 0) return [...added, ...gone];
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path: path === '' ? '.' : path, before, after }];
}

/** The items of a list that have no equal in the other one, each with its place. */
function onlyIn(list: readonly Plain[], other: readonly Plain[]): readonly { readonly index: number; readonly value: Plain }[] {
  const left = other.map((item) => JSON.stringify(item));
  return list.flatMap((value, index) => {
    const equal = left.indexOf(JSON.stringify(value));
    if (equal >= 0) left.splice(equal, 1);
    return equal >= 0 ? [] : [{ index, value }];
  });
}

function own(map: { readonly [name: string]: Plain }, name: string): Plain | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

function member(path: string, name: string): string {
  const plain = /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name);
  return plain ? (path === '' ? name : `${path}.${name}`) : `${path}[${JSON.stringify(name)}]`;
}
