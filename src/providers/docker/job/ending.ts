import { ProviderError, type ProviderErrorCode } from '../../contract.ts';
import type { Acting } from '../acting.ts';
import { renameContainer } from '../containers.ts';
import { lastLines } from '../logs.ts';
import { failedName, isFailedName } from '../naming.ts';
import type { ContainerReply } from '../wire.ts';
import { isOnRequest } from './modes.ts';
import { hasEnded } from './traces.ts';

const DEFAULT_TIMEOUT = 600_000;
const FIRST_LOOK = 100;
const LONGEST_LOOK = 2000;
/** The code of a run that was stopped when its time was over, as the program `timeout` has it. */
export const STOPPED_CODE = 124;

/** How a run came out: it ended by itself, or its time is over and it goes on. */
export type End = { readonly kind: 'ended' | 'late'; readonly container: ContainerReply };

/** Waits for the end of a run, at most `timeout` milliseconds. Throws `NOT_FOUND` when its container is removed meanwhile. */
export async function untilEnded(acting: Acting, first: ContainerReply, timeout: number): Promise<End> {
  const { world, io } = acting;
  const began = io.clock.monotonic();
  let pause = FIRST_LOOK;
  for (let tries = 1; ; tries++) {
    const container = await world.container(first.Id, io.signal);
    if (container === undefined) throw gone(acting);
    if (hasEnded(container.State.Status)) return { kind: 'ended', container };
    const waited = io.clock.monotonic() - began;
    if (waited >= timeout) return { kind: 'late', container };
    io.progress(`runs for ${Math.floor(waited / 1000)} s`, { tries });
    await io.clock.sleep(Math.min(pause, Math.max(1, timeout - waited)), io.signal);
    pause = Math.min(2 * pause, LONGEST_LOOK);
  }
}

/** Throws `NOT_READY` for a run that ended with another code than 0, and keeps its container for reading. */
export async function requireSuccess(acting: Acting, container: ContainerReply): Promise<void> {
  const { ExitCode, OOMKilled, Error: words } = container.State;
  if (ExitCode === 0) return;
  const memory = OOMKilled ? ' after it ran out of memory' : '';
  throw await failure(acting, container, 'NOT_READY', `ended with code ${ExitCode}${memory}${words === '' ? '' : `: ${words}`}`, ExitCode);
}

/** Renames the container of a failed run, so that the next apply knows that the failure was told, and runs the job anew. */
export async function markFailed(acting: Acting, container: ContainerReply): Promise<void> {
  if (isFailedName(container.Name, container.Id)) return;
  await renameContainer(acting, container, failedName(container.Name, container.Id));
}

/** The failure of a run with its last log lines. Its container is renamed, so that it is known that the failure was told. */
export async function failure(
  acting: Acting,
  container: ContainerReply,
  code: ProviderErrorCode,
  what: string,
  exitCode: number,
): Promise<ProviderError> {
  let lines: readonly string[];
  try {
    lines = await lastLines(acting.client, container.Id, acting.io.signal);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    // The failure itself matters more than a log that this driver does not give.
    lines = [];
  }
  await markFailed(acting, container);
  const name = failedName(container.Name, container.Id);
  return new ProviderError(code, `The job ${container.Name} ${what}. Its container stays for reading as ${name}.`, {
    lines,
    exitCode,
    next: `docker logs --tail 100 ${name}`,
  });
}

/** How long a run may take, in milliseconds. */
export function timeoutOf(acting: Acting): number {
  const { timeout } = acting.operation.desired;
  return typeof timeout === 'number' ? timeout : DEFAULT_TIMEOUT;
}

/** The error for a container that somebody removed. */
export function gone(acting: Acting): ProviderError {
  return new ProviderError('NOT_FOUND', `The container of ${acting.operation.address} was removed before its result was collected.`, {
    next: isOnRequest(acting.operation.desired)
      ? `Find out whether it had done its work; accede run ${acting.operation.address} runs it anew.`
      : 'Find out whether it had done its work; the next apply runs it anew.',
  });
}
