import { ProviderError, type ProviderErrorCode } from '../providers/contract.ts';

/** The code of a system error, `ENOENT`, or undefined for anything else that was thrown. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * The provider error for a failed system call. `what` says what was tried, as the start of a sentence: `The file /etc/x could not be written`.
 * A provider error stays what it is, and what is no system error comes back unchanged, since it is a bug.
 */
export function faultOf(error: unknown, what: string): unknown {
  const errno = errnoOf(error);
  if (error instanceof ProviderError || errno === undefined) return error;
  const { code, because } = meaningOf(errno);
  return new ProviderError(code, `${what}: ${because} (${errno}).`, { cause: error });
}

function meaningOf(errno: string): { readonly code: ProviderErrorCode; readonly because: string } {
  switch (errno) {
    case 'ENOENT':
      return { code: 'NOT_FOUND', because: 'it is not there' };
    case 'EACCES':
    case 'EPERM':
      return { code: 'FORBIDDEN', because: 'the user of this process is not allowed to' };
    case 'EROFS':
      return { code: 'FORBIDDEN', because: 'the file system is mounted read-only' };
    case 'ENOSPC':
    case 'EDQUOT':
      return { code: 'EXHAUSTED', because: 'no space is left' };
    case 'EFBIG':
      return { code: 'EXHAUSTED', because: 'the file would be larger than the limit of this process allows' };
    case 'EMFILE':
    case 'ENFILE':
      return { code: 'EXHAUSTED', because: 'too many files are open' };
    case 'ENOMEM':
    case 'EAGAIN':
      return { code: 'EXHAUSTED', because: 'not enough memory or processes are left' };
    case 'ELOOP':
      return { code: 'CONFLICT', because: 'a symbolic link stands in the way' };
    case 'ENOTDIR':
      return { code: 'CONFLICT', because: 'a part of the path is no directory' };
    case 'EISDIR':
      return { code: 'CONFLICT', because: 'a directory stands there' };
    case 'EEXIST':
      return { code: 'CONFLICT', because: 'something stands there already' };
    case 'ENOTEMPTY':
      return { code: 'CONFLICT', because: 'the directory is not empty' };
    case 'EBUSY':
    case 'ETXTBSY':
      return { code: 'CONFLICT', because: 'it is in use' };
    case 'ENAMETOOLONG':
      return { code: 'INVALID', because: 'the name is too long' };
    case 'EINVAL':
      return { code: 'INVALID', because: 'the system refused it as wrong' };
    case 'ETIMEDOUT':
    case 'ESTALE':
    case 'EHOSTDOWN':
      return { code: 'UNREACHABLE', because: 'the file system did not answer' };
    default:
      return { code: 'OTHER', because: 'the system refused it' };
  }
}
