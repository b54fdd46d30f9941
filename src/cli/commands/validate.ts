import { parseReadingArguments } from '../arguments/reading.ts';
import { openDocuments } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { count } from '../views/layout.ts';
import { failWith } from './failing.ts';

/** `validate`: everything that needs no live access. Reads no secret. */
export async function runValidate(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseReadingArguments(input, { what: false });
  if (!args.ok) return failWith(shell, args.diagnostics);
  const opened = await openDocuments(shell, args.value);
  if (!opened.ok) return failWith(shell, opened.diagnostics);
  const environment = opened.value;
  if (shell.output.json) {
    shell.output.document({
      format: 'accede.validation/v1',
      environment: environment.name,
      valid: true,
      resources: environment.resources.length,
      outputs: environment.outputs.length,
      sourceDigest: environment.sourceDigest,
      warnings: opened.diagnostics,
    });
    return EXIT.done;
  }
  shell.output.warn(opened.diagnostics);
  shell.output.print(
    `${shell.output.answer.color.green('Valid.')} ${environment.name}: ${count(environment.resources.length, 'resource')}, ${count(environment.outputs.length, 'output')}.`,
  );
  return EXIT.done;
}
