import { z } from 'zod';
import { ENVIRONMENT } from '../core/address.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { Quiesce } from '../plan/environment-steps.ts';
import { type EffectIo, ProviderError, type Receipt, type RunningProcess, type Session } from '../providers/contract.ts';
import type { StepRow } from '../state/model.ts';
import { EnvironmentFailure } from './environment-failure.ts';
import { findUnits, startUnit, stopUnit } from './units.ts';

/** How long a process has to end by itself, and how long after it was ended by force. */
const GRACE = 10_000;
const FORCED = 5_000;

const NOT_PROVEN = { code: 'QUIESCE_NOT_PROVEN', summary: 'It is not proven that the old writers have stopped' } as const;

const foundWriters = z.object({
  units: z.array(z.object({ unit: z.string(), active: z.boolean(), enabled: z.boolean(), since: z.number() })),
  containers: z.array(z.object({ alias: z.string(), ref: z.string(), name: z.string(), startedAt: z.string(), autostart: z.string() })),
  processes: z.array(z.object({ pid: z.number(), executable: z.string(), started: z.string() })),
});

/** The old writers as they were before they were stopped. */
export type FoundWriters = z.infer<typeof foundWriters>;

/** What stopping and starting old writers needs. */
export interface WriterFacts {
  readonly environment: string;
  /** Aliases of the provider blocks whose objects may bear the label. */
  readonly aliases: readonly string[];
  session(alias: string): Promise<Session>;
}

/** The writers that the journal tells of. */
export function readFound(preimage: StepRow['preimage']): FoundWriters {
  return foundWriters.parse(preimage);
}

/** Who writes at this moment. Changes nothing. Throws `EnvironmentFailure` when any of it cannot be asked. */
export async function findWriters(quiesce: Quiesce, facts: WriterFacts, io: EffectIo): Promise<FoundWriters> {
  try {
    return {
      units: [...(await findUnits(quiesce.units, io))],
      containers: quiesce.label === undefined ? [] : await labelled(quiesce.label, facts, io),
      processes: [...(quiesce.processes.length === 0 ? [] : await io.host.processesOf(quiesce.processes))],
    };
  } catch (error) {
    throw failure(error, 'Who writes cannot be told');
  }
}

async function labelled(label: string, facts: WriterFacts, io: EffectIo): Promise<FoundWriters['containers']> {
  const found: FoundWriters['containers'] = [];
  let isAsked = false;
  for (const alias of facts.aliases) {
    const session = await facts.session(alias);
    if (session.writers === undefined) continue;
    isAsked = true;
    for (const writer of await session.writers(label, facts.environment, io)) {
      // Two blocks may lead to one place.
      if (!found.some(({ ref }) => ref === writer.ref)) found.push({ alias, ...writer });
    }
  }
  if (!isAsked) throw new ProviderError('UNREACHABLE', `no provider block of the environment can list what bears the label ${label}.`);
  return found;
}

/**
 * Stops the writers, what started last first, takes their autostart away, and proves that none is left. Where one cannot be stopped or that
 * cannot be proven, all are put back, and `EnvironmentFailure` is thrown.
 */
export async function stopWriters(quiesce: Quiesce, found: FoundWriters, facts: WriterFacts, io: EffectIo): Promise<Receipt> {
  try {
    for (const unit of found.units.toSorted((a, b) => b.since - a.since)) await stopUnit(unit, io);
    for (const { alias, ...writer } of found.containers.toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1))) {
      await (await facts.session(alias)).halt?.(writer, io);
    }
    // What runs by itself cannot be started again, so it goes last, when all else is known to stop.
    await requireStopped({ ...quiesce, processes: [] }, facts, io);
    await endProcesses(quiesce, io);
    await requireStopped(quiesce, facts, io);
  } catch (error) {
    const failed = failure(error, 'The old writers cannot be stopped');
    throw await putBack(failed, found, facts, io);
  }
  const units = found.units.filter(({ active }) => active).length;
  return { figures: { units, containers: found.containers.length, processes: found.processes.length } };
}

async function putBack(failed: EnvironmentFailure, found: FoundWriters, facts: WriterFacts, io: EffectIo): Promise<EnvironmentFailure> {
  try {
    const [left] = await bringBackWriters(found, facts, io);
    const said = left === undefined ? 'All of them go on as before.' : left.detail;
    return new EnvironmentFailure(failed.told, `${failed.message} ${said}`, { cause: failed, lines: failed.lines });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const message = `${failed.message} Not all of them could be put back: ${error.message}`;
    return new EnvironmentFailure(failed.told, message, { cause: failed, lines: failed.lines, kind: 'UNKNOWN_OUTCOME' });
  }
}

async function requireStopped(quiesce: Quiesce, facts: WriterFacts, io: EffectIo): Promise<void> {
  const { units, containers, processes } = await findWriters(quiesce, facts, io);
  const left = [
    ...units.filter(({ active }) => active).map(({ unit }) => `the unit ${unit}`),
    ...units.filter(({ active, enabled }) => !active && enabled).map(({ unit }) => `the autostart of the unit ${unit}`),
    ...containers.map(({ name }) => `the container ${name}`),
    ...processes.map(({ executable, pid }) => `the process ${pid} of ${executable}`),
  ];
  if (left.length > 0) throw new EnvironmentFailure(NOT_PROVEN, `After they were stopped there still is ${left.join(', ')}.`);
}

async function endProcesses(quiesce: Quiesce, io: EffectIo): Promise<void> {
  if (quiesce.processes.length === 0) return;
  if (await endsWithin(quiesce, 'SIGTERM', GRACE, io)) return;
  await endsWithin(quiesce, 'SIGKILL', FORCED, io);
}

async function endsWithin(quiesce: Quiesce, signal: 'SIGTERM' | 'SIGKILL', limit: number, io: EffectIo): Promise<boolean> {
  const told = new Set<string>();
  const deadline = io.clock.monotonic() + limit;
  for (;;) {
    const left: readonly RunningProcess[] = await io.host.processesOf(quiesce.processes);
    if (left.length === 0) return true;
    if (io.clock.monotonic() > deadline) return false;
    for (const process of left) {
      const name = `${process.pid} ${process.started}`;
      if (!told.has(name)) await io.host.signalProcess(process, signal);
      told.add(name);
    }
    await io.clock.sleep(100, io.signal);
  }
}

/**
 * Puts the writers back, what was stopped last first: started and with their autostart as they were. Processes that ran by themselves cannot be
 * started again; a warning names them. Throws `ProviderError` when any other cannot be put back.
 */
export async function bringBackWriters(found: FoundWriters, facts: WriterFacts, io: EffectIo): Promise<readonly Diagnostic[]> {
  for (const { alias, ...writer } of found.containers.toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))) {
    await (await facts.session(alias)).release?.(writer, io);
  }
  for (const unit of found.units.toSorted((a, b) => a.since - b.since)) await startUnit(unit, io);
  const executables = [...new Set(found.processes.map(({ executable }) => executable))].sort();
  const running = executables.length === 0 ? [] : await io.host.processesOf(executables);
  const gone = executables.filter((executable) => !running.some((process) => process.executable === executable));
  if (gone.length === 0) return [];
  const detail = `Processes that no unit starts were ended, and only their operator can start them again: ${gone.join(', ')}.`;
  return [
    { severity: 'warning', code: 'PROCESS_NOT_RESTARTED', summary: 'An old process does not run any more', detail, address: ENVIRONMENT },
  ];
}

function failure(error: unknown, what: string): EnvironmentFailure {
  if (error instanceof EnvironmentFailure) return error;
  if (!(error instanceof ProviderError)) throw error;
  return new EnvironmentFailure(NOT_PROVEN, `${what}: ${error.message}`, { cause: error, lines: error.lines });
}
