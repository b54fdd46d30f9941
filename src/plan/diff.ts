import { compareText } from '../core/address.ts';
import { canonicalText } from '../core/canonical.ts';
import { type AttributePath, formatPath, isBelow, type PathSegment, parsePath } from '../core/path.ts';
import { type Attributes, encodeValue, isAttributes, isList, sameValue, Unknown, type Value } from '../core/value.ts';
import type { Compare, ResourceType } from '../providers/contract.ts';
import { traitsAt } from '../providers/define.ts';

/** One place at which two normal forms differ. `unknown` says that the wanted value is not known yet. */
export interface Difference {
  readonly path: AttributePath;
  readonly unknown: boolean;
}

/**
 * The places at which `after` differs from `before`, sorted by path. Maps are compared member by member; lists as their attribute's
 * traits say. A member that is absent on both sides is equal; one that is absent on one side differs.
 */
export function diffAttributes(
  type: ResourceType,
  before: Attributes,
  after: Attributes,
  options: { readonly key: Buffer | undefined; readonly skip?: (name: string) => boolean },
): readonly Difference[] {
  const found: Difference[] = [];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort(compareText);
  for (const name of names) {
    if (options.skip?.(name) === true) continue;
    const traits = traitsAt(type, formatPath([name]));
    if (traits.computed) continue;
    walk(type, [name], before[name], after[name], options.key, found);
  }
  return found;
}

function walk(
  type: ResourceType,
  at: readonly PathSegment[],
  before: Value | undefined,
  after: Value | undefined,
  key: Buffer | undefined,
  found: Difference[],
): void {
  const path = formatPath(at);
  if (after instanceof Unknown) {
    found.push({ path, unknown: true });
    return;
  }
  if (isAttributes(before) && isAttributes(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort(compareText);
    for (const name of names) walk(type, [...at, name], before[name], after[name], key, found);
    return;
  }
  if (isList(before) && isList(after)) {
    const compare = traitsAt(type, path).compare;
    if (typeof compare === 'object') walkKeyed(type, at, before, after, compare, key, found);
    else if (!sameList(before, after, compare, key)) found.push({ path, unknown: after.some((item) => item instanceof Unknown) });
    return;
  }
  if (!sameValue(before, after, key)) found.push({ path, unknown: false });
}

/** Pairs the members of two lists by a member of theirs; members without it fall back to a comparison as a whole. */
function walkKeyed(
  type: ResourceType,
  at: readonly PathSegment[],
  before: readonly Value[],
  after: readonly Value[],
  compare: { readonly keyedBy: string },
  key: Buffer | undefined,
  found: Difference[],
): void {
  const left = keyed(before, compare.keyedBy);
  const right = keyed(after, compare.keyedBy);
  if (left === undefined || right === undefined) {
    if (!sameList(before, after, 'exact', key)) found.push({ path: formatPath(at), unknown: false });
    return;
  }
  for (const name of [...new Set([...left.keys(), ...right.keys()])].sort(compareText)) {
    walk(type, [...at, name], left.get(name), right.get(name), key, found);
  }
}

function keyed(list: readonly Value[], by: string): ReadonlyMap<string, Value> | undefined {
  const map = new Map<string, Value>();
  for (const item of list) {
    const name = isAttributes(item) ? item[by] : undefined;
    if ((typeof name !== 'string' && typeof name !== 'number') || map.has(String(name))) return undefined;
    map.set(String(name), item);
  }
  return map;
}

function sameList(before: readonly Value[], after: readonly Value[], compare: Compare, key: Buffer | undefined): boolean {
  if (before.length !== after.length) return false;
  if (compare !== 'set') return before.every((item, index) => sameValue(item, after[index], key));
  const order = (list: readonly Value[]) =>
    list.map((item) => [canonicalText(encodeValue(item, key)), item] as const).sort(([a], [b]) => compareText(a, b));
  const [left, right] = [order(before), order(after)];
  return left.every(([, item], index) => sameValue(item, right[index]?.[1], key));
}

/** The value at a path, undefined where there is none. */
export function valueAt(value: Value | undefined, segments: readonly PathSegment[]): Value | undefined {
  let current = value;
  for (const segment of segments) {
    if (isList(current) && typeof segment === 'number') current = current[segment];
    else if (isAttributes(current) && Object.hasOwn(current, String(segment))) current = current[String(segment)];
    else return undefined;
  }
  return current;
}

/**
 * The desired attributes with the places in `ignored` set to what is live, so that no difference is left there: an absent live value takes
 * the member away.
 */
export function ignoreChanges(desired: Attributes, live: Attributes, ignored: readonly string[] | 'all'): Attributes {
  if (ignored === 'all') return live;
  return ignored.reduce((result, path) => {
    const segments = parsePath(path);
    return segments === undefined ? result : (replaceAt(result, live, segments) as Attributes);
  }, desired);
}

function replaceAt(desired: Value | undefined, live: Value | undefined, segments: readonly PathSegment[]): Value | undefined {
  const [segment, ...rest] = segments;
  if (segment === undefined) return live;
  if (isList(desired) && typeof segment === 'number') {
    const inner = replaceAt(desired[segment], valueAt(live, [segment]), rest);
    return inner === undefined ? desired : desired.map((item, index) => (index === segment ? inner : item));
  }
  const base = isAttributes(desired) ? desired : {};
  const name = String(segment);
  const inner = replaceAt(Object.hasOwn(base, name) ? base[name] : undefined, valueAt(live, [segment]), rest);
  const others = Object.entries(base).filter(([other]) => other !== name);
  if (inner === undefined) return others.length === 0 && !isAttributes(desired) ? undefined : Object.fromEntries(others);
  return Object.fromEntries([...others, [name, inner]]);
}

/** Whether a difference lies at or below one of the paths, or above it. */
export function touches(path: AttributePath, paths: readonly AttributePath[]): boolean {
  return paths.some((other) => isBelow(path, other) || isBelow(other, path));
}

/** Whether a path names something in the attributes, as opposed to what the record says beside them. */
export function isAttributePath(type: ResourceType, path: AttributePath): boolean {
  const first = parsePath(path)?.[0];
  return typeof first === 'string' && type.traits.has(first);
}
