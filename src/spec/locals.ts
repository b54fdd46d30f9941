import { type Branch, ExpressionFailure, type Scope } from '../core/expression-scope.ts';
import { Graph } from '../core/graph.ts';
import { OMIT } from '../core/template.ts';
import type { Value } from '../core/value.ts';
import type { Block } from './assemble.ts';
import { BROKEN, type Compiled, evaluateCompiled, evaluateOrThrow, expressionsIn } from './compile.ts';
import type { References } from './names.ts';
import type { Report } from './report.ts';

/** Names that other locals read, found in the expressions of one. */
function localsReadBy(compiled: Compiled, all: Iterable<string>): readonly string[] {
  return expressionsIn(compiled).flatMap(({ reads }) =>
    reads.flatMap((read) => (read.root !== 'locals' ? [] : typeof read.path[0] === 'string' ? [read.path[0]] : [...all])),
  );
}

/** The locals that take part in a cycle; each cycle is reported with its path. */
export function findLocalCycles(
  locals: ReadonlyMap<string, Compiled>,
  blocks: ReadonlyMap<string, Block>,
  report: Report,
): ReadonlySet<string> {
  const broken = new Set<string>();
  for (;;) {
    const graph = new Graph();
    for (const [name, compiled] of locals) {
      if (broken.has(name)) continue;
      graph.addNode(name);
      for (const read of localsReadBy(compiled, locals.keys())) if (locals.has(read) && !broken.has(read)) graph.addEdge(name, read);
    }
    const result = graph.order();
    if (!('cycle' in result)) return broken;
    const [first] = result.cycle;
    for (const name of result.cycle) broken.add(name);
    report.add(
      {
        code: 'CYCLE',
        summary: 'Values need each other in a circle',
        detail: `The locals go in a circle: ${result.cycle.map((name) => `locals.${name}`).join(' → ')}. Break it at one of them.`,
      },
      blocks.get(first ?? '')?.key,
    );
  }
}

/** Locals by name, evaluated when they are read. One that needs no resource is evaluated once. */
export class Locals {
  readonly #compiled: ReadonlyMap<string, Compiled>;
  readonly #references: References;
  readonly #scopeOf: (name: string, resources: Branches | undefined) => Scope;
  readonly #report: Report;
  readonly #values = new Map<string, Value>();
  readonly #isDynamic = new Map<string, boolean>();
  /** By the answers of one evaluation. */
  readonly #evaluated = new WeakMap<Branches, Map<string, Value>>();

  constructor(
    compiled: ReadonlyMap<string, Compiled>,
    references: References,
    scopeOf: (name: string, resources: Branches | undefined) => Scope,
    report: Report,
  ) {
    this.#compiled = compiled;
    this.#references = references;
    this.#scopeOf = scopeOf;
    this.#report = report;
  }

  /** Evaluates everything that needs no resource, so that every mistake is found even in what nobody reads. */
  evaluateAll(): void {
    for (const name of this.#compiled.keys()) if (!this.isDynamic(name)) this.#fixed(name);
  }

  isDynamic(name: string): boolean {
    const known = this.#isDynamic.get(name);
    if (known !== undefined) return known;
    const compiled = this.#compiled.get(name);
    const found = compiled !== undefined && this.#references.of(compiled).length > 0;
    this.#isDynamic.set(name, found);
    return found;
  }

  /** Locals as expressions see them; `resources` answers for those that read resources. */
  branch(resources: Branches | undefined): Branch {
    return {
      isBranch: true,
      member: (name) => (this.#compiled.has(name) ? this.#value(name, resources) : undefined),
      names: () => [...this.#compiled.keys()],
      whole: () => Object.fromEntries([...this.#compiled.keys()].map((name) => [name, this.#value(name, resources)])),
    };
  }

  #value(name: string, resources: Branches | undefined): Value {
    if (!this.isDynamic(name)) return this.#fixed(name);
    // Where no resource may be read this was reported when the expression was compiled.
    if (resources === undefined) throw new ExpressionFailure([]);
    const values = this.#valuesFor(resources);
    const known = values.get(name);
    if (known !== undefined) return known;
    const compiled = this.#compiled.get(name);
    const value = compiled === undefined ? BROKEN : evaluateOrThrow(compiled, this.#scopeOf(name, resources));
    const settled = value === OMIT ? null : value;
    values.set(name, settled);
    return settled;
  }

  /** Kept for one evaluation: locals that read each other several times would take longer with each level. */
  #valuesFor(resources: Branches): Map<string, Value> {
    const known = this.#evaluated.get(resources);
    if (known !== undefined) return known;
    const values = new Map<string, Value>();
    this.#evaluated.set(resources, values);
    return values;
  }

  #fixed(name: string): Value {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const compiled = this.#compiled.get(name);
    // Found again while it is being evaluated, it is part of a cycle that was reported.
    this.#values.set(name, BROKEN);
    const value =
      compiled === undefined ? BROKEN : evaluateCompiled(compiled, this.#scopeOf(name, undefined), (found) => this.#report.take(...found));
    const settled = value === OMIT ? null : value;
    this.#values.set(name, settled);
    return settled;
  }
}

/** What expressions read of resources, by a provider's spelling in expressions; undefined for a name that is no provider. */
export type Branches = (root: string) => Branch | undefined;
