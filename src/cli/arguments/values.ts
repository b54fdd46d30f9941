import type { Diagnostic } from '../../core/diagnostic.ts';
import type { RawInput } from '../shell.ts';

/** A mistake in the usage of a flag or operand. */
export function usageError(code: string, summary: string, detail: string, more: Partial<Diagnostic> = {}): Diagnostic {
  return { severity: 'error', code, summary, detail, ...more };
}

/** Reads the flags of one command line, typed. Mistakes are collected. */
export class Flags {
  readonly #options: RawInput['options'];
  readonly diagnostics: Diagnostic[] = [];

  constructor(options: RawInput['options']) {
    this.#options = options;
  }

  isSet(name: string): boolean {
    return this.#options[name] === true;
  }

  /** A `--no-…` flag: commander gives its positive name, true unless it was written. */
  isOn(name: string): boolean {
    return this.#options[name] !== false;
  }

  text(name: string): string | undefined {
    const value = this.#options[name];
    return typeof value === 'string' ? value : undefined;
  }

  list(name: string): readonly string[] {
    const value = this.#options[name];
    return Array.isArray(value) ? (value as readonly string[]) : [];
  }

  /** A whole number inside of bounds. */
  integer(name: string, flag: string, bounds: { readonly least: number; readonly most: number; readonly otherwise: number }): number {
    const text = this.text(name);
    if (text === undefined) return bounds.otherwise;
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= bounds.least && number <= bounds.most) return number;
    this.diagnostics.push(
      usageError('BAD_FLAG_VALUE', 'A flag has a value that it does not take', `${flag} was given ${JSON.stringify(text)}.`, {
        expected: `a whole number from ${bounds.least} to ${bounds.most}`,
        observed: text,
      }),
    );
    return bounds.otherwise;
  }

  /** A duration as `30s`, `5m`, `1h30m`, in milliseconds. */
  duration(name: string, flag: string, otherwise: number): number {
    const text = this.text(name);
    if (text === undefined) return otherwise;
    const milliseconds = parseDuration(text);
    if (milliseconds !== undefined) return milliseconds;
    this.diagnostics.push(
      usageError('BAD_FLAG_VALUE', 'A flag has a value that it does not take', `${flag} was given ${JSON.stringify(text)}.`, {
        expected: 'a duration with its unit, as 30s, 5m or 1h30m',
        observed: text,
      }),
    );
    return otherwise;
  }

  /** `name=value` pairs of a repeatable flag. */
  pairs(name: string, flag: string): readonly (readonly [string, string])[] {
    return this.list(name).flatMap((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [[text.slice(0, at), text.slice(at + 1)] as const];
      this.diagnostics.push(
        usageError(
          'BAD_FLAG_VALUE',
          'A flag has a value that it does not take',
          `${flag} was given ${JSON.stringify(text)}, which has no name before an equals sign.`,
          { expected: `${flag} name=value`, observed: text },
        ),
      );
      return [];
    });
  }
}

const UNITS: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `1h30m`; a bare `0` is allowed, another bare number is not, since nobody can tell its unit. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(?:\d{1,9}(?:ms|s|m|h|d))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, number, unit] of text.matchAll(/(\d+)(ms|s|m|h|d)/g)) total += Number(number) * (UNITS[unit ?? ''] ?? 0);
  return total;
}
