import { type Diagnostic, type Outcome, settle } from '../../core/diagnostic.ts';
import type { RawInput } from '../shell.ts';
import { type EnvironmentArguments, readEnvironmentFlags } from './environment.ts';
import { Flags, usageError } from './values.ts';

/** A release: of the environment in a folder, or a document by itself. */
export interface ReleaseArguments extends EnvironmentArguments {
  /** As written: a folder or a file. */
  readonly what: string;
}

export interface SignArguments extends ReleaseArguments {
  readonly key: string;
  readonly out: string | undefined;
}

export interface VerifyArguments extends ReleaseArguments {
  readonly signature: string | undefined;
  readonly keys: readonly string[];
}

/** What `release set` and `release lock` share. */
export interface EditReleaseArguments extends ReleaseArguments {
  /** `api` and `REPOSITORY@DIGEST`, as written; empty for `lock`. */
  readonly entries: readonly (readonly [entry: string, image: string])[];
  readonly fromLabels: boolean;
  readonly check: boolean;
  readonly provider: string | undefined;
}

export function parseSignArguments(input: RawInput): Outcome<SignArguments> {
  const flags = new Flags(input.options);
  const key = flags.text('key');
  if (key === undefined) {
    flags.diagnostics.push(usageError('FLAG_MISSING', 'A flag is missing', 'release sign needs the private key: --key FILE.'));
  }
  return settle({ ...placed(flags, input.operands[0]), key: key ?? '', out: flags.text('out') }, flags.diagnostics);
}

export function parseVerifyArguments(input: RawInput): Outcome<VerifyArguments> {
  const flags = new Flags(input.options);
  return settle({ ...placed(flags, input.operands[0]), signature: flags.text('signature'), keys: flags.list('key') }, flags.diagnostics);
}

export function parseLockArguments(input: RawInput): Outcome<EditReleaseArguments> {
  const flags = new Flags(input.options);
  return settle({ ...placed(flags, input.operands[0]), entries: [], ...editing(flags) }, flags.diagnostics);
}

/** Reads `NAME=IMAGE… [dir]`: the last word is the folder or document when it has no equals sign. */
export function parseSetArguments(input: RawInput): Outcome<EditReleaseArguments> {
  const flags = new Flags(input.options);
  const words = input.operands.flatMap((word) => word ?? []);
  const last = words.at(-1);
  const what = last === undefined || last.includes('=') ? undefined : last;
  const pairs = what === undefined ? words : words.slice(0, -1);
  const diagnostics: Diagnostic[] = [];
  const entries = pairs.flatMap((word) => {
    const at = word.indexOf('=');
    if (at > 0 && at < word.length - 1) return [[word.slice(0, at), word.slice(at + 1)] as const];
    diagnostics.push(badEntry(word));
    return [];
  });
  if (pairs.length === 0) diagnostics.push(badEntry(what));
  return settle({ ...placed(flags, what), entries, ...editing(flags) }, [...flags.diagnostics, ...diagnostics]);
}

function badEntry(word: string | undefined): Diagnostic {
  const observed = word === undefined ? {} : { observed: word };
  return usageError(
    'BAD_OPERAND',
    'An operand has a value that the command does not take',
    'release set needs the name of an entry and its image, joined by an equals sign.',
    { expected: 'NAME=REPOSITORY@sha256:…', ...observed },
  );
}

function placed(flags: Flags, what: string | undefined): ReleaseArguments {
  return { ...readEnvironmentFlags(flags, what), what: what ?? '.' };
}

function editing(flags: Flags) {
  return { fromLabels: flags.isSet('fromLabels'), check: flags.isSet('check'), provider: flags.text('provider') };
}
