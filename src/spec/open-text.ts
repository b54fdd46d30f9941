import { hasInterpolation } from '../core/expression-text.ts';
import { Unknown, type Value } from '../core/value.ts';
import type { YamlNode } from './source.ts';

/** The value of a node in which every text with an expression is unknown: it is judged when it has been evaluated. */
export function openText(node: YamlNode): Value {
  switch (node.kind) {
    case 'scalar':
      return typeof node.value === 'string' && hasInterpolation(node.value) ? new Unknown('an expression') : node.value;
    case 'list':
      return node.items.map(openText);
    case 'map':
      return Object.fromEntries([...node.entries].map(([name, { value }]) => [name, openText(value)]));
  }
  return node satisfies never;
}
