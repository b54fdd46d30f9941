import { parseDuration } from '../core/duration.ts';
import { isPlainName } from '../core/naming.ts';
import { parsePath } from '../core/path.ts';
import type { ResourceReference } from '../core/template.ts';
import { containsSensitive, isAttributes, isList, Unknown, type Value } from '../core/value.ts';
import type { ResourceType } from '../providers/contract.ts';
import { checkValue } from '../providers/validate.ts';
import type { ResourceBlock } from './assemble.ts';
import { type Binding, bindExpression } from './binding.ts';
import { type Compiled, evaluateCompiled } from './compile.ts';
import type { LoadContext } from './context.ts';
import type { Condition, Dependency, Lifecycle, Timeouts, Update } from './environment.ts';
import { openText } from './open-text.ts';
import { COMMON_KEYS, type CommonKeys, commonSchema } from './schema-resource.ts';
import { type MapEntry, type MapNode, memberOf, nodeAt, problemPlace, type YamlNode } from './source.ts';
import { comesFirst, updateOf } from './update.ts';

const COMMON: ReadonlySet<string> = new Set(Object.keys(COMMON_KEYS));
const SELECTION: ReadonlySet<string> = new Set(['for_each', 'enabled']);

/** A block's keys apart: which instances there are, how they are treated, what they are. */
export interface BlockParts {
  readonly forEach: Compiled | undefined;
  readonly enabled: Compiled | undefined;
  readonly provider: Compiled | undefined;
  /** The common keys that are values, conditions left out. */
  readonly common: Compiled;
  readonly conditions: { readonly preconditions: readonly CompiledCondition[]; readonly postconditions: readonly CompiledCondition[] };
  readonly attributes: readonly (readonly [string, Compiled])[];
}

interface CompiledCondition {
  readonly that: Compiled;
  readonly message: Compiled;
}

/** Compiles every key of a block once. */
export function compileBlock(block: ResourceBlock, context: LoadContext): BlockParts {
  const root = block.node as MapNode;
  const at = (name: string) => root.entries.get(name)?.value;
  const compiled = (node: YamlNode | undefined, use: Parameters<LoadContext['compile']>[1]) =>
    node === undefined ? undefined : context.compile(node, use);
  const use = root.entries.has('for_each') ? 'attribute' : 'single';
  const lifecycle = at('lifecycle');
  const conditions = (name: string) =>
    conditionNodes(memberOf(lifecycle, name)).map(({ that, message }) => ({
      that: context.compile(that, use),
      message: context.compile(message, 'common'),
    }));
  const kept = [...root.entries].filter(([name]) => COMMON.has(name) && !SELECTION.has(name) && name !== 'provider');
  const common = new Map<string, MapEntry>(
    kept.map(([name, entry]) => [name, name === 'lifecycle' ? { ...entry, value: withoutConditions(entry.value) } : entry]),
  );
  return {
    forEach: compiled(at('for_each'), 'selection'),
    enabled: compiled(at('enabled'), 'selection'),
    provider: compiled(at('provider'), 'alias'),
    common: context.compile({ ...root, entries: common }, 'common'),
    conditions: { preconditions: conditions('preconditions'), postconditions: conditions('postconditions') },
    attributes: [...root.entries].filter(([name]) => !COMMON.has(name)).map(([name, { value }]) => [name, context.compile(value, use)]),
  };
}

function conditionNodes(list: YamlNode | undefined): readonly { readonly that: YamlNode; readonly message: YamlNode }[] {
  if (list?.kind !== 'list') return [];
  return list.items.flatMap((item) => {
    const [that, message] = [memberOf(item, 'that'), memberOf(item, 'message')];
    return that === undefined || message === undefined ? [] : [{ that, message }];
  });
}

function withoutConditions(node: YamlNode): YamlNode {
  if (node.kind !== 'map') return node;
  const entries = new Map([...node.entries].filter(([name, { value }]) => !/^(?:pre|post)conditions$/.test(name) || value.kind !== 'list'));
  return { ...node, entries };
}

/** Checks the form of the common keys as they are written; what is an expression waits. */
export function checkCommonForm(block: ResourceBlock, context: LoadContext): void {
  const root = block.node as MapNode;
  const entries = new Map([...root.entries].filter(([name]) => COMMON.has(name)));
  reportCommon(openText({ ...root, entries }), block, context);
}

function reportCommon(value: Value, block: ResourceBlock, context: LoadContext): boolean {
  const problems = checkValue(commonSchema, value);
  for (const problem of problems) context.report.addProblem(problem, problemPlace(block.node, problem), block.base);
  return problems.length === 0;
}

/** The common keys of one instance, in the engine's terms. */
export interface Treatment {
  readonly role: CommonKeys['role'];
  readonly dependsOn: readonly Dependency[];
  readonly lifecycle: Omit<Lifecycle, 'preconditions' | 'postconditions'>;
  readonly timeouts: Timeouts;
  readonly update: Update | undefined;
  readonly commitAfter: readonly string[];
}

export const NO_TREATMENT: Treatment = {
  role: undefined,
  dependsOn: [],
  lifecycle: { preventDestroy: undefined, ignoreChanges: [], createBeforeDestroy: false, replaceTriggeredBy: [] },
  timeouts: {},
  update: undefined,
  commitAfter: [],
};

/** Evaluates the common keys of an instance. With a mistake the answer is what a block without any has; the mistake is reported. */
export function treatmentOf(
  parts: BlockParts,
  block: ResourceBlock,
  type: ResourceType,
  scope: Binding['fixed'],
  context: LoadContext,
): Treatment {
  const value = evaluateCompiled(parts.common, scope, (found) => context.report.take(...found));
  if (typeof value === 'symbol' || !isAttributes(value)) return NO_TREATMENT;
  if (containsSensitive(value)) {
    context.report.add(
      {
        code: 'SECRET_NOT_ALLOWED_HERE',
        summary: 'A secret stands where none may be',
        detail: `A key of ${block.base} that steers what happens holds a secret. These keys are shown in plans.`,
        address: block.base,
      },
      block.key,
    );
    return NO_TREATMENT;
  }
  // The form of what is written out was checked before; this finds what expressions made wrong.
  if (!reportCommon(value, block, context)) return NO_TREATMENT;
  const keys = withoutHoles(value) as CommonKeys;
  return {
    role: keys.role,
    dependsOn: dependenciesOf(keys, block, type, context),
    lifecycle: lifecycleOf(keys, block, type, context),
    timeouts: timeoutsOf(keys.timeouts ?? {}),
    update: updateOf(keys, block, context),
    commitAfter: keys.commit_after ?? [],
  };
}

function dependenciesOf(keys: CommonKeys, block: ResourceBlock, type: ResourceType, context: LoadContext): readonly Dependency[] {
  return (keys.depends_on ?? []).map((item, index) => {
    const dependency =
      typeof item === 'string' ? { address: item, restart: false } : { address: item.address, restart: item.restart ?? false };
    if (dependency.restart && type.restarts !== true) {
      const detail = `${block.base} says restart: true, and what is of the type ${block.type} does not run. Name the address alone.`;
      const about = { code: 'CANNOT_RESTART', summary: 'A resource cannot restart with another one', detail, address: block.base };
      context.report.add(about, nodeAt(block.node, ['depends_on', index]));
    }
    return dependency;
  });
}

/** Values with a mistake are unknown; they are taken out, since the mistake is reported. */
function withoutHoles(value: Value): Value {
  if (isList(value)) return value.filter((item) => !(item instanceof Unknown)).map(withoutHoles);
  if (isAttributes(value))
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, item]) => (item instanceof Unknown ? [] : [[name, withoutHoles(item)]])),
    );
  return value;
}

function timeoutsOf(written: Readonly<Record<string, string | undefined>>): Timeouts {
  return Object.fromEntries(Object.entries(written).flatMap(([name, text]) => (text === undefined ? [] : [[name, parseDuration(text)]])));
}

function lifecycleOf(keys: CommonKeys, block: ResourceBlock, type: ResourceType, context: LoadContext): Treatment['lifecycle'] {
  const written = keys.lifecycle ?? {};
  const ignored = written.ignore_changes ?? [];
  if (ignored !== 'all') ignored.forEach((text, index) => checkIgnored(text, index, block, type, context));
  return {
    preventDestroy: written.prevent_destroy,
    ignoreChanges: ignored,
    createBeforeDestroy: comesFirst(keys),
    replaceTriggeredBy: (written.replace_triggered_by ?? []).flatMap((text, index) => triggerOf(text, index, block, context)),
    ...(written.data === undefined ? {} : { data: written.data }),
    ...(written.reversible === undefined ? {} : { reversible: written.reversible }),
  };
}

function checkIgnored(text: string, index: number, block: ResourceBlock, type: ResourceType, context: LoadContext): void {
  const path = parsePath(text);
  const [name] = path ?? [];
  if (path !== undefined && [...type.traits.keys()].some((known) => known === name || known.startsWith(`${String(name)}.`))) return;
  const place = nodeAt(block.node, ['lifecycle', 'ignore_changes', index]);
  context.report.add(
    {
      code: 'UNKNOWN_ATTRIBUTE',
      summary: 'A path leads to no attribute',
      detail: `${text} is no path of an attribute of ${block.type}.`,
      expected: 'a path such as labels or environment.LOG_LEVEL',
      address: block.base,
    },
    place,
  );
}

/** `PROVIDER.TYPE.NAME`, or `PROVIDER.TYPE.NAME["KEY"]`, either with the path of an attribute behind it. */
function triggerOf(text: string, index: number, block: ResourceBlock, context: LoadContext): readonly ResourceReference[] {
  const place = nodeAt(block.node, ['lifecycle', 'replace_triggered_by', index]);
  const match = /^([a-z][a-z0-9-]*\.[a-z][a-z0-9_]*)\.(.+)$/.exec(text);
  const found = match?.[1] === undefined ? undefined : context.registry.find(match[1]);
  const rest = match?.[2] ?? '';
  if (found !== undefined) {
    // A name may hold dots, so that the longest one that exists is meant.
    for (let end = rest.length; end > 0; end = rest.lastIndexOf('.', end - 1)) {
      const parsed = /^([A-Za-z0-9_.-]+?)(?:\["([^"]+)"\])?$/.exec(rest.slice(0, end));
      const name = parsed?.[1];
      if (name === undefined || !isPlainName(name) || context.fixed.table.shape(found.type.type, name) === undefined) continue;
      const path = end === rest.length ? [] : parsePath(rest.slice(end + 1));
      if (path === undefined) break;
      const key = parsed?.[2];
      return [{ type: found.type.type, name, ...(key === undefined ? {} : { key }), path: path.map(String) }];
    }
  }
  context.report.add(
    {
      code: 'UNKNOWN_RESOURCE',
      summary: 'A reference names a resource that does not exist',
      detail: `${text} is neither a resource nor an attribute of one.`,
      expected: 'an address, or one with the path of an attribute',
      observed: text,
      address: block.base,
    },
    place,
  );
  return [];
}

/** Conditions as expressions that wait for resources. */
export function conditionsOf(compiled: readonly CompiledCondition[], binding: Binding, context: LoadContext): readonly Condition[] {
  return compiled.flatMap(({ that, message }) => {
    const text = evaluateCompiled(message, binding.fixed, (found) => context.report.take(...found));
    if (that.kind !== 'expression') {
      if (!(that.kind === 'literal' && that.value instanceof Unknown)) {
        context.report.add(
          {
            code: 'WRONG_TYPE',
            summary: 'A condition is no expression',
            detail: 'that: takes one expression which is true or false, as ${…}.',
            expected: '${…}',
          },
          that.node,
        );
      }
      return [];
    }
    if (typeof text !== 'string') {
      if (!(text instanceof Unknown))
        context.report.add(
          {
            code: 'WRONG_TYPE',
            summary: 'The message of a condition is no text',
            detail: 'message: must be text without any secret.',
            expected: 'text',
          },
          message.node,
        );
      return [];
    }
    return [{ that: bindExpression(that.expression, binding), message: text }];
  });
}
