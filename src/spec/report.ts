import { compareDiagnostics, type Diagnostic, type SourceRange } from '../core/diagnostic.ts';
import { formatPath } from '../core/path.ts';
import type { Problem } from '../providers/contract.ts';
import { nodeRange, type YamlNode } from './source.ts';

export interface Mistake {
  readonly code: string;
  readonly summary: string;
  readonly detail: string;
  readonly expected?: string | undefined;
  readonly observed?: string | undefined;
  readonly address?: string | undefined;
  readonly path?: string | undefined;
  readonly next?: string | undefined;
  readonly severity?: 'error' | 'warning';
}

/** Gathers the diagnostics of a load. The same mistake at the same place is kept once, however many instances it has. */
export class Report {
  readonly #diagnostics = new Map<string, Diagnostic>();

  /** `place` is a node, a range, or nothing when the mistake is in no document. */
  add(mistake: Mistake, place?: YamlNode | SourceRange): void {
    const source = place === undefined ? undefined : 'kind' in place ? nodeRange(place) : place;
    const { severity, ...rest } = mistake;
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as Omit<Mistake, 'severity'>;
    this.take({
      severity: severity ?? 'error',
      ...(given as Pick<Diagnostic, 'code' | 'summary' | 'detail'>),
      ...(source === undefined ? {} : { source }),
    });
  }

  /** A problem that a schema or a type found, at its place. */
  addProblem(problem: Problem & { readonly observed?: string }, place: YamlNode | SourceRange, address?: string): void {
    const { path, ...rest } = problem;
    this.add({ ...rest, address, path: path === undefined || path.length === 0 ? undefined : formatPath(path) }, place);
  }

  take(...diagnostics: readonly Diagnostic[]): void {
    for (const diagnostic of diagnostics) {
      const { source } = diagnostic;
      const key =
        source === undefined
          ? `${diagnostic.code} ${diagnostic.detail}`
          : `${diagnostic.code} ${source.file}:${source.line}:${source.column}`;
      if (!this.#diagnostics.has(key)) this.#diagnostics.set(key, diagnostic);
    }
  }

  get hasErrors(): boolean {
    return [...this.#diagnostics.values()].some((diagnostic) => diagnostic.severity === 'error');
  }

  sorted(): readonly Diagnostic[] {
    return [...this.#diagnostics.values()].sort(compareDiagnostics);
  }
}
