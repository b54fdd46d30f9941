import { parseReadingArguments } from '../arguments/reading.ts';
import { actorOf } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { failWith } from './failing.ts';
import { readingState } from './reading.ts';

/** `unlock LOCK_ID`: ends a lock and raises the fence, so that its holder can not write any more. */
export async function runUnlock(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseReadingArguments(input, { what: true });
  if (!args.ok) return failWith(shell, args.diagnostics);
  const lockId = args.value.what ?? '';
  return await readingState(shell, args.value, async (store) => {
    if (!(await store.unlock(lockId, actorOf(shell)))) {
      const holder = (await store.read())?.lock ?? null;
      return failWith(shell, [
        {
          severity: 'error',
          code: 'NO_SUCH_LOCK',
          summary: 'No lock of that id is held',
          detail: holder === null ? 'The lock is free.' : `The lock is held by ${holder.who} on ${holder.host}, under another id.`,
          ...(holder === null ? {} : { observed: holder.lockId }),
          next: 'accede status',
        },
      ]);
    }
    if (shell.output.json) shell.output.document({ format: 'accede.unlock/v1', lockId, ended: true });
    else shell.output.print(`The lock ${lockId} is ended. Its holder can not write any more.`);
    return EXIT.done;
  });
}
