import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { compileExpression, expressionLanguage } from '../../../src/core/expression.ts';
import { scopeOf } from '../../../src/core/expression-scope.ts';
import { parsePlanFile } from '../../../src/plan/planfile.ts';
import { change, plan } from '../cli/documents.ts';
import { HEAD, load, workbench } from './workbench.ts';

const HALF = '"\\ud800"';
const DEEP = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
const ENVIRONMENT = `${HEAD}variables:
  v: { type: any, default: 1 }
  l: { type: list, default: [] }
resources:
  fake.value:
    a: { input: ["\${vars.v}", "\${vars.l}"] }
`;

async function codes(environment: string, variables: readonly (readonly [string, string])[] = [], file?: string): Promise<string[]> {
  const folder = workbench({ 'environment.yaml': environment, ...(file === undefined ? {} : { 'vars.json': file }) });
  const outcome = await load(folder, { variables, variableFiles: file === undefined ? [] : [path.join(folder, 'vars.json')] });
  return outcome.diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code);
}

/** JSON can write what no canonical text, digest or UTF-8 can hold; it must be refused where it comes in and never be met later. */
describe('half of a character and endless nesting', () => {
  it('must stay text in a variable of any type, and be refused in a list', async () => {
    expect(await codes(ENVIRONMENT, [['v', HALF]])).toEqual([]);
    expect(await codes(ENVIRONMENT, [['v', `{${HALF}:1}`]])).toEqual([]);
    expect(await codes(ENVIRONMENT, [['v', DEEP]])).toEqual([]);
    for (const text of [`[${HALF}]`, '['.repeat(900) + ']'.repeat(900), DEEP]) {
      expect(await codes(ENVIRONMENT, [['l', text]])).toEqual(['WRONG_TYPE']);
    }
  });

  it.each([
    ['a value', `{"v":${HALF}}`, 'BAD_TEXT'],
    ['a key', `{"v":{${HALF}:1}}`, 'BAD_TEXT'],
    ['what nests', `{"v":${DEEP}}`, 'NESTED_TOO_DEEPLY'],
  ])('must be refused in a file of variables: %s', async (_name, file, expected) => {
    expect(await codes(ENVIRONMENT, [], file)).toEqual([expected]);
  });

  it('must be refused as a key of a document', async () => {
    expect(await codes(`${HEAD}resources: { fake.value: { a: { input: { ${HALF}: 1 } } } }\n`)).toEqual(['BAD_TEXT']);
  });

  it('must be refused in values that nest each other through locals', async () => {
    const nest = (inner: string) => `${'['.repeat(50)}${inner}${']'.repeat(50)}`;
    const locals = Array.from({ length: 40 }, (_, i) => `  l${i}: ${nest(i === 0 ? '1' : `"\${locals.l${i - 1}}"`)}\n`).join('');
    const found = await codes(`${HEAD}locals:\n${locals}resources: { fake.value: { a: { input: "\${locals.l39}" } } }\n`);
    expect(new Set(found)).toEqual(new Set(['VALUE_TOO_LARGE']));
  });

  it.each([
    ['parse_json', HALF],
    ['parse_yaml', HALF],
    ['parse_json', DEEP.slice(15_000, 25_000)],
    ['parse_yaml', DEEP.slice(15_000, 25_000)],
    ['parse_json', `{${HALF}:1}`],
  ])('must be refused by %s()', async (name, text) => {
    const found = await codes(`${HEAD}variables: { t: {} }\nresources: { fake.value: { a: { input: "\${${name}(vars.t)}" } } }\n`, [
      ['t', text],
    ]);
    expect(found).toEqual(['EXPRESSION_FAILED']);
  });

  it('must be refused in a secret, without its text', async () => {
    for (const json of ['{"k":"\\\\ud800"}', `{"k":${'['.repeat(500)}${']'.repeat(500)}}`]) {
      const document = `${HEAD}secrets: { s: { exec: [node, -e, 'process.stdout.write(process.env.S)'], format: json } }\nresources: { fake.value: { a: { input: "\${secrets.s.k}" } } }\n`;
      const outcome = await load(workbench({ 'environment.yaml': document }), {
        processEnvironment: { PATH: process.env['PATH'], S: json.replace('\\\\', '\\') },
      });
      expect(outcome.diagnostics.map(({ code }) => code)).toContain('SECRET_NOT_JSON');
    }
  });

  it.each([
    ['brackets', `${'('.repeat(4900)}1${')'.repeat(4900)}`],
    ['negations', `${'!'.repeat(9000)}true`],
    ['lists', `${'['.repeat(4900)}${']'.repeat(4900)}`],
    ['a chain of sums', `1${'+1'.repeat(4900)}`],
    ['a chain of members', `vars${'.a'.repeat(4900)}`],
    ['conditions', `${'true ? '.repeat(900)}1${' : 1'.repeat(900)}`],
  ])('must not overflow an expression: %s', (_name, text) => {
    const language = expressionLanguage({ file: () => '', template: () => '' });
    const compiled = compileExpression(text, { language, roots: new Set(['vars']) });
    const outcome = compiled.ok ? compiled.value.evaluate(scopeOf(new Map())) : compiled;
    for (const { code } of outcome.diagnostics)
      expect(['EXPRESSION_TOO_LARGE', 'EXPRESSION_FAILED', 'BAD_EXPRESSION', 'UNKNOWN_REFERENCE']).toContain(code);
  });

  it('must be refused in a plan file', () => {
    const text = JSON.stringify(plan([change('local.value.a', 'create', { after: { input: 'here' } })]));
    expect(text).toContain('"here"');
    for (const value of [HALF, DEEP]) {
      const outcome = parsePlanFile(new TextEncoder().encode(text.replace('"here"', value)), 'plan.json');
      expect(outcome.diagnostics.map(({ code }) => code)).toEqual(['PLAN_DAMAGED']);
    }
  });

  it('must not keep a plan file with a key such as __proto__ from holding', () => {
    const input: unknown = JSON.parse('{"__proto__":{"a":1}}');
    const document = plan([change('local.value.a', 'create', { after: { input } as never })]);
    const outcome = parsePlanFile(new TextEncoder().encode(JSON.stringify(document)), 'plan.json');
    expect(outcome.diagnostics).toEqual([]);
    expect(JSON.stringify(outcome.ok && outcome.value.changes[0]?.after)).toBe('{"input":{"__proto__":{"a":1}}}');
  });
});
