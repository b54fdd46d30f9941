import { nearMiss } from '../../core/naming.ts';
import { editorSchema } from '../../spec/jsonschema.ts';
import { usageError } from '../arguments/values.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { renderJson } from '../views/json.ts';
import { failWith } from './failing.ts';

const KINDS = ['environment', 'fragment', 'release'] as const;

/** `schema`: the JSON Schema of a document, for an editor. */
export async function runSchema(input: RawInput, shell: Shell): Promise<ExitCode> {
  const [written = 'environment'] = input.operands;
  const kind = KINDS.find((known) => known === written);
  if (kind === undefined) {
    const near = nearMiss(written, KINDS);
    return failWith(shell, [
      usageError(
        'BAD_OPERAND',
        'An operand has a value that the command does not take',
        `There is no schema of '${written}'.${near === undefined ? '' : ` Did you mean ${near}?`}`,
        {
          expected: KINDS.join(', '),
          observed: written,
        },
      ),
    ]);
  }
  const schema = editorSchema(kind, shell.registry);
  if (shell.output.json) shell.output.document(schema);
  else shell.output.print(renderJson(schema));
  return EXIT.done;
}
