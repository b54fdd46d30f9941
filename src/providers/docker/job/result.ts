import { digestOf } from '../../../core/canonical.ts';
import type { Plain } from '../../../core/value.ts';
import { ProviderError, type Receipt } from '../../contract.ts';
import type { Acting } from '../acting.ts';
import { mapOf } from '../container/create-options.ts';
import { renameContainer } from '../containers.ts';
import { RUN_LABELS } from '../marks.ts';
import { asideName, isFailedName } from '../naming.ts';
import { removeContainer } from '../removal.ts';
import type { ContainerReply } from '../wire.ts';
import { markFailed, requireSuccess } from './ending.ts';
import { readReceipt } from './receipt.ts';
import { OUTSIDE } from './schema.ts';
import { containersOfJob, hasEnded } from './traces.ts';

/** The result of an ended run. Throws `NOT_READY` when it failed, and `INVALID` when its receipt is wrong. */
export async function collectRun(acting: Acting, container: ContainerReply): Promise<Receipt> {
  const { operation } = acting;
  await requireSuccess(acting, container);
  const result = await resultOf(acting, container);
  const { [RUN_LABELS.inputs]: inputs, [RUN_LABELS.request]: request } = container.Config.Labels;
  const digest = inputs ?? inputsDigest(acting);
  const facts = { result, exit_code: 0, finished_at: container.State.FinishedAt };
  const completed = operation.desired['run'] === 'once' ? { ...mapOf(operation.computed?.['completed']), [digest]: facts } : {};
  await prune(acting, container.Id);
  const about = { inputs_digest: digest, container: container.Id, request: request ?? null };
  return { ref: container.Id, computed: { ...facts, ...about, completed } };
}

/** A run with a wrong receipt failed. What only kept the receipt from being read says nothing of the run. */
async function resultOf(acting: Acting, container: ContainerReply): Promise<Plain> {
  try {
    return await readReceipt(acting, container);
  } catch (error) {
    if (error instanceof ProviderError && error.code === 'INVALID') await markFailed(acting, container);
    throw error;
  }
}

/** Removes what failed runs left, and the oldest completed runs beyond those that are kept. */
async function prune(acting: Acting, present: string): Promise<void> {
  const { operation, world, io } = acting;
  world.refresh();
  const others = (await containersOfJob(world, operation, io.signal)).filter((entry) => entry.Id !== present && hasEnded(entry.State));
  const failed = others.filter((entry) => isFailedName(entry.name, entry.Id));
  const done = others.filter((entry) => !failed.includes(entry)).toSorted((a, b) => b.Created - a.Created);
  for (const { Id } of [...failed, ...done.slice(keepOf(acting))]) await removeContainer(acting, await world.container(Id, io.signal));
}

/** Gives a completed run's container another name, so that the next one can have its own. */
export async function setAside(acting: Acting, container: ContainerReply): Promise<void> {
  const aside = asideName(String(acting.operation.desired['name']), container.Id);
  if (container.Name !== aside) await renameContainer(acting, container, aside);
}

/** How many containers of earlier completed runs stay. */
export function keepOf(acting: Acting): number {
  const { keep } = acting.operation.desired;
  return typeof keep === 'number' ? keep : 0;
}

/** The digest of everything that the process is given, secrets as keyed fingerprints. */
export function inputsDigest(acting: Acting): string {
  return digestOf(Object.fromEntries(Object.entries(acting.operation.sealed).filter(([name]) => !OUTSIDE.has(name))));
}
