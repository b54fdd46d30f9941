import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Graph } from '../../../src/core/graph.ts';

const graphOf = (edges: readonly (readonly [string, string])[], nodes: readonly string[] = []) => {
  const graph = new Graph();
  for (const node of nodes) graph.addNode(node);
  for (const [from, to] of edges) graph.addEdge(from, to);
  return graph;
};

const node = fc.stringMatching(/^[a-h]$/);
const edges = fc.array(fc.tuple(node, node), { maxLength: 20 });

describe('a graph', () => {
  it('must order what is needed before what needs it, or show a real cycle', () => {
    fc.assert(
      fc.property(edges, (pairs) => {
        const graph = graphOf(pairs);
        const result = graph.order();
        if ('order' in result) {
          expect([...result.order].sort()).toEqual(graph.nodes());
          for (const [from, to] of pairs) expect(result.order.indexOf(to)).toBeLessThan(result.order.indexOf(from));
        } else {
          expect(result.cycle[0]).toBe(result.cycle.at(-1));
          expect(result.cycle.length).toBeGreaterThan(1);
          for (const [index, from] of result.cycle.slice(0, -1).entries()) expect(graph.needs(from)).toContain(result.cycle[index + 1]);
        }
      }),
    );
  });

  it('must not depend on the order in which it was filled', () => {
    fc.assert(
      fc.property(edges, (pairs) => {
        expect(graphOf([...pairs].reverse()).order()).toEqual(graphOf(pairs).order());
      }),
    );
  });

  it('must take the first in text order among those that are free', () => {
    expect(graphOf([['b', 'z']], ['c', 'a']).order()).toEqual({ order: ['a', 'c', 'z', 'b'] });
    expect(
      graphOf([
        ['c', 'a'],
        ['a', 'b'],
        ['b', 'c'],
        ['x', 'a'],
      ]).order(),
    ).toEqual({ cycle: ['a', 'b', 'c', 'a'] });
    expect(graphOf([['a', 'a']]).order()).toEqual({ cycle: ['a', 'a'] });
    expect(new Graph().order()).toEqual({ order: [] });
  });

  it('must find neighbours and everything reachable', () => {
    const graph = graphOf([
      ['a', 'b'],
      ['b', 'c'],
      ['d', 'b'],
    ]);
    expect([graph.needs('a'), graph.neededBy('b'), graph.needs('x'), graph.has('x')]).toEqual([['b'], ['a', 'd'], [], false]);
    expect(graph.closure(['a'], 'needs')).toEqual(['a', 'b', 'c']);
    expect(graph.closure(['c'], 'neededBy')).toEqual(['a', 'b', 'c', 'd']);
    expect(graph.closure(['x'], 'needs')).toEqual([]);
  });
});
