import { describe, expect, it } from 'vitest';
import type { TypeName } from '../../../src/core/address.ts';
import { fail, succeed } from '../../../src/core/diagnostic.ts';
import { type Expression, evaluateTemplate, OMIT, type Omit, type Template, templateReferences } from '../../../src/core/template.ts';
import type { Value } from '../../../src/core/value.ts';

const mistake = (code: string) => ({ severity: 'error', code, summary: 's', detail: 'd' }) as const;
const reference = (name: string) => ({ type: 'a.b' as TypeName, name, path: [] });
const gives = (value: Value | Omit, ...names: readonly string[]): Expression => ({
  text: 't',
  references: names.map(reference),
  evaluate: () => succeed(value),
});
const fails = (code: string): Expression => ({ text: 't', references: [], evaluate: () => fail(mistake(code)) });
const expression = (inner: Expression): Template => ({ kind: 'expression', expression: inner });
const literal = (value: Value): Template => ({ kind: 'literal', value });

describe('a template', () => {
  const nothing = () => undefined;

  it('must be filled, what is omit left out', () => {
    const text: Template = { kind: 'text', parts: ['a', gives(1)], join: (parts) => succeed(parts.join('-')) };
    const template: Template = {
      kind: 'map',
      entries: [
        ['l', { kind: 'list', items: [literal(1), expression(gives(OMIT)), expression(gives({ x: 1 }))] }],
        ['o', expression(gives(OMIT))],
        ['t', text],
        ['__proto__', literal(2)],
      ],
    };
    const outcome = evaluateTemplate(template, nothing);
    expect(outcome.ok && Object.entries(outcome.value as object)).toEqual([
      ['l', [1, { x: 1 }]],
      ['t', 'a-1'],
      ['__proto__', 2],
    ]);
    expect(evaluateTemplate(expression(gives(OMIT)), nothing)).toMatchObject({ ok: true, value: OMIT });
  });

  it('must collect every mistake', () => {
    const text: Template = { kind: 'text', parts: [fails('T')], join: () => fail(mistake('J')) };
    const template: Template = {
      kind: 'list',
      items: [expression(fails('A')), { kind: 'map', entries: [['x', expression(fails('B'))]] }, text, literal(1)],
    };
    const outcome = evaluateTemplate(template, nothing);
    expect(outcome.ok).toBe(false);
    expect(outcome.diagnostics.map(({ code }) => code)).toEqual(['A', 'B', 'T', 'J']);
  });

  it('must hand the lookup to its expressions', () => {
    const asks: Expression = { text: 't', references: [], evaluate: (resources) => succeed(resources('a.b' as TypeName, 'n') ?? null) };
    expect(evaluateTemplate(expression(asks), (type, name) => `${type}.${name}`)).toMatchObject({ value: 'a.b.n' });
  });

  it('must tell all its references in order', () => {
    const text: Template = { kind: 'text', parts: ['a', gives(1, 'x', 'y')], join: () => succeed('') };
    const template: Template = {
      kind: 'map',
      entries: [
        ['a', { kind: 'list', items: [expression(gives(1, 'z')), literal(1)] }],
        ['b', text],
      ],
    };
    expect(templateReferences(template).map(({ name }) => name)).toEqual(['z', 'x', 'y']);
  });
});
