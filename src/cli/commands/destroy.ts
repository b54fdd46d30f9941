import { parseDestroyArguments } from '../arguments/apply.ts';
import type { ExitCode } from '../exit.ts';
import type { RawInput, Shell } from '../shell.ts';
import { planAndApply } from './apply.ts';
import { failWith } from './failing.ts';

/** `destroy`: a plan that removes everything, then apply. */
export async function runDestroy(input: RawInput, shell: Shell): Promise<ExitCode> {
  const parsed = parseDestroyArguments(input);
  if (!parsed.ok) return failWith(shell, parsed.diagnostics);
  return await planAndApply(shell, parsed.value.planning, parsed.value);
}
