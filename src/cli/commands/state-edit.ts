import { resolve } from 'node:path';
import { forgetResource, moveResource, pushState } from '../../apply/edit.ts';
import { rekeyState } from '../../apply/rekey.ts';
import { parseState } from '../../state/document.ts';
import { parseEditArguments } from '../arguments/edit.ts';
import { parseRekeyArguments } from '../arguments/rekey.ts';
import type { ExitCode } from '../exit.ts';
import { readBounded } from '../planfiles.ts';
import type { RawInput, Shell } from '../shell.ts';
import { editing } from './editing.ts';

/** The largest state document that is read. */
const STATE_BYTES = 512 * 1024 * 1024;

/** `state mv FROM TO`. */
export async function runStateMv(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseEditArguments(input, { operands: 2, addresses: [0, 1] });
  return await editing(
    shell,
    args,
    { secrets: 'none', done: (result, { operands }) => `Moved ${operands[0]} to ${operands[1]}. State #${result.serial}.` },
    async (context, request, { addresses: [from, to] }) => {
      if (from === undefined || to === undefined) throw new Error('state mv has two addresses');
      return await moveResource(context, request, { from, to });
    },
  );
}

/** `state rm ADDRESS`: the object stays. */
export async function runStateRm(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseEditArguments(input, { operands: 1, addresses: [0] });
  return await editing(
    shell,
    args,
    { secrets: 'none', done: (result, { operands }) => `Forgot ${operands[0]}; its object stays. State #${result.serial}.` },
    async (context, request, { addresses: [address] }) => {
      if (address === undefined) throw new Error('state rm has an address');
      return await forgetResource(context, request, address);
    },
  );
}

/** `state rekey`: the former key comes from a file that is named, the new one from the documents. */
export async function runStateRekey(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseRekeyArguments(input, shell.folder);
  return await editing(
    shell,
    args,
    {
      secrets: 'read',
      done: (result) => `The key of the documents opens the state. State #${result.serial}.`,
    },
    async (context, request, { former }) => await rekeyState(context, request, former),
  );
}

/** `state push FILE`. */
export async function runStatePush(input: RawInput, shell: Shell): Promise<ExitCode> {
  const args = parseEditArguments(input, { operands: 1, addresses: [] });
  return await editing(
    shell,
    args,
    { secrets: 'none', done: (result) => `Pushed ${result.changed.length} resources. State #${result.serial}.` },
    async (context, request, { operands: [file = ''] }) => {
      const bytes = await readBounded(resolve(shell.folder, file), STATE_BYTES);
      if (!bytes.ok) return bytes;
      const document = parseState(new TextDecoder().decode(bytes.value));
      return document.ok ? await pushState(context, request, document.value) : document;
    },
  );
}
