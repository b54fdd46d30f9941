import { canonicalText } from '../core/canonical.ts';
import { fail, type Outcome, succeed } from '../core/diagnostic.ts';
import { nearMiss } from '../core/naming.ts';
import { isAttributes, type Plain } from '../core/value.ts';
import type { SpecDocument } from './documents.ts';
import { reread } from './release-file.ts';
import { type MapNode, memberOf, nodeRange, plainOf, type YamlNode } from './source.ts';

/** Sections of a release whose entries have an image. */
export const IMAGE_SECTIONS = ['services', 'jobs', 'frontends'] as const;

/** An entry of a release that has an image, and what is written of it. */
export interface ReleaseEntry {
  readonly section: (typeof IMAGE_SECTIONS)[number];
  readonly name: string;
  /** As far as they are written. */
  readonly repository: string | undefined;
  readonly digest: string | undefined;
  readonly tag: string | undefined;
}

/** What an entry is to be afterwards. Without `tag` there is none any more; a source that is not given stays. */
export interface ReleaseChange {
  readonly entry: ReleaseEntry;
  /** Undefined for an image that was built on the engine: its id stands alone. */
  readonly repository: string | undefined;
  readonly digest: string;
  readonly tag?: string | undefined;
  readonly source?: { readonly repository?: string; readonly commit?: string };
}

/** `services.api` */
export function entryName({ section, name }: Pick<ReleaseEntry, 'section' | 'name'>): string {
  return `${section}.${name}`;
}

/** The entries that have an image, in the order of the sections and of the file. An image that only has a tag counts: it can be locked. */
export function releaseEntries(document: SpecDocument): readonly ReleaseEntry[] {
  return IMAGE_SECTIONS.flatMap((section) => {
    const entries = memberOf(document.root, section);
    if (entries?.kind !== 'map') return [];
    return [...entries.entries].flatMap(([name, { value }]): readonly ReleaseEntry[] => {
      const image = memberOf(value, 'image');
      return image === undefined ? [] : [{ section, name, ...imageOf(image) }];
    });
  });
}

/** The entry that a word means: `api`, or `services.api` where several sections have one of that name. */
export function findEntry(entries: readonly ReleaseEntry[], word: string): Outcome<ReleaseEntry> {
  const found = entries.filter((entry) => entry.name === word || entryName(entry) === word);
  const [first, second] = found;
  if (first !== undefined && second === undefined) return succeed(first);
  if (first !== undefined) {
    return fail({
      severity: 'error',
      code: 'RELEASE_ENTRY_AMBIGUOUS',
      summary: 'Several entries of the release have that name',
      detail: `${word} can be ${found.map(entryName).join(' or ')}. Write the section with it.`,
      observed: word,
    });
  }
  const near = nearMiss(
    word,
    entries.flatMap((entry) => [entry.name, entryName(entry)]),
  );
  return fail({
    severity: 'error',
    code: 'RELEASE_ENTRY_UNKNOWN',
    summary: 'The release has no entry of that name',
    detail: `No entry ${word} with an image stands under ${IMAGE_SECTIONS.join(', ')}.${near === undefined ? '' : ` Did you mean ${near}?`}`,
    observed: word,
  });
}

/**
 * The text of a release with other images. All else stays as it is written, comments and spelling too. The result is read again and has to say
 * exactly what was meant; where the spelling makes that impossible (anchors, merge keys) nothing is changed.
 */
export function editRelease(document: SpecDocument, changes: readonly ReleaseChange[]): Outcome<string> {
  const edits = changes.flatMap((change) => editsOf(document, change)).sort((a, b) => b.start - a.start);
  let { text } = document.file;
  for (const { start, end, put } of edits) text = text.slice(0, start) + put + text.slice(end);
  const after = reread(document.file, text);
  const meant = changes.reduce(changed, plainOf(document.root) as Plain);
  if (after.ok && canonicalText(after.value) === canonicalText(meant)) return succeed(text);
  // A mistake that stood there before is the file's, not the edit's.
  const own = after.ok ? [] : after.diagnostics;
  if (own.length > 0) return { ok: false, diagnostics: own };
  return fail({
    severity: 'error',
    code: 'RELEASE_NOT_EDITABLE',
    summary: 'The release is written in a way that cannot be edited',
    detail: `${document.file.name} shares values between entries (anchors, merge keys), so that a change of one would change others. Write the entry out, or edit it by hand.`,
    source: nodeRange(document.root),
  });
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly put: string;
}

function imageOf(node: YamlNode): Pick<ReleaseEntry, 'repository' | 'digest' | 'tag'> {
  if (node.kind === 'scalar') return typeof node.value === 'string' ? splitImage(node.value) : splitImage('');
  return { repository: textOf(memberOf(node, 'repository')), digest: textOf(memberOf(node, 'digest')), tag: textOf(memberOf(node, 'tag')) };
}

/** An image as text: what `splitImage` takes apart. A tag beside a digest is for people, and for the next lock. */
function imageName(repository: string | undefined, digest: string, tag: string | undefined): string {
  if (repository === undefined) return digest;
  return `${repository}${tag === undefined ? '' : `:${tag}`}@${digest}`;
}

/** The parts of `REPOSITORY[:TAG][@DIGEST]` or of a bare digest. */
export function splitImage(text: string): Pick<ReleaseEntry, 'repository' | 'digest' | 'tag'> {
  if (text.startsWith('sha256:')) return { repository: undefined, digest: text, tag: undefined };
  const [name = '', digest] = text.split('@', 2);
  const colon = name.lastIndexOf(':');
  const hasTag = colon > name.lastIndexOf('/');
  const repository = hasTag ? name.slice(0, colon) : name;
  return { repository: repository === '' ? undefined : repository, digest, tag: hasTag ? name.slice(colon + 1) : undefined };
}

function textOf(node: YamlNode | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}

function editsOf({ root }: SpecDocument, change: ReleaseChange): readonly Edit[] {
  const entry = memberOf(memberOf(root, change.entry.section), change.entry.name);
  const image = memberOf(entry, 'image');
  if (entry?.kind !== 'map' || image === undefined) return [];
  return [...(image.kind === 'map' ? imageEdits(image, change) : imageText(image, change)), ...sourceEdits(entry, change)];
}

function imageText(image: YamlNode, { repository, digest, tag }: ReleaseChange): readonly Edit[] {
  const quote = /^["']/.exec(image.file.text.slice(image.start))?.[0] ?? '';
  return [{ start: image.start, end: image.end, put: `${quote}${imageName(repository, digest, tag)}${quote}` }];
}

function imageEdits(image: MapNode, { repository, digest, tag }: ReleaseChange): readonly Edit[] {
  const removed = tag === undefined ? removal(image, 'tag') : [];
  return [
    ...put(image, { ...(repository === undefined ? {} : { repository }), digest, ...(tag === undefined ? {} : { tag }) }),
    ...removed,
  ];
}

function sourceEdits(entry: MapNode, { source }: ReleaseChange): readonly Edit[] {
  if (source === undefined || Object.keys(source).length === 0) return [];
  const present = memberOf(entry, 'source');
  if (present?.kind === 'map') return put(present, source);
  const members = Object.entries(source).map(([name, text]) => `${name}: ${JSON.stringify(text)}`);
  return [insertion(entry, 'image', `source: { ${members.join(', ')} }`)];
}

/** Sets members of a map to texts: in place where they stand, behind the last one where they do not. */
function put(map: MapNode, members: Readonly<Record<string, string>>): readonly Edit[] {
  const missing = Object.entries(members).filter(([name]) => !map.entries.has(name));
  const edits = Object.entries(members).flatMap(([name, text]): readonly Edit[] => {
    const node = memberOf(map, name);
    if (node === undefined || (node.kind === 'scalar' && node.value === text)) return [];
    const quote = /^["']/.exec(node.file.text.slice(node.start))?.[0];
    return [{ start: node.start, end: node.end, put: quote === "'" ? `'${text}'` : JSON.stringify(text) }];
  });
  const last = [...map.entries.keys()].at(-1);
  if (last === undefined || missing.length === 0) return edits;
  const separator = isFlow(map) ? ', ' : `\n${indentOf(map)}`;
  const text = missing.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(separator);
  // What is written is kept in front of what is inserted at the same place.
  return [insertion(map, last, text), ...edits];
}

/** Puts `text` behind a member of a map. */
function insertion(map: MapNode, after: string, text: string): Edit {
  const entry = map.entries.get(after);
  const source = map.file.text;
  const end = entry === undefined ? map.end : endOf(entry.value);
  if (isFlow(map)) return { start: end, end, put: `, ${text}` };
  const line = source.indexOf('\n', end);
  const at = line === -1 ? source.length : line;
  return { start: at, end: at, put: `\n${indentOf(map)}${text}` };
}

/** Takes a member out: its line in a block, with its comma in braces. */
function removal(map: MapNode, name: string): readonly Edit[] {
  const entry = map.entries.get(name);
  if (entry === undefined) return [];
  const source = map.file.text;
  const end = endOf(entry.value);
  if (isFlow(map)) {
    const before = /,\s*$/.exec(source.slice(0, entry.key.start))?.[0] ?? '';
    const behind = before === '' ? (/^\s*,\s*/.exec(source.slice(end))?.[0] ?? '') : '';
    return [{ start: entry.key.start - before.length, end: end + behind.length, put: '' }];
  }
  const start = source.lastIndexOf('\n', entry.key.start) + 1;
  const line = source.indexOf('\n', end);
  const isAlone = source.slice(start, entry.key.start).trim() === '';
  return isAlone ? [{ start, end: line === -1 ? source.length : line + 1, put: '' }] : [];
}

function isFlow(map: MapNode): boolean {
  return map.file.text[map.start] === '{';
}

/** The spaces in front of the keys of a block. */
function indentOf(map: MapNode): string {
  const first = [...map.entries.values()][0]?.key.start ?? map.start;
  return ' '.repeat(first - (map.file.text.lastIndexOf('\n', first - 1) + 1));
}

/** Where what is written of a node ends; the end of a block itself may lie behind comments that follow it. */
function endOf(node: YamlNode): number {
  if (node.kind === 'scalar' || node.file.text[node.start] === '{' || node.file.text[node.start] === '[') return node.end;
  const last = node.kind === 'list' ? node.items.at(-1) : [...node.entries.values()].at(-1)?.value;
  return last === undefined ? node.end : endOf(last);
}

/** The content with one change. */
function changed(document: Plain, { entry, repository, digest, tag, source }: ReleaseChange): Plain {
  return within(document, [entry.section, entry.name], (before) => {
    const image = before['image'];
    const { tag: _, ...rest } = isMap(image) ? image : {};
    const next: Plain =
      typeof image === 'string'
        ? imageName(repository, digest, tag)
        : { ...rest, ...(repository === undefined ? {} : { repository }), digest, ...(tag === undefined ? {} : { tag }) };
    const from = before['source'];
    const origin = source === undefined || Object.keys(source).length === 0 ? {} : { source: { ...(isMap(from) ? from : {}), ...source } };
    return { ...before, image: next, ...origin };
  });
}

type PlainMap = { readonly [name: string]: Plain };

function within(document: Plain, path: readonly string[], change: (map: PlainMap) => Plain): Plain {
  if (!isMap(document)) return document;
  const [first, ...rest] = path;
  if (first === undefined) return change(document);
  const member = document[first];
  return member === undefined ? document : { ...document, [first]: within(member, rest, change) };
}

function isMap(value: Plain | undefined): value is PlainMap {
  return value !== undefined && isAttributes(value);
}
