import { type Outcome, settle } from '../../core/diagnostic.ts';
import type { RawInput } from '../shell.ts';
import { type EnvironmentArguments, readEnvironmentFlags } from './environment.ts';
import { Flags } from './values.ts';

/** `diff` as it was written. The folder is the one whose state has the serials. */
export interface DiffArguments extends EnvironmentArguments {
  readonly operands: readonly [string, string];
  readonly detailedExitcode: boolean;
}

export function parseDiffArguments(input: RawInput): Outcome<DiffArguments> {
  const flags = new Flags(input.options);
  const [before = '', after = '', folder] = input.operands;
  return settle(
    { ...readEnvironmentFlags(flags, folder), operands: [before, after], detailedExitcode: flags.isSet('detailedExitcode') },
    flags.diagnostics,
  );
}
