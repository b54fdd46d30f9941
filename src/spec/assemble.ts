import { compareText } from '../core/address.ts';
import { checkValue } from '../providers/validate.ts';
import type { SpecDocument } from './documents.ts';
import { openText } from './open-text.ts';
import { mergeDefaults, mergeOverride } from './override.ts';
import type { Report } from './report.ts';
import { outlineSchema } from './schema.ts';
import { type MapEntry, type MapNode, memberOf, nodeRange, problemPlace, type ScalarNode, type YamlNode } from './source.ts';

/** A named block of one document. */
export interface Block {
  readonly name: string;
  readonly key: ScalarNode;
  readonly node: YamlNode;
  readonly document: SpecDocument;
}

export interface ResourceBlock extends Block {
  readonly type: string;
  /** `type.name`. */
  readonly base: string;
}

/** An entry of a list such as `moved`. */
export interface Item {
  readonly node: YamlNode;
  readonly document: SpecDocument;
}

export const NAMED_SECTIONS = ['variables', 'locals', 'secrets', 'providers', 'outputs'] as const;
export type NamedSection = (typeof NAMED_SECTIONS)[number];
export const LIST_SECTIONS = ['moved', 'removed', 'import'] as const;
export type ListSection = (typeof LIST_SECTIONS)[number];
/** Parts that stand in the Environment alone. */
export const SINGLE_SECTIONS = ['state', 'policy', 'hooks', 'quiesce', 'release'] as const;
export type SingleSection = (typeof SINGLE_SECTIONS)[number];

/** All documents as one: defaults are under their resources, overrides over them. */
export interface Assembled {
  readonly environment: SpecDocument;
  readonly named: Readonly<Record<NamedSection, ReadonlyMap<string, Block>>>;
  /** By `type.name`, sorted. */
  readonly resources: ReadonlyMap<string, ResourceBlock>;
  readonly lists: Readonly<Record<ListSection, readonly Item[]>>;
  readonly single: Readonly<Record<SingleSection, YamlNode | undefined>>;
}

/** Checks the outer form of one document. */
export function checkOutline(document: SpecDocument, report: Report): void {
  if (document.kind === 'Release') return;
  for (const problem of checkValue(outlineSchema(document.kind), openText(document.root))) {
    report.addProblem(problem, problemPlace(document.root, problem));
  }
}

/** Puts documents together in their order of strength: includes, fragments, the Environment last. */
export function assemble(environment: SpecDocument, documents: readonly SpecDocument[], report: Report): Assembled {
  const named: Record<NamedSection, Map<string, Block>> = {
    variables: new Map(),
    locals: new Map(),
    secrets: new Map(),
    providers: new Map(),
    outputs: new Map(),
  };
  const resources = new Map<string, ResourceBlock>();
  const lists: Record<ListSection, Item[]> = { moved: [], removed: [], import: [] };
  for (const document of documents) {
    for (const section of NAMED_SECTIONS) {
      for (const [name, entry] of entriesOf(memberOf(document.root, section)))
        define(named[section], name, { name, key: entry.key, node: entry.value, document }, `${SINGULAR[section]} ${name}`, report);
    }
    addResources(document, resources, report);
    for (const section of LIST_SECTIONS) {
      const list = memberOf(document.root, section);
      if (list?.kind === 'list') lists[section].push(...list.items.map((node) => ({ node, document })));
    }
  }
  const single: Record<SingleSection, YamlNode | undefined> = {
    state: undefined,
    policy: undefined,
    hooks: undefined,
    quiesce: undefined,
    release: undefined,
  };
  for (const section of SINGLE_SECTIONS) single[section] = memberOf(environment.root, section);
  for (const document of documents) override(memberOf(document.root, 'overrides'), { named, resources, single }, report);
  return { environment, named, resources: new Map([...resources].sort(([a], [b]) => compareText(a, b))), lists, single };
}

const SINGULAR: Readonly<Record<NamedSection, string>> = {
  variables: 'variable',
  locals: 'local',
  secrets: 'secret',
  providers: 'provider',
  outputs: 'output',
};

function entriesOf(node: YamlNode | undefined): ReadonlyMap<string, MapEntry> {
  return node?.kind === 'map' ? node.entries : new Map();
}

function define<T extends Block>(into: Map<string, T>, name: string, block: T, words: string, report: Report): void {
  const first = into.get(name);
  if (first === undefined) {
    into.set(name, block);
    return;
  }
  const place = nodeRange(first.key);
  report.add(
    {
      code: 'DEFINED_TWICE',
      summary: 'Something is defined twice',
      detail: `The ${words} is defined at ${place.file}:${place.line}:${place.column} already. Remove one of the two, or change the first under overrides:.`,
      ...('base' in block ? { address: String(block.base) } : {}),
    },
    block.key,
  );
}

function addResources(document: SpecDocument, into: Map<string, ResourceBlock>, report: Report): void {
  const defaults = memberOf(document.root, 'defaults');
  for (const [type, { value: blocks }] of entriesOf(memberOf(document.root, 'resources'))) {
    const under = memberOf(defaults, type);
    for (const [name, { key, value }] of entriesOf(blocks)) {
      const own: YamlNode = value.kind === 'map' ? value : emptyMap(key);
      const node = under?.kind === 'map' && own.kind === 'map' ? mergeDefaults(own, under) : own;
      const base = `${type}.${name}`;
      define(into, base, { type, base, name, key, node, document }, `resource ${base}`, report);
    }
  }
}

/** A resource without attributes, written as nothing at all. */
function emptyMap(key: ScalarNode): MapNode {
  return { kind: 'map', entries: new Map(), file: key.file, start: key.start, end: key.end };
}

interface Overridable {
  readonly named: Readonly<Record<NamedSection, Map<string, Block>>>;
  readonly resources: Map<string, ResourceBlock>;
  readonly single: Record<SingleSection, YamlNode | undefined>;
}

function override(node: YamlNode | undefined, target: Overridable, report: Report): void {
  for (const [section, { key, value }] of entriesOf(node)) {
    if (section.startsWith('x-')) continue;
    if ((NAMED_SECTIONS as readonly string[]).includes(section))
      overrideNamed(target.named[section as NamedSection], value, `${SINGULAR[section as NamedSection]} `, report);
    else if (section === 'resources') {
      for (const [type, { value: blocks }] of entriesOf(value))
        overrideNamed(target.resources, blocks, `${type}.`, report, (name) => `${type}.${name}`);
    } else if ((SINGLE_SECTIONS as readonly string[]).includes(section)) {
      const base = target.single[section as SingleSection];
      if (base === undefined) nothingToOverride(section, key, report);
      else target.single[section as SingleSection] = isNull(value) ? undefined : mergeOverride(base, value, report);
    } else {
      report.add(
        {
          code: 'UNKNOWN_KEY',
          summary: 'A key is not known here',
          detail: `overrides: takes ${[...NAMED_SECTIONS, 'resources', ...SINGLE_SECTIONS].join(', ')}; ${section} is none of these.`,
          observed: section,
        },
        key,
      );
    }
  }
}

function overrideNamed<T extends Block>(
  into: Map<string, T>,
  node: YamlNode,
  words: string,
  report: Report,
  keyOf: (name: string) => string = (name) => name,
): void {
  for (const [name, { key, value }] of entriesOf(node)) {
    const base = into.get(keyOf(name));
    if (base === undefined) nothingToOverride(`${words}${name}`, key, report);
    else if (isNull(value)) into.delete(keyOf(name));
    else into.set(keyOf(name), { ...base, node: mergeOverride(base.node, value, report) });
  }
}

function nothingToOverride(words: string, key: ScalarNode, report: Report): void {
  report.add(
    {
      code: 'NOTHING_TO_OVERRIDE',
      summary: 'An override has nothing to change',
      detail: `No document defines ${words}, so that it cannot be overridden. Define it outside of overrides:.`,
    },
    key,
  );
}

function isNull(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}
