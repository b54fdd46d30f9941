import { ADDRESS, type CommandSpec, DIR, LOCKING, VARIABLES } from './command-spec.ts';

/** The commands that read and edit what is recorded. */
export const STATE_COMMANDS: readonly CommandSpec[] = [
  {
    path: ['state', 'init'],
    operands: [DIR],
    summary: 'make an empty state, ahead of the first apply',
    flags: [
      {
        flags: '--lineage <lineage>',
        description: 'new, or the lineage to go on with; otherwise that of what bears the mark of the environment, if anything does',
      },
      ...LOCKING,
      ...VARIABLES,
    ],
    examples: [
      { command: 'accede state init', does: 'an empty state, as an apply would begin it' },
      { command: 'accede state init --lineage new', does: 'when there never was one, without a look at what is live' },
    ],
    run: async (input, shell) => (await import('./commands/state-init.ts')).runStateInit(input, shell),
  },
  {
    path: ['state', 'list'],
    operands: [DIR],
    summary: 'list what is recorded',
    flags: VARIABLES,
    examples: [{ command: 'accede state list', does: 'one address per line, and `unmarked` beside what bears no mark of ours' }],
    run: async (input, shell) => (await import('./commands/state.ts')).runStateList(input, shell),
  },
  {
    path: ['state', 'show'],
    operands: [ADDRESS, DIR],
    summary: 'show what is recorded of a resource',
    flags: VARIABLES,
    examples: [{ command: 'accede state show docker.container.api', does: 'id, status, attributes' }],
    run: async (input, shell) => (await import('./commands/state.ts')).runStateShow(input, shell),
  },
  {
    path: ['state', 'pull'],
    operands: [DIR],
    summary: 'print the state as one canonical JSON document',
    flags: VARIABLES,
    examples: [{ command: 'accede state pull > state.json', does: 'a copy to keep or to edit' }],
    run: async (input, shell) => (await import('./commands/state.ts')).runStatePull(input, shell),
  },
  {
    path: ['state', 'push'],
    operands: [{ notation: '<file>', description: 'a state document as state pull prints it' }, DIR],
    summary: 'replace the state by a document of the same lineage',
    flags: [...LOCKING, ...VARIABLES],
    examples: [{ command: 'accede state push state.json', does: 'another lineage or an older serial is refused' }],
    run: async (input, shell) => (await import('./commands/state-edit.ts')).runStatePush(input, shell),
  },
  {
    path: ['state', 'mv'],
    operands: [{ notation: '<from>', description: 'the address now' }, { notation: '<to>', description: 'the address from now on' }, DIR],
    summary: 'give a recorded resource another address',
    flags: [...LOCKING, ...VARIABLES],
    examples: [{ command: 'accede state mv docker.container.api docker.container.web', does: 'the object stays what it is' }],
    run: async (input, shell) => (await import('./commands/state-edit.ts')).runStateMv(input, shell),
  },
  {
    path: ['state', 'rm'],
    operands: [ADDRESS, DIR],
    summary: 'forget a resource; its object stays',
    flags: [...LOCKING, ...VARIABLES],
    examples: [{ command: 'accede state rm docker.volume.data', does: 'the volume stays and belongs to nobody' }],
    run: async (input, shell) => (await import('./commands/state-edit.ts')).runStateRm(input, shell),
  },
  {
    path: ['state', 'prune'],
    operands: [DIR],
    summary: 'forget the past: old operations and what they put in force',
    flags: [
      { flags: '--keep <n>', description: 'keep the last n environments that were in force, that in force included' },
      { flags: '--before <serial>', description: 'forget what is older than this operation' },
      ...LOCKING,
      ...VARIABLES,
    ],
    examples: [
      { command: 'accede state prune --keep 20', does: 'what is in force and the 19 before it' },
      { command: 'accede state prune --before 100', does: 'everything from operation 100 on is kept' },
    ],
    run: async (input, shell) => (await import('./commands/state-prune.ts')).runStatePrune(input, shell),
  },
  {
    path: ['state', 'rekey'],
    operands: [DIR],
    summary: 'go over to the key that the documents name now',
    flags: [
      { flags: '--from-key-file <file>', description: 'the key file until now' },
      { flags: '--from-passphrase-file <file>', description: 'a file, mode 0600, with the passphrase until now' },
      ...LOCKING,
      ...VARIABLES,
    ],
    examples: [{ command: 'accede state rekey --from-key-file old.key', does: 'from now on state.encryption opens the state' }],
    run: async (input, shell) => (await import('./commands/state-edit.ts')).runStateRekey(input, shell),
  },
  {
    path: ['state', 'history'],
    operands: [DIR],
    summary: 'list all operations, the newest first',
    flags: VARIABLES,
    examples: [{ command: 'accede state history', does: 'who did what when, and how it ended' }],
    run: async (input, shell) => (await import('./commands/state.ts')).runStateHistory(input, shell),
  },
  {
    path: ['state', 'backup'],
    operands: [{ notation: '<file>', description: 'a new file; one that is there is never replaced' }, DIR],
    summary: 'copy all of the state into one file, and read it back',
    flags: VARIABLES,
    examples: [
      { command: 'accede state backup crm-12.backup', does: 'history, journal, evidence and audit chain too; secrets stay encrypted' },
    ],
    run: async (input, shell) => (await import('./commands/state-backup.ts')).runStateBackup(input, shell),
  },
  {
    path: ['state', 'restore'],
    operands: [{ notation: '<file>', description: 'what state backup wrote' }, DIR],
    summary: 'put a backup back where there is no state',
    flags: [
      { flags: '--accept-loss <range>', description: 'the operations that came after the backup and are lost, as 13..15, or none' },
      {
        flags: '--replaces <place>',
        description: 'the store whose place it takes, as state migrate names one: it says what is lost, and is taken out of use',
      },
      { flags: '--auto-approve', description: 'do not ask, when --replaces says what is lost' },
      ...LOCKING,
      ...VARIABLES,
    ],
    examples: [
      { command: 'accede state restore crm-12.backup', does: 'asks which operations are lost with it' },
      { command: 'accede state restore crm-12.backup --accept-loss 13..15', does: 'says it instead, for a script' },
      { command: 'accede state restore crm-12.backup --replaces sqlite:old/state.db', does: 'reads what is lost from the former store' },
    ],
    run: async (input, shell) => (await import('./commands/state-restore.ts')).runStateRestore(input, shell),
  },
  {
    path: ['state', 'migrate'],
    operands: [DIR],
    summary: 'move the state to another store',
    flags: [
      {
        flags: '--to <place>',
        description: 'sqlite:FILE, mysql://USER@HOST:PORT/DATABASE, or env:NAME for a variable with such a URL and its password',
      },
      ...LOCKING,
      ...VARIABLES,
    ],
    examples: [
      { command: 'accede state migrate --to env:ACCEDE_STATE_URL', does: 'to a server; the former store is taken out of use' },
      { command: 'accede state migrate --to sqlite:.accede/state.db', does: 'back into a file' },
      {
        command: "accede state migrate --to 'mysql://accede@db/accede?ca=pki/ca.pem'",
        does: 'parameters: prefix, tls, ca, cert, key, server_name',
      },
    ],
    run: async (input, shell) => (await import('./commands/state-migrate.ts')).runStateMigrate(input, shell),
  },
  {
    path: ['state', 'upgrade'],
    operands: [DIR],
    summary: 'convert the state of an older version',
    flags: VARIABLES,
    examples: [{ command: 'accede state upgrade', does: 'in one go, while nobody holds the lock' }],
    run: async (input, shell) => (await import('./commands/state-upgrade.ts')).runStateUpgrade(input, shell),
  },
];
