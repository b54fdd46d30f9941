import { resolve } from 'node:path';
import { type Outcome, settle } from '../../core/diagnostic.ts';
import type { RawInput } from '../shell.ts';
import { type EditArguments, parseEditArguments } from './edit.ts';
import { conflict } from './plan.ts';
import { Flags, usageError } from './values.ts';

/** Where the key is that the state has now. */
export type FormerKey = { readonly kind: 'key-file' | 'passphrase-file'; readonly path: string };

export interface RekeyArguments extends EditArguments {
  readonly former: FormerKey;
}

/** Reads the flags of `state rekey`: exactly one of them says where the former key is. */
export function parseRekeyArguments(input: RawInput, folder: string): Outcome<RekeyArguments> {
  const args = parseEditArguments(input, { operands: 0, addresses: [] });
  if (!args.ok) return args;
  const flags = new Flags(input.options);
  const [key, passphrase] = [flags.text('fromKeyFile'), flags.text('fromPassphraseFile')];
  const diagnostics = [...args.diagnostics];
  if (key !== undefined && passphrase !== undefined) diagnostics.push(conflict('--from-key-file', '--from-passphrase-file'));
  const given = key ?? passphrase;
  if (given === undefined) {
    diagnostics.push(
      usageError('USAGE', 'The former key is not named', 'The state is opened once more with the key that it has now.', {
        expected: '--from-key-file FILE or --from-passphrase-file FILE',
      }),
    );
  }
  const former: FormerKey = { kind: key === undefined ? 'passphrase-file' : 'key-file', path: resolve(folder, given ?? '') };
  return settle({ ...args.value, former }, diagnostics);
}
