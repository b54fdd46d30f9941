import { formatPath, type PathSegment } from '../core/path.ts';
import { type Attributes, containsSensitive, isAttributes, isList, mapEntries, Sensitive, type Value } from '../core/value.ts';
import type { ResourceType } from '../providers/contract.ts';

/**
 * Wraps what a read brought in clear. A place is secret when its attribute is, when the desired or the recorded value at the same place is,
 * or when it shows one of the run's secrets where the desired document does not show the same text: a secret that drifted somewhere else.
 */
export function maskLive(
  live: Attributes,
  type: ResourceType,
  known: { readonly desired: Attributes | undefined; readonly recorded: Attributes | undefined; readonly secrets: readonly string[] },
): Attributes {
  return mapEntries(live, (item, name) => {
    if (type.traits.get(name)?.sensitive === true) return Sensitive.open(item);
    return mask(item, known.desired?.[name], known.recorded?.[name], known.secrets);
  });
}

/** A secret shorter than this is too likely to be ordinary text for a search by value. */
const SHORTEST_SEARCHED = 6;

/** The texts to look for in what was read. */
export function searchedSecrets(secrets: Iterable<Sensitive>): readonly string[] {
  const texts = new Set<string>();
  const gather = (value: Value) => {
    if (value instanceof Sensitive) {
      if (value.isOpen) gather(value.reveal());
    } else if (isList(value)) value.forEach(gather);
    else if (isAttributes(value)) Object.values(value).forEach(gather);
    else if (typeof value === 'string' && value.length >= SHORTEST_SEARCHED) texts.add(value);
  };
  for (const secret of secrets) gather(secret);
  return [...texts].sort();
}

function mask(live: Value, desired: Value | undefined, recorded: Value | undefined, secrets: readonly string[]): Value {
  if (desired instanceof Sensitive) return Sensitive.open(live, desired.names);
  if (recorded instanceof Sensitive) return Sensitive.open(live, recorded.names);
  if (isList(live)) {
    // The members of two lists need not stand at the same index: a list with a secret anywhere in it is secret as a whole where the lists differ in length.
    const templates = [desired, recorded].filter(isList);
    if (templates.some((list) => containsSensitive(list) && list.length !== live.length)) return Sensitive.open(live);
    return live.map((item, index) =>
      mask(item, isList(desired) ? desired[index] : undefined, isList(recorded) ? recorded[index] : undefined, secrets),
    );
  }
  if (isAttributes(live)) {
    return mapEntries(live, (item, name) =>
      mask(item, isAttributes(desired) ? desired[name] : undefined, isAttributes(recorded) ? recorded[name] : undefined, secrets),
    );
  }
  if (typeof live === 'string' && live !== desired && secrets.some((secret) => live.includes(secret))) return Sensitive.open(live);
  return live;
}

/** Paths of all sensitive places, topmost only, sorted by the caller's order of members. */
export function sensitivePaths(value: Value, at: readonly PathSegment[] = []): readonly string[] {
  if (value instanceof Sensitive) return [formatPath(at)];
  if (isList(value)) return value.flatMap((item, index) => sensitivePaths(item, [...at, index]));
  if (isAttributes(value)) return Object.entries(value).flatMap(([name, item]) => sensitivePaths(item, [...at, name]));
  return [];
}
