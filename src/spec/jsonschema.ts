import { z } from 'zod';
import type { Registry } from '../providers/contract.ts';
import { foldSchema } from './jsonschema-fold.ts';
import { environmentSchema, fragmentSchema, releaseSchema } from './schema.ts';

type JsonSchema = { [name: string]: unknown };

/** Text that holds an expression: it may stand for any value below a block. */
const EXPRESSION = { type: 'string', pattern: '\\$\\{', description: 'An expression, as ${…}.' };

/** How many levels below the document are its own structure, where no expression may stand for the whole. */
const STRUCTURE: Readonly<Record<string, number>> = { resources: 3, defaults: 2, providers: 2, variables: 2, secrets: 2, outputs: 2 };
/** Documents' own keys, whose values are written out. */
const LITERAL: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'ignore']);

/** The JSON Schema (draft-07) of one kind of document, for editors: as the loader checks it, with expressions allowed where they are. What repeats is said once. */
export function editorSchema(kind: 'environment' | 'fragment' | 'release', registry: Registry): object {
  const schema = kind === 'environment' ? environmentSchema(registry) : kind === 'fragment' ? fragmentSchema(registry) : releaseSchema();
  const root = z.toJSONSchema(schema, { target: 'draft-7', io: 'input', unrepresentable: 'any' }) as JsonSchema;
  return foldSchema(kind === 'release' ? root : withExpressions(root));
}

function withExpressions(root: JsonSchema): JsonSchema {
  const properties = Object.entries(membersOf(root)).map(([name, section]) => [
    name,
    LITERAL.has(name) ? section : structure(section, STRUCTURE[name] ?? 1),
  ]);
  return extensible({ ...root, properties: Object.fromEntries(properties) });
}

function membersOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
}

/** A level of the document's own: its members are looked into, itself it stays. `x-…` keys are ignored there. */
function structure(schema: JsonSchema, depth: number): JsonSchema {
  if (depth === 0) return open(schema);
  const branches = schema['anyOf'];
  if (Array.isArray(branches)) return { ...schema, anyOf: branches.map((branch: JsonSchema) => structure(branch, depth)) };
  const inner = inside(schema, (member) => structure(member, depth - 1));
  return schema['type'] === 'object' ? extensible(inner) : inner;
}

function extensible(schema: JsonSchema): JsonSchema {
  return { ...schema, patternProperties: { ...(schema['patternProperties'] as object | undefined), '^x-': {} } };
}

/** The schema, or an expression in its place. */
function open(schema: JsonSchema): JsonSchema {
  const inner = inside(schema, open);
  if (admitsAnyText(schema)) return inner;
  const { description, 'x-accede': traits, default: standard, ...rest } = inner;
  return {
    ...(description === undefined ? {} : { description }),
    ...(traits === undefined ? {} : { 'x-accede': traits }),
    ...(standard === undefined ? {} : { default: standard }),
    anyOf: [
      ...(Object.keys(rest).length === 1 && Array.isArray(rest['anyOf'])
        ? (rest['anyOf'] as readonly unknown[]).filter((branch) => !isExpression(branch))
        : [rest]),
      EXPRESSION,
    ],
  };
}

function isExpression(branch: unknown): boolean {
  return typeof branch === 'object' && branch !== null && 'pattern' in branch && branch.pattern === EXPRESSION.pattern;
}

function admitsAnyText(schema: JsonSchema): boolean {
  const content = Object.keys(schema).filter((key) => key !== 'description' && key !== 'x-accede' && key !== 'default');
  if (content.length === 0) return true;
  return schema['type'] === 'string' && content.every((key) => key === 'type' || key === 'minLength');
}

/** The schema with its members, items and branches changed. Keys are plain text and stay as they are. */
function inside(schema: JsonSchema, change: (member: JsonSchema) => JsonSchema): JsonSchema {
  const changed: JsonSchema = { ...schema };
  if (schema['properties'] !== undefined)
    changed['properties'] = Object.fromEntries(Object.entries(membersOf(schema)).map(([name, member]) => [name, change(member)]));
  for (const key of ['items', 'additionalProperties'] as const) if (isSchema(schema[key])) changed[key] = change(schema[key]);
  for (const key of ['anyOf', 'oneOf', 'allOf'] as const) {
    const branches = schema[key];
    // A branch is the same place as the whole, which takes the expression itself.
    if (Array.isArray(branches)) changed[key] = branches.map((branch) => (isSchema(branch) ? inside(branch, change) : branch));
  }
  return changed;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
