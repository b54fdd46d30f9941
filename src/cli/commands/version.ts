import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';

/** `version`. */
export async function runVersion(_input: RawInput, shell: Shell): Promise<ExitCode> {
  if (shell.output.json) shell.output.document({ format: 'accede.version/v1', version: shell.version, node: process.versions.node });
  else shell.output.print(shell.version);
  return EXIT.done;
}
