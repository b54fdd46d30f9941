import type { Diagnostic } from './diagnostic.ts';
import { OMIT, type Omit } from './template.ts';
import { type Attributes, isAttributes, Sensitive, secretNames, Unknown, type Value } from './value.ts';

/**
 * A mistake found while an expression is evaluated. It leaves the evaluator as a diagnostic in an `Outcome`; nothing outside of the
 * expression files ever sees it thrown. Without a diagnostic it stands for a mistake that was reported elsewhere already.
 */
export class ExpressionFailure extends Error {
  override readonly name = 'ExpressionFailure';
  readonly diagnostics: readonly Diagnostic[];
  /** Where in the expression, for diagnostics that have no place yet. */
  readonly offset: number | undefined;
  constructor(diagnostics: readonly Diagnostic[], offset?: number) {
    super('an expression failed');
    this.diagnostics = diagnostics;
    this.offset = offset;
  }
}

/** A name in an expression whose members are found one by one, so that nothing is computed that nobody reads. */
export interface Branch {
  readonly isBranch: true;
  /** Undefined when there is no such member. */
  member(name: string): Value | Branch | undefined;
  /** What may stand here, for near misses. */
  names(): readonly string[];
  /** Everything as one value. */
  whole(): Value;
}

/** Where an expression finds the names that it reads. */
export interface Scope {
  /** Undefined when the name does not exist here. */
  root(name: string): Value | Branch | Omit | undefined;
  names(): readonly string[];
}

export function isBranch(item: Value | Branch | Omit | undefined): item is Branch {
  return typeof item === 'object' && item !== null && 'isBranch' in item && item.isBranch === true && typeof item.member === 'function';
}

/** A branch over a finished map: its members are taken one by one. */
export function branchOf(values: Attributes): Branch {
  return {
    isBranch: true,
    member: (name) => (Object.hasOwn(values, name) ? values[name] : undefined),
    names: () => Object.keys(values),
    whole: () => values,
  };
}

/** A scope over fixed names; `omit` is in every scope. */
export function scopeOf(roots: ReadonlyMap<string, Value | Branch>): Scope {
  return {
    root: (name) => roots.get(name) ?? (roots.has(name) ? null : name === 'omit' ? OMIT : undefined),
    names: () => [...roots.keys()],
  };
}

/** What an evaluation has read: whether secrets or unknowns were among it. */
export class Taint {
  readonly #names = new Set<string>();
  #isSensitive = false;
  #isSkipped = false;
  #isSealed = false;
  #unknown: Unknown | undefined;

  /** Takes in everything that the value holds. */
  add(value: Value): void {
    if (value instanceof Unknown) this.#unknown ??= value;
    else if (value instanceof Sensitive) {
      this.addWrapper(value);
      if (value.isOpen) this.add(value.reveal());
    } else if (Array.isArray(value)) for (const item of value as readonly Value[]) this.add(item);
    else if (isAttributes(value)) for (const name of Object.keys(value)) this.add(value[name] ?? null);
  }

  /** Takes in a wrapper that was passed on the way to a member. */
  addWrapper(value: Sensitive): void {
    this.#isSensitive = true;
    for (const name of secretNames(value)) this.#names.add(name);
    if (value.isSkipped) this.#isSkipped = true;
    else if (!value.isOpen) this.#isSealed = true;
  }

  get isSensitive(): boolean {
    return this.#isSensitive;
  }

  /** The answer when what was read cannot be computed with; undefined when it can. */
  get barrier(): Value | undefined {
    const names = [...this.#names];
    if (this.#isSkipped) return Sensitive.skipped(names);
    const unknown = this.#unknown ?? (this.#isSealed ? new Unknown('a recorded secret') : undefined);
    if (unknown === undefined) return undefined;
    return this.#isSensitive ? Sensitive.open(unknown, names) : unknown;
  }

  /** The result with the wrapper that it needs. */
  wrap(value: Value): Value {
    return this.#isSensitive ? Sensitive.open(value, [...this.#names]) : value;
  }
}

/** A failure with one diagnostic at an offset of the expression. */
export function failure(code: string, summary: string, detail: string, at: { readonly start: number }): ExpressionFailure {
  return new ExpressionFailure([{ severity: 'error', code, summary, detail }], at.start);
}
