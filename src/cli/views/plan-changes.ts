import { compareText } from '../../core/address.ts';
import type { Drift, PlannedChange } from '../../plan/model.ts';
import { RECORDED_AS_IT_IS } from '../../plan/refresh.ts';
import { attributeLines, type Lines, valueLines } from './attribute-lines.ts';
import { count, cut, lengthOf, oneLine, pad } from './layout.ts';
import type { Style } from './terminal.ts';
import { leavesOf, plainAt } from './values.ts';

/** How an action looks: its symbol, what the legend says of it, and its colour. */
interface Look {
  readonly symbol: string;
  readonly meaning: string;
  readonly tone: 'green' | 'yellow' | 'red' | 'cyan' | 'dim';
}

/** More changes than this are grouped by type. */
export const MOST_CHANGES = 60;
/** Attributes of a new resource that are listed. */
const MOST_VALUES = 16;
/** Attributes of a change that are listed. */
const MOST_PATHS = 40;

export function lookOf(change: PlannedChange): Look {
  switch (change.action) {
    case 'create':
      return { symbol: '+', meaning: 'create', tone: 'green' };
    case 'update':
      return isRecording(change)
        ? { symbol: '~', meaning: 'record as it is', tone: 'cyan' }
        : { symbol: '~', meaning: 'update in place', tone: 'yellow' };
    case 'replace':
      return change.replaceOrder === 'create-first'
        ? { symbol: '+/-', meaning: 'replace, create first', tone: 'yellow' }
        : { symbol: '-/+', meaning: 'replace, destroy first', tone: 'yellow' };
    case 'start':
      return { symbol: '>', meaning: 'start', tone: 'green' };
    case 'delete':
      return { symbol: '-', meaning: 'destroy', tone: 'red' };
    case 'adopt':
      return { symbol: '=', meaning: 'adopt', tone: 'cyan' };
    case 'forget':
      return { symbol: '.', meaning: 'forget, the object stays', tone: 'dim' };
    case 'move':
      return { symbol: '→', meaning: 'move to another address', tone: 'cyan' };
    case 'read':
      return { symbol: '<=', meaning: 'read', tone: 'cyan' };
    case 'refuse':
      return { symbol: 'x', meaning: 'refused', tone: 'red' };
    case 'noop':
      return { symbol: ' ', meaning: 'unchanged', tone: 'dim' };
  }
  return change.action satisfies never;
}

/** Every change with its attributes, one after the other. */
export function changeLines(changes: readonly PlannedChange[], style: Style, into: Lines): void {
  const width = Math.min(60, Math.max(40, ...changes.map((change) => lengthOf(change.address))));
  for (const change of changes) {
    const look = lookOf(change);
    const facets = change.action === 'create' || change.action === 'delete' ? '' : change.facets.join(', ');
    const head = `${pad(look.symbol, 3)} ${pad(oneLine(change.address), width)}  ${pad(wordFor(change), 8)}  ${facets}`;
    into.lines.push(style.color[look.tone](head.trimEnd()));
    const because = becauseOf(change);
    if (because !== '') into.lines.push(`      ${style.color.dim(pad('because', 14))} ${because}`);
    detailLines(change, style, into);
  }
}

function detailLines(change: PlannedChange, style: Style, into: Lines): void {
  if (change.movedFrom !== null) into.lines.push(`      ${pad('moved from', 14)} ${oneLine(change.movedFrom)}`);
  if (change.importId !== null) into.lines.push(`      ${pad('import', 14)} ${oneLine(change.importId)}`);
  if (change.action === 'create') {
    const values = leavesOf(change.after ?? {}).filter((leaf) => leaf.path !== '');
    valueLines(values.slice(0, MOST_VALUES), 6, style, into);
    more(values.length - MOST_VALUES, into);
    return;
  }
  if (change.action === 'delete' || change.action === 'forget') return;
  const paths = change.paths.map(({ path }) => ({ path, before: plainAt(change.before, path), after: plainAt(change.after, path) }));
  attributeLines(paths.slice(0, MOST_PATHS), 6, style, into);
  more(paths.length - MOST_PATHS, into);
}

function more(left: number, into: Lines): void {
  if (left <= 0) return;
  into.wasCut = true;
  into.lines.push(`      … ${count(left, 'more attribute')}`);
}

/** The cause in words. */
export function becauseOf(change: PlannedChange): string {
  const reason = oneLine(change.reason);
  const { cause } = change;
  if (cause === null) return reason;
  const of = cause.of === undefined ? '' : oneLine(cause.of);
  switch (cause.kind) {
    case 'self':
      return reason;
    case 'follows':
      return reason.includes(of) ? reason : `${reason}; it follows ${of}`;
    case 'drift':
      return reason === '' ? 'the live object moved' : reason;
    case 'requested':
      return reason.includes(of) ? reason : `${reason}; asked for by ${of}`;
  }
  return cause.kind satisfies never;
}

function wordFor(change: PlannedChange): string {
  const { action } = change;
  return action === 'delete' ? 'destroy' : action === 'refuse' ? 'refused' : isRecording(change) ? 'record' : action;
}

/** Whether only the record changes and the object stays as it is. */
function isRecording(change: PlannedChange): boolean {
  return change.action === 'update' && change.reason === RECORDED_AS_IT_IS;
}

/** Changes by type and action, with the first addresses of each group. */
export function groupedLines(changes: readonly PlannedChange[], style: Style, into: Lines): void {
  const groups = new Map<string, PlannedChange[]>();
  for (const change of changes) {
    const key = `${change.type} ${lookOf(change).symbol}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [change]);
    else group.push(change);
  }
  let type = '';
  for (const key of [...groups.keys()].sort(compareText)) {
    const group = groups.get(key) ?? [];
    const first = group[0];
    if (first === undefined) continue;
    if (first.type !== type) into.lines.push(style.color.bold((type = first.type)));
    const look = lookOf(first);
    const head = `${pad(look.symbol, 3)} ${pad(`${group.length.toLocaleString('en-US')} to ${wordFor(first)}`, 22)}`;
    const names = group.map((change) => oneLine(change.address.slice(first.type.length + 1)));
    into.lines.push(`  ${style.color[look.tone](head)}${firstOf(names, style.width - lengthOf(head) - 2)}`);
  }
  into.wasCut = true;
}

/** As many whole names as fit, and how many more there are. */
function firstOf(names: readonly string[], width: number): string {
  let text = cut(names[0] ?? '', width);
  for (let shown = 1; shown < names.length; shown++) {
    const rest = names.length - shown - 1;
    const next = `${text}, ${names[shown]}`;
    if (lengthOf(next) + (rest === 0 ? 0 : moreOf(rest).length) > width) return `${text}${moreOf(rest + 1)}`;
    text = next;
  }
  return text;
}

function moreOf(left: number): string {
  return `, … ${left.toLocaleString('en-US')} more`;
}

/** What moved in the live world without us, and what the plan does about it. */
export function driftLines(drift: readonly Drift[], style: Style, into: Lines): void {
  const shown = drift.slice(0, MOST_CHANGES);
  const width = Math.min(60, Math.max(40, ...shown.map((entry) => lengthOf(entry.address))));
  for (const entry of shown) {
    const head = `  ! ${pad(oneLine(entry.address), width)}  ${pad(entry.kind, 10)}  ${oneLine(entry.answer)}`;
    into.lines.push(style.color.yellow(head.trimEnd()));
    if (entry.reason !== '') into.lines.push(`      ${style.color.dim(pad('because', 14))} ${oneLine(entry.reason)}`);
    const paths = entry.paths.map(({ path, recorded, live }) => ({ path, before: recorded ?? undefined, after: live ?? undefined }));
    attributeLines(paths.slice(0, MOST_VALUES), 6, style, into);
    more(paths.length - MOST_VALUES, into);
  }
  if (drift.length > shown.length) {
    into.wasCut = true;
    into.lines.push(`  … ${(drift.length - shown.length).toLocaleString('en-US')} more`);
  }
}
