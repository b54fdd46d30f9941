import { compareText } from '../core/address.ts';
import { canonicalText } from '../core/canonical.ts';
import { parsePublicKey } from '../core/ed25519.ts';
import type { Plain } from '../core/value.ts';
import { parseApproval, signerOf } from './approval.ts';
import type { Approver, Policy } from './policy.ts';

/** A class, and how many approvers have to approve it. */
export interface Requirement {
  readonly class: string;
  readonly needed: number;
}

/** How far the approvals meet a requirement. */
export interface Tally extends Requirement {
  /** Names of the approvers that count, sorted. */
  readonly by: readonly string[];
  /** Names of those who may approve the class and have not, sorted. */
  readonly open: readonly string[];
}

export type ApprovalCode = 'APPROVAL_ALTERED' | 'APPROVAL_OTHER_PLAN' | 'APPROVER_UNKNOWN' | 'APPROVER_NOT_FOR_CLASS' | 'APPROVER_TWICE';

/** What one approval is worth. */
export interface ApprovalVerdict {
  /** The approver's name in the policy; null where the key is nobody's. */
  readonly name: string | null;
  readonly at: string | null;
  /** Classes that it counts for. */
  readonly countsFor: readonly string[];
  /** Why it does not count; null when it does. */
  readonly code: ApprovalCode | null;
  readonly detail: string;
}

/**
 * Counts approvals of a plan: distinct by key and by name, each for the classes that its approver may approve. What does not count is named
 * with its reason; the same approval from two places is one.
 */
export function countApprovals(
  found: readonly Plain[],
  asked: { readonly plan: string; readonly policy: Policy; readonly requirements: readonly Requirement[] },
): { readonly tallies: readonly Tally[]; readonly verdicts: readonly ApprovalVerdict[] } {
  const approvers = asked.policy.approvers.flatMap((approver) => {
    const key = parsePublicKey(approver.key);
    return key.ok ? [{ approver, fingerprint: key.key.fingerprint }] : [];
  });
  const seen = { keys: new Set<string>(), names: new Set<string>() };
  const counted: { readonly name: string; readonly classes: readonly string[] }[] = [];
  const distinct = [...new Map(found.map((item) => [canonicalText(item), item])).values()];
  const verdicts = distinct.map((item): ApprovalVerdict => {
    const approval = parseApproval(item);
    const signer = approval === undefined ? undefined : signerOf(approval);
    const none = { name: null, at: approval?.at ?? null, countsFor: [] };
    if (approval === undefined || signer === undefined) {
      return { ...none, code: 'APPROVAL_ALTERED', detail: 'An approval is not what was signed: its signature does not hold.' };
    }
    const match = approvers.filter(({ fingerprint }) => fingerprint === signer).map(({ approver }) => approver);
    const [first] = match;
    const name = first?.name ?? null;
    const who = name ?? `the key ${signer}`;
    if (approval.plan !== asked.plan) {
      return { ...none, name, code: 'APPROVAL_OTHER_PLAN', detail: `The approval by ${who} is one of another plan, ${approval.plan}.` };
    }
    if (first === undefined) {
      return { ...none, code: 'APPROVER_UNKNOWN', detail: `The key ${signer} belongs to none of the approvers of the policy in force.` };
    }
    const classes = asked.requirements.map((requirement) => requirement.class).filter((each) => match.some((one) => mayApprove(one, each)));
    if (classes.length === 0 && asked.requirements.length > 0) {
      const wanted = asked.requirements.map((requirement) => requirement.class).join(', ');
      return { ...none, name, code: 'APPROVER_NOT_FOR_CLASS', detail: `${who} may not approve plans of the class ${wanted}.` };
    }
    if (seen.keys.has(signer) || match.some((one) => seen.names.has(one.name))) {
      return { ...none, name, code: 'APPROVER_TWICE', detail: `${who} approved the plan twice, which counts once.` };
    }
    seen.keys.add(signer);
    for (const one of match) seen.names.add(one.name);
    counted.push({ name: first.name, classes });
    return { ...none, name, countsFor: classes, code: null, detail: `${who} approved the plan.` };
  });
  const tallies = asked.requirements.map((requirement): Tally => {
    const by = counted.filter(({ classes }) => classes.includes(requirement.class)).map(({ name }) => name);
    const able = asked.policy.approvers.filter((approver) => mayApprove(approver, requirement.class)).map(({ name }) => name);
    const open = [...new Set(able)].filter((name) => !by.includes(name));
    return { ...requirement, by: by.sort(compareText), open: open.sort(compareText) };
  });
  return { tallies, verdicts };
}

function mayApprove(approver: Approver, name: string): boolean {
  return approver.classes === undefined || approver.classes.includes(name);
}
