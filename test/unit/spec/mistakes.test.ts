import { symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../../src/core/diagnostic.ts';
import type { LoadOptions } from '../../../src/spec/load.ts';
import { HEAD, IMAGE, line, load, PART, workbench } from './workbench.ts';

/** One wrong folder and the one diagnostic that it must give. */
interface Row {
  readonly name: string;
  /** The whole of environment.yaml, or several files. */
  readonly files: string | Readonly<Record<string, string | Uint8Array>>;
  readonly code: string;
  /** `line:column` in environment.yaml, `file:line:column`, or nothing when the mistake is in no document. */
  readonly at: string | undefined;
  /** A part of the detail. */
  readonly says: string;
  readonly expected?: string;
  readonly options?: Partial<LoadOptions>;
  /** How many diagnostics there are when it is not one. */
  readonly count?: number;
}

/** HEAD has three lines, so that the text begins at line 4. */
const env = (text: string) => `${HEAD}${text}`;
const box = (attributes: string) => env(`resources:\n  fake.box:\n    api:\n      image: ${IMAGE}\n${attributes}`);

const ROWS: readonly Row[] = [
  // ── YAML ──
  {
    name: 'a tab as indentation',
    files: env('variables:\n\ta: { default: x }\n'),
    code: 'TAB_INDENTATION',
    at: '5:1',
    says: 'Replace the tab',
    expected: 'spaces',
  },
  { name: 'a key twice', files: env('locals:\n  a: 1\n  a: 2\n'), code: 'DUPLICATE_KEY', at: '6:3', says: 'line 5 already' },
  { name: 'an unclosed quote', files: env('locals: { a: "x }\n'), code: 'BAD_YAML', at: '5:1', says: 'Missing closing "quote' },
  {
    name: 'a colon in plain text',
    files: env('locals:\n  a: b: c\n'),
    code: 'BAD_YAML',
    at: '5:6',
    says: 'Put a text that holds ": " into quotes',
  },
  {
    name: 'an unquoted expression with a map',
    files: env('locals:\n  a: ${merge({}, {"b": "c"})}\n'),
    code: 'UNQUOTED_EXPRESSION',
    at: '5:6',
    says: 'single quotes',
  },
  {
    name: 'an unquoted expression in a flow map',
    files: env('locals: { a: ${vars.x} }\n'),
    code: 'UNQUOTED_EXPRESSION',
    at: '4:15',
    says: 'single quotes',
  },
  { name: 'wrong indentation', files: env('locals:\n    a: 1\n  b: 2\n'), code: 'BAD_YAML', at: '6:1', says: 'same column' },
  { name: 'an unknown tag', files: env('locals:\n  a: !secret x\n'), code: 'UNKNOWN_TAG', at: '5:6', says: 'Remove the tag' },
  { name: 'an alias without anchor', files: env('locals:\n  a: *nowhere\n'), code: 'UNKNOWN_ANCHOR', at: '5:6', says: '&nowhere' },
  {
    name: 'an anchor inside of itself',
    files: env('locals:\n  a: &a [*a]\n'),
    code: 'UNKNOWN_ANCHOR',
    at: '5:10',
    says: 'inside of its own anchor',
  },
  {
    name: 'an anchor bomb',
    files: env(
      `x-a: &a [${'x, '.repeat(99)}x]\n${['b', 'c', 'd'].map((name, index) => `x-${name}: &${name} [${`*${'abc'[index]}, `.repeat(99)}x]\n`).join('')}`,
    ),
    code: 'ANCHOR_BOMB',
    at: '6:14',
    says: 'add more than 20000 values',
    count: 1,
  },
  {
    name: 'two documents in one file',
    files: env('---\na: 1\n'),
    code: 'SEVERAL_DOCUMENTS',
    at: '5:1',
    says: 'second document begins here',
  },
  {
    name: 'an empty document',
    files: { 'environment.yaml': HEAD, 'a.yaml': '# nothing\n' },
    code: 'EMPTY_DOCUMENT',
    at: 'a.yaml:1:1',
    says: 'holds nothing',
  },
  {
    name: 'nesting of 10,000 levels',
    files: env(`locals: { a: ${'['.repeat(10_000)} }\n`),
    code: 'NESTED_TOO_DEEPLY',
    at: '4:76',
    says: 'more than 64 levels',
  },
  {
    name: 'nesting by indentation',
    files: env(`locals:\n${Array.from({ length: 70 }, (_, index) => `${' '.repeat(index + 1)}a:\n`).join('')}`),
    code: 'NESTED_TOO_DEEPLY',
    at: '68:66',
    says: 'more than 64 levels',
  },
  {
    name: 'a file that is not UTF-8',
    files: { 'environment.yaml': Buffer.concat([Buffer.from(`${HEAD}locals:\n  a: é`), Buffer.from([0xe9, 0x0a])]) },
    code: 'NOT_UTF8',
    at: '5:7',
    says: 'offset 80',
  },
  {
    name: 'a file of more than 5 MiB',
    files: env(`# ${'x'.repeat(5 * 1024 * 1024)}\n`),
    code: 'FILE_TOO_LARGE',
    at: '1:1',
    says: 'at most 5242880',
  },
  {
    name: 'yes',
    files: env('locals:\n  a: yes\n'),
    code: 'AMBIGUOUS_SCALAR',
    at: '5:6',
    says: 'true or false',
    expected: '"yes" in quotes',
  },
  { name: 'Off', files: env('locals:\n  a: [Off]\n'), code: 'AMBIGUOUS_SCALAR', at: '5:7', says: 'true or false' },
  { name: 'an octal number', files: env('locals:\n  mode: 0644\n'), code: 'AMBIGUOUS_SCALAR', at: '5:9', says: 'octal' },
  {
    name: 'an integer beyond 2^53',
    files: env('locals:\n  a: 9007199254740993\n'),
    code: 'NUMBER_OUT_OF_RANGE',
    at: '5:6',
    says: '9007199254740993',
  },
  { name: 'an infinite number', files: env('locals:\n  a: .inf\n'), code: 'NUMBER_OUT_OF_RANGE', at: '5:6', says: '.inf' },
  { name: 'a key that is a number', files: env('locals:\n  a: { 8080: x }\n'), code: 'NON_TEXT_KEY', at: '5:8', says: 'key 8080' },
  { name: 'a key that is a list', files: env('locals:\n  a:\n    ? [x]\n    : y\n'), code: 'NON_TEXT_KEY', at: '6:7', says: 'no list' },
  { name: 'half of a character', files: env('locals:\n  a: "\\ud800"\n'), code: 'BAD_TEXT', at: '5:6', says: 'both halves' },
  { name: 'a merge of no map', files: env('locals:\n  a: { <<: 5 }\n'), code: 'BAD_MERGE', at: '5:12', says: 'value of << is a map' },

  // ── documents ──
  { name: 'a folder without environment', files: { 'a.yaml': PART }, code: 'NO_ENVIRONMENT', at: undefined, says: 'kind: Environment' },
  {
    name: 'two environments',
    files: { 'environment.yaml': HEAD, 'other.yaml': HEAD },
    code: 'SEVERAL_ENVIRONMENTS',
    at: 'other.yaml:2:7',
    says: 'environment.yaml is an Environment already',
  },
  {
    name: 'a YAML file that is no document',
    files: { 'environment.yaml': HEAD, 'compose.yaml': 'services: {}\n' },
    code: 'NOT_A_DOCUMENT',
    at: 'compose.yaml:1:1',
    says: 'ignore:',
  },
  {
    name: 'an unknown version',
    files: 'apiVersion: accede/v9\nkind: Environment\nmetadata: { name: a }\n',
    code: 'UNKNOWN_VERSION',
    at: '1:13',
    says: 'accede/v9',
    expected: 'accede/v1',
  },
  {
    name: 'an unknown kind',
    files: { 'environment.yaml': HEAD, 'a.yaml': 'apiVersion: accede/v1\nkind: Fragmnt\n' },
    code: 'UNKNOWN_KIND',
    at: 'a.yaml:2:7',
    says: 'Fragment',
  },
  { name: 'an unknown key of the document', files: env('resorces: {}\n'), code: 'UNKNOWN_KEY', at: '4:1', says: 'Did you mean resources?' },
  { name: 'a missing name', files: 'apiVersion: accede/v1\nkind: Environment\n', code: 'MISSING_KEY', at: '1:1', says: 'metadata' },
  {
    name: 'a bad name',
    files: 'apiVersion: accede/v1\nkind: Environment\nmetadata: { name: "a b" }\n',
    code: 'BAD_VALUE',
    at: '3:19',
    says: 'metadata.name',
    expected: 'letters, digits, "_", "-" and "."',
  },
  {
    name: 'an expression in the name',
    files: 'apiVersion: accede/v1\nkind: Environment\nmetadata: { name: "${vars.a}" }\n',
    code: 'EXPRESSION_NOT_ALLOWED',
    at: '3:19',
    says: 'plain text',
  },
  {
    name: 'an include that is not there',
    files: env('include: [../base/missing.yaml]\n'),
    code: 'FILE_OUTSIDE',
    at: '4:11',
    says: 'work tree',
  },
  { name: 'an include without file', files: env('include: [base/a.yaml]\n'), code: 'FILE_NOT_FOUND', at: '4:11', says: 'does not exist' },
  {
    name: 'an include glob that matches nothing',
    files: { 'environment.yaml': env('include: ["base/*.yaml"]\n'), 'base/a.txt': '' },
    code: 'INCLUDE_EMPTY',
    at: '4:11',
    says: 'base/*.yaml',
  },
  {
    name: 'an included environment',
    files: { 'environment.yaml': env('include: [base/e.yaml]\n'), 'base/e.yaml': HEAD },
    code: 'INCLUDED_ENVIRONMENT',
    at: '4:11',
    says: 'base/e.yaml',
  },
  {
    name: 'an address in two documents',
    files: {
      'environment.yaml': env('resources:\n  fake.value:\n    a: { input: 1 }\n'),
      'a.yaml': `${PART}resources:\n  fake.value: { a: { input: 2 } }\n`,
    },
    code: 'DEFINED_TWICE',
    at: '6:5',
    says: 'a.yaml:4:17',
  },
  {
    name: 'a local in two documents',
    files: { 'environment.yaml': env('locals: { a: 1 }\n'), 'a.yaml': `${PART}locals: { a: 1 }\n` },
    code: 'DEFINED_TWICE',
    at: '4:11',
    says: 'a.yaml:3:11',
  },
  {
    name: 'an override of nothing',
    files: env('overrides:\n  resources:\n    fake.value: { nope: { input: 1 } }\n'),
    code: 'NOTHING_TO_OVERRIDE',
    at: '6:19',
    says: 'fake.value.nope',
  },
  {
    name: 'an override that takes away nothing',
    files: env('resources: { fake.value: { a: { input: 1 } } }\noverrides: { resources: { fake.value: { a: { needs: null } } } }\n'),
    code: 'NOTHING_TO_OVERRIDE',
    at: '5:46',
    says: 'needs',
  },

  // ── variables and secrets ──
  {
    name: 'a variable without value',
    files: env('variables:\n  port: { type: integer, description: public port }\n'),
    code: 'MISSING_VARIABLE',
    at: '5:3',
    says: 'public port',
    expected: 'integer',
  },
  {
    name: 'a variable of the wrong type',
    files: env('variables:\n  port: { type: integer, default: "80" }\n'),
    code: 'WRONG_TYPE',
    at: '5:35',
    says: 'must be an integer',
    expected: 'an integer',
  },
  {
    name: 'a --var of the wrong type',
    files: env('variables:\n  port: { type: integer }\n'),
    code: 'WRONG_TYPE',
    at: '5:3',
    says: '--var port',
    options: { variables: [['port', 'x']] },
  },
  {
    name: 'a --var of no variable',
    files: env('variables: { port: { default: a } }\n'),
    code: 'UNKNOWN_VARIABLE',
    at: undefined,
    says: 'Did you mean port?',
    options: { variables: [['prot', 'x']] },
  },
  {
    name: 'a type that no variable has',
    files: env('variables:\n  port: { type: int, default: 1 }\n'),
    code: 'BAD_VALUE',
    at: '5:17',
    says: 'must be one of',
  },
  {
    name: 'a secret that is not set',
    files: env('secrets:\n  pw: { env: ACCEDE_NO_SUCH }\n'),
    code: 'SECRET_UNREADABLE',
    at: '5:3',
    says: 'ACCEDE_NO_SUCH is not set',
  },
  {
    name: 'a secret file that others may read',
    files: { 'environment.yaml': env('secrets:\n  pw: { file: pw.txt }\n'), 'pw.txt': 'x' },
    code: 'SECRET_UNREADABLE',
    at: '5:3',
    says: 'must have 0600',
  },
  {
    name: 'a secret program that fails',
    files: env('secrets:\n  pw: { exec: [sh, -c, "echo canary >&2; exit 3"] }\n'),
    code: 'SECRET_UNREADABLE',
    at: '5:3',
    says: 'ended with code 3',
  },
  {
    name: 'a secret program that is not there',
    files: env('secrets:\n  pw: { exec: [accede-no-such-program] }\n'),
    code: 'SECRET_UNREADABLE',
    at: '5:3',
    says: 'was not found',
  },
  {
    name: 'a bundle that is no JSON',
    files: env('secrets:\n  pw: { exec: [echo, canary], format: json }\n'),
    code: 'SECRET_NOT_JSON',
    at: '5:3',
    says: 'no JSON map',
  },
  {
    name: 'a secret from nowhere',
    files: env('secrets:\n  pw: { vault: x }\n'),
    code: 'BAD_VALUE',
    at: '5:7',
    says: 'secrets.pw',
    count: 1,
  },

  // ── expressions ──
  {
    name: 'an unclosed expression',
    files: env('locals:\n  a: ab${vars.x\n'),
    code: 'UNCLOSED_EXPRESSION',
    at: '5:8',
    says: 'no }',
    expected: '}',
  },
  { name: 'an empty expression', files: env('locals:\n  a: ${}\n'), code: 'EMPTY_EXPRESSION', at: '5:8', says: 'nothing between' },
  {
    name: 'an expression that ends too early',
    files: env('locals:\n  a: ${1 +}\n'),
    code: 'BAD_EXPRESSION',
    at: '5:10',
    says: 'ends too early',
  },
  { name: 'a reserved word', files: env('locals:\n  a: ${var.x}\n'), code: 'BAD_EXPRESSION', at: '5:8', says: 'reserved' },
  { name: 'an unknown name', files: env('locals:\n  a: ${var_s.x}\n'), code: 'UNKNOWN_NAME', at: '5:8', says: 'Did you mean "vars"?' },
  {
    name: 'an unknown variable',
    files: env('variables: { port: { default: a } }\nlocals:\n  a: "http://${vars.prot}"\n'),
    code: 'UNKNOWN_REFERENCE',
    at: '6:21',
    says: 'Did you mean port?',
  },
  {
    name: 'an unknown function',
    files: env('locals:\n  a: ${jsn(1)}\n'),
    code: 'UNKNOWN_FUNCTION',
    at: '5:8',
    says: 'Did you mean "json"?',
  },
  {
    name: 'an operator between wrong types',
    files: env('locals:\n  a: ${"a" + 1}\n'),
    code: 'EXPRESSION_FAILED',
    at: '5:8',
    says: 'no such overload',
  },
  { name: 'a map in text', files: env('locals:\n  m: { a: 1 }\n  a: "x ${locals.m}"\n'), code: 'NOT_TEXT', at: '6:6', says: 'json()' },
  {
    name: 'an expression in a key',
    files: env('locals:\n  a: { "${vars.x}": 1 }\n'),
    code: 'EXPRESSION_IN_KEY',
    at: '5:8',
    says: 'Keys are plain text',
  },
  {
    name: 'locals in a circle',
    files: env('locals:\n  a: ${locals.b}\n  b: ${locals.a}\n'),
    code: 'CYCLE',
    at: '5:3',
    says: 'locals.a → locals.b → locals.a',
  },
  {
    name: 'a value that multiplies',
    files: env(
      `locals:\n  l0: [x, x, x, x, x, x, x, x, x, x]\n${Array.from({ length: 9 }, (_, index) => `  l${index + 1}: [${Array.from({ length: 10 }, () => `"\${locals.l${index}}"`).join(', ')}]\n`).join('')}`,
    ),
    code: 'VALUE_TOO_LARGE',
    at: '10:7',
    says: 'multiply',
  },
  {
    name: 'a file outside of the work tree',
    files: env('locals:\n  a: ${file("../../etc/passwd")}\n'),
    code: 'EXPRESSION_FAILED',
    at: '5:8',
    says: 'outside of the Git work tree',
  },
  {
    name: 'a release where there is none',
    files: env('locals:\n  a: ${release.services}\n'),
    code: 'NAME_NOT_ALLOWED_HERE',
    at: '5:8',
    says: 'names no release',
  },

  // ── resources ──
  {
    name: 'an unknown type',
    files: env('resources:\n  fake.boxx:\n    a: {}\n'),
    code: 'UNKNOWN_TYPE',
    at: '5:3',
    says: 'Did you mean fake.box?',
  },
  { name: 'an unknown attribute', files: box('      restrat: always\n'), code: 'UNKNOWN_KEY', at: '8:7', says: 'Did you mean restart?' },
  {
    name: 'an attribute of the wrong type',
    files: box('      replicas: "3"\n'),
    code: 'WRONG_TYPE',
    at: '8:17',
    says: 'must be an integer',
    expected: 'an integer',
  },
  {
    name: 'a value that is not allowed',
    files: box('      restart: allways\n'),
    code: 'BAD_VALUE',
    at: '8:16',
    says: 'Did you mean "always"?',
  },
  { name: 'a bad port', files: box('      ports: ["80"]\n'), code: 'BAD_VALUE', at: '8:15', says: 'a port such as 8080:80' },
  {
    name: 'a bad duration',
    files: box('      ready: { timeout: 60 sec }\n'),
    code: 'BAD_VALUE',
    at: '8:25',
    says: 'a duration such as 60s',
  },
  { name: 'a number too large', files: box('      replicas: 10\n'), code: 'BAD_VALUE', at: '8:17', says: 'at most 9' },
  {
    name: 'an image without digest',
    files: env('resources:\n  fake.box:\n    api: { image: "reg/x:latest" }\n'),
    code: 'BAD_VALUE',
    at: '6:19',
    says: 'an image with a digest',
  },
  {
    name: 'a missing attribute',
    files: env('resources:\n  fake.box:\n    api: { replicas: 1 }\n'),
    code: 'MISSING_KEY',
    at: '6:5',
    says: 'image is required',
  },
  { name: 'a computed attribute', files: box('      id: x\n'), code: 'COMPUTED_ATTRIBUTE', at: '8:7', says: 'computed by the provider' },
  {
    name: 'what a type refuses',
    files: box('      privileged: true\n      restart: always\n'),
    code: 'BOX_UNSAFE',
    at: '8:19',
    says: 'privileged',
  },
  {
    name: 'a bad resource name',
    files: env('resources:\n  fake.value:\n    "a b": { input: 1 }\n'),
    code: 'BAD_NAME',
    at: '6:5',
    says: 'letters, digits',
  },
  {
    name: 'a reference to no resource',
    files: env('resources:\n  fake.value:\n    net: { input: 1 }\n    a: { input: "${fake.value.nett.output}" }\n'),
    code: 'UNKNOWN_RESOURCE',
    at: '7:31',
    says: 'Did you mean net?',
  },
  {
    name: 'a reference to no attribute',
    files: env('resources:\n  fake.value:\n    net: { input: 1 }\n    a: { input: "${fake.value.net.outptu}" }\n'),
    code: 'UNKNOWN_ATTRIBUTE',
    at: '7:35',
    says: 'Did you mean output?',
  },
  {
    name: 'a reference to no type',
    files: env('resources:\n  fake.value:\n    a: { input: "${fake.valu.net}" }\n'),
    code: 'UNKNOWN_TYPE',
    at: '6:25',
    says: 'Did you mean value?',
  },
  {
    name: 'a reference with a bare hyphen',
    files: env('resources:\n  fake.value:\n    my-net: { input: 1 }\n    a: { input: "${fake.value.my-net.output}" }\n'),
    code: 'UNKNOWN_NAME',
    at: '7:34',
    says: 'fake.value["my-net"]',
  },
  {
    name: 'a provider with a bare hyphen',
    files: env(
      'providers: { dash-ed: { url: x } }\nresources:\n  dash-ed.record: { r: { text: x } }\n  fake.value:\n    a: { input: "${dash-ed.record.r.revision}" }\n',
    ),
    code: 'UNKNOWN_NAME',
    at: '8:20',
    says: 'written dash_ed',
    count: 2,
  },
  {
    name: 'a reference that is computed',
    files: env('resources:\n  fake.value:\n    a: { for_each: [x], input: "${fake.value[each.key].output}" }\n'),
    code: 'INCOMPLETE_REFERENCE',
    at: '6:40',
    says: 'written out',
  },
  {
    name: 'a resource that needs itself',
    files: env('resources:\n  fake.value:\n    a: { input: "${fake.value.a.output}" }\n'),
    code: 'SELF_REFERENCE',
    at: '6:5',
    says: 'fake.value.a refers to itself',
  },
  {
    name: 'resources in a circle',
    files: env(
      'resources:\n  fake.value:\n    a: { input: "${fake.value.b.output}" }\n    b: { input: 1, depends_on: [fake.value.c] }\n    c: { input: "${fake.value.a.output}" }\n',
    ),
    code: 'CYCLE',
    at: '6:5',
    says: 'fake.value.a → fake.value.b → fake.value.c → fake.value.a',
  },
  {
    name: 'a dependency on nothing',
    files: env('resources:\n  fake.value:\n    net: { input: 1 }\n    a: { input: 1, depends_on: [fake.value.nte] }\n'),
    code: 'UNKNOWN_RESOURCE',
    at: '7:33',
    says: 'Did you mean fake.value.net?',
  },
  {
    name: 'an instance that is not there',
    files: env(
      'resources:\n  fake.value:\n    many: { for_each: [one, two], input: 1 }\n    a: { input: \'${fake.value.many["oen"].output}\' }\n',
    ),
    code: 'UNKNOWN_INSTANCE',
    at: '7:5',
    says: 'Did you mean "one"?',
  },
  {
    name: 'each without for_each',
    files: env('resources:\n  fake.value:\n    a: { input: "${each.key}" }\n'),
    code: 'NAME_NOT_ALLOWED_HERE',
    at: '6:20',
    says: 'without for_each',
  },
  {
    name: 'for_each over a number',
    files: env('resources:\n  fake.value:\n    a: { for_each: 5 }\n'),
    code: 'WRONG_TYPE',
    at: '6:20',
    says: 'for_each',
  },
  {
    name: 'for_each with a text twice',
    files: env('resources:\n  fake.value:\n    a: { for_each: [x, y, x] }\n'),
    code: 'DUPLICATE_INSTANCE_KEY',
    at: '6:27',
    says: 'twice',
  },
  {
    name: 'for_each with a bad key',
    files: env('resources:\n  fake.value:\n    a: { for_each: { "a/b": 1 } }\n'),
    code: 'BAD_INSTANCE_KEY',
    at: '6:22',
    says: '"a/b"',
  },
  {
    name: 'for_each over a secret',
    files: env(
      'secrets: { pw: { exec: [echo, x] } }\nlocals: { l: ["${secrets.pw}"] }\nresources:\n  fake.value:\n    a: { for_each: "${locals.l}" }\n',
    ),
    code: 'SECRET_NOT_ALLOWED_HERE',
    at: '8:20',
    says: 'secret',
  },
  {
    name: 'for_each over a resource',
    files: env('resources:\n  fake.value:\n    b: { input: [x] }\n    a: { for_each: "${fake.value.b.output}" }\n'),
    code: 'NAME_NOT_ALLOWED_HERE',
    at: '7:23',
    says: 'before any resource is known',
  },
  {
    name: 'for_each over a resource through a local',
    files: env(
      'locals: { l: "${fake.value.b.output}" }\nresources:\n  fake.value:\n    b: { input: [x] }\n    a: { for_each: "${locals.l}" }\n',
    ),
    code: 'NAME_NOT_ALLOWED_HERE',
    at: '8:23',
    says: 'through a local',
  },
  {
    name: 'two resources with one identity',
    files: env(`resources:\n  fake.box:\n    a: { image: "${IMAGE}", name: same }\n    b: { image: "${IMAGE}", name: same }\n`),
    code: 'DUPLICATE_IDENTITY',
    at: '7:5',
    says: 'fake.box.b and fake.box.a',
  },
  {
    name: 'an unknown provider alias',
    files: box('      provider: fake:edge\n'),
    code: 'UNKNOWN_PROVIDER',
    at: '8:17',
    says: 'must name a block of fake',
  },
  { name: 'an unknown provider', files: env('providers:\n  fakee: {}\n'), code: 'UNKNOWN_PROVIDER', at: '5:3', says: 'Did you mean fake?' },
  {
    name: 'a provider with an unknown key',
    files: env('providers:\n  fake: { hots: x }\n'),
    code: 'UNKNOWN_KEY',
    at: '5:11',
    says: 'Did you mean host?',
  },
  {
    name: 'a provider without its configuration',
    files: env('resources:\n  dash-ed.record:\n    a: { text: x }\n'),
    code: 'PROVIDER_NOT_CONFIGURED',
    at: '6:5',
    says: 'url is required',
  },
  {
    name: 'a role that the type does not have',
    files: box('      role: job\n'),
    code: 'BAD_ROLE',
    at: '8:13',
    says: 'service or worker or store',
  },
  { name: 'a bad timeout', files: box('      timeouts: { create: 5 }\n'), code: 'WRONG_TYPE', at: '8:27', says: 'timeouts.create' },
  {
    name: 'a path that is no attribute',
    files: box('      lifecycle: { ignore_changes: [nope] }\n'),
    code: 'UNKNOWN_ATTRIBUTE',
    at: '8:37',
    says: 'no path of an attribute',
  },
  {
    name: 'a trigger that is no resource',
    files: box('      lifecycle: { replace_triggered_by: [fake.value.nope] }\n'),
    code: 'UNKNOWN_RESOURCE',
    at: '8:43',
    says: 'fake.value.nope',
  },
  {
    name: 'a condition that is no expression',
    files: box('      lifecycle: { preconditions: [{ that: "yes", message: m }] }\n'),
    code: 'WRONG_TYPE',
    at: '8:44',
    says: 'one expression',
  },
  {
    name: 'a file that is not there',
    files: box('      env_file: missing.env\n'),
    code: 'FILE_UNREADABLE',
    at: '8:17',
    says: 'does not exist',
  },
  {
    name: 'hosts that differ',
    files: env(
      'providers: { fake: { host: "tcp://far:2376" } }\nresources:\n  fake.value: { a: { input: 1 } }\n  fakehost.file:\n    f: { path: /x }\n',
    ),
    code: 'HOST_MISMATCH',
    at: '4:14',
    says: 'here: true',
  },

  // ── moves, release, policy ──
  {
    name: 'a move to nowhere',
    files: env('resources:\n  fake.value: { a: { input: 1 } }\nmoved:\n  - { from: fake.value.x, to: fake.value.b }\n'),
    code: 'MOVED_NOWHERE',
    at: '7:31',
    says: 'neither a resource',
  },
  {
    name: 'a removed resource that is there',
    files: env('resources:\n  fake.value: { a: { input: 1 } }\nremoved:\n  - { address: fake.value.a }\n'),
    code: 'REMOVED_AND_DEFINED',
    at: '7:16',
    says: 'Remove one of the two',
  },
  {
    name: 'an import of nothing',
    files: env('import:\n  - { address: fake.value.a, id: x }\n'),
    code: 'UNKNOWN_RESOURCE',
    at: '5:16',
    says: 'under no resources:',
  },
  {
    name: 'a release with a bad digest',
    files: {
      'environment.yaml': env('release: release.yaml\n'),
      'release.yaml':
        'apiVersion: accede/v1\nkind: Release\nmetadata: { name: a, version: "1" }\nservices:\n  api: { image: { repository: r, digest: "sha256:12" } }\n',
    },
    code: 'BAD_VALUE',
    at: 'release.yaml:5:42',
    says: '64 lower-case hexadecimal digits',
  },
  {
    name: 'a role against the release',
    files: {
      'environment.yaml': env(
        'release: release.yaml\nresources:\n  fake.box:\n    a: { image: "${release.services.api.image}", role: worker }\n',
      ),
      'release.yaml': `apiVersion: accede/v1\nkind: Release\nmetadata: { name: a, version: "1" }\nservices:\n  api: { image: "${IMAGE}" }\n`,
    },
    code: 'ROLE_CONTRADICTION',
    at: '7:56',
    says: 'is a service',
  },
  {
    name: 'an unknown key of the policy',
    files: env('policy: { plan_maxage: 1h }\n'),
    code: 'UNKNOWN_KEY',
    at: '4:11',
    says: 'Did you mean plan_max_age?',
  },
  { name: 'a bad duration in the policy', files: env('policy: { plan_max_age: 1 day }\n'), code: 'BAD_VALUE', at: '4:25', says: '1h30m' },
  {
    name: 'approvals, which do not exist yet',
    files: env('policy: { approvals: { topology: 1 } }\n'),
    code: 'NOT_AVAILABLE',
    at: '4:11',
    says: 'Approvals are not available yet',
  },
  {
    name: 'hooks, which do not exist yet',
    files: env('hooks: { before: [{ run: [x] }] }\n'),
    code: 'NOT_AVAILABLE',
    at: '4:1',
    says: 'Hooks',
  },
  {
    name: 'state in MySQL, which does not exist yet',
    files: env('state: { backend: mysql, url: "mysql://x" }\n'),
    code: 'NOT_AVAILABLE',
    at: '4:10',
    says: 'backend: sqlite',
  },
  {
    name: 'a restart with a dependency, which does not exist yet',
    files: env(
      'resources:\n  fake.value:\n    b: { input: 1 }\n    a: { input: 1, depends_on: [{ address: fake.value.b, restart: true }] }\n',
    ),
    code: 'NOT_AVAILABLE',
    at: '7:58',
    says: 'Restarting',
  },
  {
    name: 'a provider on another host, which does not exist yet',
    files: env('providers: { fakehost: { host: "ssh://a@b" } }\n'),
    code: 'NOT_AVAILABLE',
    at: '4:32',
    says: 'another host',
  },
];

const plain = (row: Row): Readonly<Record<string, string | Uint8Array>> =>
  typeof row.files === 'string' ? { 'environment.yaml': row.files } : row.files;

function checkShape(diagnostic: Diagnostic): void {
  expect(diagnostic.severity).toBe('error');
  expect(diagnostic.code).toMatch(/^[A-Z][A-Z0-9_]*$/);
  expect(diagnostic.detail).toMatch(/[.?)]$/);
  const text = JSON.stringify(diagnostic);
  expect(text).not.toMatch(/\n {4}at |node_modules|\.ts:\d/);
  expect(text).not.toContain('canary"');
  expect(text).not.toMatch(/undefined|\[object|NaN/);
}

describe('a mistake in the YAML', () => {
  it('must be shown by at least 45 rows', () => {
    expect(ROWS.length).toBeGreaterThanOrEqual(45);
    expect(new Set(ROWS.map(({ name }) => name)).size).toBe(ROWS.length);
  });

  it.each(ROWS)('must be placed and explained: $name', async (row) => {
    const outcome = await load(workbench(plain(row)), row.options);
    expect(outcome.ok).toBe(false);
    for (const diagnostic of outcome.diagnostics) checkShape(diagnostic);
    const all = outcome.diagnostics.map(line).join('\n');
    expect(outcome.diagnostics.length, all).toBe(row.count ?? 1);
    const found = outcome.diagnostics.find(({ code }) => code === row.code);
    expect(found, all).toBeDefined();
    const { source } = found ?? {};
    const at = row.at === undefined || row.at.split(':').length === 3 ? row.at : `environment.yaml:${row.at}`;
    expect(source === undefined ? undefined : `${source.file}:${source.line}:${source.column}`, all).toBe(at);
    expect(found?.detail).toContain(row.says);
    if (row.expected !== undefined) expect(found?.expected).toBe(row.expected);
    if (source !== undefined && !['FILE_TOO_LARGE', 'NOT_UTF8'].includes(row.code)) expect(source.excerpt).toBeDefined();
  });

  it('must refuse a symbolic link that leads out of the work tree', async () => {
    const outside = path.join(tmpdir(), `accede-outside-${process.pid}.yaml`);
    writeFileSync(outside, `${PART}locals: { a: 1 }\n`);
    const folder = workbench({ 'environment.yaml': HEAD });
    symlinkSync(outside, path.join(folder, 'link.yaml'));
    const outcome = await load(folder);
    expect(outcome.diagnostics.map(line)).toEqual([
      'link.yaml:1:1 FILE_OUTSIDE link.yaml cannot be read. A symbolic link leads out of the Git work tree.',
    ]);
  });

  it('must show every mistake of a run, sorted by place', async () => {
    const outcome = await load(
      workbench({
        'environment.yaml': env(
          'locals: { a: "${vars.x}" }\nresources:\n  fake.box:\n    b: { imag: x }\n  fake.nope: { c: {} }\npolicy: { plan_maxage: 1h }\n',
        ),
        'a.yaml': 'x: 1\n',
      }),
    );
    expect(outcome.diagnostics.map((diagnostic) => `${diagnostic.source?.file}:${diagnostic.source?.line} ${diagnostic.code}`)).toEqual([
      'a.yaml:1 NOT_A_DOCUMENT',
      'environment.yaml:4 UNKNOWN_REFERENCE',
      'environment.yaml:7 UNKNOWN_KEY',
      'environment.yaml:8 UNKNOWN_TYPE',
      'environment.yaml:9 UNKNOWN_KEY',
    ]);
  });
});
