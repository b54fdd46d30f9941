import { isPlainName } from '../core/naming.ts';
import { OMIT } from '../core/template.ts';
import { containsSensitive, containsUnknown, isAttributes, isList, Unknown, type Value } from '../core/value.ts';
import type { ResourceBlock } from './assemble.ts';
import type { BlockParts } from './common-keys.ts';
import { type Compiled, evaluateCompiled } from './compile.ts';
import type { LoadContext } from './context.ts';
import type { Own } from './scopes.ts';
import { keyRange, nodeAt } from './source.ts';

/** The key and value of one instance; undefined for a resource without `for_each`. */
export type Each = Own['each'];

/** The instances of a block: one without `for_each`, none when it is disabled, undefined when a mistake hides it. */
export function selectInstances(parts: BlockParts, block: ResourceBlock, context: LoadContext): readonly Each[] | undefined {
  const enabled = parts.enabled === undefined ? true : selectionValue(parts.enabled, block, context);
  if (enabled !== true && enabled !== false) {
    if (enabled !== undefined)
      context.report.add(
        {
          code: 'WRONG_TYPE',
          summary: 'A value has the wrong type',
          detail: 'enabled must be true or false.',
          expected: 'true or false',
          address: block.base,
        },
        parts.enabled?.node,
      );
    return undefined;
  }
  if (parts.forEach === undefined) return enabled ? [undefined] : [];
  const collection = selectionValue(parts.forEach, block, context);
  if (collection === undefined) return undefined;
  const entries = eachOf(collection, parts.forEach, block, context);
  return enabled ? entries : [];
}

/** The value of `for_each` or `enabled`; undefined when there is a mistake. */
function selectionValue(compiled: Compiled, block: ResourceBlock, context: LoadContext): Value | undefined {
  const value = evaluateCompiled(compiled, context.scope(block.document.file), (found) => context.report.take(...found));
  if (value === OMIT || value instanceof Unknown || containsUnknown(value)) return undefined;
  if (!containsSensitive(value)) return value;
  context.report.add(
    {
      code: 'SECRET_NOT_ALLOWED_HERE',
      summary: 'A secret stands where none may be',
      detail: 'Which instances there are may not depend on a secret: their keys are shown.',
      address: block.base,
    },
    compiled.node,
  );
  return undefined;
}

function eachOf(collection: Value, compiled: Compiled, block: ResourceBlock, context: LoadContext): readonly Each[] | undefined {
  const { node } = compiled;
  const complain = (code: string, detail: string, index: string | number | undefined) =>
    context.report.add(
      { code, summary: 'for_each has a wrong key', detail, address: block.base },
      index === undefined ? node : typeof index === 'string' ? keyRange(node, [index]) : nodeAt(node, [index]),
    );
  if (isAttributes(collection)) {
    const keys = Object.keys(collection);
    const bad = keys.find((key) => !isPlainName(key));
    if (bad !== undefined)
      complain('BAD_INSTANCE_KEY', `The key ${JSON.stringify(bad)} cannot name an instance: letters, digits, _, - and . are allowed.`, bad);
    return bad === undefined ? keys.map((key) => ({ key, value: collection[key] ?? null })) : undefined;
  }
  if (!isList(collection)) {
    complain('WRONG_TYPE', 'for_each takes a map, or a list of unique texts.', undefined);
    return undefined;
  }
  const seen = new Set<string>();
  const each: Each[] = [];
  for (const [index, item] of collection.entries()) {
    if (typeof item !== 'string') complain('WRONG_TYPE', 'A list for for_each holds texts; use a map for other values.', index);
    else if (!isPlainName(item))
      complain(
        'BAD_INSTANCE_KEY',
        `The text ${JSON.stringify(item)} cannot name an instance: letters, digits, _, - and . are allowed.`,
        index,
      );
    else if (seen.has(item))
      complain('DUPLICATE_INSTANCE_KEY', `The text ${JSON.stringify(item)} stands twice in the list, and each names one instance.`, index);
    else {
      seen.add(item);
      each.push({ key: item, value: item });
      continue;
    }
    return undefined;
  }
  return each;
}
