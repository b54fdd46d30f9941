import { taintResource } from '../../apply/edit.ts';
import { parseEditArguments } from '../arguments/edit.ts';
import type { ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { editing } from './editing.ts';

/** `taint ADDRESS`: the next apply replaces it. */
export async function runTaint(input: RawInput, shell: Shell): Promise<ExitCode> {
  return await setTaint(input, shell, true);
}

/** `untaint ADDRESS`. */
export async function runUntaint(input: RawInput, shell: Shell): Promise<ExitCode> {
  return await setTaint(input, shell, false);
}

async function setTaint(input: RawInput, shell: Shell, tainted: boolean): Promise<ExitCode> {
  const word = tainted ? 'tainted' : 'not tainted';
  return await editing(
    shell,
    parseEditArguments(input, { operands: 1, addresses: [0] }),
    {
      secrets: 'none',
      done: (result, { operands }) =>
        result.changed.length === 0 ? `${operands[0]} is ${word} already.` : `${operands[0]} is ${word} now. State #${result.serial}.`,
    },
    async (context, request, { addresses: [address] }) => {
      if (address === undefined) throw new Error('taint has an address');
      return await taintResource(context, request, { address, tainted });
    },
  );
}
