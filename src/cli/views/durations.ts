import { parseAddress, type ResourceAddress } from '../../core/address.ts';
import { formatDuration } from '../../core/duration.ts';
import type { Plain } from '../../core/value.ts';
import type { PlanDocument } from '../../plan/model.ts';
import type { Registry } from '../../providers/contract.ts';
import type { ResourceRow } from '../../state/model.ts';
import { isPlainMap, markerOf } from './values.ts';

/** The plan with every time that a type holds in milliseconds as documents write it, `1m30s`. For showing only: its digest does not hold any more. */
export function planWithDurations(plan: PlanDocument, registry: Registry): PlanDocument {
  return {
    ...plan,
    changes: plan.changes.map((change) => {
      const paths = pathsOf(change.address, registry);
      return paths.size === 0 ? change : { ...change, before: spelled(change.before, '', paths), after: spelled(change.after, '', paths) };
    }),
    drift: plan.drift.map((entry) => {
      const paths = pathsOf(entry.address, registry);
      if (paths.size === 0) return entry;
      const moved = entry.paths.map((at) => ({
        ...at,
        recorded: spelled(at.recorded, at.path, paths),
        live: spelled(at.live, at.path, paths),
      }));
      return { ...entry, paths: moved };
    }),
  };
}

/** The recorded resource, likewise. */
export function rowWithDurations(row: ResourceRow, registry: Registry): ResourceRow {
  return { ...row, attributes: spelled(row.attributes, '', pathsOf(row.address, registry)) };
}

function pathsOf(address: ResourceAddress, registry: Registry): ReadonlySet<string> {
  const type = parseAddress(address)?.type;
  return new Set(type === undefined ? [] : registry.find(type)?.type.durations);
}

function spelled<T extends Plain | null | undefined>(value: T, path: string, paths: ReadonlySet<string>): T;
function spelled(value: Plain | null | undefined, path: string, paths: ReadonlySet<string>): Plain | null | undefined {
  if (typeof value === 'number') return paths.has(path) ? formatDuration(value) : value;
  if (value === null || value === undefined || !isPlainMap(value) || markerOf(value) !== undefined) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, spelled(item, path === '' ? name : `${path}.${name}`, paths)]),
  );
}
