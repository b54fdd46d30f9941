import { resolve } from 'node:path';
import type { LoadOptions } from '../spec/load.ts';
import type { EnvironmentArguments } from './arguments/environment.ts';
import type { Shell } from './shell.ts';

/** How documents are loaded where they alone count: nothing live is asked, and no secret is read. */
export function documentsOnly(shell: Shell, args: Pick<EnvironmentArguments, 'variables' | 'variableFiles'>, folder: string): LoadOptions {
  return {
    folder,
    registry: shell.registry,
    variables: args.variables,
    variableFiles: args.variableFiles.map((file) => resolve(shell.folder, file)),
    processEnvironment: shell.environment,
    secrets: 'none',
    stateSecrets: 'none',
    signal: shell.interrupts.reads,
  };
}
