import type { TypeName } from '../core/address.ts';
import { type Branch, branchOf, type Scope } from '../core/expression-scope.ts';
import { OMIT, type ResourceLookup } from '../core/template.ts';
import type { Attributes, Sensitive, Value } from '../core/value.ts';
import type { CompilePlace } from './compile.ts';
import type { FileStore } from './files.ts';
import type { Branches, Locals } from './locals.ts';
import type { ResourceTable } from './names.ts';
import type { SourceFile } from './source.ts';
import type { Workspace } from './workspace.ts';

/** Names that are not resources, in the order in which messages list them. */
const NAMES = ['vars', 'locals', 'secrets', 'release', 'each', 'metadata', 'path', 'provider'] as const;
type Name = (typeof NAMES)[number];

/** A place in the documents, by what its expressions may read. */
export interface Use {
  readonly words: string;
  readonly names: readonly Name[];
  readonly resources: boolean;
}

const STATIC: readonly Name[] = ['vars', 'locals', 'secrets', 'release', 'metadata', 'path'];

/** What may be read where. The graph and the set of instances are known before anything is read, so that some places see less. */
export const USES = {
  attribute: { words: 'here', names: NAMES, resources: true },
  single: { words: 'in a resource without for_each', names: NAMES.filter((name) => name !== 'each'), resources: true },
  selection: { words: 'in for_each and enabled', names: ['vars', 'locals', 'release', 'metadata'], resources: false },
  common: { words: 'in this key', names: ['vars', 'locals', 'release', 'each', 'metadata'], resources: false },
  alias: { words: 'in provider', names: ['vars', 'each', 'locals'], resources: false },
  local: { words: 'in locals', names: STATIC, resources: true },
  output: { words: 'in outputs', names: STATIC, resources: true },
  block: { words: 'in this block', names: STATIC, resources: false },
  state: { words: 'in state', names: ['vars', 'secrets'], resources: false },
  include: { words: 'in include', names: ['vars'], resources: false },
  source: { words: 'in the source of a secret', names: ['vars'], resources: false },
  constant: { words: 'in the default of a variable', names: [], resources: false },
} as const satisfies Readonly<Record<string, Use>>;
export type UseName = keyof typeof USES;

/** What stays the same for every expression of an environment. */
export interface Fixed {
  readonly workspace: Workspace;
  readonly files: FileStore;
  /** Providers by their spelling in expressions. */
  readonly roots: ReadonlyMap<string, string>;
  readonly table: ResourceTable;
  readonly name: string;
  readonly variables: Attributes;
  readonly secrets: ReadonlyMap<string, Sensitive>;
  /** Undefined without a release. */
  readonly release: Attributes | undefined;
}

/** What belongs to one instance. */
export interface Own {
  readonly each?: { readonly key: string; readonly value: Value };
  /** What `provider.…` exposes. */
  readonly provider?: Attributes;
}

/** What an expression at a place may use. */
export function placeFor(
  use: Use,
  fixed: Pick<Fixed, 'files' | 'roots' | 'release'>,
  checks: Pick<CompilePlace, 'check' | 'hint'> = {},
): CompilePlace {
  const roots = new Set<string>(use.names.filter((name) => name !== 'release' || fixed.release !== undefined));
  const refused = new Map<string, string>([['plan', 'plan can only be read in the rules of a policy.']]);
  for (const name of NAMES) if (!roots.has(name)) refused.set(name, `${name} cannot be read ${use.words}.`);
  if (use.names.includes('release') && fixed.release === undefined) {
    refused.set('release', 'The environment names no release, so that release cannot be read. Add release: FILE to the Environment.');
  }
  for (const [root, provider] of fixed.roots) {
    if (use.resources) roots.add(root);
    else refused.set(root, `Resources of ${provider} cannot be read ${use.words}: this is needed before any resource is known.`);
  }
  return { languageFor: (folder) => fixed.files.languageFor(folder), roots, refused, ...checks };
}

/** The names of one place. `locals` is left out where locals cannot be read. */
export function makeScope(
  file: SourceFile,
  fixed: Fixed,
  locals: Locals | undefined,
  resources: Branches | undefined,
  own: Own = {},
): Scope {
  const root = (name: string): ReturnType<Scope['root']> => {
    switch (name) {
      case 'vars':
        return branchOf(fixed.variables);
      case 'locals':
        return locals?.branch(resources);
      case 'secrets':
        return secretsBranch(fixed.secrets);
      case 'release':
        return fixed.release === undefined ? undefined : branchOf(fixed.release);
      case 'metadata':
        return branchOf({ name: fixed.name });
      case 'path':
        return branchOf({ environment: fixed.workspace.folder, document: file.folder });
      case 'each':
        return own.each === undefined ? undefined : branchOf({ key: own.each.key, value: own.each.value });
      case 'provider':
        return own.provider === undefined ? undefined : branchOf(own.provider);
      case 'omit':
        return OMIT;
      default:
        return resources?.(name);
    }
  };
  return { root, names: () => [...NAMES, ...fixed.roots.keys()] };
}

function secretsBranch(secrets: ReadonlyMap<string, Sensitive>): Branch {
  return {
    isBranch: true,
    member: (name) => secrets.get(name),
    names: () => [...secrets.keys()],
    whole: () => Object.fromEntries(secrets),
  };
}

/** Resources as expressions see them. A `for_each` without any instance is an empty map. */
export function resourceBranches(lookup: ResourceLookup, fixed: Pick<Fixed, 'roots'>, emptyGroups: ReadonlySet<string>): Branches {
  return (root) => {
    const provider = fixed.roots.get(root);
    return provider === undefined ? undefined : providerBranch(provider, lookup, emptyGroups);
  };
}

function providerBranch(provider: string, lookup: ResourceLookup, emptyGroups: ReadonlySet<string>): Branch {
  const typeBranch = (type: TypeName): Branch => ({
    isBranch: true,
    member: (name) => (emptyGroups.has(`${type}.${name}`) ? {} : lookup(type, name)),
    names: () => [],
    whole: () => ({}),
  });
  return { isBranch: true, member: (type) => typeBranch(`${provider}.${type}` as TypeName), names: () => [], whole: () => ({}) };
}
