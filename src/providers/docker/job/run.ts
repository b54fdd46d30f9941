import { ProviderError, type Receipt } from '../../contract.ts';
import { type Acting, foreign, isThisOne, requireOurs } from '../acting.ts';
import { mapOf } from '../container/create-options.ts';
import { complete, makeContainer, renameContainer } from '../containers.ts';
import { ensureImage } from '../images.ts';
import { isMarked, RUN_LABELS } from '../marks.ts';
import { isFailedName } from '../naming.ts';
import { removeContainer, stopContainer } from '../removal.ts';
import type { ContainerReply } from '../wire.ts';
import { failure, gone, markFailed, requireSuccess, STOPPED_CODE, timeoutOf, untilEnded } from './ending.ts';
import { declaredId } from './modes.ts';
import { awaitLeft, clearRuns, declare, settleLeft } from './on-request.ts';
import { compileReceiptSchema } from './receipt-schema.ts';
import { collectRun, inputsDigest, keepOf, setAside } from './result.ts';
import { containersOfJob, isRunAlready, RAN } from './traces.ts';

const START_TIMEOUT = 60_000;

/** Attributes that may hold secrets, for the digest in the mark. */
const HIDDEN = ['environment', 'secrets', 'configs', 'command', 'entrypoint', 'inputs'];

/** Does one effect of a `docker.job`. Every one looks first at what the container did already: a run is never begun twice for one change. */
export async function performJob(acting: Acting): Promise<Receipt> {
  const { operation } = acting;
  acting.world.refresh();
  try {
    switch (operation.effect.name) {
      case 'fetch':
        if (operation.desired['image'] !== undefined) await ensureImage(acting);
        if (typeof operation.desired['schema'] === 'string') await compileReceiptSchema(operation.desired['schema']);
        return {};
      case 'create':
        return await create(acting);
      case 'start':
        return await start(acting);
      case 'wait':
        return await awaitEnd(acting);
      case 'collect':
        return await collect(acting);
      case 'update':
        return await update(acting);
      case 'declare':
        return declare(operation);
      case 'await':
        return await awaitLeft(acting);
      case 'settle':
        return await settleLeft(acting);
      case 'set-aside':
      case 'clear':
        await (operation.request !== undefined || declaredId(operation.ref) !== undefined ? clearRuns(acting) : clear(acting));
        return {};
      case 'retire':
        await retire(acting);
        return {};
      case 'stop':
        await stopContainer(acting, (await ours(acting)) ?? (await currentRun(acting)));
        return {};
      case 'remove':
        await removeAll(acting);
        return {};
      default:
        throw new Error(`docker.job has no effect ${operation.effect.name}`);
    }
  } finally {
    acting.world.refresh();
  }
}

/** Makes the container. With `once` and inputs that a run completed with before, that run stands for this one and nothing is made. */
async function create(acting: Acting): Promise<Receipt> {
  const { operation } = acting;
  const completed = mapOf(operation.computed?.['completed']);
  const digest = inputsDigest(acting);
  if (operation.desired['run'] === 'once' && completed[digest] !== undefined) {
    return { ref: `${RAN}${digest}`, computed: { container: `${RAN}${digest}`, completed } };
  }
  const made = await currentRun(acting);
  if (made !== undefined) await complete(acting, made);
  const container = made ?? (await make(acting));
  return { ref: container.Id, computed: { container: container.Id, completed } };
}

async function make(acting: Acting): Promise<ContainerReply> {
  const { operation, world, io } = acting;
  const name = String(operation.desired['name']);
  const other = (await world.containers(io.signal)).find((entry) => entry.Names.includes(`/${name}`));
  if (other === undefined) return makeContainer(acting, { name, hidden: HIDDEN, inherits: false, labels: runLabels(acting) });
  if (!isMarked(other.Labels, operation.mark)) throw foreign({ kind: 'container', name });
  throw new ProviderError('CONFLICT', `The name ${name} belongs to another container of this environment.`, {
    next: `docker container inspect ${name}`,
  });
}

/** Starts the container where it did not start yet. One whose failure was told is left for reading, and a new one takes its place. */
async function start(acting: Acting): Promise<Receipt> {
  const { operation, client, io } = acting;
  if (isRunAlready(operation.ref)) return {};
  const container = (await currentRun(acting)) ?? (await make(acting));
  if (container.State.Status !== 'created') return { ref: container.Id };
  await complete(acting, container);
  await client.post(`/containers/${container.Id}/start`, {
    signal: io.signal,
    doing: `start the job ${container.Name}`,
    timeout: START_TIMEOUT,
  });
  return { ref: container.Id };
}

/** Waits for the end of the run. Throws `NOT_READY` when it ends with another code than 0, and `TIMEOUT` after stopping it when its time is over. */
async function awaitEnd(acting: Acting): Promise<Receipt> {
  const { operation, io } = acting;
  if (isRunAlready(operation.ref)) return {};
  const began = io.clock.monotonic();
  const ended = await untilEnded(acting, await requireRun(acting), timeoutOf(acting));
  if (ended.kind === 'late') {
    await stopContainer(acting, ended.container);
    throw await failure(
      acting,
      ended.container,
      'TIMEOUT',
      `did not end within ${timeoutOf(acting) / 1000} s and was stopped`,
      STOPPED_CODE,
    );
  }
  await requireSuccess(acting, ended.container);
  return { figures: { milliseconds: Math.round(io.clock.monotonic() - began) } };
}

/** Checks the receipt and tells the result; then the containers of failed runs go, and those of completed ones that are too many. */
async function collect(acting: Acting): Promise<Receipt> {
  const { operation } = acting;
  const completed = mapOf(operation.computed?.['completed']);
  const digest = inputsDigest(acting);
  const before = completed[digest];
  if (isRunAlready(operation.ref)) {
    return { computed: { ...mapOf(before), inputs_digest: digest, container: operation.ref ?? '', request: null, completed } };
  }
  return collectRun(acting, await requireRun(acting));
}

async function update(acting: Acting): Promise<Receipt> {
  const container = await ours(acting);
  const name = String(acting.operation.desired['name']);
  if (container === undefined || isFailedName(container.Name, container.Id) || container.Name === name) return {};
  await renameContainer(acting, container, name);
  return {};
}

/**
 * Makes room for the next run. One that is still going on is let come to its end, for its own time: nothing is cut off in the middle. One that
 * failed stays for reading, one that completed as long as it is kept.
 */
async function clear(acting: Acting): Promise<void> {
  const present = await ours(acting);
  if (present === undefined || isFailedName(present.Name, present.Id)) return;
  if (present.State.Status === 'created') {
    await removeContainer(acting, present);
    return;
  }
  const { kind, container } = await untilEnded(acting, present, timeoutOf(acting));
  if (kind === 'late') await stopContainer(acting, container);
  if (kind === 'late' || container.State.ExitCode !== 0) await markFailed(acting, container);
  else if (keepOf(acting) > 0 || acting.operation.effect.object === 'depose') await setAside(acting, container);
  else await removeContainer(acting, container);
}

async function retire(acting: Acting): Promise<void> {
  const container = await ours(acting);
  if (container === undefined || isFailedName(container.Name, container.Id) || keepOf(acting) > 0) return;
  await removeContainer(acting, container);
}

/** Removes the present container, and with it those that earlier runs left. */
async function removeAll(acting: Acting): Promise<void> {
  const { operation, world, io } = acting;
  const present = await ours(acting);
  await removeContainer(acting, present);
  world.refresh();
  for (const { Id } of await containersOfJob(world, operation, io.signal)) {
    await stopContainer(acting, await world.container(Id, io.signal));
    await removeContainer(acting, await world.container(Id, io.signal));
  }
}

/** The container of the recorded live id; undefined when it is gone. Throws `FOREIGN` when it is not ours. */
async function ours(acting: Acting): Promise<ContainerReply | undefined> {
  const { operation, world, io } = acting;
  if (operation.ref === undefined || isRunAlready(operation.ref) || declaredId(operation.ref) !== undefined) return undefined;
  const container = await world.container(operation.ref, io.signal);
  if (container === undefined) return undefined;
  requireOurs({ kind: 'container', name: container.Name, ref: container.Id, labels: container.Config.Labels }, operation);
  return container;
}

/** The container of this very run, made by this or by a broken-off apply; one whose failure was told is none. */
async function currentRun(acting: Acting): Promise<ContainerReply | undefined> {
  const { operation, world, io } = acting;
  const recorded = await ours(acting);
  if (recorded !== undefined && !isFailedName(recorded.Name, recorded.Id)) return recorded;
  world.refresh();
  const made = (await containersOfJob(world, operation, io.signal)).find(
    (entry) => isThisRun(entry.Labels, operation) && !isFailedName(entry.name, entry.Id),
  );
  return made === undefined ? undefined : world.container(made.Id, io.signal);
}

/** Every container of a job that is run on request has the same id of ours, so that such a run is told by an id of its own. */
function isThisRun(labels: ContainerReply['Config']['Labels'], operation: Acting['operation']): boolean {
  return operation.request === undefined ? isThisOne(labels, operation) : labels[RUN_LABELS.run] === operation.request.id;
}

function runLabels(acting: Acting): { readonly [name: string]: string } {
  const { request } = acting.operation;
  if (request === undefined) return {};
  return { [RUN_LABELS.run]: request.id, [RUN_LABELS.inputs]: inputsDigest(acting), [RUN_LABELS.request]: request.fingerprint };
}

async function requireRun(acting: Acting): Promise<ContainerReply> {
  const container = await currentRun(acting);
  if (container === undefined) throw gone(acting);
  return container;
}
