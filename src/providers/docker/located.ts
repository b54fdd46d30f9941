import type { ObjectQuery } from '../contract.ts';
import { containersOfJob, isOfJob } from './job/traces.ts';
import { markedId, ownerOf } from './marks.ts';
import type { ContainerReply } from './wire.ts';
import type { World } from './world.ts';

/** The container that a query means, when it is ours: that of the recorded live id, else the one with our mark. Of a job, that of its latest run. */
export async function locateContainer(query: ObjectQuery, world: World, signal: AbortSignal): Promise<ContainerReply | undefined> {
  if ((query.type as string) === 'docker.job') {
    const runs = (await containersOfJob(world, query, signal)).toSorted((a, b) => b.Created - a.Created);
    const [latest] = runs;
    if (latest !== undefined) return world.container(latest.Id, signal);
  }
  const recorded = query.ref === undefined ? undefined : await world.container(query.ref, signal);
  if (recorded !== undefined) {
    return ownerOf(recorded.Config.Labels, query.mark, recorded.Id === query.ref) === 'ours' ? recorded : undefined;
  }
  const marked = (await world.containers(signal)).find(
    ({ Labels }) =>
      query.id !== undefined && markedId(Labels) === query.id && !isOfJob(Labels) && ownerOf(Labels, query.mark, false) === 'ours',
  );
  return marked === undefined ? undefined : world.container(marked.Id, signal);
}
