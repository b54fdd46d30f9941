import type { Diagnostic } from '../core/diagnostic.ts';
import type { ProviderError } from '../providers/contract.ts';
import { BackendError } from '../state/contract.ts';
import { EnvironmentFailure } from './environment-failure.ts';

/** What the state store threw, for people. Anything that is not a store's error is a bug and goes on. */
export function diagnoseBackend(error: unknown): Diagnostic {
  if (!(error instanceof BackendError)) throw error;
  return {
    severity: 'error',
    code: error.code,
    summary: BACKEND_SUMMARIES[error.code],
    detail: error.message,
    ...(error.next === undefined ? {} : { next: error.next }),
  };
}

const BACKEND_SUMMARIES: { readonly [code in BackendError['code']]: string } = {
  STATE_FOREIGN: 'The state belongs to another environment',
  STATE_FORMAT: 'The state has a format that this version does not know',
  STATE_CORRUPT: 'The state is damaged',
  STATE_FILE_UNSAFE: 'The state file is not safe to use',
  STATE_UNREACHABLE: 'The state cannot be reached',
  STATE_FULL: 'There is no room to write the state',
  STATE_KEY_MISSING: 'The state is encrypted, and no key is named',
  STATE_KEY_WRONG: 'The key does not open the state',
  STATE_KEY_UNUSABLE: 'The key file can not be used',
  STATE_CIPHER_DAMAGED: 'A secret that the state keeps can not be opened',
  STATE_RETIRED: 'The state is kept in another place now',
  STATE_MOVE_OPEN: 'A move of the state has not ended',
  STATE_NOT_EMPTY: 'There is a state already',
  STATE_BACKUP_DAMAGED: 'The backup is damaged',
  STATE_BACKUP_FORMAT: 'The backup has a format that this version does not know',
  STATE_BACKUP_FOREIGN: 'The backup is of something else',
  AUDIT_BROKEN: 'The audit chain is broken',
  FILE_UNREADABLE: 'A file can not be read',
  FILE_UNWRITABLE: 'A file can not be written',
  FENCED: 'The lock was lost',
  STATE_MOVED: 'The state changed meanwhile',
};

/** What a provider threw while doing an effect, for people. */
export function diagnoseProvider(error: ProviderError, address: string, effect: string): Diagnostic {
  return {
    severity: 'error',
    ...(error instanceof EnvironmentFailure ? error.told : { code: error.code, summary: PROVIDER_SUMMARIES[error.code] }),
    detail: `${address}, ${effect}: ${error.message}`,
    address,
    ...(error.next === undefined ? {} : { next: error.next }),
  };
}

const PROVIDER_SUMMARIES: { readonly [code in ProviderError['code']]: string } = {
  UNREACHABLE: 'The target cannot be reached',
  FORBIDDEN: 'The target refused access',
  NOT_FOUND: 'What the step needs is not there',
  CONFLICT: 'Something is in the way',
  INVALID: 'The target refused the request',
  NOT_READY: 'The object did not get ready',
  FOREIGN: 'The object is not ours',
  EXHAUSTED: 'The target ran out of room',
  TIMEOUT: 'The step took too long',
  UNKNOWN_OUTCOME: 'It is not known whether the step was done',
  OTHER: 'The step failed',
};
