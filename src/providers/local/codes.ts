import type { CodeTable } from '../../core/codes/entry.ts';

/** Codes of the local provider. */
export const LOCAL_CODES: CodeTable = {
  CERTIFICATE_ENDS: {
    summary: 'Warning: a certificate ends within 30 days, or has ended.',
    remedy: 'Raise its generation: what uses it is restarted with the new one.',
    exit: [0, 2],
  },
  CERTIFICATE_FOREIGN: {
    summary: 'Something stands in the place of a certificate and is not ours. It stays as it is.',
    remedy: 'Choose another path, remove it by hand, or take it over with accede import.',
    exit: [1, 3],
  },
  CONTENT_MISSING: {
    summary: 'A file has neither content nor source.',
    remedy: 'Write one of them; an empty file has content: "".',
    exit: [1],
  },
  CONTENT_TOO_LARGE: { summary: 'The content of a file is larger than plan and state may keep.', remedy: 'Make it smaller.', exit: [1] },
  CONTENT_TWICE: { summary: 'A file has content and source at once.', remedy: 'Keep one of them.', exit: [1] },
  DIRECTORY_FOREIGN: {
    summary: 'A directory is there and does not bear our marker. It stays as it is.',
    remedy: 'Mount what belongs there, choose another path, or forget it with accede state rm and take it over with accede import.',
    exit: [1, 3],
  },
  DIRECTORY_NOT_EMPTY: {
    summary: 'A directory would be removed and holds something.',
    remedy: 'Empty it, or give it up with a removed entry that has destroy: false.',
    exit: [3],
  },
  FILE_FOREIGN: {
    summary: 'A file is there already and is not ours. It stays as it is.',
    remedy: 'Choose another path, remove it by hand, or take it over with accede import.',
    exit: [1, 3],
  },
  KEYPAIR_FOREIGN: { summary: 'A recorded pair of keys belongs to another environment.', remedy: 'Give yours another name.', exit: [1, 3] },
  PATH_SENSITIVE: {
    summary: 'A path, or a name in a certificate, comes from a secret, and those are shown.',
    remedy: 'Use a value that is no secret.',
    exit: [1],
  },
  PORTS_EXHAUSTED: { summary: 'There are more names than ports in the range.', remedy: 'Make the range larger.', exit: [1] },
  PORTS_FOREIGN: { summary: 'Recorded ports belong to another environment.', remedy: 'Give yours another name.', exit: [1, 3] },
  PORTS_SENSITIVE: {
    summary: 'Ports or their names come from a secret, and they are shown.',
    remedy: 'Use a value that is no secret.',
    exit: [1],
  },
  PORT_NAME_TWICE: { summary: 'A name stands twice among those that get a port.', remedy: 'Remove one of the two.', exit: [1] },
  SECRET_FOREIGN: { summary: 'A recorded secret belongs to another environment.', remedy: 'Give yours another name.', exit: [1, 3] },
  VALUE_FOREIGN: { summary: 'A recorded value belongs to another environment.', remedy: 'Give yours another name.', exit: [1, 3] },
};
