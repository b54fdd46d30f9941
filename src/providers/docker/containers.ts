import type { AttributePath } from '../../core/path.ts';
import { ProviderError, type Receipt } from '../contract.ts';
import { type Acting, foreign, isThisOne, requireOurs } from './acting.ts';
import { requireNetwork, syncNetworks } from './attachments.ts';
import { anonymousVolumes, dropVolumes, renewsVolumes, withCarriedVolumes } from './container/anonymous.ts';
import { createRequest, listOf, mapOf } from './container/create-options.ts';
import { limitUpdate, liveLimits, restartOption } from './container/limits.ts';
import { statusOf } from './errors.ts';
import { copyFiles } from './files.ts';
import { ensureImage } from './images.ts';
import { compact } from './lift.ts';
import { isMarked, ownerLabels } from './marks.ts';
import { asideName, isAsideName } from './naming.ts';
import { awaitReady, requireHealthcheck } from './ready.ts';
import { removeContainer, setRestartPolicy, withdrawContainer } from './removal.ts';
import { type ContainerReply, createdReply } from './wire.ts';

const REQUEST_TIMEOUT = 30_000;

/** Does one effect of a `docker.container`. Every one looks first whether it is done already. */
export async function performContainer(acting: Acting): Promise<Receipt> {
  const { operation } = acting;
  try {
    switch (operation.effect.name) {
      case 'fetch':
        // An image that only another step of this run will tell is the business of that step.
        if (operation.desired['image'] === undefined) return {};
        requireHealthcheck(acting, await acting.world.image(await ensureImage(acting), acting.io.signal));
        return {};
      case 'create':
        return await createContainer(acting);
      case 'start':
        await startContainer(acting, await requirePresent(acting));
        return {};
      case 'resume':
        await resumeContainer(acting, await requirePresent(acting));
        return {};
      case 'ready':
        return await awaitReady(acting, await requirePresent(acting));
      case 'update':
        await updateContainer(acting, await requirePresent(acting));
        return {};
      case 'stop':
      case 'halt':
        await withdrawContainer(acting, await present(acting));
        return {};
      case 'set-aside':
        await setAside(acting);
        return {};
      case 'remove':
        await endContainer(acting, await present(acting));
        return {};
      case 'retire':
        // By its live id alone: the mark that goes with this effect may be the successor's.
        await withdrawContainer(acting, await ours(acting, operation.ref));
        await endContainer(acting, await ours(acting, operation.ref));
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
  const container = await makeContainer(acting, { name, hidden: ['environment', 'secrets', 'configs'], inherits: true });
  return { ref: container.Id };
}

/** How a container is made. */
export interface Making {
  readonly name: string;
  /** Attributes that may hold secrets, for the digest in its mark. */
  readonly hidden: readonly AttributePath[];
  /** Whether it takes over the anonymous volumes of its predecessors. */
  readonly inherits: boolean;
  /** Labels of ours beside those of the owner. */
  readonly labels?: { readonly [name: string]: string };
}

/** Makes a container of what is desired, with its files and networks; it does not run yet. The name has to be free. */
export async function makeContainer(acting: Acting, { name, hidden, inherits, labels: more }: Making): Promise<ContainerReply> {
  const { operation, client, world, io } = acting;
  const image = await ensureImage(acting);
  await requireVolumes(acting);
  world.refresh();
  for (const network of Object.keys(mapOf(operation.desired['networks']))) await requireNetwork(acting, network);
  const labels = { ...ownerLabels(operation, hidden), ...more };
  const desired = inherits ? await withCarriedVolumes(acting, await world.image(image, io.signal)) : operation.desired;
  const body = createRequest(desired, image, labels);
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

/** Starts a container with everything that it needs before its first start; one that runs stays as it is. */
export async function startContainer(acting: Acting, container: ContainerReply): Promise<void> {
  const { client, io } = acting;
  const { Status } = container.State;
  if (Status === 'running' || Status === 'restarting') return;
  await complete(acting, container);
  const verb = Status === 'paused' ? 'unpause' : 'start';
  await client.post(`/containers/${container.Id}/${verb}`, {
    signal: io.signal,
    doing: `${verb} the container ${container.Name}`,
    timeout: 2 * REQUEST_TIMEOUT,
  });
}

/** Starts a container that was halted, with the restart policy that its document says. */
async function resumeContainer(acting: Acting, container: ContainerReply): Promise<void> {
  await setRestartPolicy(acting, container, restartOption(acting.operation.desired['restart']));
  await startContainer(acting, container);
}

/** Renames, sets limits and restart policy, and brings the networks to what is desired. */
export async function updateContainer(acting: Acting, container: ContainerReply): Promise<void> {
  const { operation, client, world, io } = acting;
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
}

/** Gives a container another name; one that has it already, whatever was known of it, is left as it is. */
export async function renameContainer(acting: Acting, container: ContainerReply, name: string): Promise<void> {
  const { client, world, io } = acting;
  try {
    await client.post(`/containers/${container.Id}/rename`, {
      signal: io.signal,
      doing: `rename the container ${container.Name} to ${name}`,
      query: { name },
    });
  } catch (error) {
    // The engine refuses a name that the container has already.
    const isRefused = statusOf(error) === 400 || statusOf(error) === 409;
    if (!isRefused || (await world.container(container.Id, io.signal))?.Name !== name) throw error;
  }
}

/** Renames the present container out of the way. One that goes on beside its successor is not moved without that one's image. */
async function setAside(acting: Acting): Promise<void> {
  const goesOn = acting.operation.effect.part === 'apply';
  const container = goesOn ? await requirePresent(acting) : await present(acting);
  if (container === undefined) return;
  if (goesOn) await ensureImage(acting);
  if (!isAsideName(container.Name, container.Id)) await renameContainer(acting, container, asideName(container.Name, container.Id));
}

/** Removes a container that was stopped. Its anonymous volumes stay, unless the document says that they are worth nothing. */
async function endContainer(acting: Acting, container: ContainerReply | undefined): Promise<void> {
  await removeContainer(acting, container);
  if (container !== undefined && renewsVolumes(acting)) await dropVolumes(acting, Object.values(anonymousVolumes(container)));
}

/** The container of a live id as it is now; undefined when it is gone. Throws `FOREIGN` when it is not ours. */
export async function ours(acting: Acting, ref: string | undefined): Promise<ContainerReply | undefined> {
  const { operation, world, io } = acting;
  const container = ref === undefined ? undefined : await world.container(ref, io.signal);
  if (container === undefined) return undefined;
  requireOurs({ kind: 'container', name: container.Name, ref: container.Id, labels: container.Config.Labels }, operation);
  return container;
}

/** The present container: that of the recorded live id, or, when somebody made it anew under our mark or the id was lost, that with our mark. */
export async function present(acting: Acting): Promise<ContainerReply | undefined> {
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
