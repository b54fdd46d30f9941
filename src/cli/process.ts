import type { FailPoint } from '../core/fail-point.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { Interrupts } from './interrupts.ts';
import { outputFor, runCommandLine, type Surroundings } from './run.ts';
import { readVersion } from './version.ts';
import { bugDiagnostic } from './views/bug.ts';
import type { Output } from './views/output.ts';
import { pipeTo } from './views/pipe.ts';
import { quietSink } from './views/sink.ts';

/**
 * Runs the command line that this process was started with, over these providers or those of this build, and ends the process with its exit
 * code.
 */
export async function runProcess(providers?: Surroundings['providers']): Promise<never> {
  const words = process.argv.slice(2);
  let isLost = false;
  const lose = () => {
    isLost = true;
  };
  const faults = await failPoints();
  const surroundings: Surroundings = {
    ...(providers === undefined ? {} : { providers }),
    ...(faults === undefined ? {} : { faults }),
    stdout: quietSink(process.stdout, lose),
    stderr: quietSink(process.stderr, lose),
    environment: process.env,
    folder: workingFolder() ?? '/',
    stdin: process.stdin,
    pipes: { stdout: pipeTo(process.stdout), stderr: pipeTo(process.stderr) },
    terminal: process.stderr,
    version: readVersion(),
  };
  const output = outputFor(words, surroundings);
  const interrupts = new Interrupts({ say: (text) => output.say(text), leave: () => process.exit(EXIT.interrupted) });
  interrupts.listen(process);
  // What a library throws outside of any call can be caught nowhere else.
  process.on('uncaughtException', (error) => {
    output.report([bugDiagnostic(error, { version: surroundings.version, stack: process.env['ACCEDE_DEBUG'] === '1' })]);
    process.exit(EXIT.error);
  });
  const code = workingFolder() === undefined ? withoutFolder(output) : await runCommandLine(words, surroundings, output, interrupts);
  await drained(process.stdout);
  // A file that takes no more says so on the next tick only.
  await new Promise((resolve) => setImmediate(resolve));
  if (isLost) output.say('A part of the output could not be written: the disk or device that it goes to takes no more.');
  await drained(process.stderr);
  process.exit(code === EXIT.done && isLost ? EXIT.error : code);
}

/** What a test asks of this run; undefined outside of tests. */
async function failPoints(): Promise<FailPoint | undefined> {
  const asked = process.env['ACCEDE_FAILPOINT'];
  if (asked === undefined) return undefined;
  const { parseFailPoints } = await import('./fail-points.ts');
  try {
    return parseFailPoints(asked);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EXIT.error);
  }
}

/** Undefined when the folder that the process was started in is gone. */
function workingFolder(): string | undefined {
  try {
    return process.cwd();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

function withoutFolder(output: Output): ExitCode {
  output.report([
    {
      severity: 'error',
      code: 'NO_SUCH_FOLDER',
      summary: 'The working folder is gone',
      detail: 'The folder that this shell stands in was removed. Change into another one and run the command again.',
    },
  ]);
  return EXIT.error;
}

/** Waits until a stream has handed over what was written, or is closed. */
function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}
