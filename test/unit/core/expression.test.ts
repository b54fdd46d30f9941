import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/core/diagnostic.ts';
import { compileExpression, expressionLanguage } from '../../../src/core/expression.ts';
import { type Branch, branchOf, scopeOf } from '../../../src/core/expression-scope.ts';
import { OMIT, type Omit } from '../../../src/core/template.ts';
import { type Attributes, Sensitive, Unknown, type Value } from '../../../src/core/value.ts';

const CANARY = 'canary-7f3a';
const language = expressionLanguage({ file: (path) => `<${path}>`, template: (path, values) => `${path}:${JSON.stringify(values)}` });

const roots = new Map<string, Value | Branch>([
  [
    'vars',
    branchOf({
      port: 8080,
      ratio: 2,
      half: 0.5,
      name: 'api',
      flag: true,
      none: null,
      list: [1, 2, 3],
      map: { a: 1, waits: new Unknown('x.y.id') },
      constructor: 'c',
      big: 9007199254740991,
    }),
  ],
  [
    'secrets',
    branchOf({
      pw: Sensitive.open(CANARY, ['pw']),
      bundle: Sensitive.open({ key: CANARY, port: 1, yes: true }, ['bundle']),
      skipped: Sensitive.skipped(['skipped']),
      sealed: Sensitive.sealed('hmac-sha256:ab', ['sealed']),
    }),
  ],
  ['locals', branchOf({ db: { HOST: 'db', PW: Sensitive.open(CANARY, ['pw']) } })],
  ['each', branchOf({ key: 'a', value: 1 })],
  ['docker', branchOf({ network: { app: new Unknown('docker.network.app') } })],
]);
const scope = scopeOf(roots);

function run(text: string): Outcome<Value | Omit> {
  const locate = (offset: number) => ({ file: 'f', line: 1, column: offset + 1, endLine: 1, endColumn: offset + 2 });
  const compiled = compileExpression(text, { language, roots: new Set(scope.names()), locate });
  return compiled.ok ? compiled.value.evaluate(scope) : compiled;
}

/** Values with their wrappers written out, so that a test can compare them. */
function shown(value: Value | Omit): unknown {
  if (value === OMIT) return 'OMIT';
  if (value instanceof Sensitive) return { secret: value.isOpen ? shown(value.reveal()) : 'closed', names: value.names };
  if (value instanceof Unknown) return { unknown: value.of };
  if (Array.isArray(value)) return value.map((item: Value) => shown(item));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value as Attributes).map(([name, item]) => [name, shown(item)]));
  return value;
}

function evaluated(text: string): unknown {
  const outcome = run(text);
  if (!outcome.ok) throw new Error(outcome.diagnostics.map(({ code, detail }) => `${code} ${detail}`).join('\n'));
  return shown(outcome.value);
}

const secret = (value: unknown, ...names: readonly string[]) => ({ secret: value, names });

describe('an expression', () => {
  it.each([
    ['vars.port', 8080],
    ['vars.port + 1', 8081],
    ['vars.ratio * vars.half', 1],
    ['vars.ratio * 1.5 + 1', 4],
    ['vars["list"][2]', 3],
    ['vars.list.map(x, x * 2)', [2, 4, 6]],
    ['vars.list.filter(x, x > 1)', [2, 3]],
    ['vars.list.exists(x, x == 3) && vars.list.all(x, x < 4)', true],
    ['vars.map[each.key]', 1],
    ['vars.constructor', 'c'],
    ['{"__proto__": 1, "constructor": 2}["constructor"]', 2],
    ['true ? 1 : "text"', 1],
    ['[1, "a", null, true, 2.5]', [1, 'a', null, true, 2.5]],
    ['{"a": 1, "b": omit}', { a: 1 }],
    ['[omit, 1]', [1]],
    ['omit', 'OMIT'],
    ['vars.flag ? omit : 1', 'OMIT'],
    ['has(vars.nope)', false],
    ['has(vars.port)', true],
    ['(vars.port) + (1) > 2 ? [(vars.port + 1) * 2] : []', [16162]],
    ['merge({"a": 1, "b": 1}, {"b": 2})', { a: 1, b: 2 }],
    ['json({"b": 1, "a": [true, null]})', '{"a":[true,null],"b":1}'],
    ['yaml({"b": 1, "a": "x"})', 'a: x\nb: 1\n'],
    ['parse_json("[1, 2.5]")', [1, 2.5]],
    ['parse_yaml("a: [1, yes]")', { a: [1, 'yes'] }],
    ['sha256("abc")', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['base64("hi?")', 'aGk/'],
    ['urlencode("a b/c\'")', 'a%20b%2Fc%27'],
    ['file("x") + "!"', '<x>!'],
    ['[1, 2].map(x, json({"n": x}))', ['{"n":1}', '{"n":2}']],
    ['"a,b".split(",").map(x, x + "!")', ['a!', 'b!']],
    ['string(vars.port) + "/tcp"', '8080/tcp'],
    ['-5', -5],
    ['vars.big', 9007199254740991],
    ['r\'\\d\' + "}"', '\\d}'],
  ])('must compute %s', (text, value) => {
    expect(evaluated(text)).toEqual(value);
  });

  it.each([
    ['secrets.pw', secret(CANARY, 'pw')],
    ['secrets.bundle.key', secret(CANARY, 'bundle')],
    ['secrets.bundle[each.key + "x" == "ax" ? "port" : "key"]', secret(1, 'bundle')],
    ['"x" + secrets.pw', secret(`x${CANARY}`, 'pw')],
    ['merge(locals.db, {"LOG": "info"})', { HOST: 'db', PW: secret(CANARY, 'pw'), LOG: 'info' }],
    ['merge(secrets.bundle, {"LOG": "info"})', secret({ key: CANARY, port: 1, yes: true, LOG: 'info' }, 'bundle')],
    ['[locals.db.HOST, secrets.pw]', ['db', secret(CANARY, 'pw')]],
    ['{"a": secrets.pw, "b": vars.port}', { a: secret(CANARY, 'pw'), b: 8080 }],
    ['{secrets.pw: 1}', secret({ [CANARY]: 1 }, 'pw')],
    ['secrets.pw == "x" ? "a" : "b"', secret('b', 'pw')],
    ['secrets.bundle.yes ? vars.port : 0', secret(8080, 'bundle')],
    ['vars.flag ? secrets.pw : "x"', secret(CANARY, 'pw')],
    ['size(secrets.pw)', secret(CANARY.length, 'pw')],
    ['json(locals.db)', secret(`{"HOST":"db","PW":"${CANARY}"}`, 'pw')],
    ['json(locals.db.HOST)', '"db"'],
    ['locals.db.HOST + "x"', 'dbx'],
    ['[1].map(x, secrets.pw)', secret([CANARY], 'pw')],
    ['secrets.pw + secrets.bundle.key', secret(CANARY + CANARY, 'bundle', 'pw')],
    ['{"k": 1}[secrets.pw == "" ? "x" : "k"]', secret(1, 'pw')],
    ['base64(secrets.pw)', secret(Buffer.from(CANARY).toString('base64'), 'pw')],
    ['secrets.skipped + "a"', secret('closed', 'skipped')],
    ['json(secrets.skipped)', secret('closed', 'skipped')],
    ['secrets.sealed', secret('closed', 'sealed')],
    ['secrets.sealed + "a"', secret({ unknown: 'a recorded secret' }, 'sealed')],
  ])('must keep the taint of %s', (text, value) => {
    expect(evaluated(text)).toEqual(value);
  });

  it.each([
    ['docker.network.app.id', { unknown: 'docker.network.app' }],
    ['docker.network.app.id + "x"', { unknown: 'docker.network.app' }],
    ['vars.map.waits', { unknown: 'x.y.id' }],
    ['[vars.map.waits, 1]', [{ unknown: 'x.y.id' }, 1]],
    ['vars.map.a + 1', 2],
    ['size(vars.map)', { unknown: 'x.y.id' }],
    ['vars.map.waits ? 1 : 2', { unknown: 'x.y.id' }],
    ['vars.list[vars.map.waits]', { unknown: 'x.y.id' }],
    ['secrets.pw + docker.network.app.id', secret({ unknown: 'docker.network.app' }, 'pw')],
    ['json([docker.network.app])', { unknown: 'docker.network.app' }],
  ])('must not guess %s', (text, value) => {
    expect(evaluated(text)).toEqual(value);
  });

  it.each([
    ['vars.prot', 'UNKNOWN_REFERENCE', 6, 'Did you mean "port"?'],
    ['1 + vars["prot"]', 'EXPRESSION_FAILED', 5, 'no such key'],
    ['vars["prot"]', 'UNKNOWN_REFERENCE', 6, 'Did you mean "port"?'],
    ['vars.list[7]', 'UNKNOWN_REFERENCE', 1, '3 members'],
    ['vars.list.first', 'UNKNOWN_REFERENCE', 1, 'by index'],
    ['vars.port.x', 'UNKNOWN_REFERENCE', 1, 'has no members'],
    ['varz.port', 'UNKNOWN_NAME', 1, 'Did you mean "vars"?'],
    ['jsn(1)', 'UNKNOWN_FUNCTION', 1, 'Did you mean "json"?'],
    ['vars.name.upercase()', 'UNKNOWN_FUNCTION', 10, 'upercase'],
    ['1 +', 'BAD_EXPRESSION', 3, 'ends too early'],
    ['"abc', 'BAD_EXPRESSION', 1, 'unterminated'],
    ['1 2', 'BAD_EXPRESSION', 3, 'CEL'],
    ['var.x', 'BAD_EXPRESSION', 1, 'reserved'],
    ['  ', 'EMPTY_EXPRESSION', 1, 'nothing'],
    ['1 + omit', 'OMIT_NOT_ALLOWED_HERE', 5, 'leaves a key out'],
    ['omit.x', 'OMIT_NOT_ALLOWED_HERE', 1, 'leaves a key out'],
    ['secrets.bundle.yes ? omit : 1', 'OMIT_NOT_ALLOWED_HERE', 1, 'secret'],
    ['vars.big + 1', 'EXPRESSION_FAILED', 1, '2^53'],
    ['1 / 0', 'EXPRESSION_FAILED', 1, 'division by zero'],
    ['1.0 / 0.0', 'EXPRESSION_FAILED', 1, 'finite'],
    ['{1: 2}', 'BAD_MAP_KEY', 1, 'text'],
    ['timestamp("2026-01-01T00:00:00Z")', 'EXPRESSION_FAILED', 1, 'string()'],
    ['parse_json("{")', 'EXPRESSION_FAILED', 1, 'not JSON'],
    ['parse_json("9007199254740993")', 'EXPRESSION_FAILED', 1, 'exactly'],
    ['parse_yaml("a: [")', 'EXPRESSION_FAILED', 1, 'not one YAML document'],
    ['json(1, 2)', 'EXPRESSION_FAILED', 1, 'takes one value'],
    ['merge(1)', 'EXPRESSION_FAILED', 1, 'takes maps'],
    ['vars.port ? 1 : 2', 'EXPRESSION_FAILED', 1, 'true or false'],
    [`"${'x'.repeat(10_001)}"`, 'EXPRESSION_TOO_LARGE', 1, 'locals'],
  ])('must explain %s', (text, code, column, says) => {
    const outcome = run(text);
    expect(outcome.ok).toBe(false);
    const [first] = outcome.diagnostics;
    expect(first?.code).toBe(code);
    expect(first?.detail).toContain(says);
    expect(first?.source?.column).toBe(column);
  });

  it.each([
    'int(secrets.pw)',
    'secrets.pw + 1',
    'secrets.bundle.nope',
    'vars.list[secrets.bundle.port + 9]',
    '{"a": 1}[secrets.pw]',
    'parse_json(secrets.pw)',
    'bool(secrets.pw)',
    'duration(secrets.pw)',
    '[secrets.pw].map(x, int(x))',
    '"a".matches("[" + secrets.pw)',
    'secrets.pw.nope',
    'merge(secrets.pw, {})',
    'template(secrets.pw, {})',
  ])('must not show a secret when %s fails', (text) => {
    const outcome = run(text);
    expect(outcome.ok).toBe(false);
    expect(JSON.stringify(outcome.diagnostics)).not.toContain(CANARY);
    expect(outcome.diagnostics[0]?.source).toBeDefined();
  });

  it('must end, whatever its comprehensions visit', () => {
    const big = scopeOf(new Map([['l', branchOf({ l: Array.from({ length: 5000 }, (_, index) => index) })]]));
    for (const text of ['size(l.l.map(a, l.l.map(b, l.l.map(c, c))))', 'l.l.exists(a, l.l.exists(b, l.l.exists(c, c < 0)))']) {
      const compiled = compileExpression(text, { language, roots: new Set(['l']) });
      const outcome = compiled.ok ? compiled.value.evaluate(big) : compiled;
      expect(outcome.ok).toBe(false);
      expect(outcome.diagnostics[0]?.detail).toContain('visits more than');
    }
  });

  it('must refuse a result that is too large', () => {
    const big = scopeOf(new Map([['l', branchOf({ l: Array.from({ length: 400 }, (_, index) => index) })]]));
    const compiled = compileExpression('l.l.map(a, l.l)', { language, roots: new Set(['l']) });
    const outcome = compiled.ok ? compiled.value.evaluate(big) : compiled;
    expect(outcome.diagnostics[0]?.detail).toContain('more than 100000 members');
  });

  it('must never throw, whatever the text', () => {
    const words =
      'vars|.port|.list|[|]|(|)|{|}|"a"|:|,|+|-|? |secrets.pw|json(|merge(|omit| 1|2.5|.map(x, |x|==|&&|!|docker.network.app|file(|has(|\'|"|\\|\n';
    const piece = fc.constantFrom(...words.split('|'));
    const text = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
      fc.string({ maxLength: 30 }),
    );
    fc.assert(
      fc.property(text, (written) => {
        const outcome = run(written);
        expect(outcome.ok || outcome.diagnostics.length > 0).toBe(true);
        if (!outcome.ok) expect(JSON.stringify(outcome.diagnostics.map(({ detail }) => detail))).not.toContain(CANARY);
      }),
      { numRuns: 1500 },
    );
  });

  it('must taint everything that is computed from a secret', () => {
    const leaf = fc.constantFrom('secrets.pw', 'vars.name', 'locals.db.PW', 'locals.db.HOST');
    const tree = fc.letrec<{ node: string }>((tie) => ({
      node: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc.tuple(tie('node'), tie('node')).map(([a, b]) => `json([${a}, ${b}])`),
        fc.tuple(tie('node'), tie('node')).map(([a, b]) => `(${a} + ${b})`),
        fc.tuple(tie('node'), tie('node'), tie('node')).map(([a, b, c]) => `(${a} == ${b} ? ${b} : ${c})`),
        tie('node').map((a) => `base64(${a})`),
        tie('node').map((a) => `{"k": ${a}}["k"]`),
        tie('node').map((a) => `[${a}].map(x, x)[0]`),
      ),
    })).node;
    const parts = [CANARY, Buffer.from(CANARY).toString('base64').slice(0, 12)];
    const leaks = (value: Value): boolean => {
      if (value instanceof Sensitive || value instanceof Unknown) return false;
      if (typeof value === 'string') return parts.some((part) => value.includes(part));
      if (typeof value === 'object' && value !== null) return Object.values(value).some((item) => leaks(item as Value));
      return false;
    };
    fc.assert(
      fc.property(tree, (text) => {
        const outcome = run(text);
        if (outcome.ok && outcome.value !== OMIT) expect(leaks(outcome.value), text).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
