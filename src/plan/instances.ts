import { baseAddress, compareText, parseAddress, type ResourceAddress } from '../core/address.ts';
import { Graph } from '../core/graph.ts';
import type { ResourceReference } from '../core/template.ts';
import type { ResourceInstance } from '../spec/environment.ts';

/** The desired instances by address and by the name that references use. */
export class InstanceIndex {
  readonly byAddress: ReadonlyMap<ResourceAddress, ResourceInstance>;
  readonly #byBase = new Map<string, ResourceInstance[]>();

  constructor(instances: readonly ResourceInstance[]) {
    this.byAddress = new Map(instances.map((instance) => [instance.address, instance]));
    for (const instance of instances) {
      const base = `${instance.type}.${instance.name}`;
      const list = this.#byBase.get(base);
      if (list === undefined) this.#byBase.set(base, [instance]);
      else list.push(instance);
    }
  }

  /** All instances under `type.name`. */
  under(base: string): readonly ResourceInstance[] {
    return this.#byBase.get(base) ?? [];
  }

  /** What a reference reads: one instance, or all of its name. */
  referenced(reference: ResourceReference): readonly ResourceInstance[] {
    const all = this.under(`${reference.type}.${reference.name}`);
    return reference.key === undefined ? all : all.filter((instance) => instance.key === reference.key);
  }

  /** What a written address names: itself, or without a key all instances. */
  named(address: string): readonly ResourceInstance[] {
    const parts = parseAddress(address);
    if (parts === undefined) return [];
    return this.referenced({ ...parts, path: [] });
  }

  /** Addresses that an instance needs, by reference, precondition or `depends_on`; sorted. */
  needs(instance: ResourceInstance): readonly ResourceAddress[] {
    const found = new Set<ResourceAddress>();
    for (const reference of instance.references) for (const needed of this.referenced(reference)) found.add(needed.address);
    // What a precondition reads has to be there before it can be judged.
    for (const condition of instance.lifecycle.preconditions) {
      for (const reference of condition.that.references) for (const needed of this.referenced(reference)) found.add(needed.address);
    }
    for (const dependency of instance.dependsOn) for (const needed of this.named(dependency.address)) found.add(needed.address);
    found.delete(instance.address);
    return [...found].sort(compareText);
  }
}

/** The graph of the desired instances. */
export function instanceGraph(index: InstanceIndex): Graph {
  const graph = new Graph();
  for (const instance of index.byAddress.values()) {
    graph.addNode(instance.address);
    for (const needed of index.needs(instance)) graph.addEdge(instance.address, needed);
  }
  return graph;
}

/** Whether `pattern`, an address with or without an instance key, names this address. */
export function isNamedBy(address: ResourceAddress, pattern: string): boolean {
  return address === pattern || baseAddress(address) === pattern;
}
