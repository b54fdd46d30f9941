import { isDigest } from '../../core/canonical.ts';
import { type Outcome, settle } from '../../core/diagnostic.ts';
import type { RawInput } from '../shell.ts';
import { conflict, type PlanningArguments, readPlanningFlags } from './plan.ts';
import { Flags, usageError } from './values.ts';

/** What `apply` and `destroy` share: how they are allowed to go on, and who waits how long. */
export interface ApplyingArguments {
  readonly autoApprove: boolean;
  readonly expectDigest: string | undefined;
  readonly expectClass: string | undefined;
  readonly expectCommit: string | undefined;
  readonly ifDone: boolean;
  /** Milliseconds. */
  readonly lockTimeout: number;
  readonly reason: string | null;
  /** A file of approvals, as written. */
  readonly approvals: string | undefined;
  readonly breakFreeze: boolean;
}

/** `apply` as it was written. Whether the only operand is a plan or a folder is settled by what it is on disk. */
export interface ApplyArguments extends ApplyingArguments {
  readonly operands: readonly string[];
  readonly planning: PlanningArguments;
  /** The flags that say how to plan and stand on the command line: none of them goes with a saved plan. */
  readonly planningFlags: readonly string[];
}

export interface DestroyArguments extends ApplyingArguments {
  readonly planning: PlanningArguments;
}

const PLANNING_FLAGS: { readonly [name: string]: string } = {
  destroy: '--destroy',
  exclude: '--exclude',
  refresh: '--no-refresh',
  refreshOnly: '--refresh-only',
  refreshTags: '--refresh-tags',
  replace: '--replace',
  secrets: '--secrets',
  target: '--target',
};

export function parseApplyArguments(input: RawInput): Outcome<ApplyArguments> {
  const flags = new Flags(input.options);
  const operands = input.operands.filter((operand): operand is string => operand !== undefined);
  const value = {
    ...readApplyingFlags(flags),
    operands,
    planning: readPlanningFlags(flags, operands.at(-1), { destroy: flags.isSet('destroy') }),
    planningFlags: Object.entries(PLANNING_FLAGS).flatMap(([name, flag]) => {
      const written = input.options[name];
      const isWritten = name === 'refresh' ? written === false : written !== undefined && written !== false;
      return isWritten ? [flag] : [];
    }),
  };
  return settle(value, flags.diagnostics);
}

export function parseDestroyArguments(input: RawInput): Outcome<DestroyArguments> {
  const flags = new Flags(input.options);
  return settle(
    { ...readApplyingFlags(flags), planning: readPlanningFlags(flags, input.operands[0], { destroy: true }) },
    flags.diagnostics,
  );
}

export interface RecoverArguments extends ApplyingArguments {
  readonly planning: PlanningArguments;
  readonly way: 'forward' | 'back';
}

export function parseRecoverArguments(input: RawInput): Outcome<RecoverArguments> {
  const flags = new Flags(input.options);
  if (flags.isSet('forward') && flags.isSet('back')) {
    flags.diagnostics.push(conflict('--forward', '--back'));
  }
  const way = flags.isSet('back') ? 'back' : 'forward';
  const planning = readPlanningFlags(flags, input.operands[0], { destroy: false });
  return settle({ ...readApplyingFlags(flags), planning, way }, flags.diagnostics);
}

export function readApplyingFlags(flags: Flags): ApplyingArguments {
  const expectDigest = flags.text('expectDigest');
  if (expectDigest !== undefined && !isDigest(expectDigest)) {
    flags.diagnostics.push(
      usageError(
        'BAD_FLAG_VALUE',
        'A flag has a value that it does not take',
        `--expect-digest was given ${JSON.stringify(expectDigest)}.`,
        {
          expected: 'sha256: and 64 lower-case hexadecimal digits',
          observed: expectDigest,
        },
      ),
    );
  }
  const expectCommit = flags.text('expectCommit');
  if (expectCommit !== undefined && !/^[0-9a-f]{7,64}$/.test(expectCommit)) {
    flags.diagnostics.push(
      usageError(
        'BAD_FLAG_VALUE',
        'A flag has a value that it does not take',
        `--expect-commit was given ${JSON.stringify(expectCommit)}.`,
        {
          expected: 'a commit id of 7 or more lower-case hexadecimal digits',
          observed: expectCommit,
        },
      ),
    );
  }
  const breakFreeze = flags.isSet('breakFreeze');
  if (breakFreeze && flags.text('reason') === undefined) {
    flags.diagnostics.push(
      usageError(
        'FLAG_MISSING',
        'A flag is missing that the command cannot do without',
        '--break-freeze needs --reason: it is written down.',
        {
          expected: '--reason',
        },
      ),
    );
  }
  return {
    approvals: flags.text('approvals'),
    breakFreeze,
    autoApprove: flags.isSet('autoApprove'),
    expectDigest,
    expectClass: flags.text('expectClass'),
    expectCommit,
    ifDone: flags.text('ifDone') === 'ok',
    lockTimeout: flags.duration('lockTimeout', '--lock-timeout', 0),
    reason: flags.text('reason') ?? null,
  };
}
