import type { CodeTable } from './entry.ts';

/** Codes of `${…}`. */
export const EXPRESSION_CODES: CodeTable = {
  BAD_EXPRESSION: { summary: 'An expression is no CEL expression.', remedy: 'Correct the place that is shown.', exit: [1] },
  BAD_MAP_KEY: { summary: 'The key of a map in an expression is no text.', remedy: 'Convert it with string().', exit: [1] },
  EMPTY_EXPRESSION: { summary: 'Nothing stands between ${ and }.', remedy: 'Write an expression, or $${ for a literal ${.', exit: [1] },
  EXPRESSION_FAILED: {
    summary: 'An expression cannot be computed with the values that it reads.',
    remedy: 'Correct the expression or the values.',
    exit: [1],
  },
  EXPRESSION_IN_KEY: { summary: 'A key holds an expression.', remedy: 'Build the map with one expression as the whole value.', exit: [1] },
  EXPRESSION_NOT_ALLOWED: { summary: 'An expression stands where only plain text may stand.', remedy: 'Write the text itself.', exit: [1] },
  EXPRESSION_TOO_LARGE: { summary: 'An expression, or what it gives, is too large.', remedy: 'Move parts of it into locals.', exit: [1] },
  INCOMPLETE_REFERENCE: {
    summary: 'A reference to a resource does not say which.',
    remedy: 'Write PROVIDER.TYPE.NAME and, with for_each, a key.',
    exit: [1],
  },
  NAME_NOT_ALLOWED_HERE: {
    summary: 'An expression reads a name that is not known yet at its place.',
    remedy: 'Use a name that is allowed there; the message lists them.',
    exit: [1],
  },
  NOT_TEXT: {
    summary: 'An expression inside of text gives a list, a map or null.',
    remedy: 'Use json(), or let the expression be the whole value.',
    exit: [1],
  },
  OMIT_NOT_ALLOWED_HERE: {
    summary: 'omit stands where nothing can be left out.',
    remedy: 'Use it as the whole value of a key or an item.',
    exit: [1],
  },
  PATH_NOT_KNOWN: {
    summary: 'The path of a file to read depends on another resource.',
    remedy: 'Write a path that is known before anything is applied.',
    exit: [1],
  },
  UNCLOSED_EXPRESSION: { summary: 'A ${ has no } that ends it.', remedy: 'Close it, or write $${ for a literal ${.', exit: [1] },
  UNKNOWN_FUNCTION: { summary: 'An expression calls a function that does not exist.', remedy: 'Correct the name.', exit: [1] },
  UNKNOWN_NAME: {
    summary: 'An expression reads a name that does not exist.',
    remedy: 'Put text into quotes; read variables as vars.NAME.',
    exit: [1],
  },
  UNKNOWN_REFERENCE: {
    summary: 'An expression reads a member that does not exist.',
    remedy: 'Correct the name, or define the member.',
    exit: [1],
  },
};
