import { compareText } from '../../core/address.ts';
import { type Attributes, isAttributes, isList, type Scalar, Sensitive, Unknown, type Value } from '../../core/value.ts';

/** A value that is neither unknown nor a secret at its top. */
export type Bare = Scalar | readonly Value[] | Attributes;

/** Applies `change` below the wrappers: an unknown or sealed value passes as it is, an open secret is changed inside and stays a secret. */
export function lift(value: Value, change: (bare: Bare) => Value): Value {
  if (value instanceof Unknown) return value;
  if (value instanceof Sensitive) return value.isOpen ? Sensitive.open(lift(value.reveal(), change), value.names) : value;
  return change(value);
}

/** `lift` for an attribute that may be absent. */
export function liftOptional(value: Value | undefined, change: (bare: Bare) => Value | undefined): Value | undefined {
  if (value === undefined || value === null) return undefined;
  if (value instanceof Unknown) return value;
  if (value instanceof Sensitive) {
    if (!value.isOpen) return value;
    const inner = liftOptional(value.reveal(), change);
    return inner === undefined ? undefined : Sensitive.open(inner, value.names);
  }
  return change(value);
}

/** What is inside of the wrappers, or undefined while that is not known. */
export function bare(value: Value | undefined): Bare | undefined {
  if (value instanceof Sensitive) return value.isOpen ? bare(value.reveal()) : undefined;
  return value instanceof Unknown ? undefined : value;
}

/** The text inside of the wrappers; undefined when it is not known or no text. */
export function bareText(value: Value | undefined): string | undefined {
  const inner = bare(value);
  return typeof inner === 'string' ? inner : undefined;
}

/** The names of a map, wrappers looked through. */
export function memberNames(value: Value | undefined): readonly string[] {
  const inner = bare(value);
  return isAttributes(inner) ? Object.keys(inner) : [];
}

/** Scalars as text: YAML's numbers and booleans where the engine wants text. */
export function asText(value: Value): Value {
  return lift(value, (inner) => (typeof inner === 'number' || typeof inner === 'boolean' ? String(inner) : inner));
}

/** A map without the members that are undefined, or an empty list or map: absent is how the normal form says "at the default". */
export function compact(members: { readonly [name: string]: Value | undefined }): Attributes {
  return Object.fromEntries(Object.entries(members).filter((entry): entry is [string, Value] => !isEmpty(entry[1])));
}

function isEmpty(value: Value | undefined): boolean {
  if (value === undefined) return true;
  if (isList(value)) return value.length === 0;
  return isAttributes(value) && Object.keys(value).length === 0;
}

/** A list in the order of `keyOf`; what has no key yet stands at the end, in its own order. */
export function sortedBy(list: readonly Value[], keyOf: (item: Value) => string | undefined): readonly Value[] {
  const keyed = list.map((item) => [keyOf(item), item] as const);
  const known = keyed.filter((pair): pair is readonly [string, Value] => pair[0] !== undefined);
  const unknown = keyed.filter(([key]) => key === undefined);
  return [...known.toSorted(([a], [b]) => compareText(a, b)), ...unknown].map(([, item]) => item);
}

/** A list of text as a set: sorted, without doubles. */
export function textSet(list: readonly Value[]): readonly Value[] {
  const seen = new Set<string>();
  const single = list.filter((item) => {
    const text = bareText(item);
    if (text === undefined) return true;
    const isNew = !seen.has(text);
    seen.add(text);
    return isNew;
  });
  return sortedBy(single, bareText);
}

/**
 * A map from `KEY=VALUE` items or from a map, values as text. A list with an item that is not known yet is not known as a whole, since the
 * item's key is not; one with a secret item is a secret as a whole, since the key could be a part of it.
 */
export function textMap(value: Value | undefined, separator = '='): Value | undefined {
  return liftOptional(value, (inner) => {
    if (isAttributes(inner)) return Object.fromEntries(Object.entries(inner).map(([name, item]) => [name, asText(item ?? '')]));
    if (!isList(inner)) return inner;
    return keyedBySecret(inner, (items) =>
      Object.fromEntries(
        items.map((item) => {
          const text = String(item);
          const at = text.indexOf(separator);
          return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
        }),
      ),
    );
  });
}

/**
 * Builds a map whose keys come out of the items of a list. It is built from the bare items; unknown when one of them is, and a secret as a
 * whole when one of them is.
 */
export function keyedBySecret(items: readonly Value[], build: (bareItems: readonly Bare[]) => Value): Value {
  const unknown = items.find((item) => bare(item) === undefined);
  if (unknown !== undefined) return unknown;
  const built = build(items.map((item) => bare(item) ?? null));
  const secrets = items.filter((item) => item instanceof Sensitive);
  return secrets.length === 0
    ? built
    : Sensitive.open(
        built,
        secrets.flatMap((item) => item.names),
      );
}

/** Text that may become a name on the engine: a secret is none, since it would be shown. */
export function plainText(value: Value | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** One or many as a list. */
export function asList(value: Value | undefined, each: (item: Value) => Value): Value | undefined {
  return liftOptional(value, (inner) => (isList(inner) ? inner.map(each) : [each(inner)]));
}
