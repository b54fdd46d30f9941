import { type Brand, isPlainName } from './naming.ts';

/** `provider.type`, as it stands in the YAML and in the state: `local.file`. */
export type TypeName = Brand<string, 'TypeName'>;

/** `provider.type.name` or `provider.type.name["key"]`: one resource instance. */
export type ResourceAddress = Brand<string, 'ResourceAddress'>;

/** The address of steps that belong to the environment as a whole; no resource can have it. */
export const ENVIRONMENT = 'environment' as ResourceAddress;

/** The type under which the journal has such steps; no provider has it. */
export const ENVIRONMENT_TYPE = 'environment' as TypeName;

export interface AddressParts {
  readonly type: TypeName;
  readonly name: string;
  /** The `for_each` key of an instance. */
  readonly key?: string;
}

const TYPE = /^[a-z][a-z0-9-]*\.[a-z][a-z0-9_]*$/;
const ADDRESS = /^([a-z][a-z0-9-]*\.[a-z][a-z0-9_]*)\.([A-Za-z0-9_.-]+?)(?:\["([A-Za-z0-9_.-]+)"\])?$/;

/** True for text that has the form of a type name; it says nothing of whether a provider has that type. */
export function isTypeName(text: string): text is TypeName {
  return TYPE.test(text);
}

/** Builds the canonical text of an address. Throws on parts that the YAML loader would have refused. */
export function formatAddress(parts: AddressParts): ResourceAddress {
  if (!isPlainName(parts.name) || (parts.key !== undefined && !isPlainName(parts.key))) {
    throw new Error(`address with a name outside of letters, digits, _, -, .: ${JSON.stringify(parts)}`);
  }
  const base = `${parts.type}.${parts.name}`;
  return (parts.key === undefined ? base : `${base}["${parts.key}"]`) as ResourceAddress;
}

/**
 * Reads an address, or answers undefined when the text is none. The spelling of expressions, with an underscore
 * for the hyphen in a provider's name, is not an address.
 */
export function parseAddress(text: string): AddressParts | undefined {
  const match = ADDRESS.exec(text);
  if (match === null) return undefined;
  const [, type, name, key] = match;
  if (type === undefined || name === undefined) return undefined;
  return key === undefined ? { type: type as TypeName, name } : { type: type as TypeName, name, key };
}

/** The address without its instance key: what a `depends_on` on a whole `for_each` names. */
export function baseAddress(address: ResourceAddress): string {
  const bracket = address.indexOf('["');
  return bracket === -1 ? address : address.slice(0, bracket);
}

/** Orders addresses for every output: by code unit, so that the order never depends on a locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
