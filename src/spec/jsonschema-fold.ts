import { compareText } from '../core/address.ts';
import { canonicalText } from '../core/canonical.ts';

type JsonSchema = { readonly [name: string]: unknown };

/** Below this many characters of canonical text a reference is harder to read than what it stands for. */
const SMALLEST = 300;
/** What the whole documents are called where the schema becomes types. */
const TITLES: ReadonlySet<string> = new Set(['Environment', 'Fragment', 'Release']);
/** Words of JSON Schema that hold schemas under names. */
const NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties']);
/** Words of JSON Schema that hold schemas, alone or in a list. */
const NESTED: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'anyOf', 'oneOf', 'allOf', 'not', 'propertyNames']);

/**
 * The schema with every part that stands in several places said once, under `definitions`, and referred to. A part is named after the key
 * that it stands under, with as many of the keys above it as tell it from the others. The same schema folds in the same way.
 */
export function foldSchema(root: JsonSchema): JsonSchema {
  const counts = new Map<string, number>();
  count(root, counts);
  const folding = new Folding(counts);
  const body = folding.inside(root, [], 1);
  const definitions = Object.fromEntries([...folding.definitions].sort(([a], [b]) => compareText(a, b)));
  return folding.definitions.size === 0 ? body : { ...body, definitions };
}

function count(schema: JsonSchema, counts: Map<string, number>): void {
  const text = canonicalText(schema);
  if (text.length >= SMALLEST) counts.set(text, (counts.get(text) ?? 0) + 1);
  mapParts(schema, [], (part) => {
    count(part, counts);
    return part;
  });
}

class Folding {
  readonly definitions = new Map<string, JsonSchema>();
  readonly #counts: ReadonlyMap<string, number>;
  readonly #names = new Map<string, string>();

  constructor(counts: ReadonlyMap<string, number>) {
    this.#counts = counts;
  }

  /** The parts of a schema folded; `times` is how often the schema itself occurs: what occurs no oftener belongs to it alone. */
  inside(schema: JsonSchema, path: readonly string[], times: number): JsonSchema {
    return mapParts(schema, path, (part, at) => this.#fold(part, at, times));
  }

  #fold(part: JsonSchema, path: readonly string[], times: number): JsonSchema {
    const text = canonicalText(part);
    const occurs = this.#counts.get(text) ?? 1;
    if (occurs <= times) return this.inside(part, path, times);
    let name = this.#names.get(text);
    if (name === undefined) {
      name = this.#nameFor(path);
      this.#names.set(text, name);
      // Taken before what is inside of it is named.
      this.definitions.set(name, {});
      this.definitions.set(name, this.inside(part, path, occurs));
    }
    return { $ref: `#/definitions/${name}` };
  }

  #nameFor(path: readonly string[]): string {
    for (let from = path.length - 1; from >= 0; from -= 1) {
      const name = path.slice(from).map(pascalCase).join('');
      if (!this.definitions.has(name) && !TITLES.has(name)) return name;
    }
    const whole = path.map(pascalCase).join('');
    let number = 2;
    while (this.definitions.has(`${whole}${number}`)) number += 1;
    return `${whole}${number}`;
  }
}

/** The schema with each schema directly in it replaced. A path holds the keys alone: a branch or an item stands where the whole does. */
function mapParts(
  schema: JsonSchema,
  path: readonly string[],
  change: (part: JsonSchema, path: readonly string[]) => JsonSchema,
): JsonSchema {
  const changed = Object.entries(schema).map(([word, value]): readonly [string, unknown] => {
    if (NAMED.has(word) && isSchema(value)) {
      const members = Object.entries(value).map(([name, part]) => [name, isSchema(part) ? change(part, [...path, name]) : part]);
      return [word, Object.fromEntries(members)];
    }
    if (!NESTED.has(word)) return [word, value];
    if (Array.isArray(value)) return [word, value.map((part: unknown) => (isSchema(part) ? change(part, path) : part))];
    return [word, isSchema(value) ? change(value, path) : value];
  });
  return Object.fromEntries(changed);
}

function pascalCase(key: string): string {
  return key
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
