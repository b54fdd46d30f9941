import { ADDRESS, type CommandSpec, DIR, LOCKING, VARIABLES } from './command-spec.ts';

/** The commands that run programs for somebody, or show what programs wrote. */
export const PROGRAM_COMMANDS: readonly CommandSpec[] = [
  {
    path: ['run'],
    operands: [ADDRESS, DIR],
    summary: 'run a job that is run on demand, as it was applied; ends with its code',
    flags: [
      { flags: '--request <file>', description: 'the request of a job that is run by reference: one JSON document; - reads stdin' },
      { flags: '--again', description: 'run also where a completed run would be the answer' },
      ...LOCKING,
      ...VARIABLES,
    ],
    examples: [
      { command: 'accede run docker.job.backup', does: 'what was applied; the receipt on stdout' },
      { command: 'accede run docker.job.grant --request grant.json', does: 'with a request' },
      { command: 'accede run docker.job.backup --json', does: 'an event per line, the result last' },
    ],
    run: async (input, shell) => (await import('./commands/run.ts')).runRun(input, shell),
  },
  {
    path: ['logs'],
    operands: [{ notation: '<address>', description: 'the address of a resource, or of all instances of a for_each' }, DIR],
    summary: 'print what a container or the last run of a job wrote',
    flags: [
      { flags: '-f, --follow', description: 'go on until it ends or you interrupt' },
      { flags: '--tail <n>', description: 'the last n lines (default: all)' },
      { flags: '--since <duration>', description: 'only the last 90s, 10m, 2h …' },
      { flags: '--timestamps', description: 'begin each line with its time' },
      ...VARIABLES,
    ],
    examples: [
      { command: 'accede logs docker.container.api --tail 100 -f', does: 'the last lines, and what comes' },
      { command: 'accede logs docker.container.worker --since 10m', does: 'all instances, each line with its own' },
    ],
    run: async (input, shell) => (await import('./commands/logs.ts')).runLogs(input, shell),
  },
  {
    path: ['exec'],
    operands: [ADDRESS, DIR],
    summary: 'run a command inside of a container that runs; ends with its code',
    flags: [
      { flags: '-i, --interactive', description: 'hand stdin over' },
      { flags: '-t, --tty', description: 'give it a terminal' },
      ...VARIABLES,
    ],
    takesRest: true,
    examples: [
      { command: 'accede exec docker.container.api -- ls -l /data', does: 'one command' },
      { command: 'accede exec docker.container.api -it -- sh', does: 'a shell' },
      { command: 'accede exec docker.container.db -i -- psql < dump.sql', does: 'with stdin' },
    ],
    run: async (input, shell) => (await import('./commands/exec.ts')).runExec(input, shell),
  },
];
