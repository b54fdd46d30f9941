import type { Comparison, Difference, FileDifference, ResourceDifference } from '../comparison.ts';
import { isEqual } from '../comparison.ts';
import { attributeLines, type Lines } from './attribute-lines.ts';
import { count, oneLine } from './layout.ts';
import type { Style } from './terminal.ts';
import { diffText } from './text-difference.ts';

/** What differs between two environments, plans or serials. */
export function renderComparison(comparison: Comparison, style: Style): string {
  const { color } = style;
  const { before, after, resources, outputs, variables, files } = comparison;
  const into: Lines = { lines: [`${color.bold(oneLine(before))} → ${color.bold(oneLine(after))}`], wasCut: false };
  if (isEqual(comparison)) {
    into.lines.push('', color.green(files === null ? 'No difference; documents are not compared.' : 'No difference.'));
    return `${into.lines.join('\n')}\n`;
  }
  if (resources.length > 0) into.lines.push('');
  for (const resource of resources) resourceLines(resource, style, into);
  valuesLines('Outputs', outputs, style, into);
  valuesLines('Variables', variables, style, into);
  if (files !== null && files.length > 0) {
    into.lines.push('', color.bold('Documents'));
    for (const file of files) fileLines(file, style, into);
  }
  into.lines.push('', tally(comparison));
  if (into.wasCut) into.lines.push(color.dim('Cut where it says …; --json shows everything.'));
  return `${into.lines.join('\n')}\n`;
}

const SYMBOLS = { added: '+', removed: '-', changed: '~' } as const;

function resourceLines({ address, change, paths, actions }: ResourceDifference, style: Style, into: Lines): void {
  const line = `${SYMBOLS[change]} ${oneLine(address)}`;
  const { color } = style;
  into.lines.push(change === 'added' ? color.green(line) : change === 'removed' ? color.red(line) : color.yellow(line));
  if (actions !== null) into.lines.push(`    ${color.dim(`is planned as ${actions.after}, before as ${actions.before}`)}`);
  if (change === 'changed') attributeLines(paths, 4, style, into);
}

function valuesLines(title: string, differences: readonly Difference[], style: Style, into: Lines): void {
  if (differences.length === 0) return;
  into.lines.push('', style.color.bold(title));
  attributeLines(differences, 2, style, into);
}

function fileLines({ path, change, before, after }: FileDifference, { color }: Style, into: Lines): void {
  into.lines.push(`${SYMBOLS[change]} ${oneLine(path)}`);
  if (change !== 'changed') return;
  if (before === null || after === null) {
    into.lines.push(color.dim('    no text'));
    return;
  }
  for (const { mark, text } of diffText(before, after)) {
    const line = `    ${mark === '@' ? '' : mark}${text}`;
    into.lines.push(mark === '+' ? color.green(line) : mark === '-' ? color.red(line) : color.dim(line));
  }
}

function tally({ resources, files }: Comparison): string {
  const of = (list: readonly { readonly change: string }[], change: string) => list.filter((item) => item.change === change).length;
  const words = (list: readonly { readonly change: 'added' | 'removed' | 'changed' }[]) =>
    `${of(list, 'changed')} changed, ${of(list, 'added')} added, ${of(list, 'removed')} removed`;
  const documents = files === null ? 'documents are not compared' : `${count(files.length, 'file')}: ${words(files)}`;
  return `${count(resources.length, 'resource')}: ${words(resources)}; ${documents}.`;
}
