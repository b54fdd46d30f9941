/** A page from its paragraphs. */
export function document(...parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`;
}

/** A table in Markdown; what would end a cell or a row is written so that it does not. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('\n', ' ').replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}
