import { nearMiss } from '../../core/naming.ts';
import type { Plain } from '../../core/value.ts';
import { parseOptionalReadingArguments } from '../arguments/reading.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { renderOutputs } from '../views/state.ts';
import { markerOf, renderValue } from '../views/values.ts';
import { failWith } from './failing.ts';
import { noState, readingState } from './reading.ts';

/** `output [NAME]`: outputs as they are recorded. A sensitive one is never shown: the state does not hold it. */
export async function runOutput(input: RawInput, shell: Shell): Promise<ExitCode> {
  const parsed = parseOptionalReadingArguments(input, shell.folder);
  if (!parsed.ok) return failWith(shell, parsed.diagnostics);
  const { what } = parsed.value;
  return await readingState(shell, parsed.value, async (store, workspace) => {
    const snapshot = await store.read();
    if (snapshot === undefined) return failWith(shell, [noState(workspace.environment.name)]);
    const outputs = snapshot.outputs;
    if (what === undefined) {
      if (shell.output.json) {
        shell.output.document({
          format: 'accede.outputs/v1',
          outputs: Object.fromEntries(outputs.map(({ name, value }) => [name, shown(value)])),
        });
      } else shell.output.print(renderOutputs(shell.output.clean(outputs)));
      return EXIT.done;
    }
    const found = outputs.find((output) => output.name === what);
    if (found === undefined) {
      const near = nearMiss(
        what,
        outputs.map((output) => output.name),
      );
      return failWith(shell, [
        {
          severity: 'error',
          code: 'NO_SUCH_OUTPUT',
          summary: 'There is no output of that name',
          detail: `The state has no output ${what}.${near === undefined ? '' : ` Did you mean ${near}?`}`,
          next: 'accede output',
        },
      ]);
    }
    if (shell.output.json) shell.output.document(shown(found.value));
    // Text goes out as it is, so that a shell can use it.
    else shell.output.print(typeof found.value === 'string' ? found.value : renderValue(shell.output.clean(found.value)));
    return EXIT.done;
  });
}

/** The value with markers put in words. */
export function shown(value: Plain): Plain {
  const marker = markerOf(value);
  if (marker !== undefined) return marker === 'sensitive' ? '(sensitive)' : '(known after apply)';
  if (Array.isArray(value)) return value.map((item: Plain) => shown(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shown(item as Plain)]));
}
