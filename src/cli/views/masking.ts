import { isAttributes, isList, type Sensitive, type Value } from '../../core/value.ts';

/** What stands in place of a secret. */
export const MASK = '(sensitive)';

/** Shorter values would blot out half of every text and protect nothing. */
const SHORTEST = 4;
/** A line of a secret with several lines is hidden by itself too, since views wrap and indent. */
const SHORTEST_LINE = 8;

/**
 * The last line of defence: takes known secrets out of whatever is about to be printed. The engine never hands a secret to a view; this is
 * for what servers, programs and mistakes echo.
 */
export interface Masker {
  text(text: string): string;
  /** Plain data with every string in it masked. Digests stay, since a short secret may happen to stand in one. */
  data<T>(data: T): T;
}

export const noMask: Masker = { text: (text) => text, data: (data) => data };

/** A masker for all open secrets: raw, base64, hexadecimal and JSON-escaped. */
export function maskerFor(secrets: Iterable<Sensitive>): Masker {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret.isOpen) collect(secret.reveal(), forms);
  }
  if (forms.size === 0) return noMask;
  const sorted = [...forms].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  const pattern = new RegExp(sorted.map(escapePattern).join('|'), 'g');
  const text = (input: string) => input.replace(pattern, MASK);
  return { text, data: <T>(data: T) => maskData(data, text) as T };
}

function collect(value: Value, forms: Set<string>): void {
  if (typeof value === 'string') addForms(value, forms);
  else if (typeof value === 'number') addForms(String(value), forms);
  else if (isList(value)) for (const item of value) collect(item, forms);
  else if (isAttributes(value)) for (const item of Object.values(value)) collect(item, forms);
}

function addForms(secret: string, forms: Set<string>): void {
  if (secret.trim().length < SHORTEST) return;
  const bytes = Buffer.from(secret, 'utf8');
  const hex = bytes.toString('hex');
  const base64 = bytes.toString('base64');
  for (const form of [
    secret,
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
    base64,
    base64.replace(/=+$/, ''),
    bytes.toString('base64url'),
    hex,
    hex.toUpperCase(),
    encodeURIComponent(bytes.toString('utf8')),
  ]) {
    forms.add(form);
  }
  const lines = secret.split(/\r?\n/);
  if (lines.length > 1) for (const line of lines) if (line.trim().length >= SHORTEST_LINE) forms.add(line.trim());
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

const DIGEST = /^(?:hmac-)?sha256:[0-9a-f]{64}$/;

function maskData(data: unknown, mask: (text: string) => string): unknown {
  if (typeof data === 'string') return DIGEST.test(data) ? data : mask(data);
  if (Array.isArray(data)) return data.map((item: unknown) => maskData(item, mask));
  // Wrappers and other instances print themselves; only rows are rebuilt.
  if (typeof data !== 'object' || data === null || Object.getPrototypeOf(data) !== Object.prototype) return data;
  return Object.fromEntries(Object.entries(data).map(([name, item]) => [name, maskData(item, mask)]));
}
