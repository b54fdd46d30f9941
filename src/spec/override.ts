import type { Report } from './report.ts';
import type { MapEntry, MapNode, YamlNode } from './source.ts';

/** What overrides say, over what is there: maps merge by key, scalars and lists replace, `null` takes a key away. */
export function mergeOverride(base: YamlNode, over: YamlNode, report: Report): YamlNode {
  if (base.kind !== 'map' || over.kind !== 'map') return over;
  const entries = new Map<string, MapEntry>(base.entries);
  for (const [name, { key, value }] of over.entries) {
    const present = entries.get(name);
    if (value.kind === 'scalar' && value.value === null) {
      if (present === undefined)
        report.add(
          {
            code: 'NOTHING_TO_OVERRIDE',
            summary: 'An override has nothing to change',
            detail: `There is no key ${name} that null could take away.`,
          },
          key,
        );
      entries.delete(name);
    } else entries.set(name, present === undefined ? { key, value } : { key, value: mergeOverride(present.value, value, report) });
  }
  return { ...base, entries };
}

/** Defaults under what a resource says: maps merge by key, anything else the resource says wins, and its `null` takes a default away. */
export function mergeDefaults(own: MapNode, under: MapNode): MapNode {
  const entries = new Map<string, MapEntry>(own.entries);
  for (const [name, entry] of under.entries) {
    const present = own.entries.get(name);
    if (present === undefined) entries.set(name, entry);
    else if (present.value.kind === 'scalar' && present.value.value === null) entries.delete(name);
    else if (present.value.kind === 'map' && entry.value.kind === 'map')
      entries.set(name, { key: present.key, value: mergeDefaults(present.value, entry.value) });
  }
  return { ...own, entries };
}
