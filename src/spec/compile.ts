import type { Diagnostic, SourceRange } from '../core/diagnostic.ts';
import { type CompiledExpression, compileExpression } from '../core/expression.ts';
import type { CelLanguage } from '../core/expression-cel.ts';
import { ExpressionFailure, type Scope } from '../core/expression-scope.ts';
import { type Flaw, flawOf, flawText } from '../core/expression-size.ts';
import { hasInterpolation, joinText, splitInterpolation } from '../core/expression-text.ts';
import { OMIT, type Omit } from '../core/template.ts';
import { Unknown, type Value } from '../core/value.ts';
import type { Report } from './report.ts';
import { nodeRange, rangeOf, type ScalarNode, scalarOffset, type YamlNode } from './source.ts';

/** A node whose expressions are parsed; it is evaluated as often as there are instances. */
export type Compiled =
  | { readonly kind: 'literal'; readonly value: Value; readonly node: YamlNode }
  | { readonly kind: 'expression'; readonly expression: CompiledExpression; readonly node: YamlNode }
  | { readonly kind: 'text'; readonly parts: readonly (string | CompiledExpression)[]; readonly node: YamlNode }
  | { readonly kind: 'list'; readonly items: readonly Compiled[]; readonly node: YamlNode }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [string, Compiled])[]; readonly node: YamlNode };

/** Where a node stands: which names its expressions may use. */
export interface CompilePlace {
  /** The language for a document's folder: what `file` is relative to. */
  languageFor(folder: string): CelLanguage;
  readonly roots: ReadonlySet<string>;
  /** Names that exist elsewhere, and why not here. */
  readonly refused: ReadonlyMap<string, string>;
  /** What an unknown name in an expression was meant to be. */
  readonly hint?: (text: string, name: string, offset: number) => string | undefined;
  /** Looks at what a parsed expression reads and reports what does not exist; false when it cannot be used. */
  check?(expression: CompiledExpression): boolean;
}

/** Stands for a value that has a mistake which was reported: nothing that depends on it is judged any more. */
export const BROKEN = new Unknown('a value with a mistake');

/** Compiles every expression in a node. Mistakes are reported, and stand as `BROKEN` in the result. */
export function compileNode(node: YamlNode, place: CompilePlace, report: Report): Compiled {
  switch (node.kind) {
    case 'scalar':
      return typeof node.value === 'string' && hasInterpolation(node.value)
        ? compileText(node, node.value, place, report)
        : { kind: 'literal', value: node.value, node };
    case 'list': {
      const items = node.items.map((item) => compileNode(item, place, report));
      return items.every(({ kind }) => kind === 'literal')
        ? { kind: 'literal', value: items.map(literalOf), node }
        : { kind: 'list', items, node };
    }
    case 'map': {
      const entries = [...node.entries].map(([name, { key, value }]) => {
        refuseInKey(key, report);
        return [name, compileNode(value, place, report)] as const;
      });
      if (entries.every(([, { kind }]) => kind === 'literal')) {
        return { kind: 'literal', value: Object.fromEntries(entries.map(([name, entry]) => [name, literalOf(entry)])), node };
      }
      return { kind: 'map', entries, node };
    }
  }
  return node satisfies never;
}

function literalOf(compiled: Compiled): Value {
  if (compiled.kind !== 'literal') throw new Error('not a literal');
  return compiled.value;
}

function refuseInKey(key: ScalarNode, report: Report): void {
  if (typeof key.value === 'string' && /(?<!\$)\$\{/.test(key.value)) {
    report.add(
      {
        code: 'EXPRESSION_IN_KEY',
        summary: 'A key holds an expression',
        detail: 'Keys are plain text. Build the map with an expression instead, as the whole value: ${ {…} } or ${merge(…)}.',
      },
      key,
    );
  }
}

function compileText(node: ScalarNode, text: string, place: CompilePlace, report: Report): Compiled {
  const split = splitInterpolation(text);
  if ('unclosed' in split) {
    const offset = scalarOffset(node, split.unclosed);
    report.add(
      {
        code: 'UNCLOSED_EXPRESSION',
        summary: 'An expression is not closed',
        detail: 'The ${ at this place has no } that ends it. Close it, or write $${ for a literal ${.',
        expected: '}',
      },
      rangeOf(node.file, offset, offset + 2),
    );
    return { kind: 'literal', value: BROKEN, node };
  }
  const { parts } = split;
  const compiled = parts.map((part) => {
    if (part.kind === 'text') return part.text;
    const locate = (offset: number): SourceRange => {
      const from = scalarOffset(node, part.offset + offset);
      return rangeOf(node.file, from, from + 1);
    };
    const outcome = compileExpression(part.text, {
      language: place.languageFor(node.file.folder),
      roots: place.roots,
      refused: place.refused,
      locate,
      ...(place.hint === undefined ? {} : { hint: (name, offset) => place.hint?.(part.text, name, offset) }),
    });
    report.take(...outcome.diagnostics);
    return outcome.ok && (place.check?.(outcome.value) ?? true) ? outcome.value : undefined;
  });
  if (compiled.includes(undefined)) return { kind: 'literal', value: BROKEN, node };
  const usable = compiled.filter((part) => part !== undefined);
  const [only] = usable;
  if (usable.length === 1 && only !== undefined)
    return typeof only === 'string' ? { kind: 'literal', value: only, node } : { kind: 'expression', expression: only, node };
  return { kind: 'text', parts: usable, node };
}

/** Every expression in a compiled node. */
export function expressionsIn(compiled: Compiled): readonly CompiledExpression[] {
  switch (compiled.kind) {
    case 'literal':
      return [];
    case 'expression':
      return [compiled.expression];
    case 'text':
      return compiled.parts.filter((part) => typeof part !== 'string');
    case 'list':
      return compiled.items.flatMap(expressionsIn);
    case 'map':
      return compiled.entries.flatMap(([, entry]) => expressionsIn(entry));
  }
  return compiled satisfies never;
}

/** The finished value in a scope, of bounded size. What goes wrong is handed over, and stands as `BROKEN` in the result. */
export function evaluateCompiled(compiled: Compiled, scope: Scope, complain: (diagnostics: readonly Diagnostic[]) => void): Value | Omit {
  const value = fillCompiled(compiled, scope, complain);
  if (value === OMIT || compiled.kind === 'literal') return value;
  const flaw = flawOf(value);
  if (flaw === undefined) return value;
  complain([{ severity: 'error', ...flawMistake(flaw), source: nodeRange(compiled.node) }]);
  return BROKEN;
}

/** A value that cannot be kept, as a mistake without its place. */
export function flawMistake(flaw: Flaw): { readonly code: string; readonly summary: string; readonly detail: string } {
  return flaw === 'text'
    ? { code: 'BAD_TEXT', summary: 'A text holds half of a character', detail: flawText(flaw) }
    : { code: 'VALUE_TOO_LARGE', summary: 'A value is too large', detail: flawText(flaw) };
}

function fillCompiled(compiled: Compiled, scope: Scope, complain: (diagnostics: readonly Diagnostic[]) => void): Value | Omit {
  switch (compiled.kind) {
    case 'literal':
      return compiled.value;
    case 'expression':
      return evaluateOne(compiled.expression, scope, complain);
    case 'text': {
      const values: Value[] = [];
      for (const part of compiled.parts) {
        const value = typeof part === 'string' ? part : evaluateOne(part, scope, complain);
        values.push(value === OMIT ? null : value);
      }
      if (values.includes(BROKEN)) return BROKEN;
      const joined = joinText(values, nodeRange(compiled.node));
      if (joined.ok) return joined.value;
      complain(joined.diagnostics);
      return BROKEN;
    }
    case 'list':
      return compiled.items.map((item) => fillCompiled(item, scope, complain)).filter((item) => item !== OMIT);
    case 'map': {
      const entries: [string, Value][] = [];
      for (const [name, entry] of compiled.entries) {
        const value = fillCompiled(entry, scope, complain);
        if (value !== OMIT) entries.push([name, value]);
      }
      return Object.fromEntries(entries);
    }
  }
  return compiled satisfies never;
}

function evaluateOne(expression: CompiledExpression, scope: Scope, complain: (diagnostics: readonly Diagnostic[]) => void): Value | Omit {
  const outcome = expression.evaluate(scope);
  if (outcome.ok) return outcome.value;
  complain(outcome.diagnostics);
  return BROKEN;
}

/** Evaluates inside of another expression's evaluation: what goes wrong becomes that expression's failure, at its own place. */
export function evaluateOrThrow(compiled: Compiled, scope: Scope): Value | Omit {
  const diagnostics: Diagnostic[] = [];
  const value = evaluateCompiled(compiled, scope, (found) => diagnostics.push(...found));
  if (diagnostics.length > 0) throw new ExpressionFailure(diagnostics);
  return value;
}
