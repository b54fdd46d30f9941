import { parseAddress, type ResourceAddress } from '../../core/address.ts';
import { type Outcome, settle } from '../../core/diagnostic.ts';
import type { RawInput } from '../shell.ts';
import { type EnvironmentArguments, readEnvironmentFlags } from './environment.ts';
import { Flags, usageError } from './values.ts';

/** An edit of the state as it was written: its operands, and how to get the lock. */
export interface EditArguments extends EnvironmentArguments {
  readonly lockTimeout: number;
  readonly reason: string | null;
  /** All but the folder. */
  readonly operands: readonly string[];
  /** Those operands that are addresses, in their order. */
  readonly addresses: readonly ResourceAddress[];
}

/** Reads `operands` words before the folder; the ones whose index stands in `addresses` have to be addresses. */
export function parseEditArguments(
  input: RawInput,
  shape: { readonly operands: number; readonly addresses: readonly number[] },
): Outcome<EditArguments> {
  const flags = new Flags(input.options);
  const operands = input.operands.slice(0, shape.operands).map((operand) => operand ?? '');
  const addresses = shape.addresses.map((index) => {
    const text = operands[index] ?? '';
    if (parseAddress(text) === undefined) {
      flags.diagnostics.push(
        usageError('BAD_ADDRESS', 'An operand has to be an address and is not one', `${JSON.stringify(text)} is not an address.`, {
          expected: 'an address, as docker.container.api or docker.container.worker["bulk"]',
          observed: text,
        }),
      );
    }
    return text as ResourceAddress;
  });
  return settle(
    {
      ...readEnvironmentFlags(flags, input.operands[shape.operands]),
      lockTimeout: flags.duration('lockTimeout', '--lock-timeout', 0),
      reason: flags.text('reason') ?? null,
      operands,
      addresses,
    },
    flags.diagnostics,
  );
}
