import { isTypeName, parseAddress, type ResourceAddress } from '../core/address.ts';
import { nearMiss } from '../core/naming.ts';
import { isAttributes, type Value } from '../core/value.ts';
import { checkValue } from '../providers/validate.ts';
import type { Assembled, Item } from './assemble.ts';
import { evaluateCompiled } from './compile.ts';
import type { LoadContext } from './context.ts';
import { findAddress, type World } from './cross.ts';
import type { ImportBlock, MovedBlock, RemovedBlock } from './environment.ts';
import { importSchema, movedSchema, removedSchema } from './schema-blocks.ts';
import { nodeAt, nodeRange, problemPlace } from './source.ts';

/** Entries of `moved`; those by key are spelled out into one per type. */
export function loadMoved(assembled: Assembled, context: LoadContext, world: World): readonly MovedBlock[] {
  const moved: { readonly block: MovedBlock; readonly item: Item }[] = [];
  for (const item of assembled.lists.moved) {
    const value = entryOf(item, movedSchema, context);
    if (value === undefined) continue;
    const source = nodeRange(item.node);
    if (typeof value['from'] === 'string' && typeof value['to'] === 'string')
      moved.push({ block: { from: value['from'], to: value['to'], source }, item });
    else if (typeof value['key'] === 'string' && typeof value['to'] === 'string' && Array.isArray(value['in'])) {
      for (const type of value['in'] as readonly string[])
        moved.push({ block: { from: `${type}.${value['key']}`, to: `${type}.${value['to']}`, source }, item });
    }
  }
  const sources = new Set(moved.map(({ block }) => block.from));
  for (const { block, item } of moved) checkMove(block, item, sources, context, world);
  return moved.map(({ block }) => block);
}

function checkMove(block: MovedBlock, item: Item, sources: ReadonlySet<string>, context: LoadContext, world: World): void {
  for (const end of ['from', 'to'] as const) {
    if (isKnownAddress(block[end], context)) continue;
    context.report.add(
      {
        code: 'BAD_ADDRESS',
        summary: 'A text is no address',
        detail: `${block[end]} is not the address of a resource: PROVIDER.TYPE.NAME, with ["KEY"] behind it for one of several.`,
        observed: block[end],
      },
      nodeAt(item.node, [end]),
    );
    return;
  }
  if (block.from === block.to) {
    context.report.add({ code: 'MOVED_NOWHERE', summary: 'A move leads nowhere', detail: `${block.from} is moved to itself.` }, item.node);
    return;
  }
  const found = findAddress(block.to, world);
  if (found.kind !== 'unknown' || sources.has(block.to)) return;
  const near = nearMiss(block.to, [...world.instances.keys(), ...world.groups.keys()]);
  context.report.add(
    {
      code: 'MOVED_NOWHERE',
      summary: 'A move leads nowhere',
      detail: `${block.from} is moved to ${block.to}, which is neither a resource nor the from: of another move.${near === undefined ? '' : ` Did you mean ${near}?`}`,
      expected: 'the address of a resource',
    },
    nodeAt(item.node, ['to']),
  );
}

export function loadRemoved(assembled: Assembled, context: LoadContext, world: World): readonly RemovedBlock[] {
  return assembled.lists.removed.flatMap((item) => {
    const value = entryOf(item, removedSchema, context);
    if (value === undefined || typeof value['address'] !== 'string') return [];
    const address = value['address'];
    const place = nodeAt(item.node, ['address']);
    if (!isKnownAddress(address, context)) badAddress(address, place, context);
    else if (findAddress(address, world).kind !== 'unknown') {
      context.report.add(
        {
          code: 'REMOVED_AND_DEFINED',
          summary: 'A resource is removed and defined at once',
          detail: `${address} stands under removed: and under resources:. Remove one of the two.`,
          address,
        },
        place,
      );
    } else return [{ address, destroy: value['destroy'] !== false, source: nodeRange(item.node) }];
    return [];
  });
}

export function loadImports(assembled: Assembled, context: LoadContext, world: World): readonly ImportBlock[] {
  return assembled.lists.import.flatMap((item) => {
    const value = entryOf(item, importSchema, context);
    if (value === undefined || typeof value['address'] !== 'string' || typeof value['id'] !== 'string') return [];
    const { address, id } = value as { readonly address: string; readonly id: string };
    const place = nodeAt(item.node, ['address']);
    const found = findAddress(address, world);
    if (found.kind === 'instance') return [{ address: address as ResourceAddress, id, source: nodeRange(item.node) }];
    if (found.kind === 'undecided') return [];
    if (!isKnownAddress(address, context)) badAddress(address, place, context);
    else {
      const near = nearMiss(address, world.instances.keys());
      context.report.add(
        {
          code: 'UNKNOWN_RESOURCE',
          summary: 'A reference names a resource that does not exist',
          detail: `${address} is imported and stands under no resources:. Describe it there${found.kind === 'group' ? ', and name one instance with its key' : ''}.${near === undefined ? '' : ` Did you mean ${near}?`}`,
          expected: 'the address of a resource',
          observed: address,
        },
        place,
      );
    }
    return [];
  });
}

function badAddress(address: string, place: Parameters<LoadContext['report']['add']>[1], context: LoadContext): void {
  context.report.add(
    {
      code: 'BAD_ADDRESS',
      summary: 'A text is no address',
      detail: `${address} is not the address of a resource: PROVIDER.TYPE.NAME, with ["KEY"] behind it for one of several.`,
      observed: address,
    },
    place,
  );
}

/** Whether the text is an address of a type that exists. A key may stand at its end. */
function isKnownAddress(text: string, context: LoadContext): boolean {
  const parsed = parseAddress(text);
  return parsed !== undefined && isTypeName(parsed.type) && context.registry.find(parsed.type) !== undefined;
}

/** The evaluated entry, when its form is right. */
function entryOf(item: Item, schema: Parameters<typeof checkValue>[0], context: LoadContext): Readonly<Record<string, Value>> | undefined {
  const value = evaluateCompiled(context.compile(item.node, 'selection'), context.scope(item.document.file), (found) =>
    context.report.take(...found),
  );
  if (typeof value === 'symbol') return undefined;
  const problems = checkValue(schema, value);
  for (const problem of problems) context.report.addProblem(problem, problemPlace(item.node, problem));
  return problems.length === 0 && isAttributes(value) ? value : undefined;
}
