import type { Found, ObjectQuery, Observed } from '../../contract.ts';
import { liveContainer } from '../container/live.ts';
import { bareText } from '../lift.ts';
import { markedId, ownerOf } from '../marks.ts';
import { isFailedName } from '../naming.ts';
import type { ContainerReply } from '../wire.ts';
import type { World } from '../world.ts';
import { isRunAlready } from './traces.ts';

/**
 * Reads a job. A completed run is what the state says of it, whether its container is still there or not: nothing that happens to a container
 * which has ended is drift. What no record knows is told from its container.
 */
export async function readJob(query: ObjectQuery, world: World, signal: AbortSignal): Promise<Observed> {
  const { ref, recorded } = query;
  const container = ref === undefined || isRunAlready(ref) ? undefined : await world.container(ref, signal);
  if (ref !== undefined && recorded !== undefined) {
    const about = bareText(recorded.computed['container']);
    const isCompleted = recorded.computed['finished_at'] !== undefined && about === ref;
    if (isCompleted || isRunAlready(ref) || (container !== undefined && about === ref)) {
      const id = query.id === undefined ? {} : { id: query.id };
      return { kind: 'found', owner: 'ours', ref, ...id, attributes: recorded.attributes, computed: recorded.computed };
    }
  }
  const found = container ?? (await findRun(query, world, signal));
  return found === undefined ? { kind: 'absent' } : observeRun(found, query, world, signal);
}

async function findRun(query: ObjectQuery, world: World, signal: AbortSignal): Promise<ContainerReply | undefined> {
  const list = await world.containers(signal);
  const entry =
    list.find(
      (other) => query.id !== undefined && markedId(other.Labels) === query.id && !other.Names.some((name) => isFailedName(name, other.Id)),
    ) ?? list.find((other) => other.Names.includes(`/${query.identity}`));
  return entry === undefined ? undefined : world.container(entry.Id, signal);
}

async function observeRun(container: ContainerReply, query: ObjectQuery, world: World, signal: AbortSignal): Promise<Found> {
  const [image, info] = await Promise.all([world.image(container.Image, signal), world.info(signal)]);
  const labels = container.Config.Labels;
  const id = markedId(labels);
  const {
    restart: _restart,
    ports: _ports,
    expose: _expose,
    healthcheck: _check,
    ...attributes
  } = liveContainer({
    container,
    image,
    info,
    peers: [],
  });
  return {
    kind: 'found',
    owner: ownerOf(labels, query.mark, container.Id === query.ref),
    ref: container.Id,
    ...(id === undefined ? {} : { id }),
    // That it was renamed when its failure was told is no difference.
    attributes: isFailedName(container.Name, container.Id) ? { ...attributes, name: query.identity ?? container.Name } : attributes,
    computed: {},
    dormant: { reason: 'its result was not collected yet' },
  };
}
