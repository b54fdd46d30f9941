import type { Command } from '@commander-js/extra-typings';
import { nearMiss } from '../core/naming.ts';
import { UsageMistake } from './usage.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/**
 * Answers `completion SHELL` with a script, and `complete -- WORDS…`, which that script calls, with candidates. The library is young, so
 * nothing else knows it. It writes to stdout by itself.
 */
export async function answerCompletion(program: Command, words: readonly string[]): Promise<void> {
  const [verb, shell] = words;
  if (verb === 'completion' && !SHELLS.some((known) => known === shell)) {
    const near = shell === undefined ? undefined : nearMiss(shell, SHELLS);
    throw new UsageMistake({
      severity: 'error',
      code: shell === undefined ? 'OPERAND_MISSING' : 'BAD_OPERAND',
      summary: shell === undefined ? 'An operand is missing' : 'An operand has a value that the command does not take',
      detail: `${shell === undefined ? 'completion needs the name of a shell.' : `There is no completion for '${shell}'.`}${near === undefined ? '' : ` Did you mean ${near}?`}`,
      expected: SHELLS.join(', '),
    });
  }
  const { default: tab } = await import('@bomb.sh/tab/commander');
  const root = tab(program as unknown as Parameters<typeof tab>[0]);
  // It adds its own entry, which is for the scripts and not for people.
  root.commands.delete('complete');
  if (verb === 'completion') root.setup('accede', 'accede', shell ?? '');
  else root.parse(words.slice(words[1] === '--' ? 2 : 1));
}
