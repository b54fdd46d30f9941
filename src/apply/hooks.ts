import type { Hook } from '../plan/environment-steps.ts';
import { type EffectIo, ProviderError, type Receipt, type Run } from '../providers/contract.ts';
import { EnvironmentFailure } from './environment-failure.ts';

/** What a hook is told of the run that it belongs to. */
export interface HookFacts {
  readonly operation: string;
  readonly class: string;
  readonly environment: string;
  /** Absolute folder of the environment: where a hook runs. */
  readonly folder: string;
}

/** How many lines of what a hook wrote are told when it fails, and how long each may be. */
const MOST_LINES = 20;
const LONGEST_LINE = 400;

const FAILED = { code: 'HOOK_FAILED', summary: 'A hook failed' } as const;

/**
 * Runs a hook on this machine: argv without a shell, in the environment's folder, with its class, operation and outcome in its environment. When
 * its time is over, its whole process group is dead. Throws `EnvironmentFailure` when it cannot start, ends with another code than 0, or takes
 * too long.
 */
export async function runHook(hook: Hook, facts: HookFacts, io: EffectIo, outcome = 'pending'): Promise<Receipt> {
  const [program] = hook.run;
  const environment = {
    ACCEDE_CLASS: facts.class,
    ACCEDE_OPERATION: facts.operation,
    ACCEDE_OUTCOME: outcome,
    ACCEDE_ENVIRONMENT: facts.environment,
  };
  let ended: Run;
  try {
    ended = await io.host.run(hook.run, { signal: io.signal, timeout: hook.timeout, environment, folder: facts.folder });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    throw new EnvironmentFailure(FAILED, error.message, { cause: error, lines: error.lines });
  }
  if (ended.code === 0) return {};
  const lines = lastLines(`${ended.stdout}\n${ended.stderr}`);
  throw new EnvironmentFailure(FAILED, `${program} ended with the code ${ended.code}.`, { lines });
}

function lastLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trimEnd().slice(0, LONGEST_LINE))
    .filter((line) => line !== '')
    .slice(-MOST_LINES);
}
