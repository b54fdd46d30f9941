import { type Outcome, succeed } from '../../core/diagnostic.ts';
import type { RawInput } from '../shell.ts';
import { type EditArguments, parseEditArguments } from './edit.ts';
import { Flags } from './values.ts';

export interface RunArguments extends EditArguments {
  /** The file with the request; `-` is stdin. */
  readonly requestFile: string | undefined;
  readonly again: boolean;
}

/** Reads `ADDRESS [dir]` and the flags of `run`. */
export function parseRunArguments(input: RawInput): Outcome<RunArguments> {
  const edit = parseEditArguments(input, { operands: 1, addresses: [0] });
  if (!edit.ok) return edit;
  const flags = new Flags(input.options);
  return succeed({ ...edit.value, requestFile: flags.text('request'), again: flags.isSet('again') });
}
