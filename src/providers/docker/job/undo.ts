import type { Undoing } from '../acting.ts';
import { ours, present, renameContainer } from '../containers.ts';
import { isAsideName, isFailedName } from '../naming.ts';
import { removeContainer } from '../removal.ts';

/**
 * Takes back one effect of a `docker.job` that did not run yet: its container goes, and the one before it has its name again. What a run did
 * stays, and so does what tells of it.
 */
export async function undoJob(acting: Undoing): Promise<void> {
  const { effect, ref, before } = acting.operation;
  switch (effect.name) {
    case 'create': {
      const made = await present(acting);
      if (made?.State.Status === 'created') await removeContainer(acting, made);
      return;
    }
    case 'set-aside':
    case 'update': {
      const container = await ours(acting, ref);
      const name = before?.['name'];
      if (container === undefined || typeof name !== 'string' || isFailedName(container.Name, container.Id)) return;
      if (effect.name === 'set-aside' && !isAsideName(container.Name, container.Id)) return;
      if (container.Name !== name) await renameContainer(acting, container, name);
      return;
    }
    case 'fetch':
    case 'declare':
      return;
    default:
      throw new Error(`docker.job knows no way back from ${effect.name}`);
  }
}
