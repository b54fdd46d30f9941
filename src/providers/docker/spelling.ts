import { isIP, isIPv6 } from 'node:net';

/**
 * The spellings in which operators write amounts, words and addresses, each read into one form. All readers answer undefined for text that is
 * none, so that a schema can refuse it.
 */

const DURATION_UNITS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `1h30m` in milliseconds, rounded to whole ones. */
export function parseDuration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:us|ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(us|ms|s|m|h)/g))
    total += Number(amount) * (DURATION_UNITS[unit ?? ''] ?? 0);
  return Math.round(total);
}

/** `1.5g` in bytes. Units count by 1024, as Compose and the Docker CLI do. */
export function parseBytes(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*(b|kb?|mb?|gb?|tb?)?$/i.exec(text.trim());
  if (match === null) return undefined;
  const power = { b: 0, k: 1, m: 2, g: 3, t: 4 }[(match[2] ?? 'b')[0]?.toLowerCase() as 'b' | 'k' | 'm' | 'g' | 't'];
  const bytes = Math.floor(Number(match[1]) * 1024 ** power);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Splits a command line into words as a POSIX shell would, without expanding anything. Undefined for an unclosed quote. */
export function splitWords(text: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: '"' | "'" | undefined;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (quote === "'") {
      if (character === "'") quote = undefined;
      else word = (word ?? '') + character;
    } else if (character === '\\') {
      const next = text[++at];
      if (next === undefined) return undefined;
      word = (word ?? '') + (quote === '"' && !'"\\$`'.includes(next) ? `\\${next}` : next);
    } else if (quote === '"') {
      if (character === '"') quote = undefined;
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + character;
    }
  }
  if (quote !== undefined) return undefined;
  if (word !== undefined) words.push(word);
  return words;
}

/** An IP address in its shortest spelling; text that is no address stays as it is. */
export function canonicalIp(text: string): string {
  if (!isIPv6(text)) return text;
  return new URL(`http://[${text}]/`).hostname.slice(1, -1);
}

/** A subnet such as `10.0.0.0/24`, its address in the shortest spelling. */
export function canonicalSubnet(text: string): string {
  const [address, bits] = text.split('/');
  return bits === undefined ? text : `${canonicalIp(address ?? '')}/${bits}`;
}

export function isSubnet(text: string): boolean {
  const match = /^(.+)\/(\d{1,3})$/.exec(text);
  if (match === null) return false;
  const family = isIP(match[1] ?? '');
  return family !== 0 && Number(match[2]) <= (family === 4 ? 32 : 128);
}

/** `0-1,3` for `3,1,0`: the sorted set of CPUs or memory nodes in its shortest spelling. */
export function canonicalCpus(text: string): string {
  const members = new Set<number>();
  for (const part of text.split(',')) {
    const [from, to] = part.split('-').map(Number);
    for (let cpu = from ?? 0; cpu <= (to ?? from ?? 0); cpu++) members.add(cpu);
  }
  const sorted = [...members].toSorted((a, b) => a - b);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length; ) {
    let end = at;
    while (sorted[end + 1] === (sorted[end] ?? 0) + 1) end++;
    parts.push(end === at ? `${sorted[at]}` : `${sorted[at]}-${sorted[end]}`);
    at = end + 1;
  }
  return parts.join(',');
}

/** A capability without its `CAP_`, in upper case. */
export function canonicalCapability(text: string): string {
  return text.toUpperCase().replace(/^CAP_/, '');
}

/** A signal with its `SIG`, in upper case; a number stays a number. */
export function canonicalSignal(text: string): string {
  const name = text.toUpperCase();
  return /^\d+$/.test(name) || name.startsWith('SIG') ? name : `SIG${name}`;
}

/** `option=value` or `option` for a security option in any of its spellings. */
export function canonicalSecurityOption(text: string): string {
  const option = text.replace(/^([a-z-]+):/, '$1=');
  return option === 'no-new-privileges=true' ? 'no-new-privileges' : option;
}

/** An absolute path in a container without doubled or final slashes. */
export function canonicalPath(text: string): string {
  const path = text.replace(/\/+/g, '/');
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
