import { compareText } from '../../core/address.ts';
import type { PlanDocument, PlannedOutput, Refusal } from '../../plan/model.ts';
import { attributeLines, type Lines } from './attribute-lines.ts';
import { count, indent, lengthOf, oneLine, pad, printable, shortDigest, wrap } from './layout.ts';
import { changeLines, driftLines, groupedLines, lookOf, MOST_CHANGES } from './plan-changes.ts';
import { procedureLines } from './plan-procedure.ts';
import { isRolling, rollingLines } from './plan-rolling.ts';
import { names, pathsByKind } from './succession.ts';
import type { Style } from './terminal.ts';

/** Refusals, names and guards that are listed before the rest is counted. */
const MOST_LISTED = 30;

/** A plan for people. It is made from the document alone, so a plan shown from a file reads the same as the one just made. */
export function renderPlan(plan: PlanDocument, style: Style, options: { readonly next?: string } = {}): string {
  const changes = plan.changes.filter((change) => change.action !== 'noop');
  const into: Lines = { lines: [], wasCut: false };
  const section = (title: string, fill: () => void) => {
    into.lines.push('', style.color.bold(title));
    fill();
  };
  into.lines.push(headerLine(plan, style), '', ...successionLines(plan, style));
  if (plan.succession.refusals.length > 0) section('Refused', () => refusalLines(plan.succession.refusals, style, into));
  const grouped = changes.length > MOST_CHANGES;
  if (grouped) into.lines.push('', tallyLine(plan));
  if (changes.length > 0) {
    into.lines.push('');
    if (grouped) groupedLines(changes, style, into);
    else changeLines(changes, style, into);
  }
  if (isRolling(plan)) section('Rolling', () => rollingLines(plan, style.width, into));
  if (plan.drift.length > 0) section("Drift (outside of this plan's change)", () => driftLines(plan.drift, style, into));
  const outputs = plan.outputs.filter((output) => output.changed);
  if (outputs.length > 0) section('Outputs', () => outputLines(outputs, style, into));
  if (plan.secretsChanged.length > 0) section('Secrets changed', () => secretLines(plan, into));
  if (plan.warnings.length > 0) section('Warnings', () => warningLines(plan, style, into));
  into.lines.push('');
  into.lines.push(...procedureLines(plan, style));
  if (isEmptyPlan(plan)) into.lines.push(style.color.green(`No changes. ${unchangedSentence(plan)}`));
  else into.lines.push(`${tallyLine(plan)}${options.next === undefined ? '' : `        ${style.color.cyan(options.next)}`}`);
  if (!plan.applicable) into.lines.push(style.color.red('This plan can not be applied.'));
  const legend = legendLine(plan);
  if (legend !== '') into.lines.push(style.color.dim(legend));
  if (into.wasCut) into.lines.push(style.color.dim('Cut where it says …; --format json shows everything.'));
  return `${into.lines.join('\n')}\n`;
}

/** Whether applying the plan would leave everything as it is: nothing to do, nothing to record. */
export function isEmptyPlan(plan: PlanDocument): boolean {
  return (
    plan.changes.every((change) => change.action === 'noop' || change.action === 'read') &&
    plan.steps.length === 0 &&
    plan.drift.length === 0 &&
    plan.succession.backsOut === null &&
    plan.succession.refusals.length === 0 &&
    !plan.outputs.some((output) => output.changed)
  );
}

/** Whether an apply would not even have something to record: no environment to put in force, no leftovers of a run that broke off. */
export function hasNothingToRecord(plan: PlanDocument): boolean {
  const leftovers = plan.warnings.some(({ code }) => code === 'OPERATION_OPEN' || code === 'STEPS_UNSETTLED');
  return isEmptyPlan(plan) && (plan.succession.class === 'no-op' || plan.succession.class === 'destroy') && !leftovers;
}

function headerLine(plan: PlanDocument, { color }: Style): string {
  const release = plan.inputs.releaseDigest === null ? '' : `  →  release ${shortDigest(plan.inputs.releaseDigest)}`;
  const { lineage, serial, begins } = plan.state;
  const state = lineage !== null ? `state #${serial}` : begins === null ? 'no state yet' : `no state, begins as ${begins.slice(0, 8)}`;
  const time = `${plan.createdAt.slice(0, 10)} ${plan.createdAt.slice(11, 16)} UTC`;
  return `${color.bold(oneLine(plan.environment))}${release}        ${color.dim(`plan ${shortDigest(plan.digest)} · ${state} · ${time}`)}`;
}

function successionLines(plan: PlanDocument, { color, width }: Style): readonly string[] {
  const { succession } = plan;
  const name = succession.then === null ? succession.class : `${succession.class} → ${succession.then}`;
  const tone = succession.class === 'refuse' ? color.red.bold : color.bold;
  const facts: (readonly [string, string])[] = [];
  const outage = succession.outage === 'none' ? 'none' : names(plan.outageAddresses);
  if (outage !== '') facts.push(['outage', outage]);
  if (plan.affected.length > 0) facts.push(['affected', names(plan.affected)]);
  if (succession.direction !== '') facts.push(['failure', oneLine(succession.direction)]);
  // What fits stands in the first line; what does not gets a line of its own.
  let plain = `Successor: ${oneLine(name)}`;
  let first = `Successor: ${tone(oneLine(name))}`;
  const below: (readonly [string, string])[] = [];
  for (const [label, text] of facts) {
    const part = `        ${label}: ${text}`;
    if (below.length > 0 || lengthOf(plain) + lengthOf(part) > width) below.push([label, text]);
    else {
      plain += part;
      first += part;
    }
  }
  const lines = [first];
  const row = (label: string, text: string) => {
    const [start = '', ...rest] = wrap(text, width - 12);
    lines.push(`  ${color.dim(pad(label, 9))} ${start}`, ...indent(rest, 12));
  };
  for (const [label, text] of below) row(label, text);
  const part = partOf(plan);
  if (part !== '') row('part', part);
  const { backsOut } = succession;
  if (backsOut !== null)
    row('first', `takes back ${oneLine(backsOut.operation)}, ${count(backsOut.steps.length, 'step')}: ${names(backsOut.steps)}`);
  if (succession.rule !== '') row('rule', oneLine(succession.rule));
  for (const [kind, paths] of pathsByKind(succession)) row('differs', `${kind}: ${names(paths)}`);
  for (const rejected of succession.rejected) {
    const why = rejected.uncovered.length === 0 ? oneLine(rejected.reason) : `uncovered: ${names(rejected.uncovered)}`;
    row('not', `${oneLine(rejected.class)}   ${why}`);
  }
  if (succession.guards.length > 0) {
    const failed = succession.guards.filter((guard) => !guard.ok);
    row('guards', `${succession.guards.length - failed.length} of ${succession.guards.length} hold`);
    for (const guard of failed.slice(0, MOST_LISTED)) {
      lines.push(color.red(`    x ${oneLine(guard.name)}: expected ${oneLine(guard.expected)}, observed ${oneLine(guard.observed)}`));
    }
  }
  return lines;
}

/** What a plan over a part of the environment is about; empty for one over the whole. */
function partOf(plan: PlanDocument): string {
  const { targets, excludes, destroy } = plan.inputs.options;
  const needed = (list: readonly string[]) => (list.length === 1 ? 'it needs' : 'they need');
  const needing = (list: readonly string[]) => (list.length === 1 ? 'needs it' : 'needs them');
  return [
    targets.length === 0 ? '' : `only ${names(targets)} and all that ${destroy ? needing(targets) : needed(targets)}`,
    excludes.length === 0 ? '' : `without ${names(excludes)} and all that ${destroy ? needed(excludes) : needing(excludes)}`,
  ]
    .filter((text) => text !== '')
    .join('; ');
}

function refusalLines(refusals: readonly Refusal[], { color, width }: Style, into: Lines): void {
  for (const refusal of refusals.slice(0, MOST_LISTED)) {
    into.lines.push(color.red(`  x ${oneLine(refusal.path)}   ${refusal.code}`));
    into.lines.push(...indent(wrap(printable(refusal.message), width - 6), 6));
    if (refusal.source !== undefined)
      into.lines.push(`      ${color.dim('at')} ${oneLine(refusal.source.file)}:${refusal.source.line}:${refusal.source.column}`);
    if (refusal.expected !== undefined) into.lines.push(`      ${color.dim('expected')}  ${oneLine(refusal.expected)}`);
    if (refusal.observed !== undefined) into.lines.push(`      ${color.dim('observed')}  ${oneLine(refusal.observed)}`);
    if (refusal.next !== undefined) into.lines.push(`        ${color.cyan(oneLine(refusal.next))}`);
  }
  if (refusals.length > MOST_LISTED) {
    into.wasCut = true;
    into.lines.push(`  … ${count(refusals.length - MOST_LISTED, 'more refusal')}`);
  }
}

function outputLines(outputs: readonly PlannedOutput[], style: Style, into: Lines): void {
  attributeLines(
    outputs.slice(0, MOST_CHANGES).map((output) => ({
      path: output.name,
      before: output.before ?? undefined,
      after: output.after ?? undefined,
    })),
    2,
    style,
    into,
  );
}

function secretLines(plan: PlanDocument, into: Lines): void {
  const width = Math.max(14, ...plan.secretsChanged.map((secret) => lengthOf(oneLine(secret.name))));
  for (const { name, addresses } of plan.secretsChanged) {
    into.lines.push(`  ${pad(oneLine(name), width)} ${addresses.length === 0 ? 'reaches no resource' : `reaches ${names(addresses)}`}`);
  }
}

function warningLines(plan: PlanDocument, { color, width }: Style, into: Lines): void {
  for (const warning of plan.warnings.slice(0, MOST_LISTED)) {
    into.lines.push(color.yellow(`  ${warning.code}${warning.address === undefined ? '' : `  ${oneLine(warning.address)}`}`));
    into.lines.push(...indent(wrap(printable(warning.message), width - 6), 6));
  }
}

/** `4 to replace, 1 to start, 0 to destroy, 9 unchanged.` Destroyed and unchanged ones are always named, the others when there are any. */
export function tallyLine(plan: PlanDocument): string {
  const { summary } = plan;
  const parts: readonly (readonly [number, string, boolean])[] = [
    [summary.create, 'to create', false],
    [summary.adopt, 'to adopt', false],
    [summary.update, plan.inputs.options.refreshOnly ? 'to record' : 'to update', false],
    [summary.replace, 'to replace', false],
    [summary.start, 'to start', false],
    [summary.move, 'to move', false],
    [summary.forget, 'to forget', false],
    [summary.delete, 'to destroy', true],
    [summary.refuse, 'refused', false],
    [summary.noop, plan.inputs.options.destroy ? 'kept' : 'unchanged', true],
  ];
  const shown = parts.filter(([number, , always]) => always || number > 0);
  return `${shown.map(([number, word]) => `${number.toLocaleString('en-US')} ${word}`).join(', ')}.`;
}

function unchangedSentence(plan: PlanDocument): string {
  const { noop } = plan.summary;
  const { destroy, refreshOnly } = plan.inputs.options;
  const one = noop === 1;
  const resources = `${noop.toLocaleString('en-US')} ${one ? 'resource' : 'resources'}`;
  if (destroy) return noop === 0 ? 'Nothing is recorded that could be destroyed.' : `${resources} ${one ? 'is' : 'are'} kept.`;
  if (noop === 0) return 'No resource is a part of this plan.';
  return `${resources} ${one ? 'is' : 'are'} as ${refreshOnly ? 'recorded' : 'the documents say'}.`;
}

function legendLine(plan: PlanDocument): string {
  const meanings = new Map<string, string>();
  for (const change of plan.changes) {
    if (change.action === 'noop') continue;
    const look = lookOf(change);
    meanings.set(look.symbol, look.meaning);
  }
  if (plan.drift.length > 0) meanings.set('!', 'drift');
  if (plan.succession.refusals.length > 0) meanings.set('x', 'refused');
  const entries = [...meanings].sort(([a], [b]) => compareText(a, b)).map(([symbol, meaning]) => `${symbol} ${meaning}`);
  return entries.length === 0 ? '' : `Legend: ${entries.join(' · ')}`;
}
