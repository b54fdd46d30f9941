import { CommanderError } from '@commander-js/extra-typings';
import { randomIds, steadyClock, systemClock } from '../core/clock.ts';
import type { FailPoint } from '../core/fail-point.ts';
import type { Registry } from '../providers/contract.ts';
import { type CommandExit, EXIT } from './exit.ts';
import { Interrupted, type Interrupts } from './interrupts.ts';
import { buildProgram, partWords } from './program.ts';
import type { Shell } from './shell.ts';
import { UsageMistake, usageDiagnostic } from './usage.ts';
import { bugDiagnostic } from './views/bug.ts';
import { Output } from './views/output.ts';
import type { Sink } from './views/terminal.ts';

/** The process around a command line. */
export interface Surroundings {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly environment: Shell['environment'];
  /** The working folder. */
  readonly folder: string;
  readonly stdin: Shell['stdin'];
  readonly pipes: Shell['pipes'];
  /** Where a live view draws. */
  readonly terminal: Shell['stderr'];
  readonly version: string;
  /** Makes the providers that there are; those of this build when left out. Called when a command runs, since loading them takes time. */
  readonly providers?: () => Promise<Registry>;
  /** Told of every boundary that a run passes; absent outside of tests. */
  readonly faults?: FailPoint;
}

/** The output of a command line, made before it is parsed, since a mistake in it has to be said too. */
export function outputFor(words: readonly string[], surroundings: Surroundings): Output {
  const flags = words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
  return new Output(surroundings, {
    environment: surroundings.environment,
    json: flags.includes('--json'),
    color: flags.includes('--no-color') ? false : undefined,
  });
}

/** Runs one command line and answers its exit code. Whatever goes wrong is said; nothing is thrown. */
export async function runCommandLine(
  words: readonly string[],
  surroundings: Surroundings,
  output: Output,
  interrupts: Interrupts,
): Promise<CommandExit> {
  let code: CommandExit = EXIT.done;
  const { own, rest } = partWords(words);
  const { providers = ownProviders, faults } = surroundings;
  const program = buildProgram(
    async (spec, input) => {
      code = await spec.run(rest === undefined ? input : { ...input, rest }, {
        output,
        environment: surroundings.environment,
        folder: surroundings.folder,
        stdin: surroundings.stdin,
        pipes: surroundings.pipes,
        stderr: surroundings.terminal,
        interrupts,
        clock: steadyClock(systemClock),
        ids: randomIds,
        version: surroundings.version,
        registry: await providers(),
        ...(faults === undefined ? {} : { faults }),
      });
    },
    {
      version: surroundings.version,
      width: output.answer.width,
      print: (text) => output.print(text),
      say: (text) => output.say(text),
    },
  );
  try {
    if (isCompletion(words)) await (await import('./completion.ts')).answerCompletion(program, words);
    else await program.parseAsync([...own], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.done;
      if (error.code !== 'commander.help') output.report([usageDiagnostic(error, commandOf(words, program))]);
      return EXIT.error;
    }
    if (error instanceof UsageMistake) {
      output.report([error.diagnostic]);
      return EXIT.error;
    }
    if (error instanceof Interrupted || interrupts.isInterrupted) {
      output.report([
        {
          severity: 'error',
          code: 'INTERRUPTED',
          summary: 'Interrupted',
          detail: 'The command was interrupted before it changed anything.',
        },
      ]);
      return EXIT.interrupted;
    }
    output.report([bugDiagnostic(error, { version: surroundings.version, stack: surroundings.environment['ACCEDE_DEBUG'] === '1' })]);
    return EXIT.error;
  }
}

async function ownProviders(): Promise<Registry> {
  return (await import('../providers/registry.ts')).defaultRegistry();
}

/** The command that was meant, as far as it was understood. */
function commandOf(words: readonly string[], program: ReturnType<typeof buildProgram>): string {
  const path = ['accede'];
  let commands = program.commands;
  for (const word of words) {
    if (word.startsWith('-')) continue;
    const found = commands.find((candidate) => candidate.name() === word);
    if (found === undefined) break;
    path.push(word);
    commands = [...found.commands];
  }
  return path.join(' ');
}

function isCompletion(words: readonly string[]): boolean {
  return words[0] === 'complete' || (words[0] === 'completion' && !words.includes('--help') && !words.includes('-h'));
}
