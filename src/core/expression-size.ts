import { isAttributes, isList, Sensitive, type Value } from './value.ts';

/** How many members a finished value may have, those of its members included, how many characters all its texts, and how deep it may nest. */
export const VALUE_NODES = 200_000;
export const VALUE_TEXT = 16 * 1024 * 1024;
export const VALUE_DEPTH = 200;

/** Why a value cannot be kept: too large, nested too deep for what walks it, or text (a key too) that holds half of a surrogate pair. */
export type Flaw = 'size' | 'depth' | 'text';

/**
 * What makes a value one that cannot be kept, or undefined. Values share their members, so that ten lines of YAML can make one that would never
 * end when it is walked; counting stops at the limits.
 */
export function flawOf(value: Value): Flaw | undefined {
  return find(value, { nodes: VALUE_NODES, text: VALUE_TEXT }, VALUE_DEPTH);
}

function find(value: Value, left: { nodes: number; text: number }, depth: number): Flaw | undefined {
  left.nodes -= 1;
  if (left.nodes < 0) return 'size';
  if (depth < 0) return 'depth';
  if (typeof value === 'string') {
    left.text -= value.length;
    if (left.text < 0) return 'size';
    return isHalved(value) ? 'text' : undefined;
  }
  if (value instanceof Sensitive) return value.isOpen ? find(value.reveal(), left, depth) : undefined;
  if (isAttributes(value) && Object.keys(value).some(isHalved)) return 'text';
  const members = isList(value) ? value : isAttributes(value) ? Object.values(value) : [];
  for (const member of members) {
    const flaw = find(member, left, depth - 1);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

/** Whether text holds half of a surrogate pair: JSON can escape one, but no file, no digest and no UTF-8 can hold it. */
export function isHalved(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

/** What to say about a flaw, as a sentence about the value. */
export function flawText(flaw: Flaw): string {
  switch (flaw) {
    case 'size':
      return `The value has more than ${VALUE_NODES} members, or more than ${VALUE_TEXT} characters. Values that hold each other several times multiply.`;
    case 'depth':
      return `The value nests maps and lists more than ${VALUE_DEPTH} levels deep.`;
    case 'text':
      return 'The value holds text with half of a character, as the escape \\ud800 alone makes it. Write both halves or the character itself.';
  }
  return flaw satisfies never;
}
