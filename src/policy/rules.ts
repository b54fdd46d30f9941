import { compareText } from '../core/address.ts';
import { compileRule, rulePlan } from '../core/expression-rule.ts';
import type { Plain } from '../core/value.ts';
import { planDigest } from '../plan/digest.ts';
import type { PlanDocument, PlanMessage, Refusal } from '../plan/model.ts';
import type { PolicyRule } from './policy.ts';

/**
 * The plan as the rules of the policy in force leave it: a rule that denies makes it one that is refused, with the rule's code; one that warns
 * adds a warning. A rule that can't be computed denies or warns as if it held. Who changes nothing but who may do what is not judged by rules,
 * so that a rule can always be taken back.
 */
export function judgeByRules(document: PlanDocument, rules: readonly PolicyRule[]): PlanDocument {
  if (rules.length === 0 || document.succession.class === 'policy-change') return document;
  const { digest: _, ...content } = document;
  const plan = rulePlan(content as unknown as Plain);
  const refusals: Refusal[] = [];
  const warnings: PlanMessage[] = [];
  for (const rule of rules) {
    const found = askRule(rule, plan);
    if (found === undefined) continue;
    if (rule.effect === 'deny') refusals.push({ code: rule.code, path: document.environment, message: found });
    else warnings.push({ code: rule.code, message: found });
  }
  if (refusals.length === 0 && warnings.length === 0) return document;
  const judged = {
    ...content,
    ...(refusals.length === 0 ? {} : { succession: refused(document.succession, refusals), applicable: false }),
    warnings: [...document.warnings, ...warnings].sort(
      (a, b) => compareText(a.code, b.code) || compareText(a.address ?? '', b.address ?? ''),
    ),
  };
  return { ...judged, digest: planDigest(judged) };
}

/** What a rule says against the plan; undefined when it has nothing against it. */
function askRule(rule: PolicyRule, plan: ReturnType<typeof rulePlan>): string | undefined {
  const compiled = compileRule(rule.expression);
  const asked = compiled.ok ? compiled.value.ask(plan) : { problem: compiled.diagnostics[0]?.detail ?? 'It cannot be read.' };
  if ('answer' in asked) return asked.answer ? sentence(rule.message) : undefined;
  return `${sentence(rule.message)} The rule could not be tested, and counts as one that holds: ${asked.problem}`;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function refused(succession: PlanDocument['succession'], found: readonly Refusal[]): PlanDocument['succession'] {
  const refusals = [...succession.refusals, ...found];
  const codes = [...new Set(refusals.map(({ code }) => code))].sort(compareText).join(', ');
  const chosen = succession.class === 'refuse' ? '' : `; the change itself is ${succession.class}`;
  return {
    ...succession,
    class: 'refuse',
    then: null,
    rule: `${refusals.length} ${refusals.length === 1 ? 'refusal' : 'refusals'}: ${codes}${chosen}`,
    refusals,
  };
}
