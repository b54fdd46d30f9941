import type { SourceRange } from '../core/diagnostic.ts';
import type { Scope } from '../core/expression-scope.ts';
import type { ResourceLookup } from '../core/template.ts';
import type { Registry } from '../providers/contract.ts';
import type { Compiled, CompilePlace } from './compile.ts';
import { compileNode } from './compile.ts';
import type { ProviderBlock } from './environment.ts';
import type { Locals } from './locals.ts';
import type { References } from './names.ts';
import { type Referable, readChecks } from './references.ts';
import type { Report } from './report.ts';
import { type Fixed, makeScope, type Own, placeFor, resourceBranches, USES, type UseName } from './scopes.ts';
import type { SourceFile, YamlNode } from './source.ts';

/** Everything that the later steps of a load share. */
export class LoadContext {
  readonly fixed: Fixed;
  readonly registry: Registry;
  readonly references: References;
  readonly report: Report;
  /** Places by node, kept between instances. */
  readonly places = new Map<YamlNode, SourceRange>();
  /** Blocks with `for_each` that have no instance. */
  readonly emptyGroups = new Set<string>();
  readonly referable: Referable;
  readonly #compilePlaces = new Map<UseName, CompilePlace>();
  #locals: Locals | undefined;
  providers: ReadonlyMap<string, ProviderBlock> = new Map();

  constructor(parts: {
    readonly fixed: Fixed;
    readonly registry: Registry;
    readonly references: References;
    readonly referable: Referable;
    readonly report: Report;
  }) {
    this.fixed = parts.fixed;
    this.registry = parts.registry;
    this.references = parts.references;
    this.referable = parts.referable;
    this.report = parts.report;
  }

  /** Undefined while locals are put together. */
  get locals(): Locals | undefined {
    return this.#locals;
  }

  useLocals(locals: Locals): void {
    this.#locals = locals;
  }

  compile(node: YamlNode, use: UseName): Compiled {
    return compileNode(node, this.place(use), this.report);
  }

  place(name: UseName): CompilePlace {
    const known = this.#compilePlaces.get(name);
    if (known !== undefined) return known;
    const use = USES[name];
    const place = placeFor(use, this.fixed, readChecks(use, this.referable, this.references, this.report));
    this.#compilePlaces.set(name, place);
    return place;
  }

  /** The names at a place; with a lookup also the resources. */
  scope(file: SourceFile, own: Own = {}, lookup?: ResourceLookup): Scope {
    const resources = lookup === undefined ? undefined : resourceBranches(lookup, this.fixed, this.emptyGroups);
    return makeScope(file, this.fixed, this.#locals, resources, own);
  }
}
