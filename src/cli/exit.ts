import type { Brand } from '../core/naming.ts';

/** The exit codes of the command contract. Scripts rely on them. */
export const EXIT = {
  done: 0,
  error: 1,
  changes: 2,
  refused: 3,
  stale: 4,
  restored: 5,
  open: 6,
  busy: 75,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The code with which a program ended that a command ran for somebody (`run`, `exec`): passed through, whatever it is. */
export type ProgramCode = Brand<number, 'program code'>;

/** What a command may answer. */
export type CommandExit = ExitCode | ProgramCode;

/** The code of a program as this process can end with it: one byte, as the system has it. */
export function programCode(code: number): ProgramCode {
  return (code & 0xff) as ProgramCode;
}

/** What `help exit-codes` says of each, in the order of the numbers. */
export const EXIT_CODES: readonly { readonly code: ExitCode; readonly meaning: string }[] = [
  { code: EXIT.done, meaning: 'Done, or no changes (the text says "No changes.").' },
  { code: EXIT.error, meaning: 'An error in the input or the surroundings; a mistake in the usage.' },
  { code: EXIT.changes, meaning: 'Changes are present (plan --detailed-exitcode).' },
  { code: EXIT.refused, meaning: 'Refused: the class of the plan is refuse, or the plan is not applicable.' },
  { code: EXIT.stale, meaning: 'The plan is stale, spent, or not the one that was expected. Nothing was changed.' },
  { code: EXIT.restored, meaning: 'Apply failed and everything is as it was before. run: what should run was not begun.' },
  {
    code: EXIT.open,
    meaning: 'Apply failed and left work to finish; the next apply goes on with it. run: it is not known how it ended; the next one looks.',
  },
  { code: EXIT.busy, meaning: 'The lock is held by somebody else. Nothing was changed.' },
  { code: EXIT.interrupted, meaning: 'Interrupted: what was running was finished and recorded, the lock is released.' },
];

/** Reads a number as an exit code. Throws on one that the table does not hold, since the engine answers no other. */
export function toExitCode(code: number): ExitCode {
  const found = EXIT_CODES.find((entry) => entry.code === code);
  if (found === undefined) throw new Error(`${code} is no exit code of the command contract`);
  return found.code;
}
