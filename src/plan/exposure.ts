import { Unknown, type Value } from '../core/value.ts';
import type { Assessed } from './assess.ts';
import { filledIn, liveComputed } from './live.ts';

/**
 * What others see of a resource: its attributes as written over those of the normal form, and its computed attributes. What only a new object
 * will tell is unknown.
 */
export function exposure(assessed: Assessed): Value {
  const { evaluated, type, observed, decision, masks, address } = assessed;
  if (evaluated === undefined) return new Unknown(address);
  const isNew = decision.action === 'create' || decision.action === 'replace' || decision.action === 'read';
  const isChange = decision.action === 'update' || decision.action === 'adopt';
  const renewed = isChange ? (type.renews?.(decision.paths.map(({ path }) => path)) ?? []) : [];
  const found = observed?.kind === 'found' && !isNew ? liveComputed(type, observed, masks) : {};
  const live = Object.fromEntries(Object.entries(found).filter(([name]) => !renewed.includes(name)));
  const computed: Record<string, Value> = {};
  for (const [path, traits] of type.traits) {
    if (traits.computed && !path.includes('.') && !path.includes('[')) computed[path] = new Unknown(`${address}.${path}`);
  }
  return { ...evaluated.normal, ...evaluated.written, ...computed, ...live, ...filledIn(evaluated.foreseen, live) };
}
