import { compareText } from './address.ts';

/** A place in a document of the environment. Lines and columns count from 1; `end` is exclusive. */
export interface SourceRange {
  /** Path relative to the environment's folder, with `/`. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** The text of the first line, cut to a readable length, with the value of a secret never in it. */
  readonly excerpt?: string;
}

/**
 * Something that a user can cause or fix. Diagnostics are collected and returned, never thrown. The summary holds no name that the user
 * chose, so that one mistake always reads the same; the detail says in whole sentences what is wrong with which thing and what to do.
 */
export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  /** Stable, upper case: `UNKNOWN_KEY`. Listed in specs/refusals.md. */
  readonly code: string;
  readonly summary: string;
  readonly detail: string;
  readonly address?: string;
  /** Path of the attribute inside of the resource. */
  readonly path?: string;
  readonly source?: SourceRange;
  readonly expected?: string;
  readonly observed?: string;
  /** A command to run next, whole, to be shown on a line of its own. */
  readonly next?: string;
}

/** A result with the diagnostics found on the way. A failed outcome has at least one error. Warnings come with success too. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T; readonly diagnostics: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

export function succeed<T>(value: T, diagnostics: readonly Diagnostic[] = []): Outcome<T> {
  return { ok: true, value, diagnostics };
}

export function fail(...diagnostics: readonly Diagnostic[]): Outcome<never> {
  return { ok: false, diagnostics };
}

/** A failure when any of the diagnostics is an error, else the value. */
export function settle<T>(value: T, diagnostics: readonly Diagnostic[]): Outcome<T> {
  return hasErrors(diagnostics) ? { ok: false, diagnostics } : succeed(value, diagnostics);
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}

/** The order in which a view shows diagnostics: by place, then by address and code. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return (
    compareText(a.source?.file ?? '', b.source?.file ?? '') ||
    (a.source?.line ?? 0) - (b.source?.line ?? 0) ||
    (a.source?.column ?? 0) - (b.source?.column ?? 0) ||
    compareText(a.address ?? '', b.address ?? '') ||
    compareText(a.code, b.code) ||
    compareText(a.detail, b.detail)
  );
}
