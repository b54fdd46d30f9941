import type { EditRequest } from '../../apply/edit.ts';
import { type Initialised, initState } from '../../apply/init.ts';
import { type Outcome, settle } from '../../core/diagnostic.ts';
import { type EditArguments, parseEditArguments } from '../arguments/edit.ts';
import { Flags, usageError } from '../arguments/values.ts';
import { actorOf, openWorkspace } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { progressLines } from '../views/progress.ts';
import { failWith } from './failing.ts';

/** `state init`: an empty state, which goes on with the lineage of what bears the environment's mark. */
export async function runStateInit(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseInitArguments(input);
  if (!args.ok) return failWith(shell, args.diagnostics);
  const { lineage } = args.value;
  // Where nothing is looked at, no provider needs its secrets.
  const opened = await openWorkspace(shell, args.value, { secrets: lineage === undefined ? 'read' : 'none' });
  if (!opened.ok) return failWith(shell, opened.diagnostics);
  try {
    const request: EditRequest = {
      actor: actorOf(shell),
      reason: args.value.reason,
      lockTimeout: args.value.lockTimeout,
      stop: shell.interrupts.stop,
      emit: (event) => shell.output.say(progressLines(event, shell.output.conversation).join('\n')),
    };
    const made = await initState(opened.value.context, request, { lineage });
    if (!made.ok) return failWith(shell, made.diagnostics);
    if (shell.output.json) shell.output.document({ format: 'accede.init/v1', ...made.value });
    else shell.output.print(sentence(made.value));
    return EXIT.done;
  } finally {
    await opened.value.close();
  }
}

function parseInitArguments(input: RawInput): Outcome<EditArguments & { readonly lineage: string | undefined }> {
  const edit = parseEditArguments(input, { operands: 0, addresses: [] });
  const flags = new Flags(input.options);
  const lineage = flags.text('lineage');
  if (lineage !== undefined && lineage !== 'new' && !/^[0-9a-f]{32}$/.test(lineage)) {
    flags.diagnostics.push(
      usageError('BAD_FLAG_VALUE', 'A flag has a value that it does not take', `--lineage was given ${JSON.stringify(lineage)}.`, {
        expected: 'new, or the 32 hexadecimal digits of a lineage',
        observed: lineage,
      }),
    );
  }
  return edit.ok ? settle({ ...edit.value, lineage }, flags.diagnostics) : edit;
}

function sentence({ lineage, marked, serial }: Initialised): string {
  const begun = `Began the state #${serial}, lineage ${lineage}.`;
  if (marked === null || marked === 0) return begun;
  const objects = marked === 1 ? 'the 1 object that bears' : `the ${marked} objects that bear`;
  return `${begun} It is that of ${objects} the environment's mark; see what an apply records of them with: accede plan`;
}
