import { describe, expect, it } from 'vitest';
import { joinText, splitInterpolation } from '../../../src/core/expression-text.ts';
import { Sensitive, Unknown, type Value } from '../../../src/core/value.ts';

const text = (value: string) => ({ kind: 'text', text: value });
const expression = (value: string, offset: number) => ({ kind: 'expression', text: value, offset });

describe('text with expressions', () => {
  it.each([
    ['plain', [text('plain')]],
    ['', [text('')]],
    ['${a}', [expression('a', 2)]],
    ['x${a}y${b}', [text('x'), expression('a', 3), text('y'), expression('b', 8)]],
    ['$${a}', [text('${a}')]],
    ['$$${a}', [text('$${a}')]],
    ['$ {a} $5', [text('$ {a} $5')]],
    ['${ {"a": "}"} }', [expression(' {"a": "}"} ', 2)]],
    ["${'\\'}'}", [expression("'\\'}'", 2)]],
    ['${r"\\"}', [expression('r"\\"', 2)]],
    ['${"""a"}""" }', [expression('"""a"}""" ', 2)]],
    ['${a // }\n}', [expression('a // }\n', 2)]],
  ])('must split %s', (written, parts) => {
    expect(splitInterpolation(written)).toEqual({ parts });
  });

  it.each([
    ['a${b', 1],
    ['${"}', 0],
    ['${{}', 0],
    ['ok ${a} ${', 8],
  ])('must find the opening of %s', (written, unclosed) => {
    expect(splitInterpolation(written)).toEqual({ unclosed });
  });

  it('must join numbers and booleans, and refuse what is no text', () => {
    expect(joinText(['a', 1, true, 2.5], undefined)).toMatchObject({ ok: true, value: 'a1true2.5' });
    for (const value of [null, [], {}])
      expect(joinText(['a', value], undefined)).toMatchObject({ ok: false, diagnostics: [{ code: 'NOT_TEXT' }] });
  });

  it('must keep secrets and unknowns', () => {
    const join = (...parts: readonly Value[]): Value => {
      const joined = joinText(parts, undefined);
      if (!joined.ok) throw new Error('not joined');
      return joined.value;
    };
    const open = join('a', Sensitive.open('b', ['s']));
    expect(open instanceof Sensitive && open.reveal()).toBe('ab');
    expect(open instanceof Sensitive && open.names).toEqual(['s']);
    expect(join('a', new Unknown('x'))).toBeInstanceOf(Unknown);
    const both = join(Sensitive.open('b', ['s']), new Unknown('x'));
    expect(both instanceof Sensitive && both.reveal()).toBeInstanceOf(Unknown);
    const skipped = join('a', Sensitive.skipped(['s']));
    expect(skipped instanceof Sensitive && skipped.isSkipped).toBe(true);
    const sealed = join('a', Sensitive.sealed('hmac-sha256:1', ['s']));
    expect(sealed instanceof Sensitive && sealed.reveal()).toBeInstanceOf(Unknown);
  });
});
