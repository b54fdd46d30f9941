import type { CodeTable } from './entry.ts';

/** Codes of files and YAML, before anything is understood. */
export const DOCUMENT_CODES: CodeTable = {
  AMBIGUOUS_SCALAR: {
    summary: 'A plain value means different things in YAML 1.1 and 1.2, as yes or 010 do.',
    remedy: 'Put it into quotes when it is text; write true, false or a number without leading zeros when it is not.',
    exit: [1],
  },
  ANCHOR_BOMB: {
    summary: 'The aliases of a YAML document multiply its values beyond a limit.',
    remedy: 'Write the values out, or use locals.',
    exit: [1],
  },
  BAD_INCLUDE: { summary: 'An include is an absolute path.', remedy: "Write it relative to the environment's folder.", exit: [1] },
  BAD_MERGE: { summary: 'The value of a merge key (<<) is no map.', remedy: 'Give a map, an alias of one, or a list of these.', exit: [1] },
  BAD_TEXT: {
    summary: 'A text holds half of a character, as a lone \\ud800 does.',
    remedy: 'Write both halves or the character itself.',
    exit: [1],
  },
  BAD_YAML: { summary: 'A document is not valid YAML.', remedy: 'Correct the place that is shown.', exit: [1] },
  BUNDLE_TOO_LARGE: {
    summary: 'Warning: the files of the environment are more than is kept, so that no rollback to it will be possible.',
    remedy: 'Make them smaller, or put large contents into an image.',
    exit: [0],
  },
  DEFINED_TWICE: {
    summary: 'The same thing is defined in two places.',
    remedy: 'Remove one of the two, or change the first under overrides:.',
    exit: [1],
  },
  DUPLICATE_KEY: { summary: 'A key stands twice in one map.', remedy: 'Remove one of the two.', exit: [1] },
  EMPTY_DOCUMENT: {
    summary: 'A YAML file of the folder holds nothing.',
    remedy: 'Begin it with apiVersion and kind, or remove it.',
    exit: [1],
  },
  FILE_NOT_FOUND: {
    summary: 'A file or folder that the documents or the command line name is not there.',
    remedy: 'Correct the path, or put the file there.',
    exit: [1],
  },
  FILE_OUTSIDE: {
    summary: 'A file lies outside of the Git work tree, or a symbolic link leads out of it.',
    remedy: 'Move the file into the work tree.',
    exit: [1],
  },
  FILE_TOO_LARGE: {
    summary: 'A file has more bytes than are read.',
    remedy: 'Make it smaller, or keep it elsewhere and refer to it.',
    exit: [1],
  },
  FILE_UNREADABLE: {
    summary: 'A file cannot be read: it is no regular file, or this user may not read it.',
    remedy: 'Correct its mode and owner, or name another file.',
    exit: [1],
  },
  INCLUDED_ENVIRONMENT: {
    summary: 'An include names a document that is an environment itself.',
    remedy: 'Include documents with kind: Fragment only.',
    exit: [1],
  },
  INCLUDE_EMPTY: { summary: 'An include matches no file.', remedy: 'Correct the pattern, or take it away.', exit: [1] },
  NESTED_TOO_DEEPLY: { summary: 'Maps and lists of a document are nested too deeply.', remedy: 'Flatten the document.', exit: [1] },
  NON_TEXT_KEY: { summary: 'A key of a map is not text.', remedy: 'Put the key into quotes.', exit: [1] },
  NOTHING_TO_OVERRIDE: {
    summary: 'An override names something that no document defines.',
    remedy: 'Define it outside of overrides:, or take the override away.',
    exit: [1],
  },
  NOT_A_DOCUMENT: {
    summary: 'A YAML file of the folder is no document of an environment.',
    remedy: 'Add apiVersion and kind, or list the file under ignore:.',
    exit: [1],
  },
  NOT_A_RELEASE: {
    summary: 'The file that release: names is another kind of document.',
    remedy: 'Name a document with kind: Release.',
    exit: [1],
  },
  NOT_UTF8: { summary: 'A document holds bytes that are not UTF-8.', remedy: 'Save the file as UTF-8.', exit: [1] },
  NO_ENVIRONMENT: {
    summary: 'No YAML file of the folder has kind: Environment.',
    remedy: 'Write one, for example with accede init, or name another folder.',
    exit: [1],
  },
  NO_SUCH_FOLDER: {
    summary: "The environment's folder is not there or cannot be read.",
    remedy: 'Name the folder that holds the Environment document.',
    exit: [1],
  },
  NUMBER_OUT_OF_RANGE: {
    summary: 'A number would change when it is stored.',
    remedy: 'Put it into quotes when it is text, else write a smaller number.',
    exit: [1],
  },
  SEVERAL_DOCUMENTS: {
    summary: 'A file holds more than one YAML document.',
    remedy: 'Put each document into a file of its own.',
    exit: [1],
  },
  SEVERAL_ENVIRONMENTS: {
    summary: 'The folder holds more than one document with kind: Environment.',
    remedy: 'Make the second one a Fragment, or move it to a folder of its own.',
    exit: [1],
  },
  TAB_INDENTATION: { summary: 'A line is indented with a tab.', remedy: 'Replace the tab by spaces.', exit: [1] },
  UNKNOWN_ANCHOR: {
    summary: 'An alias names an anchor that is not defined before it.',
    remedy: 'Define the anchor first, or correct its name.',
    exit: [1],
  },
  UNKNOWN_KIND: {
    summary: 'A document has a kind that does not exist.',
    remedy: 'Write kind: Environment, Fragment or Release.',
    exit: [1],
  },
  UNKNOWN_TAG: {
    summary: 'A YAML tag is not supported.',
    remedy: 'Remove the tag, or put the value into quotes when it is text.',
    exit: [1],
  },
  UNKNOWN_VERSION: {
    summary: 'A document has an apiVersion that this version does not know.',
    remedy: 'Write apiVersion: accede/v1, or use a newer Accede.',
    exit: [1],
  },
  UNQUOTED_EXPRESSION: {
    summary: 'An expression stands in YAML without the quotes that it needs there.',
    remedy: 'Put the whole value into quotes.',
    exit: [1],
  },
};
