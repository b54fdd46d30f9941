import type { Diagnostic } from '../../core/diagnostic.ts';
import type { Hold } from '../../state/model.ts';
import { type HoldArguments, parseHoldArguments } from '../arguments/approval.ts';
import { actorOf } from '../compose.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { count } from '../views/layout.ts';
import { failWith } from './failing.ts';
import { noState, readingState } from './reading.ts';

/** `hold`: stops applies of every source, or lifts what holds. Needs no lock: it keeps off what comes, not what runs. */
export async function runHold(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseHoldArguments(input);
  if (!args.ok) return failWith(shell, args.diagnostics);
  return await readingState(shell, args.value, async (store, { environment }) => {
    if ((await store.read()) === undefined) return failWith(shell, [noState(environment.name)]);
    const by = actorOf(shell);
    if (args.value.lift) {
      const lifted = await store.liftHolds(by, args.value.reason);
      if (shell.output.json) shell.output.document({ format: 'accede.hold/v1', held: false, lifted });
      else shell.output.print(lifted.length === 0 ? 'Nothing was held.' : `Lifted: ${count(lifted.length, 'hold')}. Applies go on.`);
      return EXIT.done;
    }
    const now = await store.now();
    const until = endOf(args.value, now);
    if (until !== undefined && until <= now) return failWith(shell, [overAlready(until)]);
    const hold: Hold = {
      kind: 'hand',
      source: null,
      variables: null,
      reason: args.value.reason,
      by,
      since: new Date(now).toISOString(),
      until: until === undefined ? null : new Date(until).toISOString(),
      serial: null,
    };
    await store.setHold(hold);
    if (shell.output.json) shell.output.document({ format: 'accede.hold/v1', held: true, hold });
    else
      shell.output.print(
        `Held: no apply of ${environment.name} ${hold.until === null ? 'until the hold is lifted' : `until ${hold.until}`}.`,
      );
    return EXIT.done;
  });
}

function endOf({ until }: HoldArguments, now: number): number | undefined {
  if (until === undefined) return undefined;
  return 'at' in until ? until.at : now + until.for;
}

function overAlready(until: number): Diagnostic {
  return {
    severity: 'error',
    code: 'BAD_FLAG_VALUE',
    summary: 'A flag has a value that it does not take',
    detail: `--until names ${new Date(until).toISOString()}, which is over already. Nothing is held.`,
  };
}
