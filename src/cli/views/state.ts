import type { BundledFile } from '../../core/bundle.ts';
import type { Plain } from '../../core/value.ts';
import type { ResourceRow, StoredOutput } from '../../state/model.ts';
import { valueLines } from './attribute-lines.ts';
import { columns, count, oneLine, shortDigest } from './layout.ts';
import { kindText, type OperationRows, operationText } from './status.ts';
import type { Style } from './terminal.ts';
import { leavesOf, renderValue } from './values.ts';

/** One recorded resource. */
export function renderResource(row: ResourceRow, style: Style): string {
  const { color } = style;
  const into = { lines: [color.bold(oneLine(row.address))], wasCut: false };
  const facts: (readonly [string, string])[] = [
    ['id', row.ref ?? '(no live object)'],
    ['status', row.status],
    ['provider', row.provider],
    ['role', row.role],
    ['identity', row.identity],
    ['protected', row.protected ? 'yes' : 'no'],
    ['marked', row.marked ? 'yes' : 'no'],
  ];
  if (row.dependencies.length > 0) facts.push(['needs', row.dependencies.join(', ')]);
  if (row.deposed.length > 0) facts.push(['deposed', row.deposed.map((deposed) => deposed.ref).join(', ')]);
  into.lines.push(...columns(facts.map(([label, text]) => [`  ${label}`, oneLine(text)])));
  for (const [title, values] of [
    ['attributes', row.attributes],
    ['computed', row.computed],
  ] as const) {
    const leaves = leavesOf(values).filter((leaf) => leaf.path !== '');
    if (leaves.length === 0) continue;
    into.lines.push(`  ${color.dim(title)}`);
    valueLines(leaves, 4, style, into);
  }
  if (into.wasCut) into.lines.push(color.dim('  Cut where it says …; --json shows everything.'));
  return `${into.lines.join('\n')}\n`;
}

/** All recorded resources, one per line. */
export function renderResources(rows: readonly ResourceRow[], { color }: Style): string {
  const lines = columns(
    rows.map((row) => [oneLine(row.address), row.status === 'ready' ? oneLine(row.ref ?? '') : `${row.status}  ${oneLine(row.ref ?? '')}`]),
  );
  return rows.length === 0 ? color.dim('Nothing is recorded.') : `${lines.join('\n')}\n`;
}

/** What an operation put in force. Nulls: what it was made of is not kept. */
export interface PastSource {
  readonly sourceDigest: string;
  readonly releaseDigest: string | null;
  readonly commit: string | null;
  readonly variables: { readonly [name: string]: Plain } | null;
  readonly files: readonly BundledFile[] | null;
}

/** The files of what was in force, with their sizes. */
function sourceLines({ sourceDigest, commit, variables, files }: PastSource, { color }: Style): readonly string[] {
  const of = commit === null ? '' : `, commit ${oneLine(commit)}`;
  const head = `${color.bold('Documents')} ${shortDigest(sourceDigest)}${of}`;
  if (files === null || variables === null) return [head, color.dim('  They are not kept, so that nothing can go back to them.')];
  const counted = files.filter(({ kind }) => kind !== 'idle');
  const rows = counted.map((file) => [
    `  ${oneLine(file.path)}`,
    file.kind === 'kept' ? count(file.bytes, 'byte') : 'a secret is read from it: not kept',
  ]);
  const given = Object.entries(variables).map(([name, value]) => `  ${oneLine(name)} = ${renderValue(value)}`);
  return [head, ...columns(rows), ...(given.length === 0 ? [] : ['', color.bold('Variables'), ...given])];
}

/** A state as an operation left it. */
export function renderPastState(
  past: {
    readonly operation: OperationRows;
    readonly resources: readonly ResourceRow[];
    readonly outputs: readonly StoredOutput[];
    readonly inForce: PastSource | null;
  },
  style: Style,
): string {
  const outputs = past.outputs.length === 0 ? '' : `\n${style.color.bold('Outputs')}\n${renderOutputs(past.outputs)}`;
  const sources = past.inForce === null ? '' : `\n${sourceLines(past.inForce, style).join('\n')}\n`;
  const errors = past.operation.errors.map(({ code, message }) => `  ${code}: ${oneLine(message)}\n`).join('');
  return `${style.color.bold(operationText(past.operation))}\n${errors}\n${renderResources(past.resources, style)}${outputs}${sources}`;
}

export function renderOutputs(outputs: readonly StoredOutput[]): string {
  return outputs.map((output) => `${oneLine(output.name)} = ${renderValue(output.value)}\n`).join('');
}

/** All operations, the newest first. */
export function renderHistory(operations: readonly OperationRows[], { color }: Style): string {
  if (operations.length === 0) return color.dim('Nothing was ever applied.');
  const rows = operations.map((operation) => [
    operation.id,
    oneLine(kindText(operation)),
    operation.outcome ?? 'open',
    operation.startedAt,
    oneLine(operation.actor),
    oneLine(operation.reason ?? ''),
    operation.errors[0]?.code ?? '',
  ]);
  return `${columns([['OPERATION', 'KIND', 'OUTCOME', 'STARTED', 'BY', 'REASON', 'ERROR'], ...rows]).join('\n')}\n`;
}
