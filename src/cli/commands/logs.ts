import { readLogs } from '../../apply/reach.ts';
import type { ResourceAddress } from '../../core/address.ts';
import { sharedAbort } from '../../core/deadline.ts';
import type { Written } from '../../providers/contract.ts';
import { parseLogsArguments } from '../arguments/reach.ts';
import { type CommandExit, EXIT } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { type LogLine, LogLines, lineDocument, prefixes } from '../views/log-lines.ts';
import { failWith } from './failing.ts';
import { reaching } from './reaching.ts';

/** `logs ADDRESS`: what programs wrote, as they wrote it: their words are their own, so that nothing is masked. */
export async function runLogs(input: RawInput, shell: Shell): Promise<CommandExit> {
  const args = parseLogsArguments(input);
  if (!args.ok) return failWith(shell, args.diagnostics);
  const { follow, tail, since, timestamps } = args.value;
  const { clock, interrupts, output, pipes } = shell;
  return await reaching(shell, args.value, 'logs', async (context, reached) => {
    const lines = new LogLines();
    const prefix = reached.length > 1 ? prefixes(reached.map(({ address }) => address)) : undefined;
    const isByLine = output.json || prefix !== undefined;
    const gone = sharedAbort();
    const onInterrupt = () => gone.abort(interrupts.reads.reason);
    interrupts.reads.addEventListener('abort', onInterrupt, { once: true });
    const write = async (to: Written['to'], bytes: Uint8Array) => {
      const isTaken = await (output.json || to === 'stdout' ? pipes.stdout : pipes.stderr).write(bytes);
      // With nobody to read it, as with `| head`, there is nothing left to do.
      if (!isTaken) gone.abort(new Error('nobody reads'));
    };
    const show = async (line: LogLine) => {
      const text = output.json ? JSON.stringify(lineDocument(line, timestamps)) : `${prefix?.get(line.address) ?? ''}${line.text}`;
      await write(line.to, Buffer.from(`${text}\n`));
    };
    const sink = async (address: ResourceAddress, written: Written) => {
      if (!isByLine) await write(written.to, written.bytes);
      else for (const line of lines.take(address, written)) await show(line);
    };
    const found = await readLogs(
      { ...context, signal: gone.signal },
      reached,
      {
        follow,
        timestamps,
        ...(tail === undefined ? {} : { tail }),
        ...(since === undefined ? {} : { since: clock.now() - since }),
      },
      sink,
    );
    interrupts.reads.removeEventListener('abort', onInterrupt);
    for (const line of lines.end()) await show(line);
    if (interrupts.isInterrupted) return EXIT.interrupted;
    return found.length === 0 || gone.signal.aborted ? EXIT.done : failWith(shell, found);
  });
}
