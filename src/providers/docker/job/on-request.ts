import { type Operation, ProviderError, type Receipt } from '../../contract.ts';
import type { Acting } from '../acting.ts';
import { RUN_LABELS } from '../marks.ts';
import { removeContainer, stopContainer } from '../removal.ts';
import type { ContainerReply } from '../wire.ts';
import { markFailed, timeoutOf, untilEnded } from './ending.ts';
import { declaredRef } from './modes.ts';
import { collectRun, keepOf, setAside } from './result.ts';
import { leftRuns } from './traces.ts';

/** What is recorded of a job that is run on request and never was. */
const NOTHING = { result: null, exit_code: null, finished_at: null, inputs_digest: null, container: null, request: null, completed: {} };

/** Takes over what a job is by now, and makes nothing: its container comes with a run. */
export function declare(operation: Operation): Receipt {
  const isNew = operation.effect.object === 'create' || operation.computed?.['finished_at'] === undefined;
  return { ref: declaredRef(operation.id), computed: isNew ? NOTHING : {} };
}

/** Waits for the end of a run that was left by somebody who died or was stopped. One that did not begin is nothing to wait for. */
export async function awaitLeft(acting: Acting): Promise<Receipt> {
  for (const container of await left(acting)) {
    if (container.State.Status === 'created') continue;
    const { kind } = await untilEnded(acting, container, timeoutOf(acting));
    if (kind === 'late') await stopContainer(acting, container);
  }
  return { ref: declaredRef(acting.operation.id) };
}

/**
 * Deals with what such a run left: one that did not begin is removed, the result of one that completed is taken over, and the container of one
 * that failed stays for reading.
 */
export async function settleLeft(acting: Acting): Promise<Receipt> {
  const ref = declaredRef(acting.operation.id);
  let receipt: Receipt = { ref };
  for (const container of await left(acting)) {
    if (container.State.Status === 'created') await removeContainer(acting, container);
    else receipt = { ...(await resultOrNothing(acting, container)), ref };
  }
  return receipt;
}

async function resultOrNothing(acting: Acting, container: ContainerReply): Promise<Receipt> {
  try {
    return await collectRun(acting, container);
  } catch (error) {
    if (!(error instanceof ProviderError) || (error.code !== 'NOT_READY' && error.code !== 'INVALID')) throw error;
    // Whoever asked for that run is gone; its failure is no failure of this operation.
    await markFailed(acting, container);
    acting.io.progress(error.message);
    return {};
  }
}

/**
 * Makes room for the next run. What goes on is let come to its end, what failed or completed stays as long as it is kept. The container of the
 * run that makes room is left alone.
 */
export async function clearRuns(acting: Acting): Promise<void> {
  const { operation, world, io } = acting;
  for (const { Id, Labels, name } of await leftRuns(world, operation, undefined, io.signal)) {
    const container = await world.container(Id, io.signal);
    if (container === undefined || (operation.request !== undefined && Labels[RUN_LABELS.run] === operation.request.id)) continue;
    if (container.State.Status === 'created') {
      await removeContainer(acting, container);
      continue;
    }
    const { kind, container: ended } = await untilEnded(acting, container, timeoutOf(acting));
    if (kind === 'late') await stopContainer(acting, ended);
    if (kind === 'late' || ended.State.ExitCode !== 0) await markFailed(acting, ended);
    else if (keepOf(acting) > 0) await setAside(acting, { ...ended, Name: name });
    else await removeContainer(acting, ended);
  }
}

/** The containers of runs whose end was told to nobody. */
async function left(acting: Acting): Promise<readonly ContainerReply[]> {
  const { operation, world, io } = acting;
  const container = operation.computed?.['container'];
  const entries = await leftRuns(world, operation, typeof container === 'string' ? container : undefined, io.signal);
  const found: ContainerReply[] = [];
  for (const { Id } of entries) {
    const reply = await world.container(Id, io.signal);
    if (reply !== undefined) found.push(reply);
  }
  return found;
}
