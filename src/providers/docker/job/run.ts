import { digestOf } from '../../../core/canonical.ts';
import type { Plain } from '../../../core/value.ts';
import { ProviderError, type ProviderErrorCode, type Receipt } from '../../contract.ts';
import { type Acting, foreign, isThisOne, requireOurs } from '../acting.ts';
import { mapOf } from '../container/create-options.ts';
import { complete, makeContainer, removeContainer, renameContainer, stopContainer } from '../containers.ts';
import { ensureImage } from '../images.ts';
import { lastLines } from '../logs.ts';
import { isMarked } from '../marks.ts';
import { asideName, failedName, isFailedName } from '../naming.ts';
import type { ContainerReply } from '../wire.ts';
import { readReceipt } from './receipt.ts';
import { compileReceiptSchema } from './receipt-schema.ts';
import { OUTSIDE } from './schema.ts';
import { containersOfJob, hasEnded, isRunAlready, RAN } from './traces.ts';

const DEFAULT_TIMEOUT = 600_000;
const FIRST_LOOK = 100;
const LONGEST_LOOK = 2000;
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
      case 'set-aside':
      case 'clear':
        await clear(acting);
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
  if (other === undefined) return makeContainer(acting, name, HIDDEN);
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
    throw await failure(acting, ended.container, 'TIMEOUT', `did not end within ${timeoutOf(acting) / 1000} s and was stopped`);
  }
  await requireSuccess(acting, ended.container);
  return { figures: { milliseconds: Math.round(io.clock.monotonic() - began) } };
}

type End = { readonly kind: 'ended' | 'late'; readonly container: ContainerReply };

async function untilEnded(acting: Acting, first: ContainerReply, timeout: number): Promise<End> {
  const { world, io } = acting;
  const began = io.clock.monotonic();
  let pause = FIRST_LOOK;
  for (let tries = 1; ; tries++) {
    const container = await world.container(first.Id, io.signal);
    if (container === undefined) throw gone(acting);
    if (hasEnded(container.State.Status)) return { kind: 'ended', container };
    const waited = io.clock.monotonic() - began;
    if (waited >= timeout) return { kind: 'late', container };
    io.progress(`runs for ${Math.floor(waited / 1000)} s`, { tries });
    await io.clock.sleep(Math.min(pause, Math.max(1, timeout - waited)), io.signal);
    pause = Math.min(2 * pause, LONGEST_LOOK);
  }
}

async function requireSuccess(acting: Acting, container: ContainerReply): Promise<void> {
  const { ExitCode, OOMKilled, Error: words } = container.State;
  if (ExitCode === 0) return;
  const memory = OOMKilled ? ' after it ran out of memory' : '';
  throw await failure(acting, container, 'NOT_READY', `ended with code ${ExitCode}${memory}${words === '' ? '' : `: ${words}`}`);
}

/** Checks the receipt and tells the result; then the containers of failed runs go, and those of completed ones that are too many. */
async function collect(acting: Acting): Promise<Receipt> {
  const { operation } = acting;
  const completed = mapOf(operation.computed?.['completed']);
  const digest = inputsDigest(acting);
  const before = completed[digest];
  if (isRunAlready(operation.ref)) {
    return { computed: { ...mapOf(before), inputs_digest: digest, container: operation.ref ?? '', completed } };
  }
  const container = await requireRun(acting);
  await requireSuccess(acting, container);
  const result = await resultOf(acting, container);
  const facts = { result, exit_code: 0, finished_at: container.State.FinishedAt };
  const all = operation.desired['run'] === 'once' ? { ...completed, [digest]: facts } : {};
  await prune(acting, container.Id);
  return { ref: container.Id, computed: { ...facts, inputs_digest: digest, container: container.Id, completed: all } };
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

async function setAside(acting: Acting, container: ContainerReply): Promise<void> {
  const aside = asideName(String(acting.operation.desired['name']), container.Id);
  if (container.Name !== aside) await renameContainer(acting, container, aside);
}

async function retire(acting: Acting): Promise<void> {
  const container = await ours(acting);
  if (container === undefined || isFailedName(container.Name, container.Id) || keepOf(acting) > 0) return;
  await removeContainer(acting, container);
}

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

/** Renames the container of a failed run, so that the next apply knows that the failure was told, and runs the job anew. */
async function markFailed(acting: Acting, container: ContainerReply): Promise<void> {
  if (isFailedName(container.Name, container.Id)) return;
  await renameContainer(acting, container, failedName(container.Name, container.Id));
}

async function failure(acting: Acting, container: ContainerReply, code: ProviderErrorCode, what: string): Promise<ProviderError> {
  let lines: readonly string[];
  try {
    lines = await lastLines(acting.client, container.Id, acting.io.signal);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    // The failure itself matters more than a log that this driver does not give.
    lines = [];
  }
  await markFailed(acting, container);
  const name = failedName(container.Name, container.Id);
  return new ProviderError(code, `The job ${container.Name} ${what}. Its container stays for reading as ${name}.`, {
    lines,
    next: `docker logs --tail 100 ${name}`,
  });
}

/** The container of the recorded live id; undefined when it is gone. Throws `FOREIGN` when it is not ours. */
async function ours(acting: Acting): Promise<ContainerReply | undefined> {
  const { operation, world, io } = acting;
  if (operation.ref === undefined || isRunAlready(operation.ref)) return undefined;
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
    (entry) => isThisOne(entry.Labels, operation) && !isFailedName(entry.name, entry.Id),
  );
  return made === undefined ? undefined : world.container(made.Id, io.signal);
}

async function requireRun(acting: Acting): Promise<ContainerReply> {
  const container = await currentRun(acting);
  if (container === undefined) throw gone(acting);
  return container;
}

function gone(acting: Acting): ProviderError {
  return new ProviderError('NOT_FOUND', `The container of ${acting.operation.address} was removed before its result was collected.`, {
    next: 'Find out whether it had done its work; the next apply runs it anew.',
  });
}

function timeoutOf(acting: Acting): number {
  const { timeout } = acting.operation.desired;
  return typeof timeout === 'number' ? timeout : DEFAULT_TIMEOUT;
}

function keepOf(acting: Acting): number {
  const { keep } = acting.operation.desired;
  return typeof keep === 'number' ? keep : 0;
}

/** The digest of everything that the process is given, secrets as keyed fingerprints. */
function inputsDigest(acting: Acting): string {
  return digestOf(Object.fromEntries(Object.entries(acting.operation.sealed).filter(([name]) => !OUTSIDE.has(name))));
}
