/** What the published table says of one code. */
export interface CodeEntry {
  /** One sentence: what it means. */
  readonly summary: string;
  /** One sentence: what to do. */
  readonly remedy: string;
  /** The exit codes that it comes with, ascending; none where the code of another program is passed through. */
  readonly exit: readonly number[];
}

/** Codes are stable: one that was published keeps its meaning, and one that goes is never used again for another. */
export type CodeTable = Readonly<Record<string, CodeEntry>>;
