import type { TypeName } from '../core/address.ts';
import { compareText } from '../core/address.ts';
import type { CompiledExpression } from '../core/expression.ts';
import { EACH_KEY, type Read, type Step } from '../core/expression-reads.ts';
import type { ResourceReference } from '../core/template.ts';
import type { Registry } from '../providers/contract.ts';
import { type Compiled, expressionsIn } from './compile.ts';

/** What the environment's resource blocks are, as far as expressions need to know. */
export interface ResourceTable {
  /** `each` when the block has `for_each`; undefined when there is none. */
  shape(type: string, name: string): 'single' | 'each' | undefined;
}

/** A reference whose instance key may wait for the instance that holds the expression. */
export interface OpenReference {
  readonly type: TypeName;
  readonly name: string;
  readonly key?: string | typeof EACH_KEY;
  readonly path: readonly string[];
}

/** Providers by their spelling in expressions: a hyphen is written as an underscore. */
export function providerRoots(registry: Registry): ReadonlyMap<string, string> {
  return new Map([...registry.providers.keys()].map((name) => [name.replaceAll('-', '_'), name]));
}

/** The reference that a chain makes; undefined when it does not begin at a provider or names no resource. */
export function referenceOf(read: Read, roots: ReadonlyMap<string, string>, table: ResourceTable): OpenReference | undefined {
  const provider = roots.get(read.root);
  const [type, name, ...rest] = read.path;
  if (provider === undefined || typeof type !== 'string' || typeof name !== 'string') return undefined;
  const typeName = `${provider}.${type}` as TypeName;
  const shape = table.shape(typeName, name);
  if (shape === undefined) return undefined;
  const [key, ...inner] = rest;
  if (shape === 'each' && key !== undefined && typeof key !== 'number') return { type: typeName, name, key, path: textSteps(inner) };
  return { type: typeName, name, path: shape === 'each' ? [] : textSteps(rest) };
}

/** Literal steps as text, up to the first that is none. */
function textSteps(steps: readonly Step[]): readonly string[] {
  const end = steps.findIndex((step) => typeof step === 'symbol');
  return (end === -1 ? steps : steps.slice(0, end)).map(String);
}

/** What a compiled value refers to, looked through locals. Computed once per block and bound per instance. */
export class References {
  readonly #roots: ReadonlyMap<string, string>;
  readonly #table: ResourceTable;
  readonly #locals: ReadonlyMap<string, Compiled>;
  readonly #ofExpression = new Map<CompiledExpression, readonly OpenReference[]>();

  constructor(roots: ReadonlyMap<string, string>, table: ResourceTable, locals: ReadonlyMap<string, Compiled>) {
    this.#roots = roots;
    this.#table = table;
    this.#locals = locals;
  }

  of(compiled: Compiled): readonly OpenReference[] {
    return expressionsIn(compiled).flatMap((expression) => this.ofExpression(expression));
  }

  /** Without doubles, in the order of the text. */
  ofExpression(expression: CompiledExpression): readonly OpenReference[] {
    const known = this.#ofExpression.get(expression);
    if (known !== undefined) return known;
    // Met again while it is being looked through, it is part of a cycle, which is reported where locals are put together.
    this.#ofExpression.set(expression, []);
    const found = distinct(expression.reads.flatMap((read) => this.#ofRead(read)));
    this.#ofExpression.set(expression, found);
    return found;
  }

  #ofRead(read: Read): readonly OpenReference[] {
    if (read.root !== 'locals') {
      const reference = referenceOf(read, this.#roots, this.#table);
      return reference === undefined ? [] : [reference];
    }
    const [name, ...path] = read.path;
    const parts = typeof name === 'string' ? [this.#locals.get(name)] : [...this.#locals.values()];
    return parts.flatMap((part) =>
      part === undefined
        ? []
        : expressionsIn(narrow(part, typeof name === 'string' ? path : [])).flatMap((inner) => this.ofExpression(inner)),
    );
  }
}

function distinct(references: readonly OpenReference[]): readonly OpenReference[] {
  if (references.length < 2) return references;
  return [
    ...new Map(
      references.map((reference) => [JSON.stringify([reference.type, reference.name, String(reference.key), reference.path]), reference]),
    ).values(),
  ];
}

/** The part of a compiled value at a path, as far as it is written out. */
function narrow(compiled: Compiled, path: readonly Step[]): Compiled {
  let at = compiled;
  for (const step of path) {
    const next: Compiled | undefined =
      at.kind === 'map'
        ? at.entries.find(([name]) => name === step)?.[1]
        : at.kind === 'list' && typeof step === 'number'
          ? at.items[step]
          : undefined;
    if (next === undefined) return at;
    at = next;
  }
  return at;
}

/** References with the instance's own key filled in; sorted, without doubles. */
export function bindReferences(references: readonly OpenReference[], key: string | undefined): readonly ResourceReference[] {
  const bound = new Map<string, ResourceReference>();
  for (const { key: open, ...reference } of references) {
    const own = open === EACH_KEY ? key : open;
    const full: ResourceReference = own === undefined ? reference : { ...reference, key: own };
    bound.set(referenceText(full), full);
  }
  return bound.size < 2 ? [...bound.values()] : [...bound].sort(([a], [b]) => compareText(a, b)).map(([, reference]) => reference);
}

function referenceText(reference: ResourceReference): string {
  return JSON.stringify([reference.type, reference.name, reference.key ?? '', reference.path]);
}
