import type { CodeTable } from './entry.ts';

/** Codes of the store and of state documents. */
export const STATE_CODES: CodeTable = {
  AUDIT_BROKEN: {
    summary: 'The audit chain is not what was written: a record was altered, moved, added or left out.',
    remedy: 'Find out who wrote to the state beside accede, and restore a backup from before.',
    exit: [1, 2],
  },
  DOCUMENTS_UNREADABLE: {
    summary: 'Warning: the documents have mistakes; what is recorded is shown all the same.',
    remedy: 'Run accede validate.',
    exit: [0],
  },
  NO_EVIDENCE: { summary: 'No run of that operation left evidence.', remedy: 'accede evidence list shows which did.', exit: [1] },
  STATE_ADDRESS_TAKEN: {
    summary: 'The address that a resource is to move to is recorded already.',
    remedy: 'Move or forget that one first.',
    exit: [1],
  },
  STATE_ADDRESS: {
    summary: 'A row of the state has an address that does not fit its type.',
    remedy: 'Correct the document, or put a copy of the state in place.',
    exit: [1],
  },
  STATE_BACKUP_DAMAGED: {
    summary: 'A backup is not what was written; the message names the section that was altered or cut.',
    remedy: 'Take another copy of it, or an older backup.',
    exit: [1],
  },
  STATE_BACKUP_FOREIGN: {
    summary: 'A backup is of another environment, or a store holds a state of another lineage than expected.',
    remedy: 'Name the backup, the folder and the store that belong together.',
    exit: [1],
  },
  STATE_BACKUP_FORMAT: {
    summary: 'A file is no backup, or one that this version does not read.',
    remedy: 'Restore it with the version that wrote it, then run accede state upgrade.',
    exit: [1],
  },
  STATE_BACKUP_OPEN: {
    summary: 'Warning: an operation was open when the backup was taken.',
    remedy: 'Nothing has to be done; take another one when it has ended.',
    exit: [0],
  },
  STATE_BACKUP_UNAUDITED: {
    summary: 'Warning: the backup is good, but the audit chain has no record of it.',
    remedy: 'Make the state writable for this user, or make room for it.',
    exit: [0],
  },
  STATE_CIPHER_DAMAGED: {
    summary: 'A ciphertext in the state was altered, or stands in another place than it was made for.',
    remedy: 'Put a copy of the state from before in its place, or taint the resource that is named.',
    exit: [1, 6],
  },
  STATE_CORRUPT: {
    summary: 'The store is damaged, or the file is no state.',
    remedy: 'Put a copy of the state from before in its place.',
    exit: [1],
  },
  STATE_DEPENDENCY: {
    summary: 'Warning: a recorded resource depends on something that is not in the state.',
    remedy: 'Nothing has to be done; the order of deletion loses one edge.',
    exit: [0],
  },
  STATE_DOCUMENT_DIGEST: {
    summary: 'The digest in a state document is not that of its resources and outputs.',
    remedy: 'Pull again; an edited document needs its digest made anew.',
    exit: [1],
  },
  STATE_DOCUMENT_FORMAT: {
    summary: 'A state document has a format that this version does not know.',
    remedy: 'Use the version that wrote it.',
    exit: [1],
  },
  STATE_DOCUMENT_INVALID: {
    summary: 'A state document has a wrong form.',
    remedy: 'Correct the place that is named, or pull again.',
    exit: [1],
  },
  STATE_DUPLICATE_ID: {
    summary: 'Two objects of the state have one id.',
    remedy: 'Correct the document, or put a copy of the state in place.',
    exit: [1],
  },
  STATE_EXISTS: {
    summary: 'A state was to be made, and there is one already.',
    remedy: 'Nothing; accede status shows it.',
    exit: [1],
  },
  STATE_FILE_UNSAFE: {
    summary: 'The state file has a wrong owner, mode or kind, or was replaced while in use.',
    remedy: 'Make it a regular file of this user with mode 0600.',
    exit: [1],
  },
  STATE_FOREIGN: { summary: 'The store holds the state of another environment or lineage.', remedy: 'Correct state.path.', exit: [1] },
  STATE_FORMAT: {
    summary: 'The store has a format that this version does not know, or belongs to something else.',
    remedy: 'Run accede state upgrade for an older one, or use the version that wrote it; correct state when it is not ours.',
    exit: [1],
  },
  STATE_FULL: { summary: 'There is no room to write the state.', remedy: 'Make room on its disk, then run accede apply.', exit: [1] },
  STATE_KEY_MISSING: {
    summary: 'The state keeps secrets encrypted, and the documents do not say with which key.',
    remedy: 'Write state.encryption as it was.',
    exit: [1],
  },
  STATE_KEY_UNUSABLE: {
    summary: 'The key file of the state is not there, not private, or holds no key.',
    remedy: 'Put the key of 32 bytes in its place, as a regular file of this user with mode 0600.',
    exit: [1],
  },
  STATE_KEY_WRONG: {
    summary: 'The key file or passphrase is not the one that the state was encrypted with. Nothing is lost.',
    remedy: 'Name the former key again; accede state rekey goes over to another one.',
    exit: [1],
  },
  STATE_LOSS_DIFFERS: {
    summary: 'What a restore would lose is not what was accepted. Nothing was changed.',
    remedy: 'Look at the range that is named, and accept that one or none.',
    exit: [1],
  },
  STATE_LOSS_UNSTATED: {
    summary: 'A restore gives up what came after the backup, and nobody said what that is.',
    remedy: 'Say --accept-loss FROM..TO or none, or name the former store with --replaces.',
    exit: [1],
  },
  STATE_MOVED: {
    summary: 'The state changed between the look and the write. Nothing was written.',
    remedy: 'Run the command again.',
    exit: [1, 4],
  },
  STATE_MOVE_OPEN: {
    summary: 'The state is being moved into this store, and that has not ended.',
    remedy: 'Run the same accede state migrate once more, with documents that name the former place.',
    exit: [1],
  },
  STATE_MOVE_TYPE: {
    summary: 'A resource cannot move to an address of another type.',
    remedy: 'Use removed: and a new resource instead.',
    exit: [1],
  },
  STATE_NOT_EMPTY: {
    summary: 'A state was to be put where one is already, or another one.',
    remedy: 'Name an empty place, or move away what stands there.',
    exit: [1],
  },
  STATE_NOT_ENCRYPTED: {
    summary: 'The state keeps no secrets, so that there is no key to change.',
    remedy: 'Write state.encryption; the next apply begins with it.',
    exit: [1],
  },
  STATE_PASSWORD_IN_CLEAR: {
    summary: 'The password of the state stands in the documents or in a variable.',
    remedy: 'Write it as ${secrets.NAME}, with a secret that reads an environment variable, a file or a program.',
    exit: [1],
  },
  STATE_PRUNE_HELD_BACK: {
    summary: 'Warning: less was forgotten than was asked for.',
    remedy: 'Nothing has to be done; what is in force or not settled is kept with all that came after it.',
    exit: [0],
  },
  STATE_PRUNE_OPEN: {
    summary: 'Nothing is forgotten while an operation is open.',
    remedy: 'Run accede recover first.',
    exit: [1],
  },
  STATE_PUSH_REFUSED: {
    summary: 'A state document is of another environment or lineage, or its serial is not that of the store.',
    remedy: 'Pull, apply your change to that document, and push it.',
    exit: [1],
  },
  STATE_RETIRED: {
    summary: 'The state went to another store, which is named; nothing is written to this one any more.',
    remedy: 'Let state in the documents name the new place.',
    exit: [1, 6],
  },
  STATE_SELF_DEPENDENCY: {
    summary: 'A row of the state depends on itself.',
    remedy: 'Correct the document, or put a copy of the state in place.',
    exit: [1],
  },
  STATE_SERVER_AMBIGUOUS: {
    summary: 'state names its server by url and by parts of it at once.',
    remedy: 'Keep url, or host, port, user, password and database.',
    exit: [1],
  },
  STATE_SERVER_MISSING: {
    summary: 'state has the backend mysql and does not say where the database is.',
    remedy: 'Add url, or host, user and database.',
    exit: [1],
  },
  STATE_TLS_NAME: {
    summary: 'state.tls stands beside a server that is named by its address, and certificates bear names.',
    remedy: 'Add tls.server_name, or name the server by its name.',
    exit: [1],
  },
  STATE_UNREACHABLE: {
    summary: 'The store cannot be opened, or did not answer in time.',
    remedy: 'Make the file and its folder readable and writable for this user; for a database correct what the message names.',
    exit: [1, 6],
  },
  STATE_URL_INVALID: {
    summary: 'state.url is not of the form mysql://USER:PASSWORD@HOST:PORT/DATABASE.',
    remedy: 'Correct the secret that it comes from; urlencode() writes what a URL reserves.',
    exit: [1],
  },
  STATE_VALUE: {
    summary: 'A stored value has a form that cannot be read.',
    remedy: 'Use the version that wrote it, or put a copy of the state in place.',
    exit: [1],
  },
};
