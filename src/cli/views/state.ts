import type { ResourceRow, StoredOutput } from '../../state/model.ts';
import { valueLines } from './attribute-lines.ts';
import { columns, oneLine } from './layout.ts';
import { type OperationRows, operationText } from './status.ts';
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

/** A state as an operation left it. */
export function renderPastState(
  past: { readonly operation: OperationRows; readonly resources: readonly ResourceRow[]; readonly outputs: readonly StoredOutput[] },
  style: Style,
): string {
  const outputs = past.outputs.length === 0 ? '' : `\n${style.color.bold('Outputs')}\n${renderOutputs(past.outputs)}`;
  return `${style.color.bold(operationText(past.operation))}\n\n${renderResources(past.resources, style)}${outputs}`;
}

export function renderOutputs(outputs: readonly StoredOutput[]): string {
  return outputs.map((output) => `${oneLine(output.name)} = ${renderValue(output.value)}\n`).join('');
}

/** All operations, the newest first. */
export function renderHistory(operations: readonly OperationRows[], { color }: Style): string {
  if (operations.length === 0) return color.dim('Nothing was ever applied.');
  const rows = operations.map((operation) => [
    operation.id,
    oneLine(operation.class === null ? operation.kind : `${operation.kind} (${operation.class})`),
    operation.outcome ?? 'open',
    operation.startedAt,
    oneLine(operation.actor),
    oneLine(operation.reason ?? ''),
  ]);
  return `${columns([['OPERATION', 'KIND', 'OUTCOME', 'STARTED', 'BY', 'REASON'], ...rows]).join('\n')}\n`;
}
