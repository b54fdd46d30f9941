import { createHash } from 'node:crypto';
import { parseDocument, stringify } from 'yaml';
import { flawOf, flawText, isHalved } from './expression-size.ts';
import type { Plain } from './value.ts';

/** What an added function refuses. The message never quotes an argument, which may be a secret. */
export class FunctionRefusal extends Error {
  override readonly name = 'FunctionRefusal';
}

/** A function that expressions have beyond CEL's own: over plain values, without any I/O. */
export interface AddedFunction {
  readonly name: string;
  readonly summary: string;
  readonly arity: { readonly least: number; readonly most: number };
  apply(args: readonly Plain[]): Plain;
}

/** The added functions that need no file. `file` and `template` are bound to a document and stand elsewhere. */
export const ADDED_FUNCTIONS: readonly AddedFunction[] = [
  one('json', 'the value as JSON text, members in text order', (value) => JSON.stringify(sorted(value))),
  one('yaml', 'the value as YAML text, members in text order', (value) => stringify(sorted(value), { aliasDuplicateObjects: false })),
  one('parse_json', 'the value of JSON text', (value) => parseJson(text('parse_json', value))),
  one('parse_yaml', 'the value of YAML text', (value) => parseYaml(text('parse_yaml', value))),
  one('sha256', 'the SHA-256 of text in UTF-8, as 64 hexadecimal digits', (value) =>
    createHash('sha256').update(text('sha256', value)).digest('hex'),
  ),
  one('base64', 'text in UTF-8 as base64', (value) => Buffer.from(text('base64', value), 'utf8').toString('base64')),
  one('urlencode', 'text with every character that is special in a URL as %XX', (value) => urlencode(text('urlencode', value))),
];

export function addedFunction(name: string): AddedFunction | undefined {
  return ADDED_FUNCTIONS.find((candidate) => candidate.name === name);
}

function one(name: string, summary: string, apply: (value: Plain) => Plain): AddedFunction {
  return { name, summary, arity: { least: 1, most: 1 }, apply: ([value]) => apply(value ?? null) };
}

function text(name: string, value: Plain): string {
  if (typeof value !== 'string') throw new FunctionRefusal(`${name}() takes text. Turn another value into text with json() first.`);
  return value;
}

/** Members in text order: the same value is always the same text, whatever the order in which it was written. */
function sorted(value: Plain): Plain {
  if (Array.isArray(value)) return value.map((item: Plain) => sorted(item));
  if (typeof value !== 'object' || value === null) return value;
  const record = value as { readonly [name: string]: Plain };
  return Object.fromEntries(
    Object.keys(record)
      .sort()
      .map((name) => [name, sorted(record[name] ?? null)]),
  );
}

function parseJson(source: string): Plain {
  let parsed: Plain;
  try {
    parsed = JSON.parse(source) as Plain;
  } catch (error) {
    throw new FunctionRefusal('parse_json() got text that is not JSON.', { cause: error });
  }
  return sound(parsed, 'parse_json');
}

function parseYaml(source: string): Plain {
  if (source.length > 1024 * 1024) throw new FunctionRefusal('parse_yaml() got text of more than 1 MiB.');
  try {
    const document = parseDocument(source, { strict: true, uniqueKeys: true });
    const problem = document.errors[0] ?? document.warnings[0];
    if (problem !== undefined) throw new FunctionRefusal('parse_yaml() got text that is not one YAML document.', { cause: problem });
    return sound(document.toJS({ maxAliasCount: 50 }) as Plain, 'parse_yaml');
  } catch (error) {
    if (error instanceof FunctionRefusal) throw error;
    throw new FunctionRefusal('parse_yaml() got text that is not one YAML document.', { cause: error });
  }
}

/** Refuses what no value of an environment can be. */
function sound(value: Plain, name: string): Plain {
  const flaw = flawOf(value);
  if (flaw !== undefined) throw new FunctionRefusal(`${name}() made a value that cannot be kept. ${flawText(flaw)}`);
  return exact(value, name);
}

/** Refuses numbers that would change on their way, and what JSON does not know. */
function exact(value: unknown, name: string): Plain {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return value;
    throw new FunctionRefusal(`${name}() met a number that cannot be kept exactly. Write it as text.`);
  }
  if (Array.isArray(value)) return value.map((item: unknown) => exact(item, name));
  if (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, exact(item, name)]));
  }
  throw new FunctionRefusal(`${name}() met a value that JSON does not have.`);
}

function urlencode(source: string): string {
  if (isHalved(source)) throw new FunctionRefusal('urlencode() got text with half of a character.');
  return encodeURIComponent(source).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
