import { ProviderError, type Receipt } from '../contract.ts';
import type { Acting } from './acting.ts';
import { listOf, mapOf } from './container/create-options.ts';
import { lastExitCode, lastLines } from './logs.ts';
import { type Answer, probeCommand, probeHttp, probeInside, probeTcp, type ReadySpec, readySpec } from './probe.ts';
import type { ContainerReply, ImageReply } from './wire.ts';

/** How long a container without a check of its own has to run before it counts as ready. */
const SETTLED = 5000;

/** How long is waited for one that was ready before and is started again. */
const AGAIN = { timeout: 60_000, settled: 1000 };

/**
 * Waits until a container that served before and was stopped serves again, in its own way but not as long as a new one may take. Throws
 * `NOT_READY` as `awaitReady` does.
 */
export async function awaitAgain(acting: Acting, first: ContainerReply): Promise<void> {
  const written = readySpec.safeParse(mapOf(acting.operation.desired['ready']));
  // What holds a secret is not known any more: then it only has to run.
  const spec = written.success ? written.data : readySpec.parse({});
  const timeout = Math.min(acting.operation.timeouts.ready ?? spec.timeout, AGAIN.timeout);
  await untilReady(acting, first, { spec, timeout, settled: AGAIN.settled });
}

/**
 * Waits until a container is ready, in the way that its document says; by default until the engine calls it healthy, or until it has run for
 * five seconds. Throws `NOT_READY` with its last log lines at once when it exits or starts again meanwhile, and when the time is over.
 */
export async function awaitReady(acting: Acting, first: ContainerReply): Promise<Receipt> {
  const spec = readySpec.parse(mapOf(acting.operation.desired['ready']));
  return untilReady(acting, first, { spec, timeout: acting.operation.timeouts.ready ?? spec.timeout, settled: SETTLED });
}

interface Gate {
  readonly spec: ReadySpec;
  readonly timeout: number;
  /** How long one without a check of its own has to run. */
  readonly settled: number;
}

async function untilReady(acting: Acting, first: ContainerReply, gate: Gate): Promise<Receipt> {
  const { world, io } = acting;
  const { spec, timeout } = gate;
  const began = io.clock.monotonic();
  let tries = 0;
  let reason: Answer;
  for (let container: ContainerReply | undefined = first; ; container = await world.container(first.Id, io.signal)) {
    await requireRunning(acting, first, container);
    tries++;
    reason = await ask(acting, gate, container ?? first, io.clock.monotonic() - began);
    // A container that died after a probe went well is not ready: what runs now decides.
    const now = reason === undefined ? await world.container(first.Id, io.signal) : undefined;
    if (reason === undefined) {
      await requireRunning(acting, first, now);
      return { figures: { tries, milliseconds: Math.round(io.clock.monotonic() - began) } };
    }
    io.progress(`not ready yet: ${reason}`, { tries });
    if (io.clock.monotonic() - began >= timeout) break;
    await io.clock.sleep(Math.min(spec.interval, Math.max(1, timeout - (io.clock.monotonic() - began))), io.signal);
  }
  throw await notReady(acting, first, `was not ready after ${Math.round(timeout / 1000)} s: ${reason}`);
}

/** Throws unless the container runs since its start without having been started again by the engine. */
async function requireRunning(acting: Acting, first: ContainerReply, now: ContainerReply | undefined): Promise<void> {
  if (now === undefined) throw new ProviderError('NOT_READY', `The container ${first.Name} was removed while it was waited for.`);
  const { State: state } = now;
  const memory = state.OOMKilled ? ' after it ran out of memory' : '';
  if (state.Status === 'exited' || state.Status === 'dead') {
    throw await notReady(acting, now, `exited with code ${state.ExitCode}${memory} instead of getting ready`);
  }
  if (state.Restarting || now.RestartCount > 0 || state.StartedAt !== first.State.StartedAt) {
    const code = state.Restarting ? state.ExitCode : await lastExitCode(acting.client, now, acting.io.signal);
    const how = code === undefined ? 'ended' : `exited with code ${code}`;
    throw await notReady(acting, now, `${how}${memory} and was started again while it was waited for`);
  }
  if (state.Status !== 'running') throw await notReady(acting, now, `is ${state.Status} instead of running`);
}

async function ask(acting: Acting, { spec, settled }: Gate, container: ContainerReply, waited: number): Promise<Answer> {
  if (spec.http !== undefined) {
    return spec.http.in === 'container' ? probeInside(acting, container.Id, spec.http) : probeHttp(spec.http, acting.io.signal);
  }
  if (spec.tcp !== undefined) return probeTcp(spec.tcp, acting.io.signal);
  if (spec.command !== undefined) return probeCommand(acting, container.Id, spec.command);
  const health = container.State.Health;
  if (health !== undefined && health.Status !== 'none') {
    if (health.Status === 'healthy') return undefined;
    const output = health.Log.at(-1)?.Output.trim().split('\n').at(-1) ?? '';
    const words = health.FailingStreak > 0 && output !== '' ? `, its last check says: ${output.slice(0, 200)}` : '';
    return `the engine calls it ${health.Status}${words}`;
  }
  if (spec.docker === true) {
    throw withoutHealthcheck(container.Name);
  }
  return waited >= settled ? undefined : `it runs for ${Math.floor(waited / 1000)} s of ${settled / 1000} s`;
}

/**
 * Refuses a container that is to be ready when the engine calls it healthy while nothing would tell the engine so. Throws `INVALID`; nothing was
 * touched then.
 */
export function requireHealthcheck(acting: Acting, image: ImageReply | undefined): void {
  const { desired } = acting.operation;
  const spec = readySpec.safeParse(mapOf(desired['ready']));
  if (!spec.success || spec.data.docker !== true) return;
  const own = listOf(mapOf(desired['healthcheck'])['test']);
  const test = own.length > 0 ? own : (image?.Config?.Healthcheck?.Test ?? []);
  if (test.length === 0 || test[0] === 'NONE') throw withoutHealthcheck(String(desired['name']));
}

function withoutHealthcheck(name: string): ProviderError {
  return new ProviderError('INVALID', `The container ${name} has no healthcheck, so the engine will never call it healthy.`, {
    next: 'Give it a healthcheck, or another form of ready.',
  });
}

async function notReady(acting: Acting, container: ContainerReply, what: string): Promise<ProviderError> {
  let lines: readonly string[];
  try {
    lines = await lastLines(acting.client, container.Id, acting.io.signal);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    // The failure itself matters more than a log that this driver does not give.
    lines = [];
  }
  return new ProviderError('NOT_READY', `The container ${container.Name} ${what}.`, {
    lines,
    next: `docker logs --tail 100 ${container.Name}`,
  });
}
