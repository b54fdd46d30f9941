import type { Loss } from '../../apply/restore.ts';
import { type Outcome, settle } from '../../core/diagnostic.ts';
import type { RawInput } from '../shell.ts';
import { type EditArguments, parseEditArguments } from './edit.ts';
import { Flags, usageError } from './values.ts';

/** `state restore` as it was written. */
export interface RestoreArguments extends EditArguments {
  /** Given up by name: `none` where nothing came after the backup. */
  readonly acceptLoss: Loss | 'none' | undefined;
  /** As written. */
  readonly replaces: string | undefined;
  readonly autoApprove: boolean;
}

export function parseRestoreArguments(input: RawInput): Outcome<RestoreArguments> {
  const edit = parseEditArguments(input, { operands: 1, addresses: [] });
  const flags = new Flags(input.options);
  const text = flags.text('acceptLoss');
  const acceptLoss = text === undefined ? undefined : parseLoss(text);
  if (text !== undefined && acceptLoss === undefined) {
    flags.diagnostics.push(
      usageError('BAD_FLAG_VALUE', 'A flag has a value that it does not take', `--accept-loss was given ${JSON.stringify(text)}.`, {
        expected: 'the serials that are lost, as 13..15, or none',
        observed: text,
      }),
    );
  }
  const parsed = { acceptLoss, replaces: flags.text('replaces'), autoApprove: flags.isSet('autoApprove') };
  return edit.ok ? settle({ ...edit.value, ...parsed }, flags.diagnostics) : edit;
}

/** `13..15`, `#13..#15`, one serial or `none`. */
export function parseLoss(text: string): Loss | 'none' | undefined {
  if (text.trim() === 'none') return 'none';
  const found = /^#?(\d{1,15})(?:\.\.#?(\d{1,15}))?$/.exec(text.trim());
  if (found === null) return undefined;
  const from = Number(found[1]);
  const to = Number(found[2] ?? found[1]);
  return from >= 1 && to >= from ? { from, to } : undefined;
}
