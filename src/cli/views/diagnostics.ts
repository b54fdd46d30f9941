import { compareDiagnostics, type Diagnostic, type SourceRange } from '../../core/diagnostic.ts';
import { count, indent, oneLine, printable, wrap } from './layout.ts';
import type { Style } from './terminal.ts';

/** All diagnostics of a run as text: sorted by place, each with excerpt and the way out, the counts at the end. */
export function renderDiagnostics(diagnostics: readonly Diagnostic[], style: Style): string {
  if (diagnostics.length === 0) return '';
  const blocks = [...diagnostics].sort(compareDiagnostics).map((diagnostic) => renderDiagnostic(diagnostic, style));
  return `${[...blocks, countLine(diagnostics, style)].join('\n\n')}\n`;
}

export function renderDiagnostic(diagnostic: Diagnostic, style: Style): string {
  const { color, width } = style;
  const tone = diagnostic.severity === 'error' ? color.red : color.yellow;
  const lines = [`${tone.bold(`${diagnostic.severity}[${diagnostic.code}]`)} ${color.bold(oneLine(diagnostic.summary))}`];
  if (diagnostic.source !== undefined) lines.push(...sourceLines(diagnostic.source, tone, style));
  else if (diagnostic.address !== undefined) lines.push(`  ${color.dim('at')} ${placeOf(diagnostic)}`);
  lines.push(...indent(wrap(printable(diagnostic.detail), width - 2), 2));
  if (diagnostic.expected !== undefined) lines.push(`  ${color.dim('expected')}  ${oneLine(diagnostic.expected)}`);
  if (diagnostic.observed !== undefined) lines.push(`  ${color.dim('observed')}  ${oneLine(diagnostic.observed)}`);
  if (diagnostic.next !== undefined) lines.push('', `    ${color.cyan(oneLine(diagnostic.next))}`);
  return lines.join('\n');
}

function placeOf(diagnostic: Diagnostic): string {
  return oneLine(diagnostic.path === undefined ? (diagnostic.address ?? '') : `${diagnostic.address} (${diagnostic.path})`);
}

function sourceLines(source: SourceRange, tone: (text: string) => string, { color, width }: Style): readonly string[] {
  const lines = [`  ${color.dim('at')} ${oneLine(source.file)}:${source.line}:${source.column}`];
  if (source.excerpt === undefined) return lines;
  const number = String(source.line);
  const gutter = ' '.repeat(number.length);
  const room = width - number.length - 6;
  // A long line is shown around the place that is meant, so that the caret is always on screen.
  const from = Math.max(0, Math.min(source.column - 1 - Math.floor(room / 3), source.excerpt.length - room));
  const shown = oneLine(source.excerpt.slice(from, from + room).replaceAll('\t', ' '));
  const start = Math.max(0, source.column - 1 - from);
  const end = source.endLine === source.line ? source.endColumn - 1 - from : shown.length;
  const length = Math.max(1, Math.min(end, shown.length) - start);
  return [
    ...lines,
    `  ${color.dim(`${gutter} │`)}`,
    `  ${color.dim(`${number} │`)} ${shown}`,
    `  ${color.dim(`${gutter} │`)} ${' '.repeat(start)}${tone(length === 1 ? '^' : '^' + '~'.repeat(length - 1))}`,
  ];
}

function countLine(diagnostics: readonly Diagnostic[], { color }: Style): string {
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error').length;
  const warnings = diagnostics.length - errors;
  const parts: string[] = [];
  if (errors > 0) parts.push(color.red(count(errors, 'error')));
  if (warnings > 0) parts.push(color.yellow(count(warnings, 'warning')));
  return `${parts.join(', ')}.`;
}

/** The document that `--json` prints for an error: the first one, and all of them when there are several. */
export function errorDocument(diagnostics: readonly Diagnostic[]): {
  readonly error: Omit<Diagnostic, 'severity'>;
  readonly diagnostics?: readonly Diagnostic[];
} {
  const sorted = [...diagnostics].sort(compareDiagnostics);
  const first = sorted.find((diagnostic) => diagnostic.severity === 'error') ?? sorted[0];
  if (first === undefined) throw new Error('an error without any diagnostic');
  const { severity: _, ...error } = first;
  return sorted.length === 1 ? { error } : { error, diagnostics: sorted };
}
