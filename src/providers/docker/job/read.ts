import type { Found, ObjectQuery, Observed } from '../../contract.ts';
import { liveContainer } from '../container/live.ts';
import { tellUnnamed } from '../container/unnamed.ts';
import { madeWith, withGifts } from '../gifts.ts';
import { bareText } from '../lift.ts';
import { markedId, ownerOf, RUN_LABELS } from '../marks.ts';
import { isFailedName } from '../naming.ts';
import type { ContainerReply } from '../wire.ts';
import type { World } from '../world.ts';
import { declaredId, declaredRef } from './modes.ts';
import { isRunAlready, leftRuns } from './traces.ts';

/**
 * Reads a job. A completed run is what the state says of it, whether its container is still there or not: nothing that happens to a container
 * which has ended is drift. What no record knows is told from its container. A job that is run on request is what its record says.
 */
export async function readJob(query: ObjectQuery, world: World, signal: AbortSignal): Promise<Observed> {
  const { ref, recorded } = query;
  const declared = declaredId(ref);
  if (ref !== undefined && declared !== undefined && recorded !== undefined) {
    const { attributes, computed } = recorded;
    const collected = bareText(computed['container']);
    const isLeft = (await leftRuns(world, query, collected, signal)).length > 0;
    const dormant = isLeft ? { dormant: { reason: 'the end of a run was told to nobody yet' } } : {};
    return { kind: 'found', owner: 'ours', ref, id: declared, attributes, computed, ...dormant };
  }
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
    ...live
  } = liveContainer({
    container,
    image,
    info,
    peers: [],
  });
  const seen = { ref: container.Id, id, names: ['shm_size', 'ulimits'] };
  const attributes = withGifts(tellUnnamed(live, madeWith(query, seen)), query, seen);
  return {
    kind: 'found',
    owner: ownerOf(labels, query.mark, container.Id === query.ref),
    // A job that is run on request has no object but its record, and its runs bear its id.
    ref: id !== undefined && labels[RUN_LABELS.run] !== undefined ? declaredRef(id) : container.Id,
    ...(id === undefined ? {} : { id }),
    // That it was renamed when its failure was told is no difference.
    attributes: isFailedName(container.Name, container.Id) ? { ...attributes, name: query.identity ?? container.Name } : attributes,
    computed: {},
    dormant: { reason: 'its result was not collected yet' },
  };
}
