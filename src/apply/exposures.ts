import type { ResourceLookup } from '../core/template.ts';
import { isAttributes, type Value } from '../core/value.ts';
import type { ResourceInstance } from '../spec/environment.ts';

/**
 * What expressions see while the steps run: what the plan saw, and over it what the objects that are done tell. The map of a `for_each` is
 * one object that is changed in place, so that a thousand instances which come one by one do not copy it a thousand times.
 */
export class Exposures {
  readonly #planned: ResourceLookup;
  readonly #bases = new Map<string, Record<string, Value>>();
  readonly #single = new Map<string, Value>();

  constructor(planned: ResourceLookup) {
    this.#planned = planned;
  }

  readonly lookup: ResourceLookup = (type, name) => {
    const base = `${type}.${name}`;
    return this.#single.get(base) ?? this.#bases.get(base) ?? this.#planned(type, name);
  };

  set(instance: Pick<ResourceInstance, 'address' | 'type' | 'name' | 'key'>, value: Value): void {
    const base = `${instance.type}.${instance.name}`;
    if (instance.key === undefined) {
      this.#single.set(base, value);
      return;
    }
    let map = this.#bases.get(base);
    if (map === undefined) {
      const planned = this.#planned(instance.type, instance.name);
      map = { ...(isAttributes(planned) ? planned : {}) };
      this.#bases.set(base, map);
    }
    map[instance.key] = value;
  }
}
