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

export const DIR = { notation: '[dir]', description: "the environment's folder (default: .)" };

export const VARIABLES: readonly FlagSpec[] = [
  { flags: '--var <name=value>', description: 'set a variable; stronger than --var-file and ACCEDE_VAR_name', repeatable: true },
  { flags: '--var-file <file>', description: 'read variables from a YAML or JSON file; the last one wins', repeatable: true },
];

export const PLANNING: readonly FlagSpec[] = [
  {
    flags: '--target <address>',
    description: 'plan this resource and what it needs, nothing else; to destroy: and what needs it',
    repeatable: true,
  },
  {
    flags: '--exclude <address>',
    description: 'leave this resource and what needs it alone; to destroy: and what it needs',
    repeatable: true,
  },
  { flags: '--replace <address>', description: 'replace this resource although nothing asks for it', repeatable: true },
  { flags: '--refresh-only', description: 'record what is live and change nothing' },
  { flags: '--refresh-tags', description: 'ask registries what tags mean now; a tag that moved is a warning, no change' },
  { flags: '--no-refresh', description: 'trust the recorded state and read nothing live' },
  {
    flags: '--secrets <mode>',
    description: 'skip: read no secret; they count as unchanged and the plan can not be applied',
    choices: ['skip'],
  },
  { flags: '--parallelism <n>', description: 'reads and steps that may be under way at once (default: 16)' },
];

export const DESTROY_FLAG: FlagSpec = { flags: '--destroy', description: 'plan to remove everything' };

export const LOCKING: readonly FlagSpec[] = [
  { flags: '--lock-timeout <duration>', description: 'wait this long for a busy lock, as 30s or 5m (default: 0)' },
  { flags: '--reason <text>', description: 'why, for the journal' },
];

export const APPLYING: readonly FlagSpec[] = [
  { flags: '--auto-approve', description: 'apply without asking' },
  { flags: '--expect-digest <digest>', description: 'apply only a plan with this digest' },
  { flags: '--expect-class <class>', description: 'apply only a plan of this class' },
  { flags: '--expect-commit <sha>', description: 'apply only a plan of this commit' },
  { flags: '--if-done <what>', description: 'ok: a plan that was applied already counts as done', choices: ['ok'] },
  ...LOCKING,
];

export const ADDRESS = { notation: '<address>', description: 'the address of a resource' };
