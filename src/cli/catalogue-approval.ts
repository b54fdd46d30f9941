import { type CommandSpec, DIR, VARIABLES } from './command-spec.ts';

const PLAN = { notation: '<plan>', description: 'a saved plan' };
const PLAN_DIR = { notation: '[dir]', description: "the environment's folder (default: that of the plan)" };

/** The commands by which people allow a plan or hold applies. */
export const APPROVAL_COMMANDS: readonly CommandSpec[] = [
  {
    path: ['approve'],
    operands: [PLAN, PLAN_DIR],
    summary: 'sign the digest of a saved plan',
    flags: [
      { flags: '--key <file>', description: 'an ed25519 private key, PKCS #8 or OpenSSH, mode 0600' },
      { flags: '--store', description: 'keep it in the state store instead of PLAN.approvals.json' },
    ],
    examples: [
      { command: 'accede approve plan.json --key ~/.ssh/id_ed25519', does: 'adds to plan.json.approvals.json' },
      { command: 'accede approve plan.json --key release.pem --store', does: 'where every later apply finds it' },
    ],
    run: async (input, shell) => (await import('./commands/approve.ts')).runApprove(input, shell),
  },
  {
    path: ['approvals'],
    operands: [PLAN, PLAN_DIR],
    summary: 'list the approvals of a saved plan, what each is worth, and what is missing',
    flags: [{ flags: '--approvals <file>', description: 'a file of approvals (default: PLAN.approvals.json)' }],
    examples: [{ command: 'accede approvals plan.json', does: 'from the file beside it and from the state store' }],
    run: async (input, shell) => (await import('./commands/approvals.ts')).runApprovals(input, shell),
  },
  {
    path: ['hold'],
    operands: [DIR],
    summary: 'keep every apply off, or lift what holds',
    flags: [
      { flags: '--reason <text>', description: 'why, for whoever comes next and for the audit' },
      { flags: '--until <time>', description: 'when it ends by itself: a time with its offset, or a duration (default: never)' },
      { flags: '--lift', description: 'lift every hold, also those that a failed apply or a rollback has set' },
      ...VARIABLES,
    ],
    examples: [
      { command: 'accede hold --reason incident-311 --until 12h', does: 'status shows it first; rollback and recover pass' },
      { command: 'accede hold --lift --reason disk-was-full', does: 'the same source may be applied again' },
    ],
    run: async (input, shell) => (await import('./commands/hold.ts')).runHold(input, shell),
  },
];
