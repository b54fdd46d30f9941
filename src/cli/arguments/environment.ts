import type { Flags } from './values.ts';

/** What is needed to load an environment. */
export interface EnvironmentArguments {
  /** As written; `.` when nothing was. */
  readonly folder: string;
  readonly variables: readonly (readonly [string, string])[];
  readonly variableFiles: readonly string[];
}

export function readEnvironmentFlags(flags: Flags, folder: string | undefined): EnvironmentArguments {
  return { folder: folder ?? '.', variables: flags.pairs('var', '--var'), variableFiles: flags.list('varFile') };
}
