import type { Compared } from '../../plan/succession/compare.ts';
import { indent, oneLine, pad, wrap } from './layout.ts';
import { names, pathsByKind } from './succession.ts';
import type { Style } from './terminal.ts';

/** The class of a release after another: the rule, what differs by role and facet, and the nearest classes that were not taken. */
export function renderReleaseDiff(compared: Compared, { color, width }: Style): string {
  const tone = compared.class === 'refuse' ? color.red.bold : color.bold;
  const lines = [`Successor: ${tone(oneLine(compared.class))}`];
  const row = (label: string, text: string) => {
    const [start = '', ...rest] = wrap(text, width - 12);
    lines.push(`  ${color.dim(pad(label, 9))} ${start}`, ...indent(rest, 12));
  };
  row('rule', oneLine(compared.rule));
  for (const [kind, paths] of pathsByKind(compared)) row('differs', `${kind}: ${names(paths)}`);
  for (const rejected of compared.rejected) row('not', `${oneLine(rejected.class)}   uncovered: ${names(rejected.uncovered)}`);
  for (const { code, path, message } of compared.refusals) {
    lines.push(color.red(`  x ${oneLine(path)}   ${code}`), ...indent(wrap(oneLine(message), width - 6), 6));
  }
  return `${lines.join('\n')}\n`;
}
