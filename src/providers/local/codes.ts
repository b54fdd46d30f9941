import type { CodeTable } from '../../core/codes/entry.ts';

/** Codes of the local provider. */
export const LOCAL_CODES: CodeTable = {
  CONTENT_MISSING: {
    summary: 'A file has neither content nor source.',
    remedy: 'Write one of them; an empty file has content: "".',
    exit: [1],
  },
  CONTENT_TOO_LARGE: { summary: 'The content of a file is larger than plan and state may keep.', remedy: 'Make it smaller.', exit: [1] },
  CONTENT_TWICE: { summary: 'A file has content and source at once.', remedy: 'Keep one of them.', exit: [1] },
  FILE_FOREIGN: {
    summary: 'A file is there already and is not ours. It stays as it is.',
    remedy: 'Choose another path, remove it by hand, or take it over with accede import.',
    exit: [1, 3],
  },
  PATH_SENSITIVE: {
    summary: 'The path of a file comes from a secret, and paths are shown.',
    remedy: 'Use a value that is no secret.',
    exit: [1],
  },
  VALUE_FOREIGN: { summary: 'A recorded value belongs to another environment.', remedy: 'Give yours another name.', exit: [1, 3] },
};
