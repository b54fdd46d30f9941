import type { PruneBound } from '../../apply/prune.ts';
import { type Outcome, settle } from '../../core/diagnostic.ts';
import type { RawInput } from '../shell.ts';
import { type EnvironmentArguments, readEnvironmentFlags } from './environment.ts';
import { conflict } from './plan.ts';
import { serialOf } from './rollback.ts';
import { Flags, usageError } from './values.ts';

/** `state prune` as it was written. */
export interface PruneArguments extends EnvironmentArguments {
  readonly lockTimeout: number;
  readonly reason: string | null;
  readonly bound: PruneBound;
}

const MOST = 999_999_999;

export function parsePruneArguments(input: RawInput): Outcome<PruneArguments> {
  const flags = new Flags(input.options);
  const keep = flags.text('keep');
  const before = flags.text('before');
  if (keep !== undefined && before !== undefined) flags.diagnostics.push(conflict('--keep', '--before'));
  if (keep === undefined && before === undefined) {
    flags.diagnostics.push(
      usageError('FLAG_MISSING', 'A flag is missing', 'Nothing says how much is to be kept.', {
        expected: '--keep N, or --before SERIAL',
      }),
    );
  }
  return settle(
    {
      ...readEnvironmentFlags(flags, input.operands[0]),
      lockTimeout: flags.duration('lockTimeout', '--lock-timeout', 0),
      reason: flags.text('reason') ?? null,
      bound:
        before === undefined
          ? { keep: flags.integer('keep', '--keep', { least: 1, most: MOST, otherwise: MOST }) }
          : { before: readSerial(flags, '--before', before) },
    },
    flags.diagnostics,
  );
}

function readSerial(flags: Flags, flag: string, text: string): number {
  const serial = serialOf(text);
  if (serial !== undefined) return serial;
  flags.diagnostics.push(
    usageError('BAD_FLAG_VALUE', 'A flag has a value that it does not take', `${flag} was given ${JSON.stringify(text)}.`, {
      expected: 'a serial of the state, as 12',
      observed: text,
    }),
  );
  return 0;
}
