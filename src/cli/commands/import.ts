import { importObject } from '../../apply/import.ts';
import { parseEditArguments } from '../arguments/edit.ts';
import type { ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { editing } from './editing.ts';

/** `import ADDRESS ID`: takes an object into the state; changes nothing live. */
export async function runImport(input: RawInput, shell: Shell): Promise<ExitCode> {
  return await editing(
    shell,
    parseEditArguments(input, { operands: 2, addresses: [0] }),
    {
      secrets: 'read',
      done: (result, { operands }) =>
        `Imported ${operands[1]} as ${operands[0]}. State #${result.serial}. Look at what differs with: accede plan`,
    },
    async (context, request, { addresses: [address], operands }, workspace) => {
      if (address === undefined) throw new Error('import has an address');
      return await importObject(context, request, { address, id: operands[1] ?? '', stamp: workspace.stamp });
    },
  );
}
