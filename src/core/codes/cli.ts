import type { CodeTable } from './entry.ts';

/** Codes of the command line. */
export const CLI_CODES: CodeTable = {
  APPROVAL_IMPOSSIBLE: {
    summary: 'The plan has to be approved, and stdin is no terminal to ask on.',
    remedy: 'Give --auto-approve, or apply a saved plan.',
    exit: [1],
  },
  BAD_FLAG_VALUE: { summary: 'A flag has a value that it does not take.', remedy: 'Give a value as the help describes it.', exit: [1] },
  BAD_OPERAND: {
    summary: 'An operand has a value that the command does not take.',
    remedy: 'Give one of the values that are named.',
    exit: [1],
  },
  BUG: {
    summary: 'Accede met something that cannot happen.',
    remedy: 'Report it together with the command line; ACCEDE_DEBUG=1 shows the place.',
    exit: [1],
  },
  EXPLAIN_MOVED_ON: {
    summary: 'Warning: the documents are not those that the plan was made from, so that places may be others.',
    remedy: 'Plan again, or look at the commit of the plan.',
    exit: [0],
  },
  FILE_UNWRITABLE: { summary: 'A file cannot be written.', remedy: 'Correct its path, mode or owner, or make room.', exit: [1] },
  FLAGS_CONFLICT: { summary: 'Two flags, or a flag and an operand, cannot be used together.', remedy: 'Leave one of them out.', exit: [1] },
  FLAG_DOUBLED: { summary: 'A flag that counts once is given twice.', remedy: 'Leave one of them out.', exit: [1] },
  FLAG_MISSING: { summary: 'A flag that the command needs is missing.', remedy: 'Give it as the help describes it.', exit: [1] },
  FLAG_VALUE_MISSING: { summary: 'A flag has no value.', remedy: 'Give the value behind it.', exit: [1] },
  FOLDER_OCCUPIED: { summary: 'init would overwrite files of the folder.', remedy: 'Choose another folder.', exit: [1] },
  INTERRUPTED: { summary: 'The command was interrupted before it changed anything.', remedy: 'Run it again.', exit: [130] },
  NAME_DIFFERS: {
    summary: 'What was typed is not the name of the environment.',
    remedy: 'Run the command again and type the name.',
    exit: [1],
  },
  PROVIDERS_UNREADABLE: {
    summary: 'Documents with mistakes keep it from being known where recorded objects are. Nothing was touched.',
    remedy: 'Correct what is said of providers, or the document that holds them; the rest may stay as it is.',
    exit: [1],
  },
  NOTHING_TO_COMPARE: {
    summary: 'What diff was given is no serial, plan or folder, or the two do not compare.',
    remedy: 'Name two serials, two plan files or two folders, or a serial with either.',
    exit: [1],
  },
  NOTHING_TO_EXPLAIN: {
    summary: 'What was named is no code, no address and no step of the plan.',
    remedy: 'Name a code, an address, or a step of a plan as ADDRESS:EFFECT.',
    exit: [1],
  },
  NOTHING_TO_SHOW: {
    summary: 'What was named is no file, no address and no serial.',
    remedy: 'Name a plan file, an address or a serial.',
    exit: [1],
  },
  NOT_APPROVED: { summary: 'The plan was not approved.', remedy: 'Run the command again and answer yes.', exit: [1] },
  NO_TERMINAL: { summary: 'A terminal should be handed on, and there is none.', remedy: 'Leave -t out.', exit: [1] },
  NO_STATE: { summary: 'Nothing was ever applied to the environment.', remedy: 'Run accede apply first.', exit: [1, 3] },
  NO_SUCH_FILE: {
    summary: 'There is neither a plan nor a folder of that name.',
    remedy: 'Name a plan that accede plan --out wrote, or a folder.',
    exit: [1],
  },
  NO_SUCH_LOCK: { summary: 'No lock of that id is held.', remedy: 'Run accede status; it names the lock.', exit: [1] },
  NO_SUCH_OUTPUT: {
    summary: 'The state has no output of that name.',
    remedy: 'Run accede output; it lists them. A new one comes with the next apply.',
    exit: [1],
  },
  NO_SUCH_SERIAL: { summary: 'The state has no operation of that serial.', remedy: 'Run accede state history; it lists them.', exit: [1] },
  OPERAND_EXCESS: {
    summary: 'There are more operands than the command takes.',
    remedy: 'Leave the last ones out, or put a value with spaces into quotes.',
    exit: [1],
  },
  OPERAND_MISSING: { summary: 'An operand is missing.', remedy: 'Give it as the help describes it.', exit: [1] },
  PATCH_BINARY: {
    summary: 'Warning: a file that differs is no text, so that the patch leaves it out.',
    remedy: 'Take the file from where the documents are versioned.',
    exit: [0],
  },
  RUN_REQUEST_INVALID: {
    summary: 'The request of a run is no JSON document, or too large a one.',
    remedy: 'Give one JSON document of at most 1 MiB.',
    exit: [1],
  },
  UNKNOWN_COMMAND: { summary: 'A command does not exist.', remedy: 'Correct its name; accede help lists all.', exit: [1] },
  UNKNOWN_FLAG: { summary: 'A flag does not exist.', remedy: 'Correct its name; the help of the command lists all.', exit: [1] },
  USAGE: { summary: 'The command line cannot be understood.', remedy: 'Read the help of the command.', exit: [1] },
};
