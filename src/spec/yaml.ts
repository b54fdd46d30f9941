import { Composer, type Document, isAlias, isMap, isScalar, isSeq, Lexer, type Node, type Pair, Parser, type YAMLMap } from 'yaml';
import type { Scalar } from '../core/value.ts';
import type { Report } from './report.ts';
import { judgeScalar } from './scalar.ts';
import { type MapEntry, type MapNode, positionOf, rangeOf, type ScalarNode, type SourceFile, type YamlNode } from './source.ts';

/** The deepest nesting of maps and lists. */
export const NESTING = 64;
/** How many nodes the aliases of one document may add to it. */
const ALIAS_NODES = 20_000;

type CstToken = Parameters<Composer['next']>[0];

/**
 * Reads one YAML document into nodes that know their places. Stricter than YAML 1.2: tabs in indentation, duplicate keys, keys that are no
 * text, tags, several documents, deep nesting, growing aliases and values that YAML 1.1 reads differently are errors. Undefined when there
 * is an error; it is in the report then.
 */
export function parseYaml(file: SourceFile, report: Report): YamlNode | undefined {
  const tokens = tokenize(file, report);
  if (tokens === undefined) return undefined;
  const composer = new Composer({ intAsBigInt: true, uniqueKeys: false, prettyErrors: false, version: '1.2' });
  const documents = [...composer.compose(tokens, false, file.text.length)];
  const [document, second] = documents;
  if (document === undefined || document.contents === null) {
    report.add(
      {
        code: 'EMPTY_DOCUMENT',
        summary: 'A YAML document is empty',
        detail: `${file.name} holds nothing. Begin it with apiVersion and kind, or remove it.`,
        expected: 'a map',
      },
      rangeOf(file, 0, 0),
    );
    return undefined;
  }
  if (hasSyntaxErrors(document, file, report)) return undefined;
  if (second !== undefined) {
    const at = (second.contents as Node | null)?.range?.[0] ?? second.range[0];
    report.add(
      {
        code: 'SEVERAL_DOCUMENTS',
        summary: 'A file holds more than one YAML document',
        detail: `A second document begins here in ${file.name}. Put it into a file of its own.`,
      },
      rangeOf(file, at, at),
    );
    return undefined;
  }
  const builder = new Builder(file, report);
  const node = builder.build(document.contents as Node);
  return builder.failed ? undefined : node;
}

/** The concrete syntax, or undefined when it is nested too deeply: what follows is recursive and would overflow. */
function tokenize(file: SourceFile, report: Report): readonly CstToken[] | undefined {
  const parser = new Parser();
  const tokens: CstToken[] = [];
  for (const lexeme of new Lexer().lex(file.text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    // The document and scalars stand on the stack too.
    if (parser.stack.length > NESTING && parser.stack.filter(({ type }) => COLLECTIONS.has(type)).length > NESTING) {
      report.add(
        {
          code: 'NESTED_TOO_DEEPLY',
          summary: 'A YAML document is nested too deeply',
          detail: `${file.name} nests maps and lists more than ${NESTING} levels deep at this place.`,
          expected: `at most ${NESTING} levels`,
        },
        rangeOf(file, parser.offset - lexeme.length, parser.offset),
      );
      return undefined;
    }
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

const COLLECTIONS: ReadonlySet<string> = new Set(['block-map', 'block-seq', 'flow-collection']);

const QUOTING =
  'The line holds an expression: put the whole value into single quotes as soon as the expression holds a quote, ": " or " #", or stands inside of { } or [ ].';

function hasSyntaxErrors(document: Document.Parsed, file: SourceFile, report: Report): boolean {
  const lines = new Set<number>();
  for (const error of [...document.errors, ...document.warnings]) {
    const { line } = positionOf(file, error.pos[0]);
    // One slip makes the parser stumble several times on its line, and an open quote or bracket on every line after it.
    if (lines.has(line) || (lines.size > 0 && FOLLOW_UPS.has(error.code))) continue;
    lines.add(line);
    const source = rangeOf(file, error.pos[0], error.pos[1]);
    const holdsExpression = source.excerpt?.includes('${') === true;
    if (error.code === 'TAB_AS_INDENT') {
      report.add(
        {
          code: 'TAB_INDENTATION',
          summary: 'A line is indented with a tab',
          detail: 'YAML allows spaces alone for indentation. Replace the tab by spaces.',
          expected: 'spaces',
          observed: 'a tab',
        },
        source,
      );
    } else if (error.code === 'TAG_RESOLVE_FAILED') {
      report.add(
        {
          code: 'UNKNOWN_TAG',
          summary: 'A YAML tag is not supported',
          detail: 'Tags such as !name have no meaning here. Remove the tag, or put the value into quotes when it is text.',
        },
        source,
      );
    } else {
      const words = error.message.split('\n')[0] ?? error.message;
      const advice = holdsExpression
        ? ` ${QUOTING}`
        : error.code === 'BLOCK_AS_IMPLICIT_KEY'
          ? ' Put a text that holds ": " into quotes.'
          : '';
      report.add(
        {
          code: holdsExpression ? 'UNQUOTED_EXPRESSION' : 'BAD_YAML',
          summary: holdsExpression ? 'An expression needs quotes' : 'A document is not valid YAML',
          detail: `${words}.${advice}`,
        },
        source,
      );
    }
  }
  return lines.size > 0;
}

const FOLLOW_UPS: ReadonlySet<string> = new Set([
  'UNEXPECTED_TOKEN',
  'MISSING_CHAR',
  'BAD_INDENT',
  'IMPOSSIBLE',
  'MULTILINE_IMPLICIT_KEY',
  'BLOCK_IN_FLOW',
]);

/** Turns the library's nodes into ours; aliases and merges are filled in. */
class Builder {
  failed = false;
  readonly #file: SourceFile;
  readonly #report: Report;
  readonly #anchors = new Map<string, YamlNode>();
  readonly #sizes = new Map<YamlNode, number>();
  #aliased = 0;

  constructor(file: SourceFile, report: Report) {
    this.#file = file;
    this.#report = report;
  }

  build(node: Node | null, fallback = 0): YamlNode {
    if (node === null) return this.#scalar(null, fallback, fallback);
    const [start, end] = [node.range?.[0] ?? fallback, node.range?.[1] ?? fallback];
    if (isAlias(node)) return this.#alias(node.source, start, end);
    const built = this.#own(node, start, end);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, built);
    return built;
  }

  #own(node: Node, start: number, end: number): YamlNode {
    if (isSeq(node)) {
      const items = node.items.map((item) => this.build(item as Node | null, start));
      return this.#sized({ kind: 'list', items, file: this.#file, start, end }, items);
    }
    if (isMap(node)) return this.#map(node, start, end);
    if (!isScalar(node)) throw new Error('a YAML node is neither scalar, map, list nor alias');
    const judged = judgeScalar(node.value, node.type === 'PLAIN' ? (node.source ?? '') : undefined);
    if (judged.ok) return this.#scalar(judged.value, start, end);
    this.#fail({ ...judged.mistake }, start, end);
    return this.#scalar(null, start, end);
  }

  #alias(name: string, start: number, end: number): YamlNode {
    const target = this.#anchors.get(name);
    if (target === undefined) {
      this.#fail(
        {
          code: 'UNKNOWN_ANCHOR',
          summary: 'An alias has no anchor',
          detail: `There is no finished anchor &${name} before this place. An alias cannot stand inside of its own anchor either.`,
        },
        start,
        end,
      );
      return this.#scalar(null, start, end);
    }
    const before = this.#aliased;
    this.#aliased += this.#sizes.get(target) ?? 1;
    if (this.#aliased <= ALIAS_NODES) return target;
    // Said once: every alias from here on makes it worse.
    if (before <= ALIAS_NODES) {
      this.#fail(
        {
          code: 'ANCHOR_BOMB',
          summary: 'Aliases make a document explode',
          detail: `The aliases of ${this.#file.name} add more than ${ALIAS_NODES} values to it, up to this place.`,
          expected: `at most ${ALIAS_NODES} values`,
        },
        start,
        end,
      );
    }
    return this.#scalar(null, start, end);
  }

  #map(node: YAMLMap, start: number, end: number): MapNode {
    const entries = new Map<string, MapEntry>();
    const merged: YamlNode[] = [];
    for (const pair of node.items as readonly Pair<Node | null, Node | null>[]) {
      const key = this.#key(pair.key, start);
      const value = this.build(pair.value, key?.end ?? start);
      if (key === undefined) continue;
      const name = String(key.value);
      const first = entries.get(name);
      if (name === '<<' && isScalar(pair.key) && pair.key.type === 'PLAIN') merged.push(value);
      else if (first === undefined) entries.set(name, { key, value });
      else {
        const place = positionOf(this.#file, first.key.start);
        this.#fail(
          {
            code: 'DUPLICATE_KEY',
            summary: 'A key stands twice in one map',
            detail: `The key ${JSON.stringify(name)} stands at line ${place.line} already. Remove one of the two.`,
            observed: name,
          },
          key.start,
          key.end,
        );
      }
    }
    for (const source of merged) this.#merge(source, entries);
    return this.#sized(
      { kind: 'map', entries, file: this.#file, start, end },
      [...entries.values()].map((entry) => entry.value),
    );
  }

  /** What is written in the map itself wins; of several merged maps the earlier one. */
  #merge(source: YamlNode, into: Map<string, MapEntry>): void {
    const maps = source.kind === 'list' ? source.items : [source];
    for (const map of maps) {
      if (map.kind !== 'map') {
        this.#fail(
          {
            code: 'BAD_MERGE',
            summary: 'A merge key has no map',
            detail: 'The value of << is a map, an alias of one, or a list of these.',
            expected: 'a map',
          },
          map.start,
          map.end,
        );
        continue;
      }
      for (const [name, entry] of map.entries) if (!into.has(name)) into.set(name, entry);
    }
  }

  #key(key: Node | null, fallback: number): ScalarNode | undefined {
    const [start, end] = [key?.range?.[0] ?? fallback, key?.range?.[1] ?? fallback];
    if (key !== null && isScalar(key)) {
      // A number or a constant as a key has its own spelling; only text is itself.
      if (typeof key.value === 'string') {
        const judged = judgeScalar(key.value, undefined);
        if (judged.ok) return this.#scalar(key.value, start, end);
        this.#fail(judged.mistake, start, end);
        return undefined;
      }
      if (key.type === 'PLAIN' && key.source !== undefined && key.source !== '') {
        this.#fail(
          {
            code: 'NON_TEXT_KEY',
            summary: 'A key is not text',
            detail: `The key ${key.source} is no text. Put it into quotes.`,
            expected: 'text',
            observed: key.source,
          },
          start,
          end,
        );
        return undefined;
      }
    }
    this.#fail(
      {
        code: 'NON_TEXT_KEY',
        summary: 'A key is not text',
        detail: 'A key is a plain text: no list, map, alias or nothing.',
        expected: 'text',
      },
      start,
      end,
    );
    return undefined;
  }

  #scalar(value: Scalar, start: number, end: number): ScalarNode {
    return { kind: 'scalar', value, file: this.#file, start, end };
  }

  #sized<T extends YamlNode>(node: T, children: readonly YamlNode[]): T {
    this.#sizes.set(
      node,
      children.reduce((sum, child) => sum + (this.#sizes.get(child) ?? 1), 1),
    );
    return node;
  }

  #fail(mistake: Parameters<Report['add']>[0], start: number, end: number): void {
    this.failed = true;
    this.#report.add(mistake, rangeOf(this.#file, start, end));
  }
}
