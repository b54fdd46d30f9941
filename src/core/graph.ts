import { compareText } from './address.ts';

/**
 * A directed graph over addresses. An edge goes from a node to what it needs. Nodes and edges come out in text order, so that nothing
 * built on a graph depends on the order in which it was filled.
 */
export class Graph {
  readonly #needs = new Map<string, Set<string>>();
  readonly #neededBy = new Map<string, Set<string>>();

  addNode(node: string): void {
    if (this.#needs.has(node)) return;
    this.#needs.set(node, new Set());
    this.#neededBy.set(node, new Set());
  }

  /** Both ends are added when missing. */
  addEdge(node: string, needed: string): void {
    this.addNode(node);
    this.addNode(needed);
    this.#needs.get(node)?.add(needed);
    this.#neededBy.get(needed)?.add(node);
  }

  has(node: string): boolean {
    return this.#needs.has(node);
  }

  nodes(): readonly string[] {
    return [...this.#needs.keys()].sort(compareText);
  }

  needs(node: string): readonly string[] {
    return [...(this.#needs.get(node) ?? [])].sort(compareText);
  }

  neededBy(node: string): readonly string[] {
    return [...(this.#neededBy.get(node) ?? [])].sort(compareText);
  }

  /** The nodes and everything that they need (`needs`) or that needs them (`neededBy`), in text order. */
  closure(nodes: Iterable<string>, direction: 'needs' | 'neededBy'): readonly string[] {
    const seen = new Set<string>();
    const stack = [...nodes];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (seen.has(node) || !this.has(node)) continue;
      seen.add(node);
      stack.push(...(direction === 'needs' ? this.needs(node) : this.neededBy(node)));
    }
    return [...seen].sort(compareText);
  }

  /**
   * All nodes, what is needed before what needs it; among those that are free at once the first in text order comes first. With a cycle the
   * answer is one cycle's path instead, its first node repeated at the end.
   */
  order(): { readonly order: readonly string[] } | { readonly cycle: readonly string[] } {
    const waiting = new Map<string, number>();
    const free = new Heap();
    for (const node of this.#needs.keys()) {
      const count = this.#needs.get(node)?.size ?? 0;
      waiting.set(node, count);
      if (count === 0) free.push(node);
    }
    const order: string[] = [];
    for (let node = free.pop(); node !== undefined; node = free.pop()) {
      order.push(node);
      waiting.delete(node);
      for (const next of this.#neededBy.get(node) ?? []) {
        const left = (waiting.get(next) ?? 0) - 1;
        waiting.set(next, left);
        if (left === 0) free.push(next);
      }
    }
    return waiting.size === 0 ? { order } : { cycle: this.#cycleAmong(waiting) };
  }

  #cycleAmong(remaining: ReadonlyMap<string, number>): readonly string[] {
    // Every remaining node needs another remaining one, or is needed only by such: walking along needs must come back to a node on the path.
    const start = [...remaining.keys()].sort(compareText)[0];
    const path: string[] = [];
    let node = start;
    while (node !== undefined) {
      const seen = path.indexOf(node);
      if (seen !== -1) return rotate(path.slice(seen));
      path.push(node);
      node = this.needs(node).find((needed) => remaining.has(needed));
    }
    throw new Error('a graph that has no order has no cycle either');
  }
}

/** Starts the cycle at its first node in text order and closes it. */
function rotate(cycle: readonly string[]): readonly string[] {
  const first = [...cycle].sort(compareText)[0] ?? '';
  const at = cycle.indexOf(first);
  return [...cycle.slice(at), ...cycle.slice(0, at), first];
}

/** A binary heap over text, smallest first: keeps `order` at n log n. */
class Heap {
  readonly #items: string[] = [];

  push(item: string): void {
    const items = this.#items;
    items.push(item);
    let at = items.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (compareText(items[parent] ?? '', items[at] ?? '') <= 0) break;
      this.#swap(parent, at);
      at = parent;
    }
  }

  pop(): string | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return top;
    items[0] = last;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let smallest = at;
      if (left < items.length && compareText(items[left] ?? '', items[smallest] ?? '') < 0) smallest = left;
      if (right < items.length && compareText(items[right] ?? '', items[smallest] ?? '') < 0) smallest = right;
      if (smallest === at) return top;
      this.#swap(smallest, at);
      at = smallest;
    }
  }

  #swap(a: number, b: number): void {
    const items = this.#items;
    const held = items[a] ?? '';
    items[a] = items[b] ?? '';
    items[b] = held;
  }
}
