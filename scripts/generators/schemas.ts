import { compile } from 'json-schema-to-typescript';
import { z } from 'zod';
import { eventSchema } from '../../src/apply/event-schema.ts';
import { planSchema } from '../../src/plan/schema.ts';
import type { Registry } from '../../src/providers/contract.ts';
import { editorSchema } from '../../src/spec/jsonschema.ts';
import { backupHeaderSchema, backupManifestSchema } from '../../src/state/backup-file.ts';

const KINDS = ['environment', 'fragment', 'release'] as const;

/** What Accede writes and other programs read. */
const FORMATS = {
  plan: planSchema,
  event: eventSchema,
  'backup-header': backupHeaderSchema,
  'backup-manifest': backupManifestSchema,
} as const;

const BANNER = '/** Generated from the schema of the same name. */';

/** The JSON Schema of every kind of document and of every published format, and its TypeScript declarations, by path below the root. */
export async function schemaFiles(registry: Registry): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const schemas = new Map<string, object>(KINDS.map((kind) => [kind, editorSchema(kind, registry)]));
  for (const [name, schema] of Object.entries(FORMATS)) schemas.set(name, formatSchema(schema));
  for (const [name, schema] of schemas) {
    files.set(`specs/schema/${name}.schema.json`, `${JSON.stringify(schema, null, 2)}\n`);
    files.set(`specs/schema/${name}.d.ts`, await declarations(schema, name));
  }
  const [environment, fragment] = ['environment', 'fragment'].map((name) => `specs/schema/${name}.d.ts`) as [string, string];
  files.set(fragment, importing(files.get(fragment) ?? '', files.get(environment) ?? '', './environment.d.ts'));
  return files;
}

/** The one part that is shared and refers to itself, any JSON value, gets a name for people. */
function formatSchema(schema: z.ZodType): object {
  const text = JSON.stringify(z.toJSONSchema(schema, { target: 'draft-7', unrepresentable: 'any' }));
  return JSON.parse(text.replaceAll('__schema0', 'json')) as object;
}

async function declarations(schema: object, kind: string): Promise<string> {
  const name = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
  const text = await compile({ ...(saidWhole(schema) as object), title: name }, name, {
    bannerComment: BANNER,
    additionalProperties: false,
    unknownAny: true,
    style: { singleQuote: true, printWidth: 140 },
  });
  return text.endsWith('\n') ? text : `${text}\n`;
}

/** The declarations without those that `other` holds just so: what is used of them is imported from there. */
function importing(text: string, other: string, from: string): string {
  const held = new Set(declarationsIn(other).map(({ source }) => source));
  const own = declarationsIn(text).filter(({ source }) => !held.has(source));
  const body = own.map(({ source }) => source).join('');
  const names = declarationsIn(text)
    .filter(({ name, source }) => held.has(source) && new RegExp(`\\b${name}\\b`).test(body))
    .map(({ name }) => name)
    .sort();
  if (names.length === 0) return text;
  return `${BANNER}\n\nimport type {\n${names.map((name) => `  ${name},\n`).join('')}} from '${from}';\n\n${body}`;
}

/** Each exported declaration with the comment above it. */
function declarationsIn(text: string): readonly { readonly name: string; readonly source: string }[] {
  const parts = text.slice(BANNER.length).split(/^(?=\/\*\*$|export (?:type|interface) )/m);
  const whole: string[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (last !== undefined && !/^export /m.test(last)) whole[whole.length - 1] = last + part;
    else whole.push(part);
  }
  return whole.flatMap((source) => {
    const name = /^export (?:type|interface) (\w+)/m.exec(source)?.[1];
    return name === undefined ? [] : [{ name, source }];
  });
}

/** Words of JSON Schema that hold schemas: under names, in a list or alone. */
const NAMED = new Set(['properties', 'definitions', '$defs']);
const NESTED = new Set(['items', 'additionalProperties', 'anyOf', 'oneOf', 'allOf', 'not', 'propertyNames']);
const RESTRICTING = new Set([...NAMED, ...NESTED, 'type', 'enum', 'const', '$ref', 'required']);

/**
 * A copy in the compiler's terms. A schema that allows everything says so, since one that only has a description would be taken for an object;
 * patterns of keys (`x-…`) are left out, since they would open every block to every key.
 */
function saidWhole(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(saidWhole);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy: Record<string, unknown> = {};
  for (const [word, value] of Object.entries(schema)) {
    if (word === 'patternProperties') continue;
    if (NAMED.has(word)) copy[word] = Object.fromEntries(Object.entries(value as object).map(([name, inner]) => [name, saidWhole(inner)]));
    else copy[word] = NESTED.has(word) ? saidWhole(value) : structuredClone(value);
  }
  if (!Object.keys(copy).some((word) => RESTRICTING.has(word))) copy['tsType'] = 'unknown';
  return copy;
}
