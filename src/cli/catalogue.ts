import { APPROVAL_COMMANDS } from './catalogue-approval.ts';
import { PROGRAM_COMMANDS } from './catalogue-programs.ts';
import { EXPLAIN, RELEASE_COMMANDS } from './catalogue-release.ts';
import { STATE_COMMANDS } from './catalogue-state.ts';
import { ADDRESS, type CommandSpec, DIR, type FlagSpec, LOCKING, VARIABLES } from './command-spec.ts';

const PLANNING: readonly FlagSpec[] = [
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

const DESTROY_FLAG: FlagSpec = { flags: '--destroy', description: 'plan to remove everything' };

const APPLYING: readonly FlagSpec[] = [
  { flags: '--auto-approve', description: 'apply without asking' },
  { flags: '--expect-digest <digest>', description: 'apply only a plan with this digest' },
  { flags: '--expect-class <class>', description: 'apply only a plan of this class' },
  { flags: '--expect-commit <sha>', description: 'apply only a plan of this commit' },
  { flags: '--approvals <file>', description: 'approvals of the plan (default: PLAN.approvals.json); those in the state store count too' },
  { flags: '--break-freeze', description: 'apply in a freeze window; needs --reason and one approval more' },
  { flags: '--if-done <what>', description: 'ok: a plan that was applied already counts as done', choices: ['ok'] },
  ...LOCKING,
];

/** All commands in the order in which the help lists them. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    path: ['init'],
    operands: [{ notation: '[dir]', description: 'the folder to write into (default: .)' }],
    summary: 'write a small environment that works',
    flags: [{ flags: '--template <name>', description: 'what to start from (default: quickstart)', choices: ['quickstart', 'compose'] }],
    examples: [
      { command: 'accede init staging', does: 'files and values only; needs no daemon' },
      { command: 'accede init shop --template compose', does: 'containers on a Docker Engine' },
    ],
    run: async (input, shell) => (await import('./commands/init.ts')).runInit(input, shell),
  },
  {
    path: ['validate'],
    operands: [DIR],
    summary: 'check everything that needs no live access',
    flags: VARIABLES,
    examples: [
      { command: 'accede validate environments/staging', does: 'all mistakes with file, line and column' },
      { command: 'accede validate --json', does: 'the same for a program' },
    ],
    run: async (input, shell) => (await import('./commands/validate.ts')).runValidate(input, shell),
  },
  {
    path: ['plan'],
    operands: [DIR],
    summary: 'compare documents, state and live world, and say what would change',
    flags: [
      { flags: '--out <file>', description: 'save the plan for apply' },
      { flags: '--format <format[=file]>', description: 'text or json, to stdout or to a file', repeatable: true },
      { flags: '--detailed-exitcode', description: 'exit 2 when there are changes' },
      { flags: '--class-only', description: 'print the class of the plan and nothing else' },
      DESTROY_FLAG,
      ...PLANNING,
      ...VARIABLES,
    ],
    examples: [
      { command: 'accede plan environments/staging --out plan.json', does: 'look, and keep the plan' },
      { command: 'accede plan --detailed-exitcode', does: 'exit 0 without changes, 2 with' },
      { command: 'accede plan --format text --format json=plan.json', does: 'text to read, JSON to keep' },
    ],
    run: async (input, shell) => (await import('./commands/plan.ts')).runPlan(input, shell),
  },
  {
    path: ['apply'],
    operands: [{ notation: '[plan]', description: 'a saved plan: exactly it is applied' }, DIR],
    summary: 'carry out a saved plan, or plan, show and ask',
    flags: [...APPLYING, DESTROY_FLAG, ...PLANNING, ...VARIABLES],
    examples: [
      { command: 'accede apply plan.json', does: 'exactly the saved plan' },
      { command: 'accede apply environments/staging', does: 'plan, show, ask' },
      { command: 'accede apply plan.json --expect-digest sha256:41c9… --lock-timeout 5m', does: 'from CI, after approval' },
    ],
    run: async (input, shell) => (await import('./commands/apply.ts')).runApply(input, shell),
  },
  {
    path: ['destroy'],
    operands: [DIR],
    summary: 'plan to remove everything, then apply it',
    flags: [
      ...APPLYING,
      { flags: '--keep-protected', description: 'leave what is protected and remove the rest' },
      { flags: '--include-protected', description: "remove what is protected too; reads the environment's name from stdin" },
      { flags: '--target <address>', description: 'remove this resource and what depends on it, nothing else', repeatable: true },
      { flags: '--exclude <address>', description: 'leave this resource and what it needs alone', repeatable: true },
      { flags: '--no-refresh', description: 'trust the recorded state and read nothing live' },
      { flags: '--parallelism <n>', description: 'reads and steps that may be under way at once (default: 16)' },
      ...VARIABLES,
    ],
    examples: [
      { command: 'accede destroy environments/staging', does: 'show, ask, remove' },
      { command: 'accede destroy --keep-protected --auto-approve', does: 'all but what holds data' },
      { command: 'accede destroy --include-protected', does: 'everything; a script sends the name on stdin' },
    ],
    run: async (input, shell) => (await import('./commands/destroy.ts')).runDestroy(input, shell),
  },
  {
    path: ['rollback'],
    operands: [DIR],
    summary: 'bring back an environment that was in force before, with the secrets of today',
    flags: [
      {
        flags: '--to <serial>',
        description:
          'whose environment (default: the last one before that in force that is another; while an operation is open, that in force)',
      },
      {
        flags: '--patch',
        description: 'change nothing; print a unified diff that makes the files of the folder agree (default: with what is in force)',
      },
      ...APPLYING,
      ...PLANNING.filter(({ flags }) => !/^--(?:refresh-only|secrets)/.test(flags)),
      {
        flags: '--var <name=value>',
        description: 'for the documents of the folder, which say where the state is; what is brought back has the values that it had',
        repeatable: true,
      },
      { flags: '--var-file <file>', description: 'the same from a file', repeatable: true },
    ],
    examples: [
      { command: 'accede rollback environments/staging', does: 'plan, show, ask; as apply does' },
      { command: 'accede rollback --to 12 --auto-approve', does: 'what operation 12 put in force; status lists the serials' },
      { command: 'accede rollback --patch', does: 'a patch for git apply: then the documents are those in force' },
    ],
    run: async (input, shell) => (await import('./commands/rollback.ts')).runRollback(input, shell),
  },
  {
    path: ['show'],
    operands: [{ notation: '[what]', description: 'a plan file, an address, or a serial of the state' }, DIR],
    summary: 'show a plan, a resource, or a state',
    flags: VARIABLES,
    examples: [
      { command: 'accede show plan.json', does: 'a saved plan, as it was shown when it was made' },
      { command: 'accede show docker.container.api', does: 'what is recorded of a resource' },
      { command: 'accede show 11', does: 'the state as operation 11 left it' },
    ],
    run: async (input, shell) => (await import('./commands/show.ts')).runShow(input, shell),
  },
  {
    path: ['diff'],
    operands: [
      { notation: '<before>', description: 'a serial of the state, a plan file, or the folder of an environment' },
      { notation: '<after>', description: 'what it is compared with' },
      { notation: '[dir]', description: 'the folder whose state has the serials (default: .)' },
    ],
    summary: 'compare two environments, plans or serials; reads nothing live',
    flags: [{ flags: '--detailed-exitcode', description: 'exit 2 when they differ' }, ...VARIABLES],
    examples: [
      { command: 'accede diff 11 12', does: 'recorded attributes, outputs, variables and documents' },
      { command: 'accede diff 12 . --detailed-exitcode', does: 'what was in force against the documents of the folder' },
      { command: 'accede diff before.json after.json', does: 'what two plans would leave behind' },
    ],
    run: async (input, shell) => (await import('./commands/diff.ts')).runDiff(input, shell),
  },
  EXPLAIN,
  {
    path: ['status'],
    operands: [DIR],
    summary: 'environment in force, open operation, lock, last operation; reads only',
    flags: VARIABLES,
    examples: [{ command: 'accede status environments/staging', does: 'where things stand' }],
    run: async (input, shell) => (await import('./commands/status.ts')).runStatus(input, shell),
  },
  ...APPROVAL_COMMANDS,
  ...PROGRAM_COMMANDS,
  {
    path: ['import'],
    operands: [ADDRESS, { notation: '<id>', description: 'what the provider knows the object by: a name, a path, an id' }, DIR],
    summary: 'take an object that exists into the state',
    flags: [...LOCKING, ...VARIABLES],
    examples: [{ command: 'accede import docker.volume.data shop-data', does: 'from now on the volume belongs to the environment' }],
    run: async (input, shell) => (await import('./commands/import.ts')).runImport(input, shell),
  },
  {
    path: ['taint'],
    operands: [ADDRESS, DIR],
    summary: 'mark a resource, so that the next apply replaces it',
    flags: [...LOCKING, ...VARIABLES],
    examples: [{ command: 'accede taint docker.container.api', does: 'the next plan replaces it' }],
    run: async (input, shell) => (await import('./commands/taint.ts')).runTaint(input, shell),
  },
  {
    path: ['untaint'],
    operands: [ADDRESS, DIR],
    summary: 'take the mark of taint away',
    flags: [...LOCKING, ...VARIABLES],
    examples: [{ command: 'accede untaint docker.container.api', does: 'the next plan leaves it' }],
    run: async (input, shell) => (await import('./commands/taint.ts')).runUntaint(input, shell),
  },
  ...STATE_COMMANDS,
  ...RELEASE_COMMANDS,
  {
    path: ['recover'],
    operands: [DIR],
    summary: 'end an operation whose run is gone or failed half-way',
    flags: [
      { flags: '--forward', description: 'plan again from where the world stands, and apply (the default)' },
      { flags: '--back', description: 'take back every step that it began, from the journal alone' },
      { flags: '--auto-approve', description: 'without asking' },
      ...LOCKING,
      { flags: '--parallelism <n>', description: 'reads and steps that may be under way at once (default: 16)' },
      ...VARIABLES,
    ],
    examples: [
      { command: 'accede recover --back', does: 'everything as it was before the operation' },
      { command: 'accede recover --forward', does: 'go on to what the documents say' },
    ],
    run: async (input, shell) => (await import('./commands/recover.ts')).runRecover(input, shell),
  },
  {
    path: ['audit', 'list'],
    operands: [DIR],
    summary: 'list who changed the state or ended a lock, the newest first',
    flags: VARIABLES,
    examples: [{ command: 'accede audit list', does: 'every record of the chain' }],
    run: async (input, shell) => (await import('./commands/audit.ts')).runAuditList(input, shell),
  },
  {
    path: ['audit', 'verify'],
    operands: [DIR],
    summary: 'prove that no record of the chain was altered, moved or left out',
    flags: VARIABLES,
    examples: [{ command: 'accede audit verify', does: 'exit 0 when the chain is whole, 2 when not' }],
    run: async (input, shell) => (await import('./commands/audit.ts')).runAuditVerify(input, shell),
  },
  {
    path: ['evidence', 'list'],
    operands: [DIR],
    summary: 'list what runs left as evidence, the newest first',
    flags: VARIABLES,
    examples: [{ command: 'accede evidence list', does: 'one line for each run' }],
    run: async (input, shell) => (await import('./commands/audit.ts')).runEvidenceList(input, shell),
  },
  {
    path: ['evidence', 'show'],
    operands: [{ notation: '<serial>', description: 'the serial of an operation' }, DIR],
    summary: 'print the evidence of one operation',
    flags: VARIABLES,
    examples: [{ command: 'accede evidence show 12', does: 'one canonical document for each of its runs' }],
    run: async (input, shell) => (await import('./commands/audit.ts')).runEvidenceShow(input, shell),
  },
  {
    path: ['unlock'],
    operands: [{ notation: '<lock-id>', description: 'the id that status and a busy lock name' }, DIR],
    summary: 'end a lock whose holder is gone',
    flags: VARIABLES,
    examples: [{ command: 'accede unlock 3f0c9a…', does: 'the old holder can not write any more' }],
    run: async (input, shell) => (await import('./commands/unlock.ts')).runUnlock(input, shell),
  },
  {
    path: ['output'],
    operands: [{ notation: '[name]', description: 'one output; all of them when left out' }, DIR],
    summary: 'print outputs as the last apply recorded them',
    flags: VARIABLES,
    examples: [
      { command: 'accede output url', does: 'the value alone, for a shell' },
      { command: 'accede output --json', does: 'all of them; sensitive ones stay (sensitive)' },
    ],
    run: async (input, shell) => (await import('./commands/output.ts')).runOutput(input, shell),
  },
  {
    path: ['eval'],
    operands: [{ notation: '<expression>', description: 'an expression without ${ and }' }, DIR],
    summary: 'evaluate an expression over the environment and its recorded state',
    flags: VARIABLES,
    examples: [{ command: "accede eval 'vars.http_port + 1'", does: 'to try the expression language' }],
    run: async (input, shell) => (await import('./commands/eval.ts')).runEval(input, shell),
  },
  {
    path: ['graph'],
    operands: [DIR],
    summary: 'print what needs what',
    flags: [
      { flags: '--format <format>', description: 'how it is written (default: dot)', choices: ['dot', 'mermaid', 'json'] },
      ...VARIABLES,
    ],
    examples: [{ command: 'accede graph --format mermaid', does: 'for a page that draws it' }],
    run: async (input, shell) => (await import('./commands/graph.ts')).runGraph(input, shell),
  },
  {
    path: ['schema'],
    operands: [
      { notation: '[document]', description: 'which document (default: environment)', choices: ['environment', 'fragment', 'release'] },
    ],
    summary: 'print the JSON Schema of a document',
    flags: [],
    examples: [{ command: 'accede schema environment > environment.schema.json', does: 'for an editor' }],
    run: async (input, shell) => (await import('./commands/schema.ts')).runSchema(input, shell),
  },
  {
    path: ['version'],
    operands: [],
    summary: 'print the version',
    flags: [],
    examples: [{ command: 'accede version --json', does: 'with the version of Node.js' }],
    run: async (input, shell) => (await import('./commands/version.ts')).runVersion(input, shell),
  },
];
