import { formatAddress, type ResourceAddress, type TypeName } from '../core/address.ts';
import { isPlainName, nearMiss } from '../core/naming.ts';
import { evaluateTemplate, OMIT, type ResourceLookup, type Template } from '../core/template.ts';
import { type Attributes, isAttributes, Unknown } from '../core/value.ts';
import type { ResourceType, TypeContext } from '../providers/contract.ts';
import { checkAttributes } from '../providers/validate.ts';
import type { ResourceBlock } from './assemble.ts';
import { type Binding, bindTemplate } from './binding.ts';
import { type BlockParts, checkCommonForm, compileBlock, conditionsOf, NO_TREATMENT, treatmentOf } from './common-keys.ts';
import { type Compiled, evaluateCompiled, expressionsIn } from './compile.ts';
import type { LoadContext } from './context.ts';
import type { ProviderBlock, ResourceInstance } from './environment.ts';
import { withFiles } from './file-attributes.ts';
import { bindReferences, type OpenReference } from './names.ts';
import { impliedBlock } from './providers.ts';
import { roleFor } from './roles.ts';
import type { Own } from './scopes.ts';
import { type Each, selectInstances } from './selection.ts';
import { keyRange, nodeAt, nodeRange, problemPlace } from './source.ts';

/** All instances of all blocks, and the blocks whose set of instances could not be found out. */
export interface Expansion {
  readonly instances: readonly ResourceInstance[];
  readonly undecided: ReadonlySet<string>;
  /** Provider blocks that resources use, the implied ones too. */
  readonly used: ReadonlyMap<string, ProviderBlock>;
}

interface Gathering {
  readonly context: LoadContext;
  readonly instances: ResourceInstance[];
  readonly undecided: Set<string>;
  readonly used: Map<string, ProviderBlock>;
  /** Address by provider block, type and identity. */
  readonly identities: Map<string, ResourceAddress>;
}

/** Turns the blocks into instances: each checked against its type, with everything that needs no other resource evaluated. */
export function expandResources(blocks: ReadonlyMap<string, ResourceBlock>, context: LoadContext): Expansion {
  const into: Gathering = { context, instances: [], undecided: new Set(), used: new Map(), identities: new Map() };
  for (const block of blocks.values()) expandBlock(block, into);
  return into;
}

function expandBlock(block: ResourceBlock, into: Gathering): void {
  const { context } = into;
  const type = typeOf(block, context);
  if (!isPlainName(block.name)) {
    const detail = `${JSON.stringify(block.name)} cannot name a resource: letters, digits, "_", "-" and "." are allowed, and neither "-" nor "." at the beginning.`;
    context.report.add({ code: 'BAD_NAME', summary: 'A name has a form that is not allowed', detail, observed: block.name }, block.key);
  }
  if (type === undefined || !isPlainName(block.name) || block.node.kind !== 'map') {
    into.undecided.add(block.base);
    return;
  }
  checkCommonForm(block, context);
  const parts = compileBlock(block, context);
  const selected = selectInstances(parts, block, context);
  if (selected === undefined) {
    into.undecided.add(block.base);
    return;
  }
  if (selected.length === 0 && parts.forEach !== undefined) context.emptyGroups.add(block.base);
  const maker = new InstanceMaker(block, type, parts, into);
  for (const each of selected) maker.make(each);
}

function typeOf(block: ResourceBlock, context: LoadContext): ResourceType | undefined {
  const found = context.registry.find(block.type);
  if (found !== undefined) return found.type;
  const near = nearMiss(
    block.type,
    context.registry.types.map(({ type }) => type),
  );
  const provider = block.type.split('.')[0] ?? '';
  const known = context.registry.providers.get(provider)?.types.map(({ type }) => type) ?? [];
  const range = typeKeyRange(block);
  context.report.add(
    {
      code: 'UNKNOWN_TYPE',
      summary: 'A resource type does not exist',
      detail: `There is no resource type ${block.type}.${near === undefined ? '' : ` Did you mean ${near}?`}`,
      expected: known.length === 0 ? `a type of ${[...context.registry.providers.keys()].join(', ')}` : `one of ${known.join(', ')}`,
      observed: block.type,
    },
    range,
  );
  return undefined;
}

/** The place of the type's key in the document. */
function typeKeyRange(block: ResourceBlock) {
  return keyRange(block.document.root, ['resources', block.type]);
}

/** An attribute of a block: what it refers to, and whether it is the same for every instance. */
interface AttributeEntry {
  readonly name: string;
  readonly compiled: Compiled;
  readonly references: readonly OpenReference[];
  readonly isShared: boolean;
}

/** Makes the instances of one block. What does not differ between them is made once. */
class InstanceMaker {
  readonly #block: ResourceBlock;
  readonly #type: ResourceType;
  readonly #parts: BlockParts;
  readonly #into: Gathering;
  readonly #entries: readonly AttributeEntry[];
  readonly #references: readonly OpenReference[];
  readonly #shared = new Map<string, Template | undefined>();
  readonly #source;
  #treatment: ReturnType<typeof treatmentOf> | undefined;

  constructor(block: ResourceBlock, type: ResourceType, parts: BlockParts, into: Gathering) {
    this.#block = block;
    this.#type = type;
    this.#parts = parts;
    this.#into = into;
    this.#source = nodeRange(block.key);
    this.#entries = parts.attributes.map(([name, compiled]) => ({
      name,
      compiled,
      references: into.context.references.of(compiled),
      isShared: !readsOwn(compiled),
    }));
    this.#references = this.#entries.flatMap(({ references }) => references);
  }

  make(each: Each): void {
    const { context } = this.#into;
    const block = this.#block;
    const address = formatAddress({ type: this.#type.type, name: block.name, ...(each === undefined ? {} : { key: each.key }) });
    const own: Own = each === undefined ? {} : { each };
    const provider = this.#provider(own);
    if (provider === undefined) return;
    const binding = this.#binding({ ...own, provider: exposed(provider, context) }, each?.key);
    const treatment = this.#treatmentFor(binding);
    const attributes = this.#attributes(binding);
    const folder = block.document.file.folder;
    const triggers = treatment.lifecycle.replaceTriggeredBy;
    const references =
      this.#references.length === 0 && triggers.length === 0
        ? NO_REFERENCES
        : bindReferences([...this.#references, ...triggers], each?.key);
    this.#check(attributes, { address, provider, key: each?.key, folder });
    this.#into.instances.push({
      address,
      type: this.#type.type,
      name: block.name,
      ...(each === undefined ? {} : { key: each.key }),
      provider: provider.alias,
      role: roleFor({ type: this.#type, block, written: treatment.role, image: this.#parts.attributes, key: each?.key, address }, context),
      attributes,
      references,
      dependsOn: treatment.dependsOn,
      lifecycle: {
        ...treatment.lifecycle,
        preconditions: conditionsOf(this.#parts.conditions.preconditions, binding, context),
        postconditions: conditionsOf(this.#parts.conditions.postconditions, binding, context),
      },
      timeouts: treatment.timeouts,
      update: treatment.update,
      commitAfter: treatment.commitAfter,
      folder,
      source: this.#source,
      locate: (path) => nodeRange(path.length === 0 ? block.key : nodeAt(block.node, path)),
    });
  }

  #binding(own: Own, key: string | undefined): Binding {
    const { context } = this.#into;
    const { file } = this.#block.document;
    return {
      references: context.references,
      report: context.report,
      places: context.places,
      key,
      fixed: context.scope(file, own),
      scope: (lookup) => context.scope(file, own, lookup),
    };
  }

  #provider(own: Own): ProviderBlock | undefined {
    const { context, used } = this.#into;
    const block = this.#block;
    const { provider } = context.registry.find(block.type) ?? {};
    if (provider === undefined) throw new Error(`${block.type} has no provider`);
    const written =
      this.#parts.provider === undefined
        ? provider.name
        : evaluateCompiled(this.#parts.provider, context.scope(block.document.file, own), (found) => context.report.take(...found));
    if (written instanceof Unknown) return undefined;
    const known = typeof written === 'string' ? (context.providers.get(written) ?? used.get(written)) : undefined;
    if (known !== undefined && known.provider === provider.name) {
      used.set(known.alias, known);
      return known;
    }
    if (written === provider.name) {
      const implied = impliedBlock(provider, context.fixed.workspace, context.report, block.key);
      used.set(implied.alias, implied);
      return implied;
    }
    const aliases = [...context.providers.values()].filter((candidate) => candidate.provider === provider.name).map(({ alias }) => alias);
    const near = typeof written === 'string' ? nearMiss(written, aliases) : undefined;
    context.report.add(
      {
        code: 'UNKNOWN_PROVIDER',
        summary: 'A provider does not exist',
        detail: `provider: of ${block.base} must name a block of ${provider.name} in providers.${near === undefined ? '' : ` Did you mean ${near}?`}`,
        expected: `one of ${[...new Set([provider.name, ...aliases])].join(', ')}`,
        address: block.base,
      },
      this.#parts.provider?.node ?? block.key,
    );
    return undefined;
  }

  #treatmentFor(binding: Binding): ReturnType<typeof treatmentOf> {
    const { context } = this.#into;
    const { common } = this.#parts;
    if (common.kind === 'literal' && isAttributes(common.value) && Object.keys(common.value).length === 0) return NO_TREATMENT;
    if (readsOwn(common)) return treatmentOf(this.#parts, this.#block, this.#type, binding.fixed, context);
    this.#treatment ??= treatmentOf(this.#parts, this.#block, this.#type, binding.fixed, context);
    return this.#treatment;
  }

  #attributes(binding: Binding): Template {
    const entries: [string, Template][] = [];
    for (const entry of this.#entries) {
      const template = this.#template(entry, binding);
      if (template !== undefined) entries.push([entry.name, template]);
    }
    return { kind: 'map', entries, source: this.#source };
  }

  #template(entry: AttributeEntry, binding: Binding): Template | undefined {
    if (entry.isShared && this.#shared.has(entry.name)) return this.#shared.get(entry.name);
    const bound = bindTemplate(entry.compiled, binding);
    const reads = this.#type.traits.get(entry.name)?.reads === true;
    const template = bound !== undefined && reads ? withFiles(bound, entry.compiled, this.#block, this.#into.context) : bound;
    if (entry.isShared) this.#shared.set(entry.name, template);
    return template;
  }

  #check(
    template: Template,
    place: {
      readonly address: ResourceAddress;
      readonly provider: ProviderBlock;
      readonly key: string | undefined;
      readonly folder: string;
    },
  ): void {
    const { context, identities } = this.#into;
    const { address, provider, key, folder } = place;
    const outcome = evaluateTemplate(template, unknownResources);
    context.report.take(...outcome.diagnostics.map((diagnostic) => ({ ...diagnostic, address })));
    if (!outcome.ok || outcome.value === OMIT || !isAttributes(outcome.value)) return;
    const type = this.#type;
    const typeContext: TypeContext = {
      environment: context.fixed.name,
      address,
      name: this.#block.name,
      ...(key === undefined ? {} : { key }),
      folder,
      config: provider.config,
    };
    const problems = checkAttributes(type, outcome.value, typeContext);
    for (const problem of problems) {
      const range =
        problem.code === 'MISSING_KEY' && (problem.path?.length ?? 0) < 2 ? this.#source : problemPlace(this.#block.node, problem);
      context.report.addProblem(problem, range, address);
    }
    if (problems.some(({ severity }) => severity === 'error')) return;
    const identity = type.identity(type.normalize(outcome.value, typeContext), typeContext);
    if (identity === undefined) return;
    const entry = `${provider.alias} ${type.type} ${identity}`;
    const first = identities.get(entry);
    if (first === undefined) identities.set(entry, address);
    else {
      context.report.add(
        {
          code: 'DUPLICATE_IDENTITY',
          summary: 'Two resources are the same object',
          detail: `${address} and ${first} would both be ${type.type} ${identity}. Give one of them another name or remove it.`,
          address,
        },
        this.#source,
      );
    }
  }
}

const NO_REFERENCES: ResourceInstance['references'] = [];

/** While documents are checked, nothing is known of any resource. */
const unknownResources: ResourceLookup = (type: TypeName, name: string) => new Unknown(`${type}.${name}`);

/** Whether a value can differ between the instances of a block. */
function readsOwn(compiled: Compiled): boolean {
  return expressionsIn(compiled).some(({ reads }) => reads.some(({ root }) => root === 'each' || root === 'provider'));
}

function exposed(block: ProviderBlock, context: LoadContext): Attributes {
  const names = context.registry.providers.get(block.provider)?.exposes ?? [];
  return Object.fromEntries(names.map((name) => [name, block.config[name] ?? null]));
}
