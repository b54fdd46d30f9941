import type { Diagnostic } from '../../core/diagnostic.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type { Shell } from '../shell.ts';

/** Says why a command can't go on and answers the exit code for it. */
export function failWith(shell: Shell, diagnostics: readonly Diagnostic[]): ExitCode {
  // What a stop interrupted looks like a failure of its own: the operator's wish comes first.
  if (shell.interrupts.reads.aborted) throw shell.interrupts.reads.reason;
  shell.output.report(diagnostics);
  return exitCodeOf(diagnostics);
}

/** The exit code that the first telling error has; most errors are errors in the input or the surroundings. */
export function exitCodeOf(diagnostics: readonly Diagnostic[]): ExitCode {
  for (const { severity, code } of diagnostics) {
    if (severity === 'warning') continue;
    if (code === 'LOCK_BUSY') return EXIT.busy;
    if (code === 'STATE_MOVED' || code === 'FENCED') return EXIT.stale;
  }
  return EXIT.error;
}
