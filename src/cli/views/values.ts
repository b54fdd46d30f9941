import { compareText } from '../../core/address.ts';
import { type PathSegment, parsePath } from '../../core/path.ts';
import { MARKER, type Plain } from '../../core/value.ts';
import { oneLine } from './layout.ts';

/** A stored value in words: secrets as `(sensitive)`, unknown ones as `(known after apply)`, text without quotes where nothing is lost. */
export function renderValue(value: Plain | undefined): string {
  if (value === undefined) return '(none)';
  const marker = markerOf(value);
  if (marker === 'sensitive') return '(sensitive)';
  if (marker === 'unknown') return '(known after apply)';
  if (typeof value === 'string') return isBareText(value) ? shortenDigests(value) : shortenDigests(oneLine(JSON.stringify(value)));
  if (isPlainList(value)) return `[${value.map(renderValue).join(', ')}]`;
  if (isPlainMap(value)) {
    const entries = sortedEntries(value).map(([name, item]) => `${isBareText(name) ? name : JSON.stringify(name)}: ${renderValue(item)}`);
    return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
  }
  return String(value);
}

/** The kind of marker that the value is, if it is one. */
export function markerOf(value: Plain | undefined): 'sensitive' | 'unknown' | undefined {
  if (!isPlainMap(value)) return undefined;
  const marker = value[MARKER];
  return marker === 'sensitive' || marker === 'unknown' ? marker : undefined;
}

export function isPlainList(value: Plain | undefined): value is readonly Plain[] {
  return Array.isArray(value);
}

export function isPlainMap(value: Plain | undefined): value is { readonly [name: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What stands at an attribute's path. Members of a list that is paired by a member of theirs are found by that member's value. */
export function plainAt(value: Plain | null, path: string): Plain | undefined {
  let current: Plain | undefined = value ?? undefined;
  for (const segment of parsePath(path) ?? []) current = step(current, segment);
  return current;
}

function step(value: Plain | undefined, segment: PathSegment): Plain | undefined {
  if (isPlainList(value)) {
    if (typeof segment === 'number') return value[segment];
    return value.find(
      (item) =>
        isPlainMap(item) &&
        Object.values(item).some((member) => member === segment || (typeof member === 'number' && `${member}` === segment)),
    );
  }
  if (isPlainMap(value) && markerOf(value) === undefined) return Object.hasOwn(value, segment) ? value[segment] : undefined;
  return undefined;
}

/** By name, so that a plan reads the same whether it was just made or comes from a file. */
function sortedEntries(value: { readonly [name: string]: Plain }): readonly (readonly [string, Plain])[] {
  return Object.entries(value).sort(([a], [b]) => compareText(a, b));
}

/** Every leaf with its path; empty lists and maps count as leaves, and so do lists of plain values. */
export function leavesOf(value: Plain, path = ''): readonly { readonly path: string; readonly value: Plain }[] {
  if (isPlainMap(value) && markerOf(value) === undefined && Object.keys(value).length > 0) {
    return sortedEntries(value).flatMap(([name, item]) => leavesOf(item, join(path, name)));
  }
  if (isPlainList(value) && value.some((item) => isPlainMap(item) && markerOf(item) === undefined)) {
    return value.flatMap((item, index) => leavesOf(item, `${path}[${index}]`));
  }
  return [{ path, value }];
}

function join(path: string, name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

function isBareText(text: string): boolean {
  return (
    /^[\p{L}\p{N}_./@][\p{L}\p{N}\p{S}_./:@+=,%*?&;~!$<>()|^-]*$/u.test(text) && !/^(?:true|false|null|[-+.]?\d[\d.eE+-]*)$/.test(text)
  );
}

/** Digests inside of a value, cut to what an eye can compare. */
function shortenDigests(text: string): string {
  return text.replace(/(sha256:)([0-9a-f]{4})[0-9a-f]{60}(?![0-9a-f])/g, '$1$2…');
}
