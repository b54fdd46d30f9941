import type { CodeTable } from './entry.ts';

/** Codes of the policy: what it allows, who approves, when nothing is applied, and what holds. Rules bring codes of their own. */
export const POLICY_CODES: CodeTable = {
  APPROVALS_MISSING: {
    summary: 'A plan lacks approvals that the policy in force asks of its class, or for a freeze window that is broken.',
    remedy: 'Have it approved with accede approve by those whom the message names.',
    exit: [0, 3],
  },
  APPROVALS_UNREADABLE: {
    summary: 'A file holds no approvals.',
    remedy: 'Name a file that accede approve wrote.',
    exit: [1],
  },
  APPROVALS_UNUSED: {
    summary: 'Warning: the policy asks for approvals of a class that it does not allow.',
    remedy: 'Put the class into allow, or leave its approvals out.',
    exit: [0],
  },
  APPROVAL_ALTERED: {
    summary: 'An approval does not count: its signature does not hold for what it says.',
    remedy: 'Approve the plan again.',
    exit: [3],
  },
  APPROVAL_OTHER_PLAN: {
    summary: 'An approval does not count: it is one of another plan.',
    remedy: 'Approve this plan; an approval holds for one digest alone.',
    exit: [3],
  },
  APPROVERS_TOO_FEW: {
    summary: 'A class needs more approvals than there are approvers for it with a key and a name of their own.',
    remedy: 'Name more approvers, or ask for fewer approvals.',
    exit: [1],
  },
  APPROVER_KEY_INVALID: {
    summary: 'The key of an approver is no ed25519 public key.',
    remedy: 'Write ed25519: and its base64, or a line of an OpenSSH .pub file.',
    exit: [1],
  },
  APPROVER_NOT_FOR_CLASS: {
    summary: 'An approval does not count: its approver may not approve plans of the class.',
    remedy: 'Have somebody approve it who may.',
    exit: [3],
  },
  APPROVER_TWICE: {
    summary: 'An approval does not count: its approver has approved the plan already.',
    remedy: 'Have somebody else approve it.',
    exit: [3],
  },
  APPROVER_UNKNOWN: {
    summary: 'An approval does not count: its key is none of an approver of the policy in force.',
    remedy: 'Sign with a key of an approver; a new one counts once the policy that names it is in force.',
    exit: [3],
  },
  BAD_FREEZE: {
    summary: 'A freeze window cannot be used.',
    remedy: 'Give it from and until, or weekly with a time zone that exists.',
    exit: [1],
  },
  BAD_RULE: {
    summary: 'What a rule of the policy denies or warns of is not one expression.',
    remedy: "Write it as one '${…}' over plan.",
    exit: [1],
  },
  CLASS_NOT_ALLOWED: {
    summary: 'The policy in force does not allow the class of the plan, or a change of the policy.',
    remedy: 'Split the commit, or have the policy changed first; it is judged by the one in force.',
    exit: [0, 3],
  },
  FROZEN: {
    summary: 'A freeze window of the policy in force is open.',
    remedy: 'Wait for its end, or apply with --break-freeze --reason TEXT and one approval more.',
    exit: [0, 3],
  },
  HELD: {
    summary: 'Applies are held: all of them by hand, or those of a source that was left by a rollback or a failed apply.',
    remedy: 'Come with another source, or lift the hold with accede hold --lift --reason TEXT.',
    exit: [0, 3],
  },
  POLICY_FINAL: {
    summary: 'Warning: allow does not hold policy-change, so that the policy could not be changed once it is in force.',
    remedy: 'Put policy-change into allow and ask for approvals of it.',
    exit: [0],
  },
  POLICY_UNREADABLE: {
    summary: 'What the state holds of the policy in force does not have the form of one.',
    remedy: 'Use the version of Accede that wrote it, or a copy of the state.',
    exit: [3],
  },
  SOURCE_HELD: {
    summary: 'Warning: an apply failed and was taken back, and its source is held until another one comes.',
    remedy: 'Correct the documents; if they were not the cause: accede hold --lift --reason TEXT.',
    exit: [5],
  },
};
