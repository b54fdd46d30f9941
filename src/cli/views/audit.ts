import type { AuditRecord } from '../../state/audit.ts';
import type { EvidenceRow } from '../../state/model.ts';
import { columns, oneLine } from './layout.ts';
import type { Style } from './terminal.ts';

/** Records of the audit chain, one per line. */
export function renderAudit(records: readonly AuditRecord[], { color }: Style): string {
  if (records.length === 0) return color.dim('Nothing was ever recorded.');
  const rows = records.map((record) => [
    String(record.ordinal),
    record.at,
    record.what,
    record.serial === null ? '' : `op-${record.serial}`,
    oneLine(record.actor),
    detailText(record.detail),
  ]);
  return `${columns([['RECORD', 'AT', 'WHAT', 'OPERATION', 'BY', 'DETAIL'], ...rows]).join('\n')}\n`;
}

/** Evidence, one run per line. */
export function renderEvidence(rows: readonly EvidenceRow[], { color }: Style): string {
  if (rows.length === 0) return color.dim('No run has left evidence yet.');
  const lines = rows.map(({ serial, part, digest, body }) => [
    `op-${serial}${part === 1 ? '' : `, run ${part}`}`,
    memberText(body, 'kind'),
    memberText(body, 'outcome'),
    memberText(body, 'endedAt'),
    memberText(body, 'actor'),
    digest.slice(0, 19),
  ]);
  return `${columns([['OPERATION', 'KIND', 'OUTCOME', 'ENDED', 'BY', 'DIGEST'], ...lines]).join('\n')}\n`;
}

function memberText(body: unknown, name: string): string {
  const value = typeof body === 'object' && body !== null ? (body as { readonly [name: string]: unknown })[name] : undefined;
  return typeof value === 'string' ? oneLine(value) : '';
}

function detailText(detail: unknown): string {
  if (typeof detail !== 'object' || detail === null) return '';
  return Object.entries(detail)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([name, value]) => oneLine(`${name}=${String(value)}`))
    .join(' ');
}
