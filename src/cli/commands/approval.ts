import type { Diagnostic } from '../../core/diagnostic.ts';
import type { PlanDocument } from '../../plan/model.ts';
import type { Shell } from '../shell.ts';
import { askLine } from '../views/prompt.ts';

/** How a question was answered. */
export type Answer = { readonly kind: 'yes' } | { readonly kind: 'no'; readonly diagnostic: Diagnostic };

/**
 * Asks whether what was shown is to be done. Without a terminal nobody can answer, and nothing is. `isSaveable`: a plan of the documents can be
 * saved and applied without a question; what goes back cannot.
 */
export async function askApproval(
  shell: Shell,
  signal: AbortSignal,
  { question = 'Apply this plan?', isSaveable }: { readonly question?: string; readonly isSaveable: boolean },
): Promise<Answer> {
  if (shell.stdin.isTTY !== true) {
    const ways = isSaveable ? 'Give --auto-approve, or save the plan with accede plan --out and apply that file.' : 'Give --auto-approve.';
    return no(
      'APPROVAL_IMPOSSIBLE',
      'Nobody can be asked',
      `This has to be approved, and stdin is no terminal to ask on. Nothing was changed. ${ways}`,
    );
  }
  const answer = await askLine(`${question} Only "yes" is accepted: `, { ...shell, signal });
  return answer?.trim() === 'yes'
    ? { kind: 'yes' }
    : no('NOT_APPROVED', 'The plan was not approved', 'The answer was not "yes". Nothing was changed.');
}

/**
 * Has the environment's name typed, since what holds data goes too. It is read from stdin even where that is no terminal, so that a script has
 * to say the name as well; --auto-approve does not answer it.
 */
export async function askName(shell: Shell, plan: PlanDocument, signal: AbortSignal): Promise<Answer> {
  const answer = await askLine(`What is protected goes too. Type the name of the environment to remove it: `, { ...shell, signal });
  if (answer?.trim() === plan.environment) return { kind: 'yes' };
  const detail =
    answer === undefined
      ? 'Nothing came from stdin; a script sends the name there, as in: echo NAME | accede destroy --include-protected.'
      : 'What was typed is not the name of the environment.';
  const refused = no('NAME_DIFFERS', 'The name of the environment was not given', `${detail} Nothing was changed.`);
  return { ...refused, diagnostic: { ...refused.diagnostic, expected: plan.environment } };
}

/** Has the class typed: something becomes another one, and whoever lets that happen says so. */
export async function askClass(shell: Shell, plan: PlanDocument, signal: AbortSignal): Promise<Answer> {
  const { class: name } = plan.succession;
  const answer = await askLine(`Something becomes another one. Type the class of the plan to apply it: `, { ...shell, signal });
  return answer?.trim() === name
    ? { kind: 'yes' }
    : no('NOT_APPROVED', 'The plan was not approved', `The answer was not "${name}". Nothing was changed.`);
}

function no(code: string, summary: string, detail: string): Extract<Answer, { kind: 'no' }> {
  return { kind: 'no', diagnostic: { severity: 'error', code, summary, detail } };
}
