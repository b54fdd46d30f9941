import type { Plain } from '../../core/value.ts';
import { count, cut, lengthOf, oneLine, pad } from './layout.ts';
import type { Style } from './terminal.ts';
import { asStructures, diffStructure, diffText, lineCount } from './text-difference.ts';
import { isPlainList, isPlainMap, markerOf, renderValue } from './values.ts';

/** Lines of one attribute's text difference that are shown before the rest is counted. */
const MOST_LINES = 40;
const NARROWEST_NAME = 14;
const WIDEST_NAME = 34;

/** Collects lines and remembers whether something was cut, so that the hint stands only where it helps. */
export interface Lines {
  readonly lines: string[];
  wasCut: boolean;
}

/** A value at a path on both sides. Undefined is absent. */
export interface AttributeChange {
  readonly path: string;
  readonly before: Plain | undefined;
  readonly after: Plain | undefined;
}

/** Appends `path   old → new` for every attribute, aligned. */
export function attributeLines(changes: readonly AttributeChange[], indent: number, style: Style, into: Lines): void {
  const room = style.width - indent - nameWidth(changes.map((change) => change.path)) - 4;
  const shown = changes.flatMap((change) => spread(change, room));
  const width = nameWidth(shown.map((change) => change.path));
  limited(shown, into, indent, (some) => {
    for (const change of some) attributeLine(change, width, indent, style, into);
  });
}

/** A list or a map by the members that differ, where the whole values would be cut or read the same. */
function spread(change: AttributeChange, room: number): readonly AttributeChange[] {
  const { before, after, path } = change;
  if (!isStructure(before) || !isStructure(after)) return [change];
  const [old, next] = [renderValue(before), renderValue(after)];
  if (old !== next && lengthOf(old) + lengthOf(next) <= room) return [change];
  const members = diffStructure(before, after, path);
  return members.length === 0 ? [change] : members;
}

/** Appends `path   value` for every attribute of something new. */
export function valueLines(
  values: readonly { readonly path: string; readonly value: Plain }[],
  indent: number,
  style: Style,
  into: Lines,
): void {
  const width = nameWidth(values.map((value) => value.path));
  for (const { path, value } of values) {
    const text = typeof value === 'string' && value.includes('\n') ? summaryOfText(value) : renderValue(value);
    into.lines.push(`${head(path, width, indent)}${toned(fit(text, style.width - indent - width - 1, into), value, style)}`);
  }
}

function attributeLine(change: AttributeChange, width: number, indent: number, style: Style, into: Lines): void {
  const { before, after } = change;
  const { color } = style;
  const start = head(change.path, width, indent);
  const [left, right] = [markerOf(before), markerOf(after)];
  if (left === 'sensitive' || right === 'sensitive') {
    const how = before === undefined ? 'new' : after === undefined ? 'removed' : 'changed';
    into.lines.push(`${start}${color.magenta(right === 'unknown' ? '(sensitive) → (known after apply)' : `(sensitive, ${how})`)}`);
    return;
  }
  if (typeof before === 'string' && typeof after === 'string') {
    const structures = looksStructured(before, after) ? asStructures(before, after) : undefined;
    if (structures !== undefined) {
      into.lines.push(start.trimEnd());
      const inner = diffStructure(structures.before, structures.after);
      limited(inner, into, indent + 2, (shown) => attributeLines(shown, indent + 2, style, into));
      return;
    }
    if (before.includes('\n') || after.includes('\n')) {
      into.lines.push(start.trimEnd());
      const lines = diffText(before, after);
      limited(lines, into, indent + 2, (shown) => {
        for (const { mark, text } of shown) {
          const line = `${' '.repeat(indent + 2)}${mark === '@' ? '' : `${mark} `}${cut(text.replaceAll('\t', '    '), style.width - indent - 4)}`;
          into.lines.push(mark === '+' ? color.green(line) : mark === '-' ? color.red(line) : color.dim(line));
        }
      });
      return;
    }
  }
  const room = style.width - indent - width - 1 - 3;
  const [old, next] = shared(renderValue(before), renderValue(after));
  const half = Math.floor(room / 2);
  const oldWidth = Math.max(half, room - lengthOf(next));
  const shownOld = fit(old, oldWidth, into);
  const shownNext = fit(next, room - lengthOf(shownOld), into);
  into.lines.push(`${start}${color.dim(shownOld)} ${color.dim('→')} ${toned(shownNext, after, style)}`);
}

function head(path: string, width: number, indent: number): string {
  return `${' '.repeat(indent)}${pad(oneLine(path), width)} `;
}

function nameWidth(paths: readonly string[]): number {
  return Math.min(WIDEST_NAME, Math.max(NARROWEST_NAME, ...paths.map((path) => lengthOf(oneLine(path)))));
}

function toned(text: string, value: Plain | undefined, { color }: Style): string {
  const marker = markerOf(value);
  return marker === 'sensitive' ? color.magenta(text) : marker === 'unknown' ? color.cyan(text) : text;
}

function fit(text: string, width: number, into: Lines): string {
  const shown = cut(text, Math.max(12, width));
  if (shown !== text) into.wasCut = true;
  return shown;
}

function summaryOfText(text: string): string {
  return `${count(lineCount(text), 'line')}: ${oneLine(text.trimStart().split('\n', 1)[0] ?? '')}`;
}

function isStructure(value: Plain | undefined): boolean {
  return isPlainList(value) || (isPlainMap(value) && markerOf(value) === undefined);
}

/** Structured only where it pays: JSON is long on one line, YAML has several. */
function looksStructured(before: string, after: string): boolean {
  return /^\s*[[{]/.test(before) || /^\s*[[{]/.test(after) || (before.includes('\n') && after.includes('\n'));
}

/** Of two image references with one repository the second is shown by its digest alone. */
function shared(before: string, after: string): readonly [string, string] {
  const at = before.lastIndexOf('@sha256:');
  return at > 0 && after.startsWith(before.slice(0, at + 1)) ? [before, after.slice(at + 1)] : [before, after];
}

function limited<T>(items: readonly T[], into: Lines, indent: number, show: (items: readonly T[]) => void): void {
  show(items.slice(0, MOST_LINES));
  if (items.length <= MOST_LINES) return;
  into.wasCut = true;
  into.lines.push(`${' '.repeat(indent)}… ${count(items.length - MOST_LINES, 'more line')}`);
}
