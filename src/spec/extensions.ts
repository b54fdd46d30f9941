import type { MapEntry, MapNode, YamlNode } from './source.ts';

/** Where `x-…` keys are ours to ignore: by section, how many levels of maps below it. A key of a user's own map is never one. */
const SECTIONS: ReadonlyMap<string, number> = new Map([
  ['metadata', 1],
  ['variables', 2],
  ['secrets', 2],
  ['outputs', 2],
  ['providers', 2],
  ['defaults', 2],
  ['resources', 3],
  ['state', 1],
  ['policy', 1],
  ['hooks', 1],
  ['quiesce', 1],
]);

/** A document without the keys that begin with `x-`: they hold anchors and notes, as in Compose. */
export function withoutExtensions(root: MapNode): MapNode {
  return strip(root, (name, value) => {
    const depth = SECTIONS.get(name);
    return depth === undefined ? value : stripLevels(value, depth);
  });
}

function stripLevels(node: YamlNode, depth: number): YamlNode {
  if (node.kind !== 'map' || depth === 0) return node;
  return strip(node, (_, value) => stripLevels(value, depth - 1));
}

function strip(map: MapNode, change: (name: string, value: YamlNode) => YamlNode): MapNode {
  const entries = new Map<string, MapEntry>();
  for (const [name, { key, value }] of map.entries) if (!name.startsWith('x-')) entries.set(name, { key, value: change(name, value) });
  return { ...map, entries };
}
