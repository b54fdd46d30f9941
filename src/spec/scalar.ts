import { isHalved } from '../core/expression-size.ts';
import type { Scalar } from '../core/value.ts';
import type { Mistake } from './report.ts';

type Judged = { readonly ok: true; readonly value: Scalar } | { readonly ok: false; readonly mistake: Mistake };

/**
 * Takes a scalar as YAML 1.2 reads it, or refuses it: what YAML 1.1 would read as something else, and numbers that JavaScript cannot keep.
 * `plain` is the text as it is written when it stands without quotes. Text with `:` such as `8080:80` is text in both readings that people
 * expect of it, and is left alone.
 */
export function judgeScalar(value: unknown, plain: string | undefined): Judged {
  if (plain !== undefined) {
    if (/^(?:yes|no|on|off)$/i.test(plain)) return ambiguous(plain, 'true or false');
    if (/^[-+]?0[0-9]+$/.test(plain)) return ambiguous(plain, 'an octal number');
    if (/^[-+]?[0-9]+(?:_[0-9_]*)+$/.test(plain)) return ambiguous(plain, 'a number');
  }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return text(value);
  if (typeof value === 'bigint') {
    if (value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER)) return { ok: true, value: Number(value) };
    return inexact(`${value}`, 'integers from -(2^53-1) to 2^53-1');
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return inexact(plain ?? `${value}`, 'a finite number');
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) return inexact(plain ?? `${value}`, 'integers from -(2^53-1) to 2^53-1');
    return { ok: true, value: value === 0 ? 0 : value };
  }
  return {
    ok: false,
    mistake: {
      code: 'UNKNOWN_TAG',
      summary: 'A YAML tag is not supported',
      detail: 'The tag makes a value that JSON does not have. Remove the tag.',
      expected: 'text, a number, true, false or null',
    },
  };
}

function text(value: string | boolean | null): Judged {
  if (typeof value === 'string' && isHalved(value)) {
    return {
      ok: false,
      mistake: {
        code: 'BAD_TEXT',
        summary: 'A text holds half of a character',
        detail: 'An escape such as \\ud800 stands alone. Write both halves or the character itself.',
      },
    };
  }
  return { ok: true, value };
}

function ambiguous(plain: string, reading: string): Judged {
  return {
    ok: false,
    mistake: {
      code: 'AMBIGUOUS_SCALAR',
      summary: 'A value means different things in YAML 1.1 and 1.2',
      detail: `Some programs read ${plain} as ${reading}, others as text or as another number. Put it into quotes when it is text; write true, false or a number without leading zeros when it is not.`,
      expected: `"${plain}" in quotes`,
      observed: plain,
    },
  };
}

function inexact(written: string, expected: string): Judged {
  return {
    ok: false,
    mistake: {
      code: 'NUMBER_OUT_OF_RANGE',
      summary: 'A number cannot be kept exactly',
      detail: `The number ${written.length > 40 ? `${written.slice(0, 40)}…` : written} would change when it is stored. Put it into quotes when it is text.`,
      expected,
      observed: written.slice(0, 40),
    },
  };
}
