import { createHmac } from 'node:crypto';
import { compareText } from './address.ts';
import { canonicalText } from './canonical.ts';
import type { PathSegment } from './path.ts';

/**
 * The values that travel through the engine: JSON, and two wrappers. `Unknown` stands for what will only be known after apply, `Sensitive`
 * for what no output may show. Both survive every copy, merge and comparison, and are unwrapped in two places alone: when a handler is
 * called, and when a fingerprint is made.
 */
export type Value = Scalar | Unknown | Sensitive | readonly Value[] | Attributes;
export type Scalar = null | boolean | number | string;
export interface Attributes {
  readonly [name: string]: Value;
}

/** JSON without wrappers: what leaves the process. */
export type Plain = Scalar | readonly Plain[] | { readonly [name: string]: Plain };

/** A value that is not known yet. `of` names what it waits for, as `<address>.id`. */
export class Unknown {
  readonly of: string;
  constructor(of: string) {
    this.of = of;
  }
  toJSON(): Plain {
    return '(known after apply)';
  }
  toString(): string {
    return '(known after apply)';
  }
}

/** A keyed fingerprint of a secret: `hmac-sha256:` and 64 hexadecimal digits. Equal for equal values under one state's key, and says nothing else. */
export type Fingerprint = `hmac-sha256:${string}`;

/**
 * A secret. It prints, serialises and inspects as `(sensitive)`. An *open* one holds its value, a *sealed* one (read from the state) its
 * fingerprint alone.
 */
export class Sensitive {
  readonly #value: Value | undefined;
  readonly #fingerprint: Fingerprint | undefined;
  /** Names of the secrets that flowed into this value, sorted; empty when it is sensitive by the attribute's schema. */
  readonly names: readonly string[];

  private constructor(value: Value | undefined, fingerprint: Fingerprint | undefined, names: readonly string[]) {
    this.#value = value;
    this.#fingerprint = fingerprint;
    this.names = names;
  }

  /** Wraps a value. A value that is sensitive already keeps one wrapper and gets both lists of names; an unknown one stays unknown inside. */
  static open(value: Value, names: readonly string[] = []): Sensitive {
    if (value instanceof Sensitive) return new Sensitive(value.#value, value.#fingerprint, joinNames(value.names, names));
    return new Sensitive(value, undefined, joinNames(names, []));
  }

  static sealed(fingerprint: Fingerprint | undefined, names: readonly string[] = []): Sensitive {
    return new Sensitive(undefined, fingerprint, joinNames(names, []));
  }

  /** A secret that was left unread on request (`--secrets=skip`): it counts as equal to whatever secret stands in its place. */
  static skipped(names: readonly string[]): Sensitive {
    return new Sensitive(undefined, 'hmac-sha256:skipped', joinNames(names, []));
  }

  get isSkipped(): boolean {
    return this.#fingerprint === 'hmac-sha256:skipped';
  }

  /** True when the value itself is here. */
  get isOpen(): boolean {
    return this.#value !== undefined;
  }

  /** The secret in clear. Only handlers, the fingerprint and expression evaluation may call it. Throws on a sealed one. */
  reveal(): Value {
    if (this.#value === undefined) throw new Error('a sealed secret was asked for its value');
    return this.#value;
  }

  /** The fingerprint under a key; that of a sealed secret is the stored one. Undefined when there is neither key nor stored fingerprint, or the value is unknown. */
  fingerprint(key: Buffer | undefined): Fingerprint | undefined {
    if (this.isSkipped) return undefined;
    if (this.#value === undefined) return this.#fingerprint;
    if (key === undefined || containsUnknown(this.#value)) return undefined;
    return fingerprintOf(this.#value, key);
  }

  toJSON(): Plain {
    return '(sensitive)';
  }
  toString(): string {
    return '(sensitive)';
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '(sensitive)';
  }
}

/** The keyed fingerprint of any known value. */
export function fingerprintOf(value: Value, key: Buffer): Fingerprint {
  return `hmac-sha256:${createHmac('sha256', key)
    .update(canonicalText(reveal(value)))
    .digest('hex')}`;
}

function joinNames(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])].sort(compareText);
}

export function isAttributes(value: Value | undefined): value is Attributes {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Unknown) && !(value instanceof Sensitive)
  );
}

export function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

/** Whether the value, or anything in it, is unknown. */
export function containsUnknown(value: Value): boolean {
  return findUnknown(value) !== undefined;
}

/** The first unknown in the value, secrets looked into as well. */
export function findUnknown(value: Value): Unknown | undefined {
  if (value instanceof Unknown) return value;
  if (value instanceof Sensitive) return value.isOpen ? findUnknown(value.reveal()) : undefined;
  if (isList(value)) {
    for (const item of value) {
      const found = findUnknown(item);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isAttributes(value)) return findUnknown(Object.values(value));
  return undefined;
}

/** Whether the value, or anything in it, is sensitive. */
export function containsSensitive(value: Value): boolean {
  if (value instanceof Sensitive) return true;
  if (isList(value)) return value.some(containsSensitive);
  if (isAttributes(value)) return Object.values(value).some(containsSensitive);
  return false;
}

/** Names of all secrets in the value, sorted. */
export function secretNames(value: Value): readonly string[] {
  if (value instanceof Sensitive) return value.names;
  if (isList(value)) return joinNames(value.flatMap(secretNames), []);
  if (isAttributes(value)) return secretNames(Object.values(value));
  return [];
}

/** Calls `change` for every leaf and wrapper, children first, and builds the value anew from the answers. */
export function mapLeaves(value: Value, change: (leaf: Scalar | Unknown | Sensitive) => Value): Value {
  if (isList(value)) return value.map((item) => mapLeaves(item, change));
  if (isAttributes(value)) return mapEntries(value, (item) => mapLeaves(item, change));
  return change(value);
}

/** A copy with every member changed. Members named `__proto__` stay ordinary members. */
export function mapEntries(value: Attributes, change: (item: Value, name: string) => Value): Attributes {
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, change(item, name)]));
}

/** Takes every secret out of its wrapper. Throws on an unknown or sealed value: both mean that the engine called too early. */
export function reveal(value: Value): Plain {
  if (value instanceof Sensitive) return reveal(value.reveal());
  if (value instanceof Unknown) throw new Error(`an unknown value (${value.of}) was asked for`);
  if (isList(value)) return value.map(reveal);
  if (isAttributes(value)) return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, reveal(item)]));
  return value;
}

/** How secrets and unknowns are written where a document keeps them. The marker key can't be a member of any attribute. */
export const MARKER = '$accede';

/** Encrypts a secret for its place in a document; undefined where it is not to be kept. */
export type Encrypt = (secret: Plain, path: readonly PathSegment[]) => string | undefined;
/** Opens what `Encrypt` made for that place. */
export type Decrypt = (ciphertext: string, path: readonly PathSegment[]) => Plain;

/**
 * The stored form: secrets become their fingerprint, with `encrypt` their ciphertext beside it, and unknowns a marker. It reads back with
 * `decodeValue`. What is shown (a plan) is made without `encrypt`.
 */
export function encodeValue(value: Value, key: Buffer | undefined, encrypt?: Encrypt, at: readonly PathSegment[] = []): Plain {
  if (value instanceof Unknown) return { [MARKER]: 'unknown', of: value.of };
  if (value instanceof Sensitive) {
    const fingerprint = value.fingerprint(key);
    const isKnown = value.isOpen && !containsUnknown(value.reveal());
    const encrypted = encrypt !== undefined && isKnown ? encrypt(reveal(value), at) : undefined;
    return {
      [MARKER]: 'sensitive',
      ...(fingerprint === undefined ? {} : { fingerprint }),
      ...(value.names.length === 0 ? {} : { names: value.names }),
      ...(encrypted === undefined ? {} : { encrypted }),
    };
  }
  if (isList(value)) return value.map((item, index) => encodeValue(item, key, encrypt, [...at, index]));
  if (isAttributes(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, encodeValue(item, key, encrypt, [...at, name])]));
  }
  return value;
}

/**
 * Reads the stored form. Secrets come back sealed; those that were kept encrypted come back open when `decrypt` is given. Throws on a marker
 * that it does not know: the format is checked when the store opens.
 */
export function decodeValue(stored: Plain, decrypt?: Decrypt, at: readonly PathSegment[] = []): Value {
  if (Array.isArray(stored)) return stored.map((item: Plain, index) => decodeValue(item, decrypt, [...at, index]));
  if (typeof stored !== 'object' || stored === null) return stored as Scalar;
  const record = stored as { readonly [name: string]: Plain };
  const marker = record[MARKER];
  if (marker === 'unknown') return new Unknown(String(record['of']));
  if (marker === 'sensitive') {
    const names = Array.isArray(record['names']) ? (record['names'] as readonly string[]) : [];
    const { encrypted } = record;
    if (decrypt !== undefined && typeof encrypted === 'string') return Sensitive.open(decrypt(encrypted, at), names);
    return Sensitive.sealed(record['fingerprint'] as Fingerprint | undefined, names);
  }
  if (marker !== undefined) throw new Error(`a stored value has the unknown marker ${JSON.stringify(marker)}`);
  return Object.fromEntries(Object.entries(record).map(([name, item]) => [name, decodeValue(item, decrypt, [...at, name])]));
}

/** Whether anything in a stored value is kept encrypted. */
export function holdsCiphertext(stored: Plain): boolean {
  if (Array.isArray(stored)) return stored.some((item: Plain) => holdsCiphertext(item));
  if (typeof stored !== 'object' || stored === null) return false;
  const record = stored as { readonly [name: string]: Plain };
  if (record[MARKER] === 'sensitive') return record['encrypted'] !== undefined;
  return Object.values(record).some(holdsCiphertext);
}

/** The stored form without what is kept encrypted: all that may be shown, compared or made a digest of. */
export function withoutCiphertext(stored: Plain): Plain {
  return encodeValue(decodeValue(stored), undefined);
}

/** What a handler gets of recorded values: secrets in clear where they are open, everything else in the stored form. */
export function clearForm(value: Value, key: Buffer | undefined): Plain {
  if (value instanceof Sensitive && value.isOpen && !containsUnknown(value.reveal())) return reveal(value);
  if (isList(value)) return value.map((item) => clearForm(item, key));
  if (isAttributes(value)) return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, clearForm(item, key)]));
  return encodeValue(value, key);
}

/**
 * Equality of two values under one key. Unknown equals nothing, itself included. Two secrets are equal when their values are, or as far as
 * one is sealed their fingerprints; a sealed one without a fingerprint equals nothing. A secret and a plain value differ, since one of them would be shown.
 */
export function sameValue(a: Value | undefined, b: Value | undefined, key: Buffer | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a instanceof Unknown || b instanceof Unknown) return false;
  if (a instanceof Sensitive || b instanceof Sensitive) {
    if (!(a instanceof Sensitive) || !(b instanceof Sensitive)) return false;
    if (a.isSkipped || b.isSkipped) return true;
    if (a.isOpen && b.isOpen) return sameValue(a.reveal(), b.reveal(), key);
    const left = a.fingerprint(key);
    return left !== undefined && left === b.fingerprint(key);
  }
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, index) => sameValue(item, b[index], key));
  if (isAttributes(a)) {
    if (!isAttributes(b)) return false;
    const names = Object.keys(a);
    return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && sameValue(a[name], b[name], key));
  }
  return a === b;
}
