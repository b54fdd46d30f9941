import { ProviderError, type ProviderErrorCode } from '../contract.ts';

/** What a request to the engine was about, for the sentence of its failure. */
export interface RequestSubject {
  /** In words, so that it reads after "could not": `create the container shop-api`. */
  readonly doing: string;
  /** Whether the request may have changed something: then a lost reply is an unknown outcome. */
  readonly mutates: boolean;
}

/** The engine's answer to a refused request, or the fault of the connection, as far as it can be told from what was thrown. */
interface Failure {
  readonly status: number | undefined;
  readonly words: string;
  readonly systemCode: string | undefined;
}

const UNREACHED = new Map([
  ['ENOENT', 'there is no such socket; the engine is not running or listens elsewhere'],
  ['ENOTSOCK', 'that path is not a socket'],
  ['EACCES', 'this user may not open it'],
  ['EPERM', 'this user may not open it'],
  ['ECONNREFUSED', 'nothing listens there'],
  ['EHOSTUNREACH', 'there is no route to that host'],
  ['ENETUNREACH', 'there is no route to that network'],
  ['ENOTFOUND', 'that host name is not known'],
  ['EAI_AGAIN', 'that host name could not be looked up now'],
  ['ETIMEDOUT', 'it did not answer in time'],
  ['ssh-missing', 'there is no ssh program on this machine'],
  ['ssh-host-key', 'the SSH client does not know the key of that machine, or it has changed'],
  ['ssh-login', 'that machine does not let the SSH client in with the keys that it has'],
  ['ssh-closed', 'that machine closes the SSH connection, as one does that has too many'],
  ['ssh-without-docker', 'that machine has no docker client, which the connection goes through'],
  ['ssh-engine', 'the docker client of that machine does not reach its engine'],
  ['ssh-ended', 'the SSH client ended without a word that is known'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is signed by itself and not trusted'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'its certificate is signed by somebody who is not trusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'its certificate is signed by somebody who is not trusted'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'its certificate is signed by somebody who is not trusted'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['CERT_NOT_YET_VALID', 'its certificate is not valid yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'it asks for a certificate: give cert and key'],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'it does not trust the certificate that it was shown'],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'it asks for a certificate, or does not take the one that it was shown'],
  ['ERR_SSL_TLS_ALERT_BAD_CERTIFICATE', 'it asks for a certificate, or does not take the one that it was shown'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'it does not speak TLS'],
  ['EPROTO', 'it does not speak TLS as this machine does'],
]);

/** Why the engine could not be reached, in words; undefined when the fault came after the connection stood. */
export function unreachedReason(error: unknown): string | undefined {
  const code = failureOf(error).systemCode;
  return code === undefined ? undefined : UNREACHED.get(code);
}

/** The HTTP status with which the engine answered; undefined when it did not answer. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof ProviderError ? failureOf(error.cause).status : failureOf(error).status;
}

/** The engine's own words for its refusal; undefined when it did not answer. */
export function engineWordsOf(error: ProviderError): string | undefined {
  const failure = failureOf(error.cause);
  return failure.status === undefined ? undefined : failure.words;
}

/** True when the engine said that the thing is not there. */
export function isNotFound(error: unknown): boolean {
  return statusOf(error) === 404;
}

/** True when an idle connection had been closed by the engine before this request reached it, so that asking again is safe. */
export function isStaleConnection(error: unknown): boolean {
  const code = failureOf(error).systemCode;
  return code === 'ECONNRESET' || code === 'EPIPE';
}

/** Turns what a request threw into a `ProviderError`. One that is a `ProviderError` already stays what it is. */
export function providerError(error: unknown, subject: RequestSubject): ProviderError {
  if (error instanceof ProviderError) return error;
  const failure = failureOf(error);
  const not = `The engine could not ${subject.doing}`;
  if (failure.status === undefined) return connectionError(error, failure, subject);
  const [code, next] = classify(failure.status, failure.words);
  return new ProviderError(code, `${not}: ${sentence(failure.words)}`, { cause: error, ...(next === undefined ? {} : { next }) });
}

/** A request that did not end before its deadline, or was called off. */
export function deadlineError(error: unknown, subject: RequestSubject, reason: 'deadline' | 'cancelled'): ProviderError {
  const why = reason === 'deadline' ? 'the engine did not answer in time' : 'the request was called off';
  return new ProviderError(
    subject.mutates ? 'UNKNOWN_OUTCOME' : 'TIMEOUT',
    `It is ${subject.mutates ? 'not known whether the engine did' : 'not possible to'} ${subject.doing}: ${why}.`,
    { cause: error },
  );
}

/** True when a network cannot be removed since something is still attached to it. */
export function isStillAttached(error: unknown): boolean {
  const failure = failureOf(error instanceof ProviderError ? error.cause : error);
  return (failure.status === 403 || failure.status === 409) && /active endpoints/i.test(failure.words);
}

/** What stands against the removal of a container for a moment only, in the engine's words; undefined when waiting would not help. */
export function passingReason(error: unknown): string | undefined {
  const failure = failureOf(error instanceof ProviderError ? error.cause : error);
  const isPassing = /default link name|device or resource busy|failed to remove root filesystem|has active endpoints/i.test(failure.words);
  return isPassing && (failure.status === 409 || failure.status === 403 || failure.status === 500) ? failure.words : undefined;
}

/** True when the engine is removing the container already. */
export function isBeingRemoved(error: unknown): boolean {
  const failure = failureOf(error instanceof ProviderError ? error.cause : error);
  return failure.status === 409 && /removal of container .* is already in progress/i.test(failure.words);
}

/** True when a program is not in a container that was asked to run it. */
export function isMissingProgram(words: string): boolean {
  return /executable file not found|no such file or directory/i.test(words);
}

function classify(status: number, words: string): readonly [ProviderErrorCode, string | undefined] {
  if (/port is already allocated|address already in use/i.test(words)) {
    const port = /(?:for|bind for) (\S+?):? (?:failed|port is already)/i.exec(words)?.[1] ?? /listen \w+ (\S+): bind/i.exec(words)?.[1];
    return ['CONFLICT', `Another process or container has ${port === undefined ? 'the port' : port}; free it or publish another port.`];
  }
  if (/no space left on device/i.test(words)) return ['EXHAUSTED', 'The disk of the engine is full; make room on it.'];
  if (/could not find an available, non-overlapping/i.test(words)) {
    return ['EXHAUSTED', 'The engine has no free subnet left; remove unused networks or give this one a subnet.'];
  }
  if (/pool overlaps with other one/i.test(words)) return ['CONFLICT', 'Another network has an overlapping subnet; choose another subnet.'];
  if (/executable file not found|no such file or directory.*unknown/i.test(words)) return ['INVALID', undefined];
  if (status === 400) return ['INVALID', undefined];
  if (status === 401 || status === 403) return ['FORBIDDEN', undefined];
  if (status === 404) return ['NOT_FOUND', undefined];
  if (status === 409) return ['CONFLICT', undefined];
  return ['OTHER', undefined];
}

function connectionError(error: unknown, failure: Failure, subject: RequestSubject): ProviderError {
  const reason = failure.systemCode === undefined ? undefined : UNREACHED.get(failure.systemCode);
  if (reason !== undefined) {
    return new ProviderError('UNREACHABLE', `The engine cannot be reached to ${subject.doing}: ${reason}.`, { cause: error });
  }
  if (subject.mutates) {
    return new ProviderError('UNKNOWN_OUTCOME', `The connection broke before the engine answered whether it did ${subject.doing}.`, {
      cause: error,
    });
  }
  return new ProviderError('UNREACHABLE', `The connection to the engine broke on the attempt to ${subject.doing}.`, { cause: error });
}

function failureOf(error: unknown): Failure {
  if (typeof error !== 'object' || error === null) return { status: undefined, words: String(error), systemCode: undefined };
  const { statusCode, json, message, code } = error as { statusCode?: unknown; json?: unknown; message?: unknown; code?: unknown };
  return {
    status: typeof statusCode === 'number' ? statusCode : undefined,
    words: engineWords(json) ?? (typeof message === 'string' ? message : 'it gave no reason'),
    systemCode: typeof code === 'string' ? code : undefined,
  };
}

function engineWords(json: unknown): string | undefined {
  if (typeof json === 'object' && json !== null && 'message' in json && typeof json.message === 'string') return json.message.trim();
  return undefined;
}

function sentence(words: string): string {
  const text = words.trim();
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
