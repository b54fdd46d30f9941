import { createInterface } from 'node:readline';
import type { Input } from '../shell.ts';
import type { Output } from './output.ts';

/** Asks on stderr and reads one line from stdin. Undefined at the end of the input; rejects with the signal's reason when it is aborted. */
export function askLine(
  question: string,
  io: { readonly output: Output; readonly stdin: Input; readonly signal: AbortSignal },
): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    if (io.signal.aborted) {
      reject(io.signal.reason as Error);
      return;
    }
    io.output.ask(question);
    const lines = createInterface({ input: io.stdin, terminal: false });
    let answer: string | undefined;
    const onAbort = () => {
      lines.close();
      io.output.say('\n');
      reject(io.signal.reason as Error);
    };
    io.signal.addEventListener('abort', onAbort, { once: true });
    lines.once('line', (line) => {
      answer = line;
      lines.close();
    });
    lines.once('close', () => {
      io.signal.removeEventListener('abort', onAbort);
      io.stdin.pause();
      // Only the Enter of somebody at a terminal ends the line of the question.
      if (io.stdin.isTTY !== true || answer === undefined) io.output.say('\n');
      resolve(answer);
    });
  });
}
