import { BackendError } from './contract.ts';

/** The connection broke: what the last statement did, if it was one that ends a transaction, is not known. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** What the server says, by its number, or the network, by its code. Undefined for anything else: that is a bug, and no state of theirs. */
export function mysqlFault(error: unknown): { readonly errno: number | undefined; readonly code: string } | undefined {
  if (error instanceof BackendError) return undefined;
  if (error instanceof ConnectionLost) return { errno: undefined, code: 'lost' };
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  const errno = 'errno' in error && typeof error.errno === 'number' && error.errno > 0 ? error.errno : undefined;
  const { code } = error;
  return errno !== undefined || isNetwork(code) || isTls(code) || isFile(code) ? { errno, code } : undefined;
}

/** Deadlock, lock wait, and conflicts that a distributed server finds at the commit (write conflict, changed schema, a transaction that must be run again). */
const CONFLICTS = new Set([1205, 1213, 8002, 8005, 8022, 8028, 9007]);

/** Shutdown, a killed session, broken packets, silence for too long, and an end of a commit that the server itself doesn't know (8501). */
const LOST = new Set([1053, 1080, 1152, 1158, 1159, 1160, 1161, 1927, 2006, 2013, 2055, 3169, 4031, 8501, 9001, 9002, 9005]);

/** Whether the transaction was surely not committed, and may go well when it is run again. */
export function isConflict(error: unknown): boolean {
  const errno = mysqlFault(error)?.errno;
  return errno !== undefined && CONFLICTS.has(errno);
}

/** The error of a commit of which nobody can say whether it was done. */
export function unknownCommit(place: string): BackendError {
  return new BackendError(
    'STATE_UNREACHABLE',
    `The connection to ${place} broke in the middle of a commit and could not be made again in time, so that it is not known whether the last write is in. The next run sees it as it is.`,
    { next: 'accede status' },
  );
}

/** Whether the connection is gone, so that the outcome of what ran on it is not known. */
export function isLost(error: unknown): boolean {
  const fault = mysqlFault(error);
  if (fault === undefined) return error instanceof Error && 'fatal' in error && error.fatal === true;
  return fault.errno === undefined ? isNetwork(fault.code) : LOST.has(fault.errno);
}

/** Whether nobody can log in now, and it may be otherwise in a moment: nothing listens, or all places are taken. */
export function isAway(error: unknown): boolean {
  const fault = mysqlFault(error);
  if (fault === undefined) return isLost(error);
  if (fault.errno !== undefined) return LOST.has(fault.errno) || fault.errno === 1040 || fault.errno === 1203;
  return isNetwork(fault.code);
}

const DENIED = new Set([1045, 1698, 1862, 3118, 3955]);
const FORBIDDEN = new Set([1044, 1142, 1143, 1227, 1370, 1410, 8121]);
const FULL = new Set([20, 1021, 1114]);
/** Writing failed; the operating system's own number stands in the text alone. */
const WRITE_FAILED = new Set([3, 1026, 1030]);
const TOO_LARGE = new Set([1153, 1406, 8004, 8025]);
const READ_ONLY = new Set([1290, 1792, 1836]);
const OTHER_TABLES = new Set([1054, 1146, 1136, 1364]);
const DAMAGED = new Set([1034, 1194, 1195, 1712, 1877]);

/**
 * The error as the store's callers know it. Its words are ours: those of the server may quote the account, and the address may be a secret.
 * What is not a state of the server or of the way to it comes back as it is: it is a bug.
 */
export function mysqlError(place: string, error: unknown): unknown {
  const fault = mysqlFault(error);
  if (fault === undefined) return isLost(error) ? unreachable(place, 'the connection broke') : error;
  const { errno, code } = fault;
  if (errno === undefined) return networkError(place, code);
  if (DENIED.has(errno))
    return unreachable(place, 'the server refused the login: the user or the password is wrong, or may not come from this machine');
  if (errno === 1049)
    return unreachable(place, 'the server has no database of that name, and accede makes none. Create it, or correct state');
  if (errno === 1130 || errno === 1129) return unreachable(place, 'the server takes no connections from this machine');
  if (errno === 1040 || errno === 1203) return unreachable(place, 'the server takes no more connections at present');
  if (FORBIDDEN.has(errno)) {
    return unreachable(
      place,
      'the user may not do this. It needs SELECT, INSERT, UPDATE and DELETE on the database, and CREATE, ALTER, DROP and INDEX for the first apply and for an upgrade',
    );
  }
  if (READ_ONLY.has(errno)) return unreachable(place, 'the server takes no writes: it is set to be read only, as replicas are');
  if (CONFLICTS.has(errno))
    return new BackendError('STATE_UNREACHABLE', `The state in ${place} was busy for too long: others held the same rows.`, {
      next: 'accede status',
    });
  if (LOST.has(errno)) return unreachable(place, 'the connection broke');
  if (FULL.has(errno) || (WRITE_FAILED.has(errno) && /\b28\b/.test((error as Error).message)))
    return new BackendError(
      'STATE_FULL',
      `There is no space left for the state in ${place} (error ${errno} of the server). What was written before is kept; make room there, then run the command again.`,
    );
  if (TOO_LARGE.has(errno)) {
    return new BackendError(
      'STATE_FULL',
      `A row of the state is larger than ${place} takes (error ${errno} of the server). Raise max_allowed_packet, or the limits of entries and transactions, then run the command again.`,
    );
  }
  if (WRITE_FAILED.has(errno)) return unreachable(place, `the server can't read or write its files (error ${errno})`);
  if (OTHER_TABLES.has(errno) || DAMAGED.has(errno)) {
    return new BackendError(
      'STATE_CORRUPT',
      `The tables of the state in ${place} are not as accede made them, or damaged (error ${errno} of the server). They were left as they are; name another state.prefix when they belong to something else.`,
    );
  }
  return unreachable(place, `the server refused a statement (error ${errno}, ${code}); it may be of another kind or age than accede knows`);
}

function networkError(place: string, code: string): BackendError {
  if (isFile(code)) return unreachable(place, `a file of state.tls can't be read (${code})`);
  if (isTls(code))
    return unreachable(
      place,
      `the encrypted connection failed (${code}): the certificate is not the expected one, or the server offers no TLS`,
    );
  switch (code) {
    case 'ECONNREFUSED':
      return unreachable(place, 'nothing listens there');
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return unreachable(place, "the host's name can't be resolved");
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return unreachable(place, `there is no answer from it (${code})`);
    default:
      return unreachable(place, `the connection broke (${code})`);
  }
}

function isNetwork(code: string): boolean {
  return /^(?:lost|PROTOCOL_\w+|E(?:CONN\w+|PIPE|TIMEDOUT|HOST\w+|NET\w+|NOTFOUND|AI_\w+|ADDRNOTAVAIL))$/.test(code);
}

function isTls(code: string): boolean {
  return /^(?:ERR_(?:TLS|SSL|OSSL)|HANDSHAKE_(?:NO_)?SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO$)/.test(code);
}

function isFile(code: string): boolean {
  return ['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR'].includes(code);
}

function unreachable(place: string, why: string): BackendError {
  return new BackendError('STATE_UNREACHABLE', `The state in ${place} can't be reached: ${why}.`);
}
