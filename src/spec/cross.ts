import { baseAddress, compareText, parseAddress, type ResourceAddress } from '../core/address.ts';
import { Graph } from '../core/graph.ts';
import { nearMiss } from '../core/naming.ts';
import type { ResourceReference } from '../core/template.ts';
import type { ResourceBlock } from './assemble.ts';
import type { ResourceInstance } from './environment.ts';
import type { Report } from './report.ts';
import type { Expansion } from './resources.ts';
import { nodeAt, nodeRange, type YamlNode } from './source.ts';

/** What exists, for checks across resources. */
export interface World {
  readonly blocks: ReadonlyMap<string, ResourceBlock>;
  readonly instances: ReadonlyMap<string, ResourceInstance>;
  /** Instance keys by `type.name`, for blocks with `for_each`. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  /** Blocks whose instances are not known, because of a mistake that was reported. */
  readonly undecided: ReadonlySet<string>;
}

export function worldOf(blocks: ReadonlyMap<string, ResourceBlock>, expansion: Expansion): World {
  const groups = new Map<string, string[]>();
  for (const [base, { node }] of blocks) if (node.kind === 'map' && node.entries.has('for_each')) groups.set(base, []);
  for (const { type, name, key } of expansion.instances) if (key !== undefined) groups.get(`${type}.${name}`)?.push(key);
  return {
    blocks,
    instances: new Map(expansion.instances.map((instance) => [instance.address, instance])),
    groups,
    undecided: expansion.undecided,
  };
}

/** Checks references between instances and that nothing needs itself; mistakes are reported at the resource that makes them. */
export function checkReferences(world: World, report: Report): void {
  const graph = new Graph();
  for (const [base, keys] of world.groups) for (const key of keys) graph.addEdge(group(base), `${base}["${key}"]`);
  for (const instance of world.instances.values()) {
    graph.addNode(instance.address);
    for (const reference of [...instance.references, ...instance.lifecycle.replaceTriggeredBy]) {
      const target = targetOf(reference, instance, world, report);
      if (target !== undefined) connect(instance, target, world, graph, report);
    }
    instance.dependsOn.forEach(({ address }, index) => {
      const target = dependencyOf(address, index, instance, world, report);
      if (target !== undefined) connect(instance, target, world, graph, report);
    });
  }
  reportCycle(graph, world, report);
}

/** The node that stands for all instances of a block. */
function group(base: string): string {
  return `${base}[*]`;
}

function blockOf(instance: ResourceInstance, world: World): ResourceBlock | undefined {
  return world.blocks.get(`${instance.type}.${instance.name}`);
}

function connect(instance: ResourceInstance, target: string, world: World, graph: Graph, report: Report): void {
  const block = blockOf(instance, world);
  if (target === instance.address || target === group(`${instance.type}.${instance.name}`)) {
    report.add(
      {
        code: 'SELF_REFERENCE',
        summary: 'A resource needs itself',
        detail: `${instance.address} refers to itself, so that it could never be made.`,
        address: instance.address,
      },
      block === undefined ? instance.source : nodeRange(block.key),
    );
    return;
  }
  graph.addEdge(instance.address, target);
}

function targetOf(reference: ResourceReference, instance: ResourceInstance, world: World, report: Report): string | undefined {
  const base = `${reference.type}.${reference.name}`;
  if (world.undecided.has(base)) return undefined;
  const keys = world.groups.get(base);
  if (keys === undefined) {
    if (world.instances.has(base)) return base;
    if (world.blocks.has(base)) disabled(base, instance, instance.source, report);
    return undefined;
  }
  if (reference.key === undefined) return group(base);
  const address = `${base}["${reference.key}"]`;
  if (world.instances.has(address)) return address;
  const near = nearMiss(reference.key, keys);
  report.add(
    {
      code: 'UNKNOWN_INSTANCE',
      summary: 'A reference names an instance that does not exist',
      detail: `${instance.address} reads ${JSON.stringify(reference.key)} of ${base}, which has for_each and no such instance.${near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`}`,
      expected:
        keys.length === 0
          ? 'an instance; there is none'
          : keys.length > 20
            ? `one of its ${keys.length} keys`
            : `one of ${[...keys].sort(compareText).join(', ')}`,
      observed: reference.key,
      address: instance.address,
    },
    instance.source,
  );
  return undefined;
}

function disabled(base: string, instance: ResourceInstance, place: Parameters<Report['add']>[1], report: Report): void {
  report.add(
    {
      code: 'DISABLED_RESOURCE',
      summary: 'A resource needs another one that is disabled',
      detail: `${instance.address} needs ${base}, whose enabled is false.`,
      address: instance.address,
    },
    place,
  );
}

function dependencyOf(address: string, index: number, instance: ResourceInstance, world: World, report: Report): string | undefined {
  const block = blockOf(instance, world);
  const node: YamlNode | undefined = block === undefined ? undefined : nodeAt(block.node, ['depends_on', index]);
  const found = findAddress(address, world);
  if (found.kind === 'instance') return found.address;
  if (found.kind === 'group') return group(found.base);
  if (found.kind === 'disabled') disabled(found.base, instance, node ?? instance.source, report);
  if (found.kind === 'unknown') {
    const near = nearMiss(address, [...world.instances.keys(), ...world.groups.keys()]);
    report.add(
      {
        code: 'UNKNOWN_RESOURCE',
        summary: 'A reference names a resource that does not exist',
        detail: `depends_on of ${instance.address} names ${address}, and there is no such resource.${near === undefined ? '' : ` Did you mean ${near}?`}`,
        expected: 'the address of a resource',
        observed: address,
        address: instance.address,
      },
      node ?? instance.source,
    );
  }
  return undefined;
}

export type Found =
  | { readonly kind: 'instance'; readonly address: ResourceAddress }
  | { readonly kind: 'group'; readonly base: string }
  | { readonly kind: 'disabled'; readonly base: string }
  /** Hidden by a mistake that was reported. */
  | { readonly kind: 'undecided' }
  | { readonly kind: 'unknown' };

/** What an address names: an instance, or all instances of a `for_each`. */
export function findAddress(address: string, world: World): Found {
  if (world.instances.has(address)) return { kind: 'instance', address: address as ResourceAddress };
  const parsed = parseAddress(address);
  if (parsed === undefined) return { kind: 'unknown' };
  const base = baseAddress(address as ResourceAddress);
  if (world.undecided.has(base)) return { kind: 'undecided' };
  if (!world.blocks.has(base)) return { kind: 'unknown' };
  if (world.groups.has(base)) return parsed.key === undefined ? { kind: 'group', base } : { kind: 'unknown' };
  return parsed.key === undefined ? { kind: 'disabled', base } : { kind: 'unknown' };
}

function reportCycle(graph: Graph, world: World, report: Report): void {
  const result = graph.order();
  if (!('cycle' in result)) return;
  const path = result.cycle
    .filter((node, index) => !(node.endsWith('[*]') && index > 0 && result.cycle[index + 1]?.startsWith(node.slice(0, -3)) === true))
    .map((node) => node.replace(/\[\*\]$/, ''));
  const [first = ''] = result.cycle.filter((node) => world.instances.has(node));
  const instance = world.instances.get(first);
  report.add(
    {
      code: 'CYCLE',
      summary: 'Resources need each other in a circle',
      detail: `The circle is ${path.join(' → ')}: each needs the next through a reference or depends_on. Break it at one of them.`,
      ...(instance === undefined ? {} : { address: instance.address }),
    },
    instance?.source,
  );
}
