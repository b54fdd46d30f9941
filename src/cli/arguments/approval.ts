import { type Outcome, settle } from '../../core/diagnostic.ts';
import { parseDuration } from '../../core/duration.ts';
import type { RawInput } from '../shell.ts';
import { type EnvironmentArguments, readEnvironmentFlags } from './environment.ts';
import { conflict } from './plan.ts';
import { Flags, usageError } from './values.ts';

/** `approve` as it was written. */
export interface ApproveArguments {
  readonly plan: string;
  readonly folder: string | undefined;
  readonly key: string;
  /** Into the state store instead of a file beside the plan. */
  readonly store: boolean;
}

export function parseApproveArguments(input: RawInput): Outcome<ApproveArguments> {
  const flags = new Flags(input.options);
  const [plan = '', folder] = input.operands;
  const key = flags.text('key');
  if (key === undefined) flags.diagnostics.push(missing('--key', 'approve signs with a private key.'));
  return settle({ plan, folder, key: key ?? '', store: flags.isSet('store') }, flags.diagnostics);
}

/** `approvals` as it was written. */
export interface ApprovalsArguments {
  readonly plan: string;
  readonly folder: string | undefined;
  readonly approvals: string | undefined;
}

export function parseApprovalsArguments(input: RawInput): Outcome<ApprovalsArguments> {
  const flags = new Flags(input.options);
  const [plan = '', folder] = input.operands;
  return settle({ plan, folder, approvals: flags.text('approvals') }, flags.diagnostics);
}

/** `hold` as it was written. */
export interface HoldArguments extends EnvironmentArguments {
  readonly lift: boolean;
  readonly reason: string;
  /** Undefined: until it is lifted. A moment, or how long from now on in milliseconds. */
  readonly until: { readonly at: number } | { readonly for: number } | undefined;
}

export function parseHoldArguments(input: RawInput): Outcome<HoldArguments> {
  const flags = new Flags(input.options);
  const [lift, reason, until] = [flags.isSet('lift'), flags.text('reason'), flags.text('until')];
  if (reason === undefined) flags.diagnostics.push(missing('--reason', 'Who comes later has to know why.'));
  if (lift && until !== undefined) flags.diagnostics.push(conflict('--lift', '--until'));
  const end = until === undefined ? undefined : endOf(until);
  if (until !== undefined && end === undefined) {
    flags.diagnostics.push(
      usageError('BAD_FLAG_VALUE', 'A flag has a value that it does not take', `--until was given ${JSON.stringify(until)}.`, {
        expected: 'a time with its offset, as 2026-12-20T18:00:00+01:00, or a duration, as 12h',
        observed: until,
      }),
    );
  }
  return settle({ ...readEnvironmentFlags(flags, input.operands[0]), lift, reason: reason ?? '', until: end }, flags.diagnostics);
}

function endOf(text: string): HoldArguments['until'] {
  const duration = parseDuration(text);
  if (duration !== undefined) return { for: duration };
  const isMoment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/.test(text);
  const at = isMoment ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : { at };
}

function missing(flag: string, why: string) {
  return usageError('FLAG_MISSING', 'A flag is missing that the command cannot do without', `${flag} is missing. ${why}`, {
    expected: flag,
  });
}
