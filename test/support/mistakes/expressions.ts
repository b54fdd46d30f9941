import { env, type Mistake } from './mistake.ts';

/** Mistakes in expressions. */
export const EXPRESSIONS_MISTAKES: readonly Mistake[] = [
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
];
