import type { ReplaceOrder } from '../../src/core/action.ts';
import type { Attributes } from '../../src/core/value.ts';
import type { Host, Provider } from '../../src/providers/contract.ts';

/** What the conformance suite needs to know of one provider; made anew for every case, so that no case sees what another one left. */
export interface ConformanceCase {
  readonly provider: Provider;
  readonly config: Attributes;
  readonly host: Host;
  /** Absolute; what relative paths are relative to. */
  readonly folder: string;
  /** One for each of the provider's types. */
  readonly types: readonly TypeCase[];
  /** Texts that stand in the samples as secrets and may be in no message. */
  readonly secrets: readonly string[];
  /** All that can be seen of the target, so that a read can be shown to change nothing. */
  snapshot(): Promise<unknown>;
  /** Names of what is there now and was not there when the case began. */
  leftovers(): Promise<readonly string[]>;
  /** Cuts the target off; the answer mends it. Absent where nothing can be cut off. */
  unreachable?(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** Samples of one type and ways to meddle with its objects behind the provider's back. */
export interface TypeCase {
  readonly type: string;
  /** As in the YAML, valid, with most attributes set. */
  readonly sample: Attributes;
  /** More valid samples whose normal forms have to have traits. */
  readonly others?: readonly Attributes[];
  readonly changes: readonly SampleChange[];
  /** Absent for types whose objects exist in the state alone. */
  readonly live?: LiveCase;
}

/** One attribute set to another value. */
export interface SampleChange {
  readonly attribute: string;
  /** Undefined takes the attribute away. */
  readonly to: Attributes[string] | undefined;
  readonly expect: 'update' | 'replace';
  /** For a replacement; default both. */
  readonly orders?: readonly ReplaceOrder[];
}

export interface LiveCase {
  /** By the path at which the drift has to be seen. */
  readonly drift: { readonly [path: string]: (ref: string) => Promise<void> };
  /** Removes the object by hand. */
  remove(ref: string): Promise<void>;
  /** Puts somebody else's object where the sample's would be. `owner` is what a read has to say of it. */
  foreign(): Promise<{ readonly owner: 'other' | 'nobody'; remove(): Promise<void> }>;
  /** Stops the object by hand, for types whose objects run. */
  stop?(ref: string): Promise<void>;
  /** What an operator writes after `import` for this object, and something that names no object. */
  importId(ref: string): string;
  readonly unknownId: string;
}
