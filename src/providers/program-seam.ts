import type { Effect } from './contract.ts';

/** The part of the contract for programs: runs on request, what they wrote, and commands inside of objects. */

/** What of a log is wanted. */
export interface LogOptions {
  readonly follow: boolean;
  /** The last so many lines; all of them when it is absent. */
  readonly tail?: number;
  /** Nothing from before this time, in milliseconds since 1970. */
  readonly since?: number;
  /** Each line begins with its time, ISO 8601, and a space. */
  readonly timestamps: boolean;
}

/** A piece of what a program wrote, as it came. It may begin and end anywhere. */
export interface Written {
  readonly to: 'stdout' | 'stderr';
  readonly bytes: Uint8Array;
}

/** A command to run inside of an object. */
export interface Command {
  readonly argv: readonly string[];
  /** What it reads; nothing when it is absent. */
  readonly stdin?: AsyncIterable<Uint8Array>;
  /** It gets a terminal of this size, and what it writes comes as one stream. */
  readonly terminal?: { readonly size: TerminalSize; onResize(listener: (size: TerminalSize) => void): () => void };
}

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** How a command inside of an object came out, or why it could not be tried. */
export type CommandEnd = { readonly kind: 'ended'; readonly code: number } | { readonly kind: 'not-running'; readonly reason: string };

/** What one run on request consists of. */
export interface OnRequest {
  /** Whether it is given a document, which is then needed. */
  readonly takes: 'nothing' | 'document';
  /**
   * Effects of one run, in order. They are journalled and touch no record but for the last one, whose computed attributes are taken over. An
   * error of an effect from `begins` on with an `exitCode` says how the run ended.
   */
  readonly effects: readonly Effect[];
  /** The effect with which it begins to run: what fails before has done nothing. */
  readonly begins: string;
  /** The computed attributes that hold what the last completed run answered, and the fingerprint of what it was asked. */
  readonly answer: string;
  readonly asked: string;
}
