import { parseAddress, type ResourceAddress } from '../../core/address.ts';
import { type Outcome, settle } from '../../core/diagnostic.ts';
import type { RawInput } from '../shell.ts';
import { type EnvironmentArguments, readEnvironmentFlags } from './environment.ts';
import { Flags, usageError } from './values.ts';

export interface LogsArguments extends EnvironmentArguments {
  readonly address: ResourceAddress;
  readonly follow: boolean;
  readonly tail: number | undefined;
  /** Milliseconds before now. */
  readonly since: number | undefined;
  readonly timestamps: boolean;
}

/** Reads `ADDRESS [dir]` and the flags of `logs`. */
export function parseLogsArguments(input: RawInput): Outcome<LogsArguments> {
  const flags = new Flags(input.options);
  const address = readAddress(flags, input.operands[0]);
  const tail = flags.integer('tail', '--tail', { least: 0, most: 999_999_999, otherwise: -1 });
  const since = flags.duration('since', '--since', -1);
  return settle(
    {
      ...readEnvironmentFlags(flags, input.operands[1]),
      address,
      follow: flags.isSet('follow'),
      tail: tail < 0 ? undefined : tail,
      since: since < 0 ? undefined : since,
      timestamps: flags.isSet('timestamps'),
    },
    flags.diagnostics,
  );
}

export interface ExecArguments extends EnvironmentArguments {
  readonly address: ResourceAddress;
  readonly interactive: boolean;
  readonly tty: boolean;
  readonly argv: readonly string[];
}

/** Reads `ADDRESS [dir] -- CMD…`. */
export function parseExecArguments(input: RawInput): Outcome<ExecArguments> {
  const flags = new Flags(input.options);
  const address = readAddress(flags, input.operands[0]);
  const argv = input.rest ?? [];
  if (argv.length === 0) {
    flags.diagnostics.push(
      usageError('OPERAND_MISSING', 'An operand is missing', 'exec needs a command behind --.', {
        expected: `accede exec ${address} -- COMMAND`,
      }),
    );
  }
  return settle(
    {
      ...readEnvironmentFlags(flags, input.operands[1]),
      address,
      interactive: flags.isSet('interactive'),
      tty: flags.isSet('tty'),
      argv,
    },
    flags.diagnostics,
  );
}

function readAddress(flags: Flags, written: string | undefined): ResourceAddress {
  const text = written ?? '';
  if (parseAddress(text) === undefined) {
    flags.diagnostics.push(
      usageError('BAD_ADDRESS', 'An operand has to be an address and is not one', `${JSON.stringify(text)} is not an address.`, {
        expected: 'an address, as docker.container.api or docker.container.worker["bulk"]',
        observed: text,
      }),
    );
  }
  return text as ResourceAddress;
}
