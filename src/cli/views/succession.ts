import { compareText } from '../../core/address.ts';
import type { Succession } from '../../plan/model.ts';
import { oneLine } from './layout.ts';

/** Names that a line lists before the rest is counted. */
const MOST_NAMES = 6;

/** A list of names for one line. */
export function names(list: readonly string[]): string {
  const shown = list.slice(0, MOST_NAMES).map(oneLine).join(', ');
  return list.length > MOST_NAMES ? `${shown} and ${(list.length - MOST_NAMES).toLocaleString('en-US')} more` : shown;
}

/** What the documents change, by role and facet; a repair says the same with its drift. */
export function pathsByKind({ chosen, changedPaths }: Pick<Succession, 'chosen' | 'changedPaths'>): ReadonlyMap<string, readonly string[]> {
  const kinds = new Map<string, string[]>();
  for (const { path, role, facet, action } of chosen === 'drift-repair' ? [] : changedPaths) {
    const kind = action === 'changed' ? `${role}.${facet}` : `${role} ${action}`;
    const list = kinds.get(kind) ?? [];
    kinds.set(kind, list);
    list.push(path);
  }
  return new Map([...kinds].sort(([a], [b]) => compareText(a, b)));
}
