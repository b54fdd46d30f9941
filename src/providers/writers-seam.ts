import type { EffectIo, ReadIo } from './contract.ts';

/** The part of the contract for old writers: what runs outside of the environment and is stopped before its data changes. */

/** Something that runs and is not an object of ours, found by its label. */
export interface Writer {
  /** Live id. */
  readonly ref: string;
  readonly name: string;
  /** ISO 8601; what started last is stopped first. */
  readonly startedAt: string;
  /** What makes it start by itself, in the provider's own words, so that it can be put back. */
  readonly autostart: string;
}

export interface WriterReads {
  /**
   * Everything that runs and bears the label (`KEY` or `KEY=VALUE`), but for objects that bear the mark of this environment. Absent where nothing
   * bears labels. Throws `ProviderError`: being unable to see is never an empty list.
   */
  writers?(label: string, environment: string, io: ReadIo): Promise<readonly Writer[]>;
}

export interface WriterControl {
  /** Takes its autostart away and stops it in its own way and time. One that is gone or stopped already is left so. Throws `ProviderError`. */
  halt?(writer: Writer, io: EffectIo): Promise<void>;
  /** Gives it its autostart back and starts it. One that runs is left so. Throws `ProviderError`, also when it is gone. */
  release?(writer: Writer, io: EffectIo): Promise<void>;
}
