import { resolve } from 'node:path';
import { type Outcome, settle } from '../../core/diagnostic.ts';
import { holdsDocuments, kindOf } from '../paths.ts';
import type { RawInput } from '../shell.ts';
import { type EnvironmentArguments, readEnvironmentFlags } from './environment.ts';
import { Flags } from './values.ts';

/** A command that reads: at most one word beside the folder. */
export interface ReadingArguments extends EnvironmentArguments {
  readonly what: string | undefined;
  readonly format: string | undefined;
}

/** Reads `[dir]`, or `WHAT [dir]` where the word is needed. */
export function parseReadingArguments(input: RawInput, shape: { readonly what: boolean }): Outcome<ReadingArguments> {
  const flags = new Flags(input.options);
  const [first, second] = input.operands;
  return settle(
    { ...readEnvironmentFlags(flags, shape.what ? second : first), what: shape.what ? first : undefined, format: flags.text('format') },
    flags.diagnostics,
  );
}

/** Reads `[WHAT] [dir]`. A single word is the folder when it looks like one: it holds a slash, is `.` or `..`, or is a folder with YAML in it. */
export function parseOptionalReadingArguments(input: RawInput, folder: string): Outcome<ReadingArguments> {
  const [first, second] = input.operands;
  const isFolder = first !== undefined && second === undefined && looksLikeFolder(first, folder);
  return parseReadingArguments({ ...input, operands: isFolder ? [undefined, first] : [first, second] }, { what: true });
}

function looksLikeFolder(word: string, folder: string): boolean {
  const path = resolve(folder, word);
  if (kindOf(path) !== 'folder') return false;
  return word === '.' || word === '..' || word.includes('/') || holdsDocuments(path);
}
