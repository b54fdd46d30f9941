import type { EditRequest, EditResult } from '../../apply/edit.ts';
import type { EngineContext } from '../../apply/engine.ts';
import type { Outcome } from '../../core/diagnostic.ts';
import type { EditArguments } from '../arguments/edit.ts';
import { actorOf, openWorkspace, type Workspace } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { Shell } from '../shell.ts';
import { progressLines } from '../views/progress.ts';
import { failWith } from './failing.ts';

/** Opens the environment, lets `edit` change its state under the lock, and says what was done. */
export async function editing<A extends EditArguments>(
  shell: Shell,
  args: Outcome<A>,
  options: { readonly secrets: 'read' | 'none'; readonly done: (result: EditResult, args: A) => string },
  edit: (context: EngineContext, request: EditRequest, args: A, workspace: Workspace) => Promise<Outcome<EditResult>>,
): Promise<ExitCode> {
  if (!args.ok) return failWith(shell, args.diagnostics);
  const opened = await openWorkspace(shell, args.value, { secrets: options.secrets });
  if (!opened.ok) return failWith(shell, opened.diagnostics);
  try {
    const request: EditRequest = {
      actor: actorOf(shell),
      reason: args.value.reason,
      lockTimeout: args.value.lockTimeout,
      stop: shell.interrupts.stop,
      emit: (event) => shell.output.say(progressLines(event, shell.output.conversation).join('\n')),
    };
    const result = await edit(opened.value.context, request, args.value, opened.value);
    if (!result.ok) return failWith(shell, result.diagnostics);
    shell.output.warn(result.diagnostics);
    if (shell.output.json) shell.output.document({ format: 'accede.edit/v1', ...result.value });
    else shell.output.print(options.done(result.value, args.value));
    return EXIT.done;
  } finally {
    await opened.value.close();
  }
}
