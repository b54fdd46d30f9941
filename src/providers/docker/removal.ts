import { ProviderError } from '../contract.ts';
import type { Acting } from './acting.ts';
import { isBeingRemoved, isNotFound, passingReason } from './errors.ts';
import type { ContainerReply } from './wire.ts';

const REQUEST_TIMEOUT = 30_000;
const REMOVAL_TIMEOUT = 60_000;

/** Takes a container out of service: it does not come back with the engine, and it is stopped in its own way and time. It stays there. */
export async function withdrawContainer(acting: Acting, container: ContainerReply | undefined): Promise<void> {
  if (container === undefined) return;
  // Stopped alone, one that is to run always would come back with the next start of the engine.
  if (!container.State.Dead) await setRestartPolicy(acting, container, { Name: 'no' });
  await stopContainer(acting, container);
}

/** When the engine starts a container again. */
export interface RestartPolicy {
  readonly Name: string;
  readonly MaximumRetryCount?: number;
}

/** Sets the restart policy in place where it is another one. A container that is gone is left so. */
export async function setRestartPolicy(
  acting: Pick<Acting, 'client' | 'io'>,
  container: ContainerReply,
  policy: RestartPolicy,
): Promise<void> {
  const { Name, MaximumRetryCount } = container.HostConfig.RestartPolicy;
  if ((Name || 'no') === policy.Name && MaximumRetryCount === (policy.MaximumRetryCount ?? 0)) return;
  try {
    await acting.client.post(`/containers/${container.Id}/update`, {
      signal: acting.io.signal,
      doing: `set the restart policy of the container ${container.Name}`,
      body: { RestartPolicy: policy },
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Stops a container in its own way and time; one that does not run stays as it is. */
export async function stopContainer(acting: Pick<Acting, 'client' | 'io'>, container: ContainerReply | undefined): Promise<void> {
  if (container === undefined) return;
  if (container.State.Status === 'exited' || container.State.Status === 'created' || container.State.Dead) return;
  const grace = container.Config.StopTimeout ?? 10;
  try {
    await acting.client.post(`/containers/${container.Id}/stop`, {
      signal: acting.io.signal,
      doing: `stop the container ${container.Name}`,
      timeout: REQUEST_TIMEOUT + Math.max(grace, 0) * 1000,
    });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/**
 * Removes a container that was stopped. Its anonymous volumes stay: they may hold data. What stands against it only for a moment (its removal is
 * under way, its names or files are still held) is waited for.
 */
export async function removeContainer(acting: Acting, container: ContainerReply | undefined): Promise<void> {
  if (container === undefined) return;
  const { client, io } = acting;
  const deadline = io.clock.monotonic() + REMOVAL_TIMEOUT;
  for (let tries = 1; ; tries++) {
    try {
      await client.remove(`/containers/${container.Id}`, {
        signal: io.signal,
        doing: `remove the container ${container.Name}`,
        query: { v: false, force: false },
        timeout: REMOVAL_TIMEOUT,
      });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (isBeingRemoved(error)) return untilGone(acting, container.Id, deadline);
      const reason = passingReason(error);
      if (reason === undefined || io.clock.monotonic() > deadline) throw error;
      io.progress(`trying again to remove it, since the engine says: ${reason}`, { tries });
      await io.clock.sleep(250, io.signal);
    }
  }
}

async function untilGone(acting: Acting, id: string, deadline: number): Promise<void> {
  const { world, io } = acting;
  while ((await world.container(id, io.signal)) !== undefined) {
    if (io.clock.monotonic() > deadline) throw new ProviderError('TIMEOUT', 'The engine is removing the container, but does not get done.');
    await io.clock.sleep(200, io.signal);
  }
}
