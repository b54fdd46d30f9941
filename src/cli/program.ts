import { Argument, Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { COMMANDS } from './catalogue.ts';
import type { CommandSpec, FlagSpec, OperandSpec } from './command-spec.ts';
import { EXIT_CODES } from './exit.ts';
import type { RawInput } from './shell.ts';
import { UsageMistake, unknownCommand } from './usage.ts';

/** What is done with a command line once it is understood. */
export type Dispatch = (spec: CommandSpec, input: RawInput) => Promise<void>;

export interface ProgramOptions {
  readonly version: string;
  readonly width: number;
  /** Where help goes that was asked for, and where it goes when a command is missing. */
  print(text: string): void;
  say(text: string): void;
}

const GROUPS: { readonly [name: string]: string } = {
  audit: 'the chain of who changed the state',
  evidence: 'what runs left as evidence',
  release: 'write, sign and prove releases',
  state: 'read and edit what is recorded',
};

/** The tree of commands. Parsing throws commander's own errors or a `UsageMistake` and never ends the process. */
export function buildProgram(dispatch: Dispatch, options: ProgramOptions): Command {
  const program = new Command('accede')
    .description('Declarative GitOps plan/apply for self-hosted environments.')
    .usage('[global options] <command> [what] [dir]')
    .version(options.version, '--version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => options.print(text),
      writeErr: (text) => options.say(text),
      outputError: () => undefined,
      getOutHelpWidth: () => options.width,
      getErrHelpWidth: () => options.width,
    });
  addFlags(program as Command, [
    { flags: '--json', description: 'print one canonical JSON document; apply, destroy, run and logs print one per line' },
    { flags: '--no-color', description: 'print without colours, as NO_COLOR does' },
  ]);
  program.addHelpText('after', '\nA folder of documents is one environment. Start with: accede init');
  for (const spec of COMMANDS) addCommand(program as Command, spec, dispatch);
  addHelp(program as Command, options);
  addCompletionEntry(program as Command);
  return program as Command;
}

/** The words before `--` and those behind it, for commands that take the latter as they are. */
export function partWords(words: readonly string[]): { readonly own: readonly string[]; readonly rest: readonly string[] | undefined } {
  const at = words.indexOf('--');
  const name = words.find((word) => !word.startsWith('-'));
  const isTaken = COMMANDS.some(({ path, takesRest }) => takesRest === true && path.length === 1 && path[0] === name);
  return at === -1 || !isTaken ? { own: words, rest: undefined } : { own: words.slice(0, at), rest: words.slice(at + 1) };
}

function addCommand(program: Command, spec: CommandSpec, dispatch: Dispatch): void {
  const [group, name] = spec.path.length === 2 ? [spec.path[0], spec.path[1] ?? ''] : [undefined, spec.path[0]];
  const parent = group === undefined ? program : groupOf(program, group);
  const command = parent.command(name).description(spec.summary);
  command.helpOption('-h, --help', 'show help');
  for (const operand of spec.operands) addOperand(command as Command, operand);
  if (spec.takesRest === true) {
    command.usage(['[options]', ...spec.operands.map(({ notation }) => notation), '-- <command...>'].join(' '));
  }
  addFlags(command as Command, spec.flags);
  command.addHelpText('after', examplesText(spec));
  command.action(async (...parameters: unknown[]) => {
    const operands = parameters.slice(0, spec.operands.length).flat() as (string | undefined)[];
    await dispatch(spec, { operands, options: command.optsWithGlobals() });
  });
}

/** The choices are for the completion alone: commander's own check would word the mistake in its own way. */
function addOperand(command: Command, spec: OperandSpec): void {
  const argument = new Argument(spec.notation, spec.description);
  if (spec.choices !== undefined) argument.argChoices = [...spec.choices];
  command.addArgument(argument);
}

function groupOf(program: Command, name: string): Command {
  const found = program.commands.find((command) => command.name() === name);
  if (found !== undefined) return found as Command;
  const group = program
    .command(name)
    .description(GROUPS[name] ?? name)
    .helpCommand(false);
  group.helpOption('-h, --help', 'show help');
  return group as Command;
}

function addFlags(command: Command, flags: readonly FlagSpec[]): void {
  for (const spec of flags) {
    const option = new Option(spec.flags, spec.description);
    if (spec.choices !== undefined) option.choices([...spec.choices]);
    const takesValue = spec.flags.includes('<');
    if (takesValue) {
      const choose = option.parseArg as ((value: string, previous: unknown) => unknown) | undefined;
      // A flag in the place of a value is a forgotten value: commander would swallow it.
      option.argParser((value: string, previous: unknown) => {
        if (value.startsWith('--')) throw new InvalidArgumentError('A value is missing: what follows is a flag.');
        if (value === '') throw new InvalidArgumentError('The value is empty.');
        if (spec.repeatable === true) return [...(Array.isArray(previous) ? (previous as string[]) : []), value];
        return choose === undefined ? value : choose(value, undefined);
      });
    }
    command.addOption(option);
    if (spec.repeatable !== true) refuseDoubled(command, option);
  }
}

/** Commander keeps the last of two; which of them was meant nobody knows, so it is a mistake. */
function refuseDoubled(command: Command, option: Option): void {
  let seen = false;
  command.on(`option:${option.name()}`, () => {
    if (seen) {
      throw new UsageMistake({
        severity: 'error',
        code: 'FLAG_DOUBLED',
        summary: 'A flag is given twice and counts once',
        detail: `${option.long ?? option.flags} stands on the command line more than once. Leave one of them out.`,
      });
    }
    seen = true;
  });
}

function examplesText(spec: CommandSpec): string {
  const width = Math.max(...spec.examples.map((example) => example.command.length));
  const lines = spec.examples.map((example) => `  $ ${example.command.padEnd(width)}   ${example.does}`);
  return `\nExamples:\n${lines.join('\n')}`;
}

function addHelp(program: Command, options: ProgramOptions): void {
  program
    .command('help')
    .description('show help: of a command, or of exit-codes')
    .helpOption('-h, --help', 'show help')
    .argument('[topic...]', 'a command, or exit-codes')
    .addHelpText(
      'after',
      '\nExamples:\n  $ accede help plan         what plan does\n  $ accede help exit-codes   what each exit code means',
    )
    .action((topic) => {
      if (topic.length === 1 && topic[0] === 'exit-codes') {
        options.print(`${EXIT_CODES.map(({ code, meaning }) => `${String(code).padStart(4)}  ${meaning}`).join('\n')}\n`);
        return;
      }
      let at: Command = program;
      for (const word of topic) {
        const names = at.commands.map((command) => command.name());
        const next = at.commands.find((command) => command.name() === word);
        if (next === undefined) throw new UsageMistake(unknownCommand(word, [...names, 'exit-codes'], 'accede'));
        at = next as Command;
      }
      at.outputHelp();
    });
}

/** Only the entry in the help: `main` answers it before the tree is parsed, since the answer needs the whole tree. */
function addCompletionEntry(program: Command): void {
  const entry = program
    .command('completion')
    .description('print the completion script of a shell')
    .helpOption('-h, --help', 'show help')
    .addHelpText(
      'after',
      '\nExamples:\n  $ source <(accede completion bash)                                     in this shell; needs the package bash-completion\n  $ accede completion fish > ~/.config/fish/completions/accede.fish     for good',
    );
  addOperand(entry as Command, { notation: '<shell>', description: 'which shell', choices: ['bash', 'zsh', 'fish'] });
}
