import type { ApprovalVerdict, Tally } from '../../policy/count.ts';
import { count, oneLine, pad, shortDigest } from './layout.ts';
import type { Style } from './terminal.ts';

/** What `approvals` tells, as `--json` prints it. */
export interface ApprovalRows {
  readonly format: 'accede.approval-list/v1';
  readonly plan: string;
  readonly class: string;
  /** Whether every class has the approvals that it needs. */
  readonly complete: boolean;
  readonly requirements: readonly Tally[];
  readonly approvals: readonly ApprovalVerdict[];
}

/** The approvals of a plan for people. */
export function renderApprovals(rows: ApprovalRows, { color }: Style): string {
  const lines = [`${color.bold('Plan')} ${shortDigest(rows.plan)}  class ${oneLine(rows.class)}`];
  if (rows.requirements.length === 0) lines.push('It needs no approval.');
  for (const { class: name, needed, by, open } of rows.requirements) {
    const isMet = by.length >= needed;
    const state = `${by.length} of ${count(needed, 'approval')}`;
    const who = by.length === 0 ? '' : `, by ${by.map(oneLine).join(', ')}`;
    const rest = isMet || open.length === 0 ? '' : `; may still approve: ${open.map(oneLine).join(', ')}`;
    lines.push(`  ${isMet ? color.green('ok') : color.red('x ')} ${oneLine(name)}: ${state}${who}${rest}`);
  }
  if (rows.approvals.length > 0) lines.push('', color.bold('Approvals'));
  for (const { code, detail, at } of rows.approvals) {
    lines.push(`  ${pad(code ?? 'counts', 22)} ${oneLine(detail)}${at === null ? '' : color.dim(` ${at}`)}`);
  }
  return `${lines.join('\n')}\n`;
}
