import type { Plain } from '../../../core/value.ts';
import { ProviderError } from '../../contract.ts';
import type { Undoing } from '../acting.ts';
import { ours, present, renameContainer, startContainer, updateContainer } from '../containers.ts';
import { awaitAgain } from '../ready.ts';
import { removeContainer, setRestartPolicy, stopContainer, withdrawContainer } from '../removal.ts';
import type { ContainerReply } from '../wire.ts';
import { dropVolumes, freshVolumes } from './anonymous.ts';
import { restartOption } from './limits.ts';

/**
 * Takes back one effect of a `docker.container`. Every one looks first at what is there: what is as before is left alone. Throws
 * `ProviderError` when the container that should come back is gone.
 */
export async function undoContainer(acting: Undoing): Promise<void> {
  const { effect, ref } = acting.operation;
  switch (effect.name) {
    case 'create':
      await unmake(acting, await present(acting));
      return;
    case 'resume':
      await withdrawContainer(acting, await ours(acting, ref));
      return;
    case 'halt':
    case 'stop':
      await bringBack(acting, requireThere(acting, await ours(acting, ref)));
      return;
    case 'set-aside':
      await stepBack(acting, requireThere(acting, await ours(acting, ref)));
      return;
    case 'update':
      await updateContainer(asBefore(acting, ['name', 'networks']), requireThere(acting, await present(acting)));
      return;
    case 'start':
      // One that was made goes with its container; one that was there and did not run does not run again.
      if (acting.operation.dormant === true) await stopContainer(acting, await ours(acting, ref));
      return;
    case 'fetch':
    case 'ready':
      // An image serves nobody by itself.
      return;
    default:
      throw new Error(`docker.container knows no way back from ${effect.name}`);
  }
}

/** Removes a container that this change made, in its own time, with the volumes that came with it: those that it took over stay. */
async function unmake(acting: Undoing, container: ContainerReply | undefined): Promise<void> {
  if (container === undefined) return;
  await stopContainer(acting, container);
  await removeContainer(acting, container);
  await dropVolumes(acting, freshVolumes(container));
}

/** Gives a container that was taken out of service its restart policy again, and starts it when it ran before. */
async function bringBack(acting: Undoing, container: ContainerReply): Promise<void> {
  const { operation, world, io } = acting;
  await setRestartPolicy(acting, container, restartOption(operation.before?.['restart']));
  if (operation.dormant === true || container.State.Running) return;
  await startContainer(acting, container);
  await awaitAgain(acting, requireThere(acting, await world.container(container.Id, io.signal)));
}

/** Gives a container that stepped aside its name again. */
async function stepBack(acting: Undoing, container: ContainerReply): Promise<void> {
  const name = asBefore(acting, ['name']).operation.desired['name'];
  if (typeof name === 'string' && container.Name !== name) await renameContainer(acting, container, name);
}

/** The same with what was before as what is desired. Throws when one of the attributes that this needs is a secret which nobody knows any more. */
function asBefore(acting: Undoing, needed: readonly string[]): Undoing {
  const { before, sealedBefore } = acting.operation;
  const sealed = needed.find((name) => sealedBefore.includes(name));
  if (before !== undefined && sealed === undefined) {
    const desired: { readonly [name: string]: Plain } = before;
    return { ...acting, operation: { ...acting.operation, desired } };
  }
  const why = sealed === undefined ? 'it is not known what was before' : `its ${sealed} were a secret that is not known any more`;
  throw new ProviderError('INVALID', `The container of ${acting.operation.address} cannot be brought back: ${why}.`, {
    next: 'accede plan',
  });
}

function requireThere(acting: Undoing, container: ContainerReply | undefined): ContainerReply {
  if (container !== undefined) return container;
  throw new ProviderError('NOT_FOUND', `The container of ${acting.operation.address} was removed meanwhile, so it cannot come back.`, {
    next: 'accede plan',
  });
}
