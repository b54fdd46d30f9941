import { type Diagnostic, fail, type Outcome, type SourceRange, succeed } from './diagnostic.ts';
import { isAttributes, isList, Sensitive, Unknown, type Value } from './value.ts';

/** A piece of text as it stands in a document: literal, or the expression between `${` and `}`. Offsets count from the start of the whole text. */
export type TextPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'expression'; readonly text: string /** Where the expression begins, behind `${`. */; readonly offset: number };

/** True when the text holds an expression or an escaped one, so that it can't be taken as it is. */
export function hasInterpolation(text: string): boolean {
  return text.includes('${');
}

/**
 * Splits text into literal parts and expressions. `$${` is a literal `${`. Quotes, comments and braces inside of an expression are
 * understood. Answers the offset of an opening `${` that is never closed.
 */
export function splitInterpolation(text: string): { readonly parts: readonly TextPart[] } | { readonly unclosed: number } {
  const parts: TextPart[] = [];
  let literal = '';
  let at = 0;
  while (at < text.length) {
    if (text.startsWith('$${', at)) {
      literal += '${';
      at += 3;
    } else if (text.startsWith('${', at)) {
      const end = closingBrace(text, at + 2);
      if (end === undefined) return { unclosed: at };
      if (literal !== '') parts.push({ kind: 'text', text: literal });
      literal = '';
      parts.push({ kind: 'expression', text: text.slice(at + 2, end), offset: at + 2 });
      at = end + 1;
    } else {
      literal += text[at];
      at += 1;
    }
  }
  if (literal !== '' || parts.length === 0) parts.push({ kind: 'text', text: literal });
  return { parts };
}

/** The offset of the `}` that closes an expression which begins at `start`, or undefined. */
function closingBrace(text: string, start: number): number | undefined {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const character = text[at];
    if (character === '"' || character === "'") {
      const end = endOfQuoted(text, at);
      if (end === undefined) return undefined;
      at = end;
      continue;
    }
    if (character === '/' && text[at + 1] === '/') {
      const line = text.indexOf('\n', at);
      if (line === -1) return undefined;
      at = line;
    } else if (character === '{') depth += 1;
    else if (character === '}') {
      if (depth === 0) return at;
      depth -= 1;
    }
    at += 1;
  }
  return undefined;
}

/** The offset behind a quoted text that begins at `start`; a raw one (`r"…"`) has no escapes. */
export function endOfQuoted(text: string, start: number): number | undefined {
  const quote = text[start] ?? '';
  const isRaw = /(?:^|[^A-Za-z0-9_])[bB]?[rR][bB]?$/.test(text.slice(Math.max(0, start - 3), start));
  const mark = text.startsWith(quote.repeat(3), start) ? quote.repeat(3) : quote;
  for (let at = start + mark.length; at < text.length; at++) {
    if (text[at] === '\\' && !isRaw) at += 1;
    else if (text.startsWith(mark, at)) return at + mark.length;
  }
  return undefined;
}

/**
 * Joins the evaluated parts of mixed text. Integers, numbers and booleans become text, null, lists and maps are an error. A part that is
 * sensitive makes the whole sensitive, one that is unknown makes it unknown.
 */
export function joinText(parts: readonly Value[], source: SourceRange | undefined): Outcome<Value> {
  const names = new Set<string>();
  let isSensitive = false;
  let isSkipped = false;
  let unknown: Unknown | undefined;
  let text = '';
  for (const part of parts) {
    let value = part;
    if (value instanceof Sensitive) {
      isSensitive = true;
      for (const name of value.names) names.add(name);
      if (value.isOpen) value = value.reveal();
      else if (value.isSkipped) {
        isSkipped = true;
        continue;
      } else value = new Unknown('a recorded secret');
    }
    if (value instanceof Unknown) unknown ??= value;
    else if (value === null || isList(value) || isAttributes(value) || value instanceof Sensitive) return fail(notText(value, source));
    else text += String(value);
  }
  const joined = unknown ?? text;
  if (!isSensitive) return succeed(joined);
  const list = [...names];
  return succeed(isSkipped ? Sensitive.skipped(list) : Sensitive.open(joined, list));
}

function notText(value: Value, source: SourceRange | undefined): Diagnostic {
  const kind = value === null ? 'null' : isList(value) ? 'a list' : 'a map';
  return {
    severity: 'error',
    code: 'NOT_TEXT',
    summary: 'An expression inside of text has a value that is no text',
    detail: `The expression gives ${kind}, which cannot stand inside of text. Use json() to write it as text, or let the expression be the whole value.`,
    expected: 'text, a number or a boolean',
    observed: kind,
    ...(source === undefined ? {} : { source }),
  };
}
