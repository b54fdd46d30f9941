import { type Attributes, isAttributes, type Value } from '../../core/value.ts';
import type { ObjectQuery } from '../contract.ts';
import { compact } from './lift.ts';

/**
 * The live attributes, with those that the engine's own configuration put there moved to `_defaults`: limits of processes, the size of shared
 * memory, options of networks. The engine does not tell which they are. But an object that still is the one which was made cannot have got
 * them later, so what it has and its record does not name was given to it when it was made. Of one that bears our mark and whose record is lost,
 * the documents say what it was made with. `names` are attributes that never change in place.
 */
export function withGifts(live: Attributes, query: Pick<ObjectQuery, 'ref' | 'id' | 'recorded' | 'desired'>, seen: Seen): Attributes {
  const made = madeWith(query, seen);
  if (made === undefined || seen.id === undefined) return live;
  const own: { [name: string]: Value } = { ...live };
  const gifts: { [name: string]: Value } = {};
  for (const name of seen.names) {
    const value = live[name];
    const known = made[name];
    if (value === undefined) continue;
    if (known === undefined) {
      gifts[name] = value;
      delete own[name];
    } else if (isAttributes(value) && isAttributes(known)) {
      const entries = Object.entries(value);
      gifts[name] = Object.fromEntries(entries.filter(([member]) => known[member] === undefined));
      own[name] = Object.fromEntries(entries.filter(([member]) => known[member] !== undefined));
    }
    if (isAttributes(own[name]) && Object.keys(own[name]).length === 0) delete own[name];
  }
  const defaults = isAttributes(live['_defaults']) ? live['_defaults'] : {};
  return { ...own, _defaults: compact({ ...defaults, ...gifts }) };
}

/** What an object was made with: of the one that was made its record, of one whose record is lost the documents. Undefined of every other one. */
export function madeWith(query: Parameters<typeof withGifts>[1], seen: Pick<Seen, 'ref' | 'id'>): Attributes | undefined {
  if (query.recorded === undefined) return query.ref === undefined && (query.id ?? seen.id) === seen.id ? query.desired : undefined;
  return seen.ref === query.ref && seen.id === query.id ? query.recorded.attributes : undefined;
}

/** What was found: its live id, our id in its mark, and the attributes that an engine may give by its own configuration. */
interface Seen {
  readonly ref: string;
  readonly id: string | undefined;
  readonly names: readonly string[];
}
