import { parseAddress } from '../core/address.ts';
import type { ResourceLookup } from '../core/template.ts';
import { type Attributes, decodeValue, isAttributes, Unknown, type Value } from '../core/value.ts';
import type { Environment } from '../spec/environment.ts';
import type { Snapshot } from '../state/model.ts';

/**
 * Answers what is recorded of a resource, for expressions that are tried outside of a plan. What the documents hold and nobody applied yet is
 * unknown; instances of a `for_each` come as a map by key.
 */
export function recordedLookup(environment: Environment, snapshot: Snapshot | undefined): ResourceLookup {
  const recorded = new Map<string, Value>();
  const bases = new Map<string, Map<string | undefined, Value>>();
  for (const row of snapshot?.resources.values() ?? []) {
    recorded.set(row.address, { ...attributesOf(row.attributes), ...attributesOf(row.computed) });
  }
  const addresses = new Set<string>([...environment.resources.map((instance) => instance.address), ...recorded.keys()]);
  for (const address of addresses) {
    const parts = parseAddress(address);
    if (parts === undefined) throw new Error(`${address} is not an address`);
    const base = `${parts.type}.${parts.name}`;
    const instances = bases.get(base) ?? new Map<string | undefined, Value>();
    bases.set(base, instances.set(parts.key, recorded.get(address) ?? new Unknown(address)));
  }
  return (type, name) => {
    const instances = bases.get(`${type}.${name}`);
    if (instances === undefined) return undefined;
    const keyed = [...instances].filter((entry): entry is [string, Value] => entry[0] !== undefined);
    return keyed.length > 0 ? Object.fromEntries(keyed) : instances.get(undefined);
  };
}

function attributesOf(stored: Parameters<typeof decodeValue>[0]): Attributes {
  const value = decodeValue(stored);
  return isAttributes(value) ? value : {};
}
