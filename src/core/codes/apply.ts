import type { CodeTable } from './entry.ts';

/** Codes of running operations: the engine and, below it, what every provider may throw. */
export const APPLY_CODES: CodeTable = {
  SECOND_PART_MOVED: {
    summary: 'The open operation was taken back, and what comes after that is not what the plan foresaw.',
    remedy: 'Plan again; everything is as it was before that operation.',
    exit: [5],
  },
  ALREADY_RECORDED: {
    summary: 'The address, or the object that would be imported, is in the state already.',
    remedy: 'Forget or move the recorded one first.',
    exit: [1, 3],
  },
  CONFLICT: {
    summary: 'Something with the same name, port or path is in the way.',
    remedy: 'Remove or rename what is in the way.',
    exit: [1, 3, 5, 6],
  },
  EXEC_NOT_OFFERED: {
    summary: 'No command can be run inside of objects of this type.',
    remedy: 'Name a container.',
    exit: [1],
  },
  EXHAUSTED: {
    summary: 'The target is out of space, memory, or another resource.',
    remedy: 'Make room, then run accede apply.',
    exit: [1, 3, 5, 6],
  },
  FENCED: {
    summary: 'The lock was lost to somebody else, or not renewed in time, while the run was under way.',
    remedy: 'Run accede status, then accede plan.',
    exit: [1, 4, 6],
  },
  FORBIDDEN: { summary: 'The target refused access.', remedy: 'Give this user the rights that the message names.', exit: [1, 3, 5, 6] },
  FOREIGN: {
    summary: "The object of a step is not ours, or became somebody else's.",
    remedy: 'Plan again; the object was left alone.',
    exit: [5, 6],
  },
  GUARD_MOVED: {
    summary: 'Something that the plan rests on moved between its first effect and its point of no return.',
    remedy: 'Find out who else is at work there, then plan again.',
    exit: [4, 5, 6],
  },
  HOOK_FAILED: {
    summary: 'A hook could not be started, ended with another code than 0, or took longer than its timeout.',
    remedy: 'Correct the program or its timeout; its last lines are told.',
    exit: [0, 5, 6],
  },
  INVALID: {
    summary: 'The target refused the request as wrong.',
    remedy: 'Correct the attribute that the message names.',
    exit: [1, 3, 5, 6],
  },
  LIVE_MOVED: {
    summary: 'A live object is not the one that the plan saw. Nothing was done to it.',
    remedy: 'Plan again.',
    exit: [4, 5, 6],
  },
  LOCK_BUSY: {
    summary: 'Somebody else works on this environment. Nothing was changed.',
    remedy: 'Wait with --lock-timeout; accede status shows who it is.',
    exit: [75],
  },
  NOT_AS_BEFORE: {
    summary: 'All steps of a resource were taken back, and it is still not what it was before the run.',
    remedy: 'Plan again: the plan shows what differs, and the next apply goes on from there.',
    exit: [6],
  },
  LOGS_NOT_OFFERED: {
    summary: 'Objects of this type write no log that can be read.',
    remedy: 'Name a container or a job.',
    exit: [1],
  },
  NOT_FOUND: { summary: 'What the step needs is not there.', remedy: 'Provide it, or correct the reference.', exit: [1, 3, 5, 6] },
  NOT_IN_DOCUMENTS: { summary: 'The address to import stands in no document.', remedy: 'Describe the resource first.', exit: [1] },
  NOT_READY: {
    summary: 'The object was made, and did not become ready.',
    remedy: 'Read its last log lines, correct the cause, then run accede apply.',
    exit: [5, 6],
  },
  NOT_RECORDED: {
    summary: 'The address is not in the state.',
    remedy: 'Correct it; accede state list shows what is recorded. What stands in the documents is there after an apply.',
    exit: [1, 3],
  },
  NOT_RUNNING: {
    summary: 'A command was to run inside of something that does not run.',
    remedy: 'Read its log; accede apply starts what should run.',
    exit: [1],
  },
  OBJECT_MISSING: {
    summary: 'A resource is recorded, and there is no object of ours for it now.',
    remedy: 'Run accede plan; a job has one only after it has run.',
    exit: [1],
  },
  NOT_TAKEN_BACK: {
    summary: 'A step could not be taken back after the run had failed.',
    remedy: 'Remove what the message names, then run accede apply.',
    exit: [6],
  },
  ENVIRONMENT_NOT_KEPT: {
    summary: 'What an earlier environment was made of is not in the state.',
    remedy: 'Choose a serial that status lists, or check the commit out and apply it.',
    exit: [1],
  },
  NOTHING_BEFORE: {
    summary: 'There is no earlier environment to go back to.',
    remedy: 'Name a serial with --to; status lists those that can be reached.',
    exit: [1],
  },
  NOTHING_PUT_IN_FORCE: {
    summary: 'The operation that rollback names put no environment in force.',
    remedy: 'Choose a serial that the message or status lists.',
    exit: [1],
  },
  NOTHING_OPEN: { summary: 'There is no open operation to recover.', remedy: 'Nothing to do.', exit: [0] },
  NO_WAY_BACK: {
    summary: 'The open operation has crossed its point of no return.',
    remedy: 'Run accede recover --forward.',
    exit: [3],
  },
  OTHER: {
    summary: 'The target failed in a way that has no code of its own.',
    remedy: 'Read the message of the target.',
    exit: [1, 3, 5, 6],
  },
  PLAN_DISAGREES: {
    summary: 'A step does not agree with its plan. This is a bug.',
    remedy: 'Report it together with the command line.',
    exit: [5, 6],
  },
  POSTCONDITION_FAILED: {
    summary: 'A postcondition does not hold after the steps of its resource.',
    remedy: 'Do what its message says, then run accede apply.',
    exit: [5, 6],
  },
  PROCESS_NOT_RESTARTED: {
    summary: 'Warning: an old process was ended by quiesce, the run went back, and no unit starts that process again.',
    remedy: 'Start it by hand.',
    exit: [0, 5, 6],
  },
  QUIESCE_NOT_PROVEN: {
    summary: 'Old writers could not be asked for, could not be stopped, or go on after they were stopped.',
    remedy: 'Stop what the message names by hand, or give the rights to see it; the old writers go on as before.',
    exit: [5, 6],
  },
  RESULT_DIFFERS: {
    summary: 'An object differs from what was asked for right after its step.',
    remedy: 'Find out who changed it, then run accede apply.',
    exit: [5, 6],
  },
  RESULT_MISSING: {
    summary: 'An object is not there right after the step that made it.',
    remedy: 'Look into the logs of the target, then run accede apply.',
    exit: [5, 6],
  },
  RUN_DIFFERS: {
    summary:
      'What was to run is not in force as the documents have it: it runs as it was applied, and its secrets come from the documents.',
    remedy: 'Apply the documents, or bring them back to what was applied.',
    exit: [3],
  },
  RUN_FAILED: {
    summary:
      "What was run ended with a code other than 0, or was stopped when its time was over (124). The exit code is the program's own.",
    remedy: 'Read its last lines; its container stays until a later run completes.',
    exit: [],
  },
  RUN_NOT_ON_DEMAND: {
    summary: 'The resource is not run on request.',
    remedy: 'Write run: on_demand or run: by_reference, and apply that; an apply runs the other jobs.',
    exit: [3],
  },
  RUN_REQUEST_MISSING: { summary: 'What is run by reference was given no request.', remedy: 'Give it with --request.', exit: [3] },
  RUN_REQUEST_UNWANTED: { summary: 'What takes no request was given one.', remedy: 'Leave --request out.', exit: [3] },
  TIMEOUT: {
    summary: 'A step or a read did not end in time.',
    remedy: 'Raise the timeout, or find out why the target is slow.',
    exit: [1, 3, 5, 6],
  },
  UNKNOWN_OUTCOME: {
    summary: 'It is not known whether a step was done.',
    remedy: 'Run accede plan: it looks at what is live.',
    exit: [1, 3, 6],
  },
  UNREACHABLE: {
    summary: 'The target cannot be reached or did not answer.',
    remedy: 'Start it, or correct the provider block.',
    exit: [1, 3, 5, 6],
  },
};
