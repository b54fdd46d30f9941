import { execCommand } from '../../apply/reach.ts';
import type { Command } from '../../providers/contract.ts';
import { parseExecArguments } from '../arguments/reach.ts';
import { usageError } from '../arguments/values.ts';
import { type CommandExit, EXIT, programCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { borrowTerminal } from '../views/raw-terminal.ts';
import { failWith } from './failing.ts';
import { reaching } from './reaching.ts';

/** `exec ADDRESS -- CMD…`: runs a command inside of what runs, and ends with its code. */
export async function runExec(input: RawInput, shell: Shell): Promise<CommandExit> {
  const args = parseExecArguments(input);
  if (!args.ok) return failWith(shell, args.diagnostics);
  const { argv, interactive, tty } = args.value;
  const { stdin, pipes, interrupts } = shell;
  if (tty && (!pipes.stdout.isTerminal || (interactive && stdin.isTTY !== true))) {
    return failWith(shell, [
      usageError(
        'NO_TERMINAL',
        'There is no terminal to hand on',
        '--tty gives the command a terminal, and this one is none. Leave -t out.',
      ),
    ]);
  }
  return await reaching(shell, args.value, 'exec', async (context, [reached]) => {
    if (reached === undefined) throw new Error('exec has reached nothing');
    const terminal = tty ? borrowTerminal(interactive ? stdin : undefined) : undefined;
    try {
      const command: Command = {
        argv,
        ...(interactive ? { stdin: stdin as AsyncIterable<Uint8Array> } : {}),
        ...(terminal === undefined ? {} : { terminal }),
      };
      const end = await execCommand(context, reached, command, async ({ to, bytes }) => {
        await (to === 'stdout' ? pipes.stdout : pipes.stderr).write(bytes);
      });
      if (interrupts.isInterrupted) return EXIT.interrupted;
      return end.ok ? programCode(end.value) : failWith(shell, end.diagnostics);
    } finally {
      terminal?.giveBack();
    }
  });
}
