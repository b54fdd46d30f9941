import type { Mark, Operation } from '../../contract.ts';
import { createdAt, isMarked } from '../marks.ts';
import { isLeftName } from '../naming.ts';
import type { ContainerEntry } from '../wire.ts';
import type { World } from '../world.ts';

/** What stands for a live id when an earlier run with the same inputs stands for this one. */
export const RAN = 'ran:';

/** Whether a live id says that nothing was made, since an earlier run stands for this one. */
export function isRunAlready(ref: string | undefined): boolean {
  return ref?.startsWith(RAN) === true;
}

/** Whether a container with this state came to its end. */
export function hasEnded(status: string): boolean {
  return status === 'exited' || status === 'dead';
}

/** Whether a container was made by a job, as opposed to a `docker.container`. */
export function isOfJob(labels: ContainerEntry['Labels']): boolean {
  return createdAt(labels)?.startsWith('docker.job.') === true;
}

/** All containers that this job left: its present one, those of failed runs and those that are kept. */
export async function containersOfJob(
  world: World,
  of: { readonly address: Operation['address']; readonly mark: Mark; readonly id?: string },
  signal: AbortSignal,
): Promise<readonly (ContainerEntry & { readonly name: string })[]> {
  const list = await world.containers(signal);
  return list
    .filter(({ Labels }) => isMarked(Labels, of.mark) && createdAt(Labels) === of.address)
    .map((entry) => ({ ...entry, name: entry.Names[0]?.slice(1) ?? '' }));
}

/** The containers of a job under its own name: those of runs whose end nobody was told of yet, but for the one that is `collected`. */
export async function leftRuns(
  world: World,
  of: Parameters<typeof containersOfJob>[1],
  collected: string | undefined,
  signal: AbortSignal,
): ReturnType<typeof containersOfJob> {
  return (await containersOfJob(world, of, signal)).filter((entry) => entry.Id !== collected && !isLeftName(entry.name, entry.Id));
}
