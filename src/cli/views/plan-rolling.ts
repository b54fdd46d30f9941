import { baseAddress, compareText, parseAddress, type ResourceAddress } from '../../core/address.ts';
import { formatDuration } from '../../core/duration.ts';
import type { PlanDocument } from '../../plan/model.ts';
import { DRAIN } from '../../plan/steps.ts';
import type { Lines } from './attribute-lines.ts';
import { count, indent, oneLine, wrap } from './layout.ts';

/** Batches that are listed before the rest is counted, and instances of a batch. */
const MOST_BATCHES = 8;
const MOST_KEYS = 6;

/** Whether a plan has instances that take turns, or predecessors that go on for a while. */
export function isRolling(plan: PlanDocument): boolean {
  return rowsOf(plan).length > 0;
}

/** Who takes turns, in which order, and what passes between. */
export function rollingLines(plan: PlanDocument, width: number, into: Lines): void {
  for (const [resource, texts] of rowsOf(plan)) {
    into.lines.push(`  ${oneLine(resource)}`);
    into.lines.push(...texts.flatMap((text) => indent(wrap(text, width - 6), 6)));
  }
  if (plan.rolling.some(({ batches }) => batches.length > MOST_BATCHES)) into.wasCut = true;
}

function rowsOf(plan: PlanDocument): readonly (readonly [string, readonly string[]])[] {
  const rows = new Map<string, string[]>();
  const add = (resource: string, text: string) => rows.set(resource, [...(rows.get(resource) ?? []), text]);
  for (const { resource, batches } of plan.rolling) {
    const shown = batches
      .slice(0, MOST_BATCHES)
      .flatMap(({ addresses, pause }) => [keysOf(addresses), ...(pause === 0 ? [] : [formatDuration(pause * 1000)])]);
    const more = batches.length > MOST_BATCHES ? [`… ${count(batches.length - MOST_BATCHES, 'more batch', 'more batches')}`] : [];
    add(resource, `in turn: ${[...shown, ...more].join(' → ')}`);
  }
  const drains = new Map<string, number>();
  for (const step of plan.steps) {
    if (step.effect !== DRAIN || step.seconds === undefined) continue;
    const base = baseAddress(step.address);
    drains.set(base, Math.max(drains.get(base) ?? 0, step.seconds));
  }
  for (const [resource, seconds] of drains)
    add(resource, `the old goes ${formatDuration(seconds * 1000)} after everything has gone over to the new`);
  return [...rows].sort(([a], [b]) => compareText(a, b));
}

function keysOf(addresses: readonly ResourceAddress[]): string {
  const keys = addresses.map((address) => oneLine(parseAddress(address)?.key ?? address));
  return keys.length > MOST_KEYS ? `${keys.slice(0, MOST_KEYS).join(', ')} and ${keys.length - MOST_KEYS} more` : keys.join(', ');
}
