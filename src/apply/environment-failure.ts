import { ProviderError, type ProviderErrorCode } from '../providers/contract.ts';

/** A failure of the environment's own steps, with the code and summary that operators are told. */
export class EnvironmentFailure extends ProviderError {
  readonly told: { readonly code: string; readonly summary: string };
  constructor(
    told: EnvironmentFailure['told'],
    message: string,
    options: {
      readonly cause?: unknown;
      readonly lines?: readonly string[];
      readonly next?: string;
      readonly kind?: ProviderErrorCode;
    } = {},
  ) {
    const { kind = 'OTHER', ...rest } = options;
    super(kind, message, rest);
    this.told = told;
  }
}
