import { upgradeState } from '../../state/open.ts';
import { parseReadingArguments } from '../arguments/reading.ts';
import { actorOf } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { failWith } from './failing.ts';
import { noState, readingState } from './reading.ts';

/** `state upgrade`: converts the tables of an older version. Of a database all environments are converted, since they share its tables. */
export async function runStateUpgrade(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseReadingArguments(input, { what: false });
  if (!args.ok) return failWith(shell, args.diagnostics);
  return await readingState(shell, args.value, async (_store, workspace) => {
    const upgraded = await upgradeState({ ...workspace.state, by: actorOf(shell) });
    if (upgraded === undefined) return failWith(shell, [noState(workspace.environment.name)]);
    if (upgraded.kind === 'busy') {
      const { who, host, pid, purpose, since, lockId } = upgraded.holder;
      return failWith(shell, [
        {
          severity: 'error',
          code: 'LOCK_BUSY',
          summary: 'The lock is held by somebody else',
          detail: `${who} (pid ${pid} on ${host}) holds a lock in this state since ${since} for ${purpose}. Nothing was changed: tables are only converted while nobody works with them. Wait for its end, or end it with the version that took it: accede unlock ${lockId}.`,
        },
      ]);
    }
    const { from, to } = upgraded;
    if (shell.output.json) shell.output.document({ format: 'accede.upgrade/v1', from, to });
    else if (from === to) shell.output.print(`The state has the format ${to} already.`);
    else shell.output.print(`The state was converted from the format ${from} to ${to}.`);
    return EXIT.done;
  });
}
