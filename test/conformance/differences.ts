import { compareText } from '../../src/core/address.ts';
import { canonicalText } from '../../src/core/canonical.ts';
import { formatPath, type PathSegment } from '../../src/core/path.ts';
import { type Attributes, type Plain, reveal } from '../../src/core/value.ts';
import type { ResourceType } from '../../src/providers/contract.ts';
import { traitsAt } from '../../src/providers/define.ts';

/** The paths at which the live attributes, in terms of the desired ones, differ from them. Secrets are compared in clear, computed and write-only attributes not at all. */
export function differences(type: ResourceType, desired: Attributes, live: Attributes): readonly string[] {
  const aligned = type.align?.(desired, live) ?? live;
  const found: string[] = [];
  walk(type, [], reveal(desired), reveal(aligned), found);
  return found.sort(compareText);
}

function walk(type: ResourceType, at: readonly PathSegment[], a: Plain | undefined, b: Plain | undefined, found: string[]): void {
  const path = formatPath(at);
  const traits = path === '' ? undefined : traitsAt(type, path);
  if (traits?.computed === true || traits?.writeOnly === true) return;
  if (isRecord(a) && isRecord(b)) {
    for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) walk(type, [...at, name], a[name], b[name], found);
    return;
  }
  const compare = traits?.compare ?? 'exact';
  const [left, right] = [keyed(a, compare), keyed(b, compare)];
  if (left !== undefined && right !== undefined) return walk(type, at, left, right, found);
  if (comparable(a, compare) !== comparable(b, compare)) found.push(path);
}

function comparable(value: Plain | undefined, compare: 'exact' | 'set' | { readonly keyedBy: string }): string {
  if (value === undefined) return '';
  if (compare === 'exact' || !Array.isArray(value)) return canonicalText(value);
  return canonicalText(value.map((item: Plain) => canonicalText(item)).sort(compareText));
}

/** A list whose items are told apart by a member of theirs, by that member. */
function keyed(
  value: Plain | undefined,
  compare: 'exact' | 'set' | { readonly keyedBy: string },
): { readonly [name: string]: Plain } | undefined {
  if (typeof compare === 'string' || !Array.isArray(value)) return undefined;
  const named = new Map(value.map((item: Plain) => [isRecord(item) ? item[compare.keyedBy] : undefined, item] as const));
  const isTold = named.size === value.length && [...named.keys()].every((name) => typeof name === 'string' || typeof name === 'number');
  return isTold ? Object.fromEntries(named) : undefined;
}

function isRecord(value: Plain | undefined): value is { readonly [name: string]: Plain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
