/** What a file of environment variables holds, and the lines that are none. */
export interface EnvFile {
  readonly variables: ReadonlyMap<string, string>;
  /** Numbers of the lines that could not be read, counted from 1. */
  readonly badLines: readonly number[];
}

/**
 * Reads `NAME=VALUE` lines. Empty lines and lines that begin with `#` say nothing; `export ` before a name is let through. A value in single
 * quotes stands as it is; in double quotes `\n`, `\t`, `\"` and `\\` are read; a bare one ends before ` #` and loses white space at its edges.
 * Nothing is expanded. The last line of a name counts.
 */
export function parseEnvFile(text: string): EnvFile {
  const variables = new Map<string, string>();
  const badLines: number[] = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const match = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*(.*)$/.exec(trimmed);
    const value = match === null ? undefined : parseEnvValue(match[2] ?? '');
    if (match?.[1] === undefined || value === undefined) badLines.push(index + 1);
    else variables.set(match[1], value);
  }
  return { variables, badLines };
}

function parseEnvValue(text: string): string | undefined {
  const quoted = /^(['"])((?:\\.|(?!\1).)*)\1\s*(?:#.*)?$/.exec(text);
  if (quoted !== null) {
    const [, quote, inside = ''] = quoted;
    if (quote === "'") return inside;
    return inside.replace(/\\(.)/g, (_, letter: string) => ({ n: '\n', t: '\t', r: '\r' })[letter] ?? letter);
  }
  if (/^['"]/.test(text)) return undefined;
  return text.replace(/\s+#.*$/, '').trim();
}
