import type { TypeName } from './address.ts';
import { type Diagnostic, type Outcome, type SourceRange, settle } from './diagnostic.ts';
import type { Value } from './value.ts';

/** The value `omit`: the key whose value it is does not exist. Only a template's evaluation may answer it, never a finished value. */
export const OMIT: unique symbol = Symbol('omit');
export type Omit = typeof OMIT;

/** What an expression reads of another resource. Without `key` it means all instances; an empty path means the whole object. */
export interface ResourceReference {
  readonly type: TypeName;
  readonly name: string;
  readonly key?: string;
  /** Attribute names and list indexes as text, as far as they are literal. */
  readonly path: readonly string[];
}

/**
 * Answers what is known of a resource: the attributes of one without `for_each`, a map from key to attributes of one with it, undefined when
 * the environment has no such resource. Attributes that only apply will know are `Unknown` in it.
 */
export type ResourceLookup = (type: TypeName, name: string) => Value | undefined;

/**
 * A compiled `${…}`, closed over everything that does not change during a run (variables, locals, secrets, release, each). Evaluation does
 * no I/O. What it reads of a secret makes the result sensitive, what it reads of an unknown makes it unknown, member by member where the
 * expression only moves values about.
 */
export interface Expression {
  /** Without `${` and `}`. */
  readonly text: string;
  readonly source?: SourceRange;
  /** Every resource that it reads, locals looked through; sorted, without doubles. */
  readonly references: readonly ResourceReference[];
  evaluate(resources: ResourceLookup): Outcome<Value | Omit>;
}

/** A value of the YAML in which some places wait for other resources. What needs no resource is a literal already. */
export type Template =
  | { readonly kind: 'literal'; readonly value: Value; readonly source?: SourceRange }
  | { readonly kind: 'expression'; readonly expression: Expression; readonly source?: SourceRange }
  | {
      readonly kind: 'text';
      readonly parts: readonly (string | Expression)[];
      readonly source?: SourceRange;
      join(parts: readonly Value[]): Outcome<Value>;
    }
  | { readonly kind: 'list'; readonly items: readonly Template[]; readonly source?: SourceRange }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [string, Template])[]; readonly source?: SourceRange };

/** All references in a template, in document order, doubles included. */
export function templateReferences(template: Template): readonly ResourceReference[] {
  switch (template.kind) {
    case 'literal':
      return [];
    case 'expression':
      return template.expression.references;
    case 'text':
      return template.parts.flatMap((part) => (typeof part === 'string' ? [] : part.references));
    case 'list':
      return template.items.flatMap(templateReferences);
    case 'map':
      return template.entries.flatMap(([, item]) => templateReferences(item));
  }
  return template satisfies never;
}

/** Fills a template. All mistakes are collected. A member that evaluates to `omit` is left out; a whole template that does answers `OMIT`. */
export function evaluateTemplate(template: Template, resources: ResourceLookup): Outcome<Value | Omit> {
  const diagnostics: Diagnostic[] = [];
  const value = fill(template, resources, diagnostics);
  return settle(value, diagnostics);
}

function fill(template: Template, resources: ResourceLookup, diagnostics: Diagnostic[]): Value | Omit {
  const take = <T>(outcome: Outcome<T>): T | null => {
    diagnostics.push(...outcome.diagnostics);
    return outcome.ok ? outcome.value : null;
  };
  switch (template.kind) {
    case 'literal':
      return template.value;
    case 'expression':
      return take(template.expression.evaluate(resources));
    case 'text': {
      const parts = template.parts.map((part) => (typeof part === 'string' ? part : take(part.evaluate(resources))));
      return take(template.join(parts.map((part) => (part === OMIT ? null : part))));
    }
    case 'list':
      return template.items.map((item) => fill(item, resources, diagnostics)).filter((item) => item !== OMIT);
    case 'map': {
      const entries = template.entries.map(([name, item]) => [name, fill(item, resources, diagnostics)] as const);
      return Object.fromEntries(entries.filter((entry): entry is [string, Value] => entry[1] !== OMIT));
    }
  }
  return template satisfies never;
}
