import { expect, it } from 'vitest';
import { compileExpression, expressionLanguage } from '../../../src/core/expression.ts';
import { scopeOf } from '../../../src/core/expression-scope.ts';
import { MATCHING_TIME } from '../../../src/core/expression-time.ts';
import { Sensitive, type Value } from '../../../src/core/value.ts';

const language = expressionLanguage({ file: () => '', template: () => '' });
const TEXT = `${'a'.repeat(60)}!`;

function evaluate(text: string, vars: Value = { text: TEXT }) {
  const compiled = compileExpression(text, { language, roots: new Set(['vars']) });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  return compiled.value.evaluate(scopeOf(new Map([['vars', vars]])));
}

it.each([
  ['alone', "vars.text.matches('^(a+)+$')"],
  ['in a quantifier, which swallows errors of its steps', "[vars.text, vars.text, vars.text].exists(t, t.matches('^(a+)+$'))"],
])('must stop a pattern that would never end: %s', (_name, text) => {
  const before = performance.now();
  const outcome = evaluate(text);
  expect(performance.now() - before).toBeLessThan(MATCHING_TIME * 5);
  expect(outcome.diagnostics).toMatchObject([
    { code: 'EXPRESSION_FAILED', detail: expect.stringContaining('a repeat inside of a repeat'.slice(2)) },
  ]);
});

it('must not tell the pattern or text of an endless match of a secret', () => {
  const outcome = evaluate("vars.text.matches('^(a+)+$')", { text: Sensitive.open(TEXT, ['s']) });
  expect(outcome.diagnostics.map(({ code }) => code)).toEqual(['EXPRESSION_FAILED']);
  expect(JSON.stringify(outcome.diagnostics)).not.toContain('aaaa');
});

it('must match as before otherwise', () => {
  expect(evaluate("vars.text.matches('^a+!$')")).toMatchObject({ ok: true, value: true });
  expect(evaluate("vars.text.matches('^b')")).toMatchObject({ ok: true, value: false });
  expect(evaluate("vars.text.matches('[')").diagnostics).toMatchObject([
    { code: 'EXPRESSION_FAILED', detail: expect.stringContaining('regular expression') },
  ]);
});
