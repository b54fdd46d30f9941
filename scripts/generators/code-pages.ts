import { EXIT_CODES } from '../../src/cli/exit.ts';
import { compareText } from '../../src/core/address.ts';
import { CODE_TABLES } from '../../src/providers/codes.ts';
import { document, table } from './markdown.ts';

/** The pages of all codes and of the exit codes, by path below the root. */
export function codePages(): ReadonlyMap<string, string> {
  return new Map([
    ['specs/refusals.md', codesPage()],
    ['specs/exit-codes.md', exitCodesPage()],
  ]);
}

function codesPage(): string {
  return document(
    '# Codes',
    'Generated from the tables in `src`.',
    'Everything that goes wrong, is refused or is warned of has a code: `code` of a diagnostic (`--json`), of a refusal or warning in a [plan](plan-format.md), and of a diagnostic in an [event](events.md). Codes are stable and their meaning does not change; the words around them may. New codes come without a new version of a format.',
    'The [exit codes](exit-codes.md) are those that a run with this code ends with. `0, 2` stands at what only warns. A mistake in a value that is known only while a plan is carried out (it comes from another resource) ends that run with 5 or 6 in place of 1.',
    ...CODE_TABLES.flatMap(([title, codes]) => [
      `## ${title}`,
      table(
        ['code', 'meaning', 'what to do', 'exit'],
        Object.entries(codes)
          .sort(([a], [b]) => compareText(a, b))
          .map(([code, { summary, remedy, exit }]) => [`\`${code}\``, summary, remedy, exit.join(', ') || "the program's own"]),
      ),
    ]),
  );
}

function exitCodesPage(): string {
  return document(
    '# Exit codes',
    'Generated from the table in `src/cli/exit.ts`, which `accede help exit-codes` prints too.',
    table(
      ['exit', 'meaning'],
      EXIT_CODES.map(({ code, meaning }) => [String(code), meaning]),
    ),
    'Scripts may rely on them: none gets another meaning. A code that the table does not hold is not an answer of Accede: `accede run ADDRESS` and `accede exec ADDRESS -- COMMAND` pass on that of the program which they ran, see [run.md](run.md). Which error ends with which code stands in the [table of codes](refusals.md).',
    '`plan` without `--detailed-exitcode` ends with 0 whether there are changes or not; a plan of the class `refuse` ends with 3 either way.',
  );
}
