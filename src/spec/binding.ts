import type { SourceRange } from '../core/diagnostic.ts';
import type { CompiledExpression } from '../core/expression.ts';
import { FunctionRefusal } from '../core/expression-functions.ts';
import type { Scope } from '../core/expression-scope.ts';
import { joinText } from '../core/expression-text.ts';
import { type Expression, OMIT, type ResourceLookup, type Template } from '../core/template.ts';
import { type Compiled, evaluateCompiled } from './compile.ts';
import { bindReferences, type References } from './names.ts';
import type { Report } from './report.ts';
import { nodeRange, type YamlNode } from './source.ts';

/** Makes templates of compiled values for one instance: what needs no resource is evaluated, the rest stays an expression. */
export interface Binding {
  readonly references: References;
  readonly report: Report;
  readonly key: string | undefined;
  /** The scope without resources, and with them. */
  readonly fixed: Scope;
  scope(resources: ResourceLookup): Scope;
  /** Places by node, kept between instances. */
  readonly places: Map<YamlNode, SourceRange>;
}

/** The template, or undefined when the value is `omit`. */
export function bindTemplate(compiled: Compiled, binding: Binding): Template | undefined {
  const source = placeOf(compiled.node, binding);
  if (compiled.kind === 'literal') return { kind: 'literal', value: compiled.value, source };
  if (binding.references.of(compiled).length === 0) {
    const value = evaluateCompiled(compiled, binding.fixed, (found) => binding.report.take(...found));
    return value === OMIT ? undefined : { kind: 'literal', value, source };
  }
  switch (compiled.kind) {
    case 'expression':
      return { kind: 'expression', expression: bindExpression(compiled.expression, binding), source };
    case 'text': {
      const parts = compiled.parts.map((part) => (typeof part === 'string' ? part : bindExpression(part, binding)));
      return { kind: 'text', parts, source, join: (values) => joinText(values, source) };
    }
    case 'list':
      return { kind: 'list', items: compiled.items.flatMap((item) => bindTemplate(item, binding) ?? []), source };
    case 'map': {
      const entries = compiled.entries.flatMap(([name, entry]) => {
        const bound = bindTemplate(entry, binding);
        return bound === undefined ? [] : [[name, bound] as const];
      });
      return { kind: 'map', entries, source };
    }
  }
  return compiled satisfies never;
}

/** Closes an expression over everything but resources. The files that it reads are read now. */
export function bindExpression(expression: CompiledExpression, binding: Binding): Expression {
  for (const name of expression.filePaths(binding.fixed)) {
    try {
      expression.language.files.file(name);
    } catch (error) {
      if (!(error instanceof FunctionRefusal)) throw error;
      binding.report.add(
        { code: 'EXPRESSION_FAILED', summary: 'An expression cannot be computed', detail: error.message },
        expression.locate(0),
      );
    }
  }
  const source = expression.locate(0);
  return {
    text: expression.text,
    ...(source === undefined ? {} : { source }),
    references: bindReferences(binding.references.ofExpression(expression), binding.key),
    evaluate: (resources) => expression.evaluate(binding.scope(resources)),
  };
}

function placeOf(node: YamlNode, binding: Binding): SourceRange {
  const known = binding.places.get(node);
  if (known !== undefined) return known;
  const place = nodeRange(node);
  binding.places.set(node, place);
  return place;
}
