import { nearMiss } from '../naming.ts';
import type { CodeEntry, CodeTable } from './entry.ts';

/** A code, and who gives it. */
export interface FoundCode extends CodeEntry {
  readonly code: string;
  readonly owner: string;
}

/** What the tables say of a code, once for each table that has it; or the code that is most like it. */
export function findCode(
  tables: readonly (readonly [owner: string, codes: CodeTable])[],
  word: string,
): { readonly found: readonly FoundCode[]; readonly near: string | undefined } {
  const code = word.toUpperCase();
  const found = tables.flatMap(([owner, codes]) => {
    const entry = Object.hasOwn(codes, code) ? codes[code] : undefined;
    return entry === undefined ? [] : [{ code, owner, ...entry }];
  });
  const near =
    found.length > 0
      ? undefined
      : nearMiss(
          code,
          tables.flatMap(([, codes]) => Object.keys(codes)),
        );
  return { found, near };
}
