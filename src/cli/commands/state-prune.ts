import { type PruneResult, pruneState } from '../../apply/prune.ts';
import { parsePruneArguments } from '../arguments/prune.ts';
import { actorOf, openWorkspace } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { count } from '../views/layout.ts';
import { progressLines } from '../views/progress.ts';
import { failWith } from './failing.ts';

/** `state prune`: forgets the past before a bound. */
export async function runStatePrune(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parsePruneArguments(input);
  if (!args.ok) return failWith(shell, args.diagnostics);
  const { output } = shell;
  const opened = await openWorkspace(shell, args.value, { secrets: 'none' });
  if (!opened.ok) return failWith(shell, opened.diagnostics);
  try {
    const request = {
      actor: actorOf(shell),
      reason: args.value.reason,
      lockTimeout: args.value.lockTimeout,
      stop: shell.interrupts.stop,
      emit: (event: Parameters<typeof progressLines>[0]) => output.say(progressLines(event, output.conversation).join('\n')),
    };
    const result = await pruneState(opened.value.context, request, args.value.bound);
    if (!result.ok) return failWith(shell, result.diagnostics);
    output.warn(result.diagnostics);
    if (output.json) output.document({ format: 'accede.prune/v1', ...result.value });
    else output.print(textOf(result.value));
    return EXIT.done;
  } finally {
    await opened.value.close();
  }
}

function textOf({ operations, environments, from, serial }: PruneResult): string {
  if (operations === 0) return 'Nothing is old enough to be forgotten.';
  return `Forgot ${count(operations, 'operation')}, with ${count(environments, 'environment')} that could be brought back; #${from} and what came after it is kept. State #${serial}.`;
}
