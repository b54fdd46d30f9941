import type { CommandExit } from './exit.ts';
import type { RawInput, Shell } from './shell.ts';

/** A flag as it is declared: commander's notation, what it does, and whether it may be given again. */
export interface FlagSpec {
  readonly flags: string;
  readonly description: string;
  readonly repeatable?: boolean;
  readonly choices?: readonly string[];
}

export interface OperandSpec {
  readonly notation: string;
  readonly description: string;
  /** What a shell offers for it; the command itself says what it takes. */
  readonly choices?: readonly string[];
}

export interface CommandSpec {
  /** `['state', 'mv']`. */
  readonly path: readonly [string, ...string[]];
  /** Operands in commander's notation. */
  readonly operands: readonly OperandSpec[];
  readonly summary: string;
  readonly flags: readonly FlagSpec[];
  readonly examples: readonly { readonly command: string; readonly does: string }[];
  /** What stands behind `--` is not for Accede: it comes as `rest`. */
  readonly takesRest?: boolean;
  /** Loads the command and runs it. Nothing of it is loaded before. */
  run(input: RawInput, shell: Shell): Promise<CommandExit>;
}

/** The operand that every command has last. */
export const DIR = { notation: '[dir]', description: "the environment's folder (default: .)" };

export const VARIABLES: readonly FlagSpec[] = [
  { flags: '--var <name=value>', description: 'set a variable; stronger than --var-file and ACCEDE_VAR_name', repeatable: true },
  { flags: '--var-file <file>', description: 'read variables from a YAML or JSON file; the last one wins', repeatable: true },
];

export const LOCKING: readonly FlagSpec[] = [
  { flags: '--lock-timeout <duration>', description: 'wait this long for a busy lock, as 30s or 5m (default: 0)' },
  { flags: '--reason <text>', description: 'why, for the journal' },
];

export const ADDRESS = { notation: '<address>', description: 'the address of a resource' };
