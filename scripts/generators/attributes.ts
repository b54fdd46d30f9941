import type { Traits } from '../../src/providers/contract.ts';
import { TRAITS_KEY } from '../../src/providers/define.ts';

/** The part of JSON Schema that zod writes and that a reference page shows. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema | readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly [TRAITS_KEY]?: Traits;
}

export interface Attribute {
  /** `[]` stands for an item of a list, `.*` for a member of a map. */
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
  /** Absent where the attribute has those of its parent. */
  readonly traits?: Traits;
}

/** Every attribute that the YAML may hold, members of members included, in the order of the schema and without doubles. */
export function attributesOf(schema: JsonSchema, traits: ReadonlyMap<string, Traits>): readonly Attribute[] {
  const found = new Map<string, Attribute>();
  walk(schema, '');
  return [...found.values()];

  function walk(node: JsonSchema, prefix: string): void {
    for (const [name, member] of Object.entries(node.properties ?? {})) {
      const path = prefix === '' ? name : `${prefix}.${name}`;
      const own = member[TRAITS_KEY] ?? traits.get(path);
      if (!found.has(path)) {
        found.set(path, {
          path,
          type: typeText(member),
          required: node.required?.includes(name) ?? false,
          description: [own?.description ?? member.description ?? '', defaultText(member)].filter((text) => text !== '').join(' '),
          ...(own === undefined ? {} : { traits: own }),
        });
      }
      walk(member, path);
    }
    for (const choice of choices(node)) walk(choice, prefix);
    for (const item of listed(node.items)) walk(item, `${prefix}[]`);
    if (typeof node.additionalProperties === 'object') walk(node.additionalProperties, `${prefix}.*`);
  }
}

/** What an attribute may hold, in words: `list of text or map of text`. */
function typeText(schema: JsonSchema): string {
  const alternatives = choices(schema);
  if (alternatives.length > 0) return [...new Set(alternatives.map(typeText))].join(' or ');
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' or ');
  if (schema.const !== undefined) return literal(schema.const);
  if (Array.isArray(schema.type)) return schema.type.map((type: string) => typeText({ ...schema, type })).join(' or ');
  switch (schema.type) {
    case 'array':
      return `list of ${[...new Set(listed(schema.items).map(typeText))].map(parenthesized).join(', ') || 'anything'}`;
    case 'object':
      if (schema.properties !== undefined) return 'block';
      return typeof schema.additionalProperties === 'object' ? `map of ${parenthesized(typeText(schema.additionalProperties))}` : 'map';
    case 'string':
      return 'text';
    case undefined:
      return 'anything';
    default:
      return String(schema.type);
  }
}

function choices(schema: JsonSchema): readonly JsonSchema[] {
  return schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
}

function listed(items: JsonSchema['items']): readonly JsonSchema[] {
  if (items === undefined) return [];
  return isList(items) ? items : [items];
}

function isList(items: JsonSchema | readonly JsonSchema[]): items is readonly JsonSchema[] {
  return Array.isArray(items);
}

function parenthesized(text: string): string {
  return text.includes(' or ') ? `(${text})` : text;
}

function literal(value: unknown): string {
  return `\`${JSON.stringify(value)}\``;
}

function defaultText(schema: JsonSchema): string {
  return schema.default === undefined ? '' : `Default ${literal(schema.default)}.`;
}
