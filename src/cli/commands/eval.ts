import { diagnoseBackend } from '../../apply/failure.ts';
import { OMIT } from '../../core/template.ts';
import { encodeValue } from '../../core/value.ts';
import { BackendError } from '../../state/contract.ts';
import { parseReadingArguments } from '../arguments/reading.ts';
import { openWorkspace } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { recordedLookup } from '../recorded-lookup.ts';
import type { RawInput, Shell } from '../shell.ts';
import { renderValue } from '../views/values.ts';
import { failWith } from './failing.ts';

/** `eval EXPRESSION`: over the environment as it is written and the resources as they are recorded. A secret comes out as `(sensitive)`. */
export async function runEval(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseReadingArguments(input, { what: true });
  if (!args.ok) return failWith(shell, args.diagnostics);
  const text = (args.value.what ?? '').replace(/^\$\{(.*)\}$/s, '$1');
  const opened = await openWorkspace(shell, args.value, { secrets: 'skip' });
  if (!opened.ok) return failWith(shell, opened.diagnostics);
  const { environment, context } = opened.value;
  try {
    const compiled = environment.compile(text);
    if (!compiled.ok) return failWith(shell, compiled.diagnostics);
    const value = compiled.value.evaluate(recordedLookup(environment, await context.store.read()));
    if (!value.ok) return failWith(shell, value.diagnostics);
    if (value.value === OMIT) {
      if (shell.output.json) shell.output.document(null);
      else shell.output.print('(omit)');
      return EXIT.done;
    }
    // Wrappers write themselves as words, so neither a secret nor a fingerprint gets out.
    if (shell.output.json) shell.output.document(value.value);
    else shell.output.print(renderValue(shell.output.clean(encodeValue(value.value, undefined))));
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return failWith(shell, [diagnoseBackend(error)]);
  } finally {
    await opened.value.close();
  }
}
