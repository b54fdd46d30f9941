import type { AttributePath } from '../../core/path.ts';
import { ProviderError, type Receipt } from '../contract.ts';
import { type Acting, foreign, isThisOne, requireOurs } from './acting.ts';
import { requireNetwork, syncNetworks } from './attachments.ts';
import { createRequest, listOf, mapOf } from './container/create-options.ts';
import { limitUpdate, liveLimits } from './container/limits.ts';
import { isBeingRemoved, isNotFound } from './errors.ts';
import { copyFiles } from './files.ts';
import { ensureImage } from './images.ts';
import { compact } from './lift.ts';
import { isMarked, ownerLabels } from './marks.ts';
import { asideName } from './naming.ts';
import { awaitReady } from './ready.ts';
import { type ContainerReply, createdReply } from './wire.ts';

const REQUEST_TIMEOUT = 30_000;
const REMOVAL_TIMEOUT = 60_000;

/** Does one effect of a `docker.container`. Every one looks first whether it is done already. */
export async function performContainer(acting: Acting): Promise<Receipt> {
  const { operation } = acting;
  try {
    switch (operation.effect.name) {
      case 'fetch':
        // An image that only another step of this run will tell is the business of that step.
        if (operation.desired['image'] !== undefined) await ensureImage(acting);
        return {};
      case 'create':
        return await createContainer(acting);
      case 'start':
        return await startContainer(acting);
      case 'ready':
        return await awaitReady(acting, await requirePresent(acting));
      case 'update':
        return await updateContainer(acting);
      case 'stop':
        await stopContainer(acting, await present(acting));
        return {};
      case 'set-aside':
        return await setAside(acting);
      case 'remove':
        await removeContainer(acting, await present(acting));
        return {};
      case 'retire':
        // By its live id alone: the mark that goes with this effect may be the successor's.
        await stopContainer(acting, await ours(acting, operation.ref));
        await removeContainer(acting, await ours(acting, operation.ref));
        return {};
      default:
        throw new Error(`docker.container has no effect ${operation.effect.name}`);
    }
  } finally {
    acting.world.refresh();
  }
}

async function createContainer(acting: Acting): Promise<Receipt> {
  const { operation } = acting;
  const name = String(operation.desired['name']);
  const made = await occupant(acting, name);
  if (made !== undefined) {
    await complete(acting, made);
    return { ref: made.Id };
  }
  const container = await makeContainer(acting, name, ['environment', 'secrets', 'configs']);
  return { ref: container.Id };
}

/**
 * Makes a container of what is desired, with its files and networks; it does not run yet. The name has to be free. `hidden` names attributes
 * that may hold secrets, for the digest in its mark.
 */
export async function makeContainer(acting: Acting, name: string, hidden: readonly AttributePath[]): Promise<ContainerReply> {
  const { operation, client, world, io } = acting;
  const image = await ensureImage(acting);
  await requireVolumes(acting);
  world.refresh();
  for (const network of Object.keys(mapOf(operation.desired['networks']))) await requireNetwork(acting, network);
  const labels = ownerLabels(operation, hidden);
  const body = createRequest(operation.desired, image, labels);
  const platform = operation.desired['platform'];
  const reply = await client.post('/containers/create', {
    signal: io.signal,
    doing: `create the container ${name}`,
    query: { name, ...(typeof platform === 'string' ? { platform } : {}) },
    body,
  });
  const { Id } = createdReply.parse(reply);
  const container = await world.container(Id, io.signal);
  if (container === undefined) throw new ProviderError('UNKNOWN_OUTCOME', `The container ${name} was created and is gone again.`);
  await complete(acting, container);
  return container;
}

/** What a new container needs before its first start: its files and its further networks. */
export async function complete(acting: Acting, container: ContainerReply): Promise<void> {
  if (container.State.Status !== 'created') return;
  await copyFiles(acting, container);
  await syncNetworks(acting, container);
}

/**
 * The container of this very change, when an earlier try made it; undefined when the name is free. Throws when the name belongs to another
 * container.
 */
async function occupant(acting: Acting, name: string): Promise<ContainerReply | undefined> {
  const { operation, world, io } = acting;
  world.refresh();
  const list = await world.containers(io.signal);
  const made = list.find((entry) => isThisOne(entry.Labels, operation));
  if (made !== undefined) return world.container(made.Id, io.signal);
  const other = list.find((entry) => entry.Names.includes(`/${name}`));
  if (other === undefined) return undefined;
  if (!isMarked(other.Labels, operation.mark)) throw foreign({ kind: 'container', name });
  throw new ProviderError('CONFLICT', `The name ${name} belongs to another container of this environment.`, {
    next: `docker container inspect ${name}`,
  });
}

/** A named volume that is missing would be made by the engine without a mark of ours, so it has to be there. */
async function requireVolumes(acting: Acting): Promise<void> {
  for (const mount of listOf(acting.operation.desired['volumes']).map(mapOf)) {
    if (mount['type'] !== 'volume' || typeof mount['source'] !== 'string') continue;
    if ((await acting.world.volume(mount['source'], acting.io.signal)) !== undefined) continue;
    throw new ProviderError('NOT_FOUND', `There is no volume ${mount['source']} on the engine.`, {
      next: 'Declare it as a docker.volume and refer to its name.',
    });
  }
}

async function startContainer(acting: Acting): Promise<Receipt> {
  const { client, io } = acting;
  const container = await requirePresent(acting);
  const { Status } = container.State;
  if (Status === 'running' || Status === 'restarting') return {};
  await complete(acting, container);
  const verb = Status === 'paused' ? 'unpause' : 'start';
  await client.post(`/containers/${container.Id}/${verb}`, {
    signal: io.signal,
    doing: `${verb} the container ${container.Name}`,
    timeout: 2 * REQUEST_TIMEOUT,
  });
  return {};
}

/** Renames, sets limits and restart policy, and brings the networks to what is desired. */
async function updateContainer(acting: Acting): Promise<Receipt> {
  const { operation, client, world, io } = acting;
  const container = await requirePresent(acting);
  const name = String(operation.desired['name']);
  if (container.Name !== name) await renameContainer(acting, container, name);
  const info = await world.info(io.signal);
  const present = compact(liveLimits(container.HostConfig, info).own);
  await client.post(`/containers/${container.Id}/update`, {
    signal: io.signal,
    doing: `update the container ${name}`,
    body: limitUpdate(operation.desired, present, info),
  });
  await syncNetworks(acting, container);
  return {};
}

/** Gives a container another name. */
export async function renameContainer(acting: Acting, container: ContainerReply, name: string): Promise<void> {
  await acting.client.post(`/containers/${container.Id}/rename`, {
    signal: acting.io.signal,
    doing: `rename the container ${container.Name} to ${name}`,
    query: { name },
  });
}

/** Renames the present container out of the way. Without the successor's image nothing is moved. */
async function setAside(acting: Acting): Promise<Receipt> {
  const container = await requirePresent(acting);
  await ensureImage(acting);
  const aside = asideName(String(acting.operation.desired['name']), container.Id);
  if (container.Name !== aside) await renameContainer(acting, container, aside);
  return {};
}

/** Stops a container in its own way and time; one that does not run stays as it is. */
export async function stopContainer(acting: Acting, container: ContainerReply | undefined): Promise<void> {
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

/** Removes a container that was stopped. Its anonymous volumes stay: they may hold data. */
export async function removeContainer(acting: Acting, container: ContainerReply | undefined): Promise<void> {
  if (container === undefined) return;
  try {
    await acting.client.remove(`/containers/${container.Id}`, {
      signal: acting.io.signal,
      doing: `remove the container ${container.Name}`,
      query: { v: false, force: false },
      timeout: REMOVAL_TIMEOUT,
    });
  } catch (error) {
    if (isNotFound(error)) return;
    if (!isBeingRemoved(error)) throw error;
    await untilGone(acting, container.Id);
  }
}

async function untilGone(acting: Acting, id: string): Promise<void> {
  const { world, io } = acting;
  const deadline = io.clock.monotonic() + REMOVAL_TIMEOUT;
  while ((await world.container(id, io.signal)) !== undefined) {
    if (io.clock.monotonic() > deadline) throw new ProviderError('TIMEOUT', 'The engine is removing the container, but does not get done.');
    await io.clock.sleep(200, io.signal);
  }
}

/** The container of a live id as it is now; undefined when it is gone. Throws `FOREIGN` when it is not ours. */
async function ours(acting: Acting, ref: string | undefined): Promise<ContainerReply | undefined> {
  const { operation, world, io } = acting;
  const container = ref === undefined ? undefined : await world.container(ref, io.signal);
  if (container === undefined) return undefined;
  requireOurs({ kind: 'container', name: container.Name, ref: container.Id, labels: container.Config.Labels }, operation);
  return container;
}

/** The present container: that of the recorded live id, or, when somebody made it anew under our mark or the id was lost, that with our mark. */
async function present(acting: Acting): Promise<ContainerReply | undefined> {
  const { operation, world, io } = acting;
  const recorded = await ours(acting, operation.ref);
  if (recorded !== undefined) return recorded;
  world.refresh();
  const marked = (await world.containers(io.signal)).find((entry) => isThisOne(entry.Labels, operation));
  return ours(acting, marked?.Id);
}

async function requirePresent(acting: Acting): Promise<ContainerReply> {
  const container = await present(acting);
  if (container !== undefined) return container;
  throw new ProviderError('NOT_FOUND', `The container of ${acting.operation.address} is no longer there.`, { next: 'accede plan' });
}
