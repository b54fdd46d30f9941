import type { CompiledExpression } from '../core/expression.ts';
import type { Read } from '../core/expression-reads.ts';
import { nearMiss } from '../core/naming.ts';
import type { Registry, ResourceType } from '../providers/contract.ts';
import type { CompilePlace } from './compile.ts';
import type { References, ResourceTable } from './names.ts';
import type { Report } from './report.ts';
import type { Use } from './scopes.ts';

/** What expressions may refer to, by name. */
export interface Referable {
  readonly registry: Registry;
  readonly roots: ReadonlyMap<string, string>;
  readonly table: ResourceTable & { readonly namesOf: (type: string) => readonly string[] };
  readonly variables: readonly string[];
  readonly locals: readonly string[];
  readonly secrets: readonly string[];
}

/** The checks of what an expression reads, made once when it is parsed: they hold whatever the values are. */
export function readChecks(
  use: Use,
  referable: Referable,
  references: References,
  report: Report,
): Required<Pick<CompilePlace, 'check' | 'hint'>> {
  return {
    check: (expression) => {
      const isKnown = expression.reads.map((read) => checkRead(read, expression, referable, report)).every(Boolean);
      return isKnown && (use.resources || checkNoResources(expression, use, references, report));
    },
    hint: (text, name, offset) => hyphenHint(text, name, offset, referable),
  };
}

function checkNoResources(expression: CompiledExpression, use: Use, references: References, report: Report): boolean {
  const [first] = references.ofExpression(expression);
  if (first === undefined) return true;
  const read = expression.reads.find(({ root }) => root === 'locals');
  report.add(
    {
      code: 'NAME_NOT_ALLOWED_HERE',
      summary: 'An expression reads a name that is not allowed at this place',
      detail: `What is read here needs ${first.type}.${first.name} through a local, and resources cannot be read ${use.words}.`,
    },
    expression.locate(read?.start ?? 0),
  );
  return false;
}

function checkRead(read: Read, expression: CompiledExpression, referable: Referable, report: Report): boolean {
  const provider = referable.roots.get(read.root);
  if (provider !== undefined) return checkResource(read, provider, expression, referable, report);
  const known = membersOf(read.root, referable);
  const [member] = read.path;
  if (known === undefined || typeof member !== 'string' || known.includes(member)) return true;
  unknown(
    'UNKNOWN_REFERENCE',
    'An expression reads a member that does not exist',
    `There is no ${JSON.stringify(member)} in ${read.root}.`,
    member,
    known,
    expression.locate(read.offsets[0] ?? read.start),
    report,
  );
  return false;
}

function membersOf(root: string, referable: Referable): readonly string[] | undefined {
  switch (root) {
    case 'vars':
      return referable.variables;
    case 'locals':
      return referable.locals;
    case 'secrets':
      return referable.secrets;
    case 'metadata':
      return ['name'];
    case 'path':
      return ['environment', 'document'];
    case 'each':
      return ['key', 'value'];
    default:
      return undefined;
  }
}

function checkResource(read: Read, provider: string, expression: CompiledExpression, referable: Referable, report: Report): boolean {
  const [type, name, ...rest] = read.path;
  const at = (step: number) => expression.locate(read.offsets[step] ?? read.start);
  if (typeof type !== 'string' || typeof name !== 'string') {
    report.add(
      {
        code: 'INCOMPLETE_REFERENCE',
        summary: 'A reference names no resource',
        detail:
          read.isOpen || read.path.some((step) => typeof step === 'symbol')
            ? 'Type and name of a resource must be written out, so that the graph is known before anything is read. Only the key of an instance may be computed.'
            : `A reference is written as ${read.root}.TYPE.NAME, and here a part is missing.`,
        expected: `${read.root}.TYPE.NAME.ATTRIBUTE`,
      },
      at(0),
    );
    return false;
  }
  const found = referable.registry.find(`${provider}.${type}`);
  if (found === undefined) {
    const types = referable.registry.providers.get(provider)?.types.map((candidate) => candidate.type.slice(provider.length + 1)) ?? [];
    unknown('UNKNOWN_TYPE', 'A resource type does not exist', `The provider ${provider} has no type ${type}.`, type, types, at(0), report);
    return false;
  }
  const shape = referable.table.shape(found.type.type, name);
  if (shape === undefined) {
    unknown(
      'UNKNOWN_RESOURCE',
      'A reference names a resource that does not exist',
      `There is no resource ${found.type.type}.${name}.`,
      name,
      referable.table.namesOf(found.type.type),
      at(1),
      report,
    );
    return false;
  }
  const attribute = rest[shape === 'each' ? 1 : 0];
  if (typeof attribute !== 'string') return true;
  // Most references are right, and then the list of names is not needed.
  if (found.type.traits.has(attribute)) return true;
  const known = attributeNames(found.type);
  if (known.includes(attribute)) return true;
  unknown(
    'UNKNOWN_ATTRIBUTE',
    'A reference reads an attribute that does not exist',
    `${found.type.type} has no attribute ${attribute}.`,
    attribute,
    known,
    at(shape === 'each' ? 3 : 2),
    report,
  );
  return false;
}

/** What of a resource can be read: attributes of the YAML, computed ones, and those of the normal form. */
export function attributeNames(type: ResourceType): readonly string[] {
  return [...new Set([...type.traits.keys()].flatMap((path) => /^[A-Za-z_][A-Za-z0-9_-]*/.exec(path)?.[0] ?? []))].sort();
}

function unknown(
  code: string,
  summary: string,
  sentence: string,
  written: string,
  known: readonly string[],
  place: ReturnType<CompiledExpression['locate']>,
  report: Report,
): void {
  const near = nearMiss(written, known);
  report.add(
    {
      code,
      summary,
      detail: `${sentence}${near === undefined ? '' : ` Did you mean ${near}?`}`,
      expected: known.length === 0 || known.length > 40 ? undefined : `one of ${[...known].sort().join(', ')}`,
      observed: written,
    },
    place,
  );
}

/** `a-b` in an expression is a minus b. Says so when a hyphenated provider or resource was meant. */
function hyphenHint(text: string, name: string, offset: number, referable: Referable): string | undefined {
  for (const [root, provider] of referable.roots) {
    const written = text.slice(offset).match(/^[\w-]+/)?.[0];
    if (provider !== root && (written === provider || provider.startsWith(`${name}-`)))
      return `The provider ${provider} is written ${root} in expressions: a hyphen would be a minus.`;
  }
  const before = /([A-Za-z_]\w*)\.([A-Za-z_]\w*)\.([\w-]+-)$/.exec(text.slice(0, offset).replace(/\s+$/, ''));
  const after = text.slice(offset).match(/^[\w-]+/)?.[0] ?? name;
  const provider = before?.[1] === undefined ? undefined : referable.roots.get(before[1]);
  if (before === null || provider === undefined) return undefined;
  const [, root, type, start] = before;
  const whole = `${start}${after}`;
  if (referable.table.shape(`${provider}.${type}`, whole) === undefined) return undefined;
  return `A name with a hyphen is read by index: ${root}.${type}[${JSON.stringify(whole)}].`;
}
