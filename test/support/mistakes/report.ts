import { expect } from 'vitest';
import { filesOf, type Mistake, placeOf } from './mistake.ts';

const flat = (text: string) => text.replace(/\s+/g, ' ');

/** What must hold of everything that is printed: no trace of the program, nothing unprinted, no secret. */
export function checkProse(text: string): void {
  expect(text).not.toMatch(/^ {4,}at |node_modules|\.[jt]s:\d|undefined|\[object|NaN/m);
  expect(text).not.toContain('canary"');
}

/** Checks the text that is printed for a mistake: its place, the line with its caret, what is said and expected, and the count at the end. */
export function checkReport(report: string, mistake: Mistake): void {
  checkProse(report);
  const blocks = report.trimEnd().split(/\n\n(?=\S)/);
  const mistakes = mistake.count ?? 1;
  expect(blocks.pop(), report).toBe(mistakes === 1 ? '1 error.' : `${mistakes} errors.`);
  expect(blocks.length, report).toBe(mistakes);
  const block = `${blocks.find((one) => one.startsWith(`error[${mistake.code}] `)) ?? ''}\n`;
  expect(block, report).not.toBe('\n');
  expect(flat(block)).toContain(flat(mistake.says));
  if (mistake.expected !== undefined) expect(block).toContain(`\n  expected  ${mistake.expected}\n`);
  const place = placeOf(mistake);
  if (place === undefined) expect(block).not.toMatch(/^ {2}at /m);
  else if (['FILE_TOO_LARGE', 'NOT_UTF8'].includes(mistake.code)) expect(block).toContain(`\n  at ${place}\n`);
  else checkExcerpt(block, mistake, place);
}

/** The line of the file must be there, with a caret under the very character that is meant. */
function checkExcerpt(block: string, mistake: Mistake, place: string): void {
  const [file = '', line, column] = place.split(':');
  const pattern = `^ {2}at ${place.replaceAll('.', '\\.')}\\n +│\\n {2}${line} │ (.*)\\n +│ ( *)\\^~*$`;
  const [found, shown = '', caret = ''] = new RegExp(pattern, 'm').exec(block) ?? [];
  expect(found, block).toBeDefined();
  const lines = Buffer.from(filesOf(mistake)[file] ?? '')
    .toString()
    .split('\n');
  const meant = (lines[Number(line) - 1] ?? '').slice(Number(column) - 1).replaceAll('\t', ' ');
  expect(meant.slice(0, 20).startsWith(shown.slice(caret.length, caret.length + 20)), block).toBe(true);
}
