/** How text is laid out: wrapped, cut, padded, and freed from what would steer the terminal. */

const CONTROL = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\ufeff]/gu;

/** The text with every control and direction character spelled out, so that a value can't steer the terminal. Line breaks and tabs stay. */
export function printable(text: string): string {
  return text.replace(CONTROL, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/** One line without line breaks. */
export function oneLine(text: string): string {
  return printable(text.replaceAll('\r', '\\r').replaceAll('\n', '\\n').replaceAll('\t', '\\t'));
}

/** Cuts at `width` characters and says with an ellipsis that something is missing. */
export function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(1, width - 1)).join('')}…`;
}

/** The number of characters, which is the number of columns for all but wide scripts. */
export function lengthOf(text: string): number {
  return [...text].length;
}

export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - lengthOf(text)));
}

/** Wraps at spaces. Words longer than the width stay whole, so that digests and paths can be copied. Line breaks in the text stay. */
export function wrap(text: string, width: number): readonly string[] {
  return text.split('\n').flatMap((paragraph) => {
    const indent = /^ */.exec(paragraph)?.[0] ?? '';
    const lines: string[] = [];
    let line = indent;
    for (const word of paragraph.trim().split(/ +/)) {
      if (line.trim() === '') line = indent + word;
      else if (lengthOf(line) + 1 + lengthOf(word) <= width) line += ` ${word}`;
      else {
        lines.push(line);
        line = indent + word;
      }
    }
    return [...lines, line.trimEnd()];
  });
}

export function indent(lines: readonly string[], by: number): readonly string[] {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(by) + line));
}

/** Rows in columns, two spaces between; the last column is not padded. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, lengthOf(cell))));
  return rows.map((row) =>
    row
      .map((cell, index) => (index === row.length - 1 ? cell : pad(cell, widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** `1 error`, `2 errors`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`;
}

/** `1.3 s`, `2 min 05 s`. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}

/** `sha256:41c9…e2a7`: enough to compare by eye. */
export function shortDigest(digest: string): string {
  const match = /^((?:hmac-)?sha256:)([0-9a-f]{64})$/.exec(digest);
  return match === null ? digest : `${match[1]}${match[2]?.slice(0, 8)}…${match[2]?.slice(-4)}`;
}
