export const PROVIDER_ERROR_CODES = [
  /** The server or file system cannot be reached or did not answer in time. */
  'UNREACHABLE',
  /** It refused us. */
  'FORBIDDEN',
  /** What the effect needs is not there. */
  'NOT_FOUND',
  /** Something with that name, port or path is in the way. */
  'CONFLICT',
  /** It refused the request as wrong. */
  'INVALID',
  /** The object was made but did not get ready. */
  'NOT_READY',
  /** The object is not ours, or became somebody else's. */
  'FOREIGN',
  /** Out of space, memory or another resource. */
  'EXHAUSTED',
  /** The deadline passed. */
  'TIMEOUT',
  /** It may or may not have happened. */
  'UNKNOWN_OUTCOME',
  'OTHER',
] as const;
export type ProviderErrorCode = (typeof PROVIDER_ERROR_CODES)[number];

/** What a handler throws. The message is a sentence for the operator without any secret; `apply` turns it into a diagnostic at one place. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly code: ProviderErrorCode;
  /** What to do next, as a sentence or a command. */
  readonly next: string | undefined;
  /** Last log lines or the server's own words, secrets masked by the engine before anybody sees them. */
  readonly lines: readonly string[];
  /** With which a program ended that ran to its end and failed; 124 for one that was stopped when its time was over. */
  readonly exitCode: number | undefined;
  constructor(
    code: ProviderErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly next?: string; readonly lines?: readonly string[]; readonly exitCode?: number } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.next = options.next;
    this.lines = options.lines ?? [];
    this.exitCode = options.exitCode;
  }
}
