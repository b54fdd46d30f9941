import { type Outcome, settle } from '../../core/diagnostic.ts';
import type { RawInput } from '../shell.ts';
import { type ApplyingArguments, readApplyingFlags } from './apply.ts';
import { conflict, type PlanningArguments, readPlanningFlags } from './plan.ts';
import { Flags, usageError } from './values.ts';

/** `rollback` as it was written. */
export interface RollbackArguments extends ApplyingArguments {
  readonly planning: PlanningArguments;
  /** Undefined: the one before. */
  readonly to: number | undefined;
  /** Prints a patch of the folder's files and changes nothing. */
  readonly patch: boolean;
}

export function parseRollbackArguments(input: RawInput): Outcome<RollbackArguments> {
  const flags = new Flags(input.options);
  const text = flags.text('to');
  const to = text === undefined ? undefined : serialOf(text);
  if (text !== undefined && to === undefined) {
    flags.diagnostics.push(
      usageError('BAD_FLAG_VALUE', 'A flag has a value that it does not take', `--to was given ${JSON.stringify(text)}.`, {
        expected: 'a serial of the state, as 12',
        observed: text,
      }),
    );
  }
  const patch = flags.isSet('patch');
  if (patch && flags.isSet('autoApprove')) flags.diagnostics.push(conflict('--patch', '--auto-approve'));
  const planning = readPlanningFlags(flags, input.operands[0], { destroy: false });
  return settle({ ...readApplyingFlags(flags), planning, to, patch }, flags.diagnostics);
}

/** A serial as people write it: `12`, `#12` or `op-12`. Undefined for anything else. */
export function serialOf(text: string): number | undefined {
  const digits = /^(?:#|op-)?(\d{1,15})$/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
