import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { compareText } from '../core/address.ts';
import { addedFunction, FunctionRefusal } from '../core/expression-functions.ts';
import { scopeOf } from '../core/expression-scope.ts';
import { flawOf } from '../core/expression-size.ts';
import { nearMiss } from '../core/naming.ts';
import { OMIT } from '../core/template.ts';
import { type Attributes, isAttributes, isList, type Plain, type Value } from '../core/value.ts';
import type { Block } from './assemble.ts';
import { BROKEN, type CompilePlace, compileNode, evaluateCompiled, flawMistake } from './compile.ts';
import type { Report } from './report.ts';
import { type VARIABLE_TYPES, type VariableBlock, variableSchema } from './schema-blocks.ts';
import { memberOf, nodeRange, plainOf, sourceFile, type YamlNode } from './source.ts';
import { DOCUMENT_BYTES, displayName, reasonOf, type Workspace } from './workspace.ts';
import { parseYaml } from './yaml.ts';

/** Where values of variables come from, the strongest first. */
export interface VariableSources {
  readonly arguments: readonly (readonly [string, string])[];
  readonly files: readonly string[];
  readonly processEnvironment: Readonly<Record<string, string | undefined>>;
  /** Values as they were in an earlier load; nothing is stronger. */
  readonly kept?: { readonly [name: string]: Plain };
}

type VariableType = (typeof VARIABLE_TYPES)[number];

/** The effective values by name, sorted. What is missing or wrong is reported and stands as `BROKEN`. */
export async function resolveVariables(
  blocks: ReadonlyMap<string, Block>,
  sources: VariableSources,
  workspace: Workspace,
  place: CompilePlace,
  report: Report,
): Promise<Attributes> {
  const given = await gather(blocks, sources, workspace, report);
  const values: [string, Value][] = [];
  for (const [name, block] of [...blocks].sort(([a], [b]) => compareText(a, b))) {
    values.push([name, resolve(name, block, given.get(name), place, report)]);
  }
  return Object.fromEntries(values);
}

/** A value from outside, and where it stands, in words. */
type Given = { readonly from: string } & ({ readonly text: string } | { readonly node: YamlNode } | { readonly value: Plain });

async function gather(
  blocks: ReadonlyMap<string, Block>,
  sources: VariableSources,
  workspace: Workspace,
  report: Report,
): Promise<ReadonlyMap<string, Given>> {
  const given = new Map<string, Given>();
  for (const name of blocks.keys()) {
    const text = sources.processEnvironment[`ACCEDE_VAR_${name}`];
    if (text !== undefined) given.set(name, { from: `ACCEDE_VAR_${name}`, text });
  }
  for (const file of sources.files) {
    for (const [name, node] of await readVariableFile(file, workspace, report)) {
      if (blocks.has(name)) given.set(name, { from: file, node });
      else unknownVariable(name, `The file ${file} sets`, blocks, report, node);
    }
  }
  for (const [name, text] of sources.arguments) {
    if (blocks.has(name)) given.set(name, { from: `--var ${name}`, text });
    else unknownVariable(name, '--var sets', blocks, report);
  }
  for (const [name, value] of Object.entries(sources.kept ?? {})) {
    if (blocks.has(name)) given.set(name, { from: 'what was kept', value });
  }
  return given;
}

function unknownVariable(name: string, subject: string, blocks: ReadonlyMap<string, Block>, report: Report, node?: YamlNode): void {
  const near = nearMiss(name, blocks.keys());
  report.add(
    {
      code: 'UNKNOWN_VARIABLE',
      summary: 'A value is given for a variable that does not exist',
      detail: `${subject} ${name}, and the environment has no such variable.${near === undefined ? '' : ` Did you mean ${near}?`}`,
      observed: name,
    },
    node,
  );
}

async function readVariableFile(file: string, workspace: Workspace, report: Report): Promise<readonly (readonly [string, YamlNode])[]> {
  const absolute = path.resolve(file);
  try {
    if ((await stat(absolute)).size > DOCUMENT_BYTES) {
      report.add({
        code: 'FILE_TOO_LARGE',
        summary: 'A file of variables is too large',
        detail: `${file} has more than ${DOCUMENT_BYTES} bytes.`,
      });
      return [];
    }
    const source = sourceFile(displayName(workspace, absolute), absolute, path.dirname(absolute), await readFile(absolute, 'utf8'));
    const root = parseYaml(source, report);
    if (root === undefined) return [];
    if (root.kind === 'map') return [...root.entries].map(([name, { value }]) => [name, value] as const);
    report.add(
      {
        code: 'WRONG_TYPE',
        summary: 'A file of variables is no map',
        detail: `${file} must be a map from names to values, in YAML or JSON.`,
        expected: 'a map',
      },
      root,
    );
    return [];
  } catch (error) {
    report.add({
      code: 'FILE_NOT_FOUND',
      summary: 'A file of variables cannot be read',
      detail: `${file} cannot be read. ${reasonOf(error)}`,
    });
    return [];
  }
}

function resolve(name: string, block: Block, given: Given | undefined, place: CompilePlace, report: Report): Value {
  const parsed = variableSchema.safeParse(block.node.kind === 'scalar' && block.node.value === null ? {} : plainOf(block.node));
  // The outline was checked before; what is wrong there is reported.
  if (!parsed.success) return BROKEN;
  const type = parsed.data.type ?? 'string';
  if (given !== undefined) {
    if ('text' in given) return fromText(name, type, given, block, report);
    if ('value' in given) return typed(name, type, given.value, given.from, block.key, report);
    return typed(name, type, plainOf(given.node) as Value, given.from, given.node, report);
  }
  const node = memberOf(block.node, 'default');
  if (node === undefined) return missing(name, type, parsed.data, block, report);
  const value = evaluateCompiled(compileNode(node, place, report), scopeOf(new Map()), (found) => report.take(...found));
  return value === OMIT ? BROKEN : typed(name, type, value, 'its default', node, report);
}

function missing(name: string, type: VariableType, block: VariableBlock, { key }: Block, report: Report): Value {
  report.add(
    {
      code: 'MISSING_VARIABLE',
      summary: 'A variable has no value',
      detail: `The variable ${name}${block.description === undefined ? '' : ` (${block.description})`} has no default and no value. Give it with --var ${name}=…, in a --var-file, or as ACCEDE_VAR_${name}.`,
      expected: type,
    },
    key,
  );
  return BROKEN;
}

function fromText(
  name: string,
  type: VariableType,
  given: { readonly from: string; readonly text: string },
  block: Block,
  report: Report,
): Value {
  const value = parseText(type, given.text);
  if (value === undefined) return wrongType(name, type, given.from, nodeRange(block.key), 'other text', report);
  return typed(name, type, value, given.from, block.key, report);
}

function parseText(type: VariableType, text: string): Value | undefined {
  switch (type) {
    case 'string':
      return text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'integer':
      return /^-?(?:0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
    case 'number':
      return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case 'list':
    case 'map':
      return parseWith('parse_yaml', text);
    case 'any':
      return parseWith('parse_json', text) ?? text;
  }
  return type satisfies never;
}

function parseWith(name: string, text: string): Plain | undefined {
  try {
    return addedFunction(name)?.apply([text]);
  } catch (error) {
    if (error instanceof FunctionRefusal) return undefined;
    throw error;
  }
}

function typed(name: string, type: VariableType, value: Value, from: string, node: YamlNode, report: Report): Value {
  const flaw = value === BROKEN ? undefined : flawOf(value);
  if (flaw !== undefined) {
    const mistake = flawMistake(flaw);
    report.add({ ...mistake, detail: `The variable ${name} gets a value that cannot be kept from ${from}. ${mistake.detail}` }, node);
    return BROKEN;
  }
  if (value === BROKEN || hasType(type, value)) return value;
  return wrongType(
    name,
    type,
    from,
    nodeRange(node),
    isList(value) ? 'a list' : isAttributes(value) ? 'a map' : JSON.stringify(value),
    report,
  );
}

function hasType(type: VariableType, value: Value): boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string';
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return Number.isSafeInteger(value);
    case 'number':
      return typeof value === 'number';
    case 'list':
      return isList(value);
    case 'map':
      return isAttributes(value);
    case 'any':
      return true;
  }
  return type satisfies never;
}

const WORDS: Readonly<Record<VariableType, string>> = {
  string: 'text',
  boolean: 'true or false',
  integer: 'an integer',
  number: 'a number',
  list: 'a list',
  map: 'a map',
  any: 'anything',
};

function wrongType(
  name: string,
  type: VariableType,
  from: string,
  place: ReturnType<typeof nodeRange>,
  observed: string,
  report: Report,
): Value {
  report.add(
    {
      code: 'WRONG_TYPE',
      summary: 'A variable has a value of the wrong type',
      detail: `The variable ${name} must be ${WORDS[type]}; ${from} gives ${observed}.`,
      expected: WORDS[type],
      observed,
    },
    place,
  );
  return BROKEN;
}
