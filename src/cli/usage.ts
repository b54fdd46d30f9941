import type { CommanderError } from '@commander-js/extra-typings';
import type { Diagnostic } from '../core/diagnostic.ts';
import { nearMiss } from '../core/naming.ts';

/** A usage mistake that commander does not know. */
export class UsageMistake extends Error {
  override readonly name = 'UsageMistake';
  readonly diagnostic: Diagnostic;
  constructor(diagnostic: Diagnostic) {
    super(diagnostic.summary);
    this.diagnostic = diagnostic;
  }
}

const SUMMARIES: { readonly [code: string]: readonly [code: string, summary: string] } = {
  'commander.unknownOption': ['UNKNOWN_FLAG', 'A flag is not known'],
  'commander.unknownCommand': ['UNKNOWN_COMMAND', 'A command is not known'],
  'commander.missingArgument': ['OPERAND_MISSING', 'An operand is missing'],
  'commander.optionMissingArgument': ['FLAG_VALUE_MISSING', 'A flag has no value'],
  'commander.excessArguments': ['OPERAND_EXCESS', 'There are more operands than the command takes'],
  'commander.invalidArgument': ['BAD_FLAG_VALUE', 'A flag has a value that it does not take'],
};

/** Turns what commander refused into a diagnostic. Its messages end in `(Did you mean x?)` where it has a near miss. */
export function usageDiagnostic(error: CommanderError, command: string): Diagnostic {
  const [code, summary] = SUMMARIES[error.code] ?? ['USAGE', 'The command line can not be understood'];
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const hint = /\(Did you mean (.+)\?\)/.exec(rest.join(' '))?.[1];
  const sentence = `${first.charAt(0).toUpperCase()}${first.slice(1)}`.replace(/\.?$/, '.');
  // A command for exec without the two dashes looks like more operands.
  const dashes = code === 'OPERAND_EXCESS' && command.endsWith(' exec') ? ' The command to run stands after --.' : '';
  return {
    severity: 'error',
    code,
    summary,
    detail: hint === undefined ? `${sentence}${dashes}` : `${sentence} Did you mean ${hint.replace(/^one of /, 'one of ')}?`,
    next: `${command} --help`,
  };
}

export function unknownCommand(written: string, known: readonly string[], command: string): Diagnostic {
  const near = nearMiss(written, known);
  return {
    severity: 'error',
    code: 'UNKNOWN_COMMAND',
    summary: 'A command is not known',
    detail: `Unknown command '${written}'.${near === undefined ? '' : ` Did you mean ${near}?`}`,
    next: `${command} --help`,
  };
}
