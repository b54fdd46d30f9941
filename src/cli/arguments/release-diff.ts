import { type Outcome, settle } from '../../core/diagnostic.ts';
import type { RawInput } from '../shell.ts';
import { type EnvironmentArguments, readEnvironmentFlags } from './environment.ts';
import { Flags } from './values.ts';

/** `release diff` as it was written. */
export interface ReleaseDiffArguments extends EnvironmentArguments {
  readonly before: string;
  readonly after: string;
  /** The environment that both releases are judged in; undefined judges them by themselves, strictly. */
  readonly environment: string | undefined;
}

export function parseReleaseDiffArguments(input: RawInput): Outcome<ReleaseDiffArguments> {
  const flags = new Flags(input.options);
  const [before = '', after = ''] = input.operands;
  const environment = flags.text('environment');
  return settle({ ...readEnvironmentFlags(flags, environment), before, after, environment }, flags.diagnostics);
}
