import type { CodeTable } from './entry.ts';

/** Codes of planning, and of a plan that is to be applied. */
export const PLAN_CODES: CodeTable = {
  ROLE_STORE_SUGGESTED: {
    summary: 'Warning: something new uses an object that holds data and has no role of its own.',
    remedy: 'Write role: store for what keeps its files there, or another role.',
    exit: [0, 2],
  },
  ADOPTED_ON_TRUST: {
    summary: 'Warning: something is taken over whose record is lost, and not all that it was given can be read back.',
    remedy: 'Nothing, if the documents have not changed since; else replace it with --replace.',
    exit: [0, 2],
  },
  BACKUP_MISSING: {
    summary: 'The class of the change needs a backup, and the documents name no hook that makes one.',
    remedy: 'Name a program in hooks.backup, or apply hooks.backup: none in a commit of its own first.',
    exit: [3],
  },
  CLASS_NOT_AVAILABLE: {
    summary: 'A plan over an open operation has a class that no apply carries out yet.',
    remedy: 'End the open operation first with accede recover --back or --forward.',
    exit: [3],
  },
  IDENTITY_MIXED: {
    summary: 'Something would become another one, together with a change that goes with no replacement.',
    remedy: 'Split the commit.',
    exit: [3],
  },
  RELEASE_UNFIT: {
    summary: 'A release that is compared does not go with the environment that it is to be judged in.',
    remedy: 'Leave --environment out, or name one that reads this release.',
    exit: [1],
  },
  REPLACEMENT_NOT_ALLOWED: {
    summary: 'Something would become another one, and the strict policy in force does not allow replacement.',
    remedy: 'Put replacement into policy.allow with a commit of its own first, or take the change back.',
    exit: [3],
  },
  REPLACEMENT_UNCONFIRMED: {
    summary: 'The class of the plan is replacement, and nobody has said so by name.',
    remedy: 'Look at the plan, then type the class, or give --expect-class replacement.',
    exit: [3],
  },
  ROLE_REMOVED: {
    summary: 'A family of workers would be removed, and what is queued for it would be left to nobody.',
    remedy: 'Put the family back.',
    exit: [3],
  },
  UNCLASSIFIED_FIELD: {
    summary: 'No class that policy is open to admits everything that differs.',
    remedy: 'Split the commit, so that each part has a class of its own.',
    exit: [3],
  },
  CLASS_UNEXPECTED: {
    summary: 'The plan has another class than --expect-class names.',
    remedy: 'Look at the plan, and approve it anew if it is right.',
    exit: [3],
  },
  COMMIT_UNEXPECTED: {
    summary: 'The plan is of another commit than --expect-commit names, or of a dirty work tree.',
    remedy: 'Check the commit out, and plan again.',
    exit: [4],
  },
  DIGEST_UNEXPECTED: {
    summary: 'The plan has another digest than --expect-digest names.',
    remedy: 'Apply the plan that was approved, or approve this one.',
    exit: [4],
  },
  DATA_ABSENT: {
    summary: 'What a resource should only read is not there.',
    remedy: 'Correct what it names, or make that first.',
    exit: [3, 6],
  },
  EMPTY_ENVIRONMENT: {
    summary: 'The environment has no resources at all, so everything recorded would be deleted.',
    remedy: 'Run accede destroy if that is meant.',
    exit: [3],
  },
  IMPORT_NOT_FOUND: { summary: 'There is no object of the id that an import names.', remedy: 'Correct the id.', exit: [1, 3] },
  LEFT_UNMARKED: {
    summary: 'Warning: everything is to go, and something stays in the place of an address, since nothing says that it is ours.',
    remedy: 'Import it first if it was ours, or remove it by hand.',
    exit: [0, 2],
  },
  LINEAGE_AMBIGUOUS: {
    summary: 'There is no state, and what bears the mark of the environment was made by several.',
    remedy: 'Put a copy of the state in its place, or name the one that goes on: accede state init --lineage.',
    exit: [1, 3],
  },
  LINEAGE_UNSEEN: {
    summary: 'There is no state, and a provider block cannot be looked into, where objects of a lost one may be.',
    remedy: 'Make it reachable; if there never was a state: accede state init --lineage new.',
    exit: [1, 3],
  },
  MARKED_ELSEWHERE: {
    summary: 'The state is lost, and what was made at an address does not stand where the documents put it now.',
    remedy: 'Take it over with accede import, or remove it by hand.',
    exit: [3],
  },
  MARKED_LEFT: {
    summary: 'Warning: the state is lost, and a predecessor or a failed run was left behind that no record knows.',
    remedy: 'Remove it by hand when nobody needs it.',
    exit: [0, 2],
  },
  MARKED_UNCLAIMED: {
    summary: 'Warning: the state is lost, and something bears our mark that stands in the place of no address.',
    remedy: 'Describe it, name its address in removed:, or remove it by hand.',
    exit: [0, 2],
  },
  MARKS_UNSEEN: {
    summary: 'Warning: what bears our mark behind a provider block cannot be listed.',
    remedy: 'Make it reachable, or take the block out of the documents.',
    exit: [0, 2],
  },
  MOVE_TARGET_EXISTS: {
    summary: 'A moved entry leads to an address where the state holds another object.',
    remedy: 'Remove that object first, or take the entry away.',
    exit: [1],
  },
  OPERATION_OPEN: {
    summary:
      'An earlier operation has not ended. Its own documents go on from where it stopped (warning); others are refused when it cannot be backed out, and accede run waits for its end.',
    remedy: 'Run accede apply with its own documents, or accede recover.',
    exit: [0, 2, 3],
  },
  OPERATION_RUNNING: {
    summary: 'Warning: somebody holds the lock while the plan is made.',
    remedy: 'Wait for them; accede status shows who it is.',
    exit: [0, 2],
  },
  PLAN_DAMAGED: {
    summary: 'A plan file was edited, cut, or is no JSON.',
    remedy: 'Make the plan again with accede plan --out.',
    exit: [1],
  },
  PLAN_EXPIRED: { summary: 'The plan is older than it may be.', remedy: 'Plan again.', exit: [4] },
  PLAN_FOREIGN: {
    summary: 'The plan was made for another environment.',
    remedy: "Name the folder of the plan's own environment.",
    exit: [4],
  },
  PLAN_FORMAT: { summary: 'The plan file has a format of another version.', remedy: 'Make the plan again with this version.', exit: [1] },
  PLAN_MASKED: {
    summary: 'Warning: text in the printed plan equals a secret and was masked, so its digest does not hold.',
    remedy: 'Save the plan with --out to apply it.',
    exit: [0, 2],
  },
  PLAN_NOT_APPLICABLE: {
    summary: 'The plan says of itself that it cannot be applied, as one made with --secrets=skip.',
    remedy: 'Plan again without that flag.',
    exit: [3],
  },
  PLAN_NOT_A_PLAN: { summary: 'The file is JSON, but no plan.', remedy: 'Name a file that accede plan --out wrote.', exit: [1] },
  PLAN_REFUSED: { summary: 'The class of the plan is refuse.', remedy: 'Read the refusals in the plan, and act on them.', exit: [3] },
  PLAN_SPENT: {
    summary: 'The plan was applied already; a plan is applied once.',
    remedy: 'Plan again; --if-done ok takes it as done.',
    exit: [0, 4],
  },
  PLAN_STALE: {
    summary: 'The documents, the state or the live objects moved since the plan was made. Nothing was changed.',
    remedy: 'Plan again, and look at the difference.',
    exit: [4],
  },
  PRECONDITION_FAILED: { summary: 'A precondition of a resource does not hold.', remedy: 'Do what its message says.', exit: [3, 5, 6] },
  PROTECTED: {
    summary: 'A protected object would be deleted or replaced.',
    remedy: 'Apply lifecycle.prevent_destroy: false first, then remove it with the next commit.',
    exit: [3],
  },
  PROVIDER_MISSING: {
    summary: 'The state holds resources of a provider block that the documents do not have any more.',
    remedy: 'Put the block back until they are gone, or give them up with removed:.',
    exit: [3],
  },
  SECRETS_SKIPPED: {
    summary: 'Warning: secrets were not read and count as unchanged; the plan cannot be applied.',
    remedy: 'Plan without --secrets=skip to apply.',
    exit: [0, 2],
  },
  STAGE_NOT_KEPT: {
    summary: 'A resource names a stage, and something that belongs to an earlier one waits for it.',
    remedy: 'Take the stage or the dependency away.',
    exit: [3],
  },
  STAGE_PULL_REFUSED: {
    summary: 'A dependency would pull a step over the point of no return, or something that serves down before everything is proven.',
    remedy: 'Take the dependency away, or split the change over two commits.',
    exit: [3],
  },
  START_FIRST_IMPOSSIBLE: {
    summary: 'A new object would come before the old one goes, and both cannot be at once. As a warning: the next replacement would.',
    remedy: 'Leave out what only one of them can have (a fixed port becomes "127.0.0.1::8080"), or write update.order: stop-first.',
    exit: [0, 2, 3],
  },
  STATE_LOST: {
    summary: 'Warning: there is no state, but objects bear the mark of one; an apply begins it again with the same lineage.',
    remedy: 'Put a copy of the state in its place if there is one, else apply.',
    exit: [0, 2],
  },
  SECRET_NOT_KEPT: {
    summary: 'Warning: a change takes a secret away that the state has no key to keep.',
    remedy: 'Write state.encryption, or have the former secret at hand.',
    exit: [0, 2],
  },
  STATE_KEY_NEEDED: {
    summary: 'A resource makes secrets that are kept in the state alone, and the documents name no key for it.',
    remedy: 'Write state.encryption with a key file or a passphrase.',
    exit: [3],
  },
  STEPS_UNSETTLED: {
    summary: 'Warning: an earlier run broke off in the middle of a step.',
    remedy: 'Run accede apply; it clears up what was left.',
    exit: [0, 2],
  },
  STEP_CYCLE: { summary: 'No order of steps can carry out all changes at once.', remedy: 'Split the changes over two commits.', exit: [1] },
  UPDATE_AT_ONCE: {
    summary: 'Warning: instances that should take turns go down together, since something that all of them use is replaced as well.',
    remedy: 'Apply the plan if that may be, or change what they use in a commit of its own.',
    exit: [0, 2],
  },
  UNKNOWN_ADDRESS: {
    summary: 'An option such as --target fits nothing in the documents or in the state.',
    remedy: 'Correct the address.',
    exit: [1],
  },
};
