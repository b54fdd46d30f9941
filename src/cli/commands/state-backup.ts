import { resolve } from 'node:path';
import { type TakenBackup, takeBackup } from '../../state/backup.ts';
import { parseReadingArguments } from '../arguments/reading.ts';
import { actorOf } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { count } from '../views/layout.ts';
import { failWith } from './failing.ts';
import { noState, readingState } from './reading.ts';

/** `state backup FILE`: all of the state in one file, as it is at one moment. */
export async function runStateBackup(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseReadingArguments(input, { what: true });
  if (!args.ok) return failWith(shell, args.diagnostics);
  const path = resolve(shell.folder, args.value.what ?? '');
  return await readingState(shell, args.value, async (_store, place) => {
    const taken = await takeBackup(place.state, { path, by: actorOf(shell) });
    if (taken === undefined) return failWith(shell, [noState(place.environment.name)]);
    warn(shell, taken);
    const { audited: _audited, ...said } = taken;
    if (shell.output.json) shell.output.document({ ...said, format: 'accede.backup-taken/v1' });
    else {
      const size = count(taken.bytes, 'byte');
      const what = `${count(taken.resources, 'resource')} and ${count(taken.operations, 'operation')}`;
      shell.output.print(
        `Backed up #${taken.serial} of ${taken.environment} to ${taken.path}: ${what}, ${size}, read back and whole.\n${taken.backup}`,
      );
    }
    return EXIT.done;
  });
}

function warn(shell: Shell, { open, audited }: TakenBackup): void {
  if (open !== null) {
    shell.output.warn([
      {
        severity: 'warning',
        code: 'STATE_BACKUP_OPEN',
        summary: 'An operation had not ended',
        detail: `${open} was open at that moment, and the backup holds it so: what it did afterwards is not in it. A restore ends it as abandoned, and the next apply looks at what it left.`,
      },
    ]);
  }
  if (audited) return;
  shell.output.warn([
    {
      severity: 'warning',
      code: 'STATE_BACKUP_UNAUDITED',
      summary: 'The backup is not in the audit chain',
      detail:
        'The backup is good, but the record that it was taken could not be written to the state: it is full, or may not be written by this user.',
    },
  ]);
}
