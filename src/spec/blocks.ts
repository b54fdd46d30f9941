import type { z } from 'zod';
import { compareText, parseAddress } from '../core/address.ts';
import { type Attributes, containsSensitive, isAttributes, type Value } from '../core/value.ts';
import { checkValue } from '../providers/validate.ts';
import type { Assembled, Block } from './assemble.ts';
import { type Binding, bindTemplate } from './binding.ts';
import { evaluateCompiled } from './compile.ts';
import type { LoadContext } from './context.ts';
import type { OutputBlock } from './environment.ts';
import { loadPolicy } from './policy.ts';
import { hooksSchema, quiesceSchema } from './schema-blocks.ts';
import type { UseName } from './scopes.ts';
import { memberOf, nodeRange, problemPlace, type SourceFile, type YamlNode } from './source.ts';

/** The evaluated and checked value of one block; empty when it is not there or has a mistake. */
export function evaluateBlock(
  node: YamlNode | undefined,
  schema: z.ZodType,
  use: UseName,
  file: SourceFile,
  context: LoadContext,
): Attributes {
  if (node === undefined) return {};
  const value = evaluateCompiled(context.compile(node, use), context.scope(file), (found) => context.report.take(...found));
  if (typeof value === 'symbol') return {};
  const problems = checkValue(schema, value);
  for (const problem of problems) context.report.addProblem(problem, problemPlace(node, problem));
  return problems.length === 0 && isAttributes(value) ? value : {};
}

export interface Steering {
  readonly policy: Attributes;
  readonly hooks: Attributes;
  readonly quiesce: Attributes;
}

/** The blocks that steer plan and apply. */
export function loadSteering(assembled: Assembled, context: LoadContext): Steering {
  const { file } = assembled.environment;
  const { policy, hooks, quiesce } = assembled.single;
  const steering = {
    policy: loadPolicy(policy, file, context),
    hooks: evaluateBlock(hooks, hooksSchema, 'block', file, context),
    quiesce: evaluateBlock(quiesce, quiesceSchema, 'block', file, context),
  };
  for (const name of ['policy', 'hooks', 'quiesce'] as const) {
    if (!containsSensitive(steering[name])) continue;
    context.report.add(
      {
        code: 'SECRET_NOT_ALLOWED_HERE',
        summary: 'A secret stands where none may be',
        detail: `${name}: is shown in plans and cannot hold a secret.`,
      },
      assembled.single[name],
    );
  }
  checkProtected(steering.policy['prevent_destroy'], policy, context);
  return steering;
}

/** A glob of addresses that can never match is a slip. */
function checkProtected(globs: Value | undefined, policy: YamlNode | undefined, context: LoadContext): void {
  if (!Array.isArray(globs)) return;
  for (const [index, glob] of (globs as readonly Value[]).entries()) {
    if (typeof glob !== 'string' || /[*?[{]/.test(glob) || parseAddress(glob) !== undefined) continue;
    const list = memberOf(policy, 'prevent_destroy');
    const place = list?.kind === 'list' ? list.items[index] : undefined;
    context.report.add(
      {
        code: 'BAD_ADDRESS',
        summary: 'A text is no address',
        detail: `${glob} is neither an address nor a glob of addresses, such as TYPE.*.`,
        observed: glob,
      },
      place ?? policy,
    );
  }
}

/** The configuration of a provider block, its expressions filled in. */
export function providerConfig(block: Block, context: LoadContext): Attributes {
  if (block.node.kind !== 'map') return {};
  const value = evaluateCompiled(context.compile(block.node, 'block'), context.scope(block.document.file), (found) =>
    context.report.take(...found),
  );
  return typeof value !== 'symbol' && isAttributes(value) ? value : {};
}

/** Outputs by name; what needs a resource stays an expression. */
export function loadOutputs(assembled: Assembled, context: LoadContext): readonly OutputBlock[] {
  return [...assembled.named.outputs.values()]
    .sort((a, b) => compareText(a.name, b.name))
    .flatMap((block): readonly OutputBlock[] => {
      const node = memberOf(block.node, 'value');
      if (node === undefined) return [];
      const { file } = block.document;
      const binding: Binding = {
        references: context.references,
        report: context.report,
        places: context.places,
        key: undefined,
        fixed: context.scope(file),
        scope: (lookup) => context.scope(file, {}, lookup),
      };
      const value = bindTemplate(context.compile(node, 'output'), binding);
      if (value === undefined) return [];
      const description = memberOf(block.node, 'description');
      const text = description?.kind === 'scalar' && typeof description.value === 'string' ? description.value : undefined;
      return [{ name: block.name, value, ...(text === undefined ? {} : { description: text }), source: nodeRange(block.key) }];
    });
}
