import { Readable } from 'node:stream';
import { Interrupts } from '../../../src/cli/interrupts.ts';
import { outputFor, runCommandLine, type Surroundings } from '../../../src/cli/run.ts';
import { readVersion } from '../../../src/cli/version.ts';

/** Runs a command line that only reads in this process, over these providers. */
export async function planInside(
  words: readonly string[],
  providers: NonNullable<Surroundings['providers']>,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  let [stdout, stderr] = ['', ''];
  const surroundings: Surroundings = {
    stdout: { write: (text) => (stdout += text) !== '' },
    stderr: { write: (text) => (stderr += text) !== '' },
    environment: { PATH: process.env['PATH'], HOME: '/nonexistent', NO_COLOR: '1' },
    folder: '/',
    stdin: Readable.from([]),
    pipes: {
      stdout: { isTerminal: false, write: async () => true },
      stderr: { isTerminal: false, write: async () => true },
    },
    terminal: process.stderr,
    version: readVersion(),
    providers,
  };
  const interrupts = new Interrupts({ say: () => undefined, leave: () => undefined });
  const code = await runCommandLine(words, surroundings, outputFor(words, surroundings), interrupts);
  return { code, stdout, stderr };
}
