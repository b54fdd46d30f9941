import type { Attributes, Plain, Value } from '../../../core/value.ts';
import { canonicalCpus } from '../spelling.ts';
import type { ContainerReply, EngineInfo } from '../wire.ts';

/** More memory than any machine has: what stands for "no limit", since the engine cannot take a limit off a container that has one. */
const BOUNDLESS = 2 ** 62;

interface Limits {
  readonly own: { readonly [name: string]: Value | undefined };
  readonly given: { readonly [name: string]: Value | undefined };
}

/**
 * The limits of a live container. One that limits nothing (all CPUs, more memory than there is) is the same as none: it cannot be told from what
 * it looks like whether a limit was taken off again or was never there.
 */
export function liveLimits(host: ContainerReply['HostConfig'], info: EngineInfo): Limits {
  const memory = host.Memory === 0 || host.Memory >= BOUNDLESS ? undefined : host.Memory;
  const cpus = host.NanoCpus > 0 ? host.NanoCpus / 1e9 : host.CpuQuota > 0 ? host.CpuQuota / (host.CpuPeriod || 100_000) : undefined;
  const cpuset = host.CpusetCpus === '' ? undefined : canonicalCpus(host.CpusetCpus);
  const reservation = host.MemoryReservation;
  const swap = host.MemorySwap >= BOUNDLESS ? -1 : host.MemorySwap;
  const members: readonly (readonly [string, Value | undefined, boolean])[] = [
    ['mem_limit', memory, false],
    isGivenReservation(reservation, memory) ? ['mem_reservation', memory, true] : ['mem_reservation', reservation, false],
    ['memswap_limit', swap || (memory === undefined ? -1 : undefined), isGivenSwap(swap, memory, info)],
    ['cpus', cpus ?? info.NCPU, cpus === undefined || cpus === info.NCPU],
    ['cpu_shares', host.CpuShares || 1024, host.CpuShares === 0 || host.CpuShares === 1024],
    ['cpuset', cpuset ?? allCpus(info), cpuset === undefined || cpuset === allCpus(info)],
    ['pids_limit', host.PidsLimit > 0 ? host.PidsLimit : undefined, false],
  ];
  return {
    own: Object.fromEntries(members.map(([name, value, isGiven]) => [name, isGiven ? undefined : value])),
    given: Object.fromEntries(members.map(([name, value, isGiven]) => [name, isGiven ? value : undefined])),
  };
}

/** A reservation of all that it may have at most reserves nothing. */
function isGivenReservation(reservation: number, memory: number | undefined): boolean {
  return reservation === 0 || reservation >= (memory ?? BOUNDLESS);
}

/** Without a limit of its own, swap is twice the memory; where the kernel does not account for it, the engine writes -1. */
function isGivenSwap(swap: number, memory: number | undefined, info: EngineInfo): boolean {
  if (swap === -1) return memory === undefined || !info.SwapLimit;
  return memory === undefined || swap === 2 * memory;
}

function allCpus(info: EngineInfo): string {
  return info.NCPU === 1 ? '0' : `0-${info.NCPU - 1}`;
}

/** The limits of a new container, for the engine's `HostConfig`. */
export function limitOptions(desired: { readonly [name: string]: Plain }): { readonly [name: string]: Plain } {
  return {
    Memory: desired['mem_limit'] ?? 0,
    MemoryReservation: desired['mem_reservation'] ?? 0,
    MemorySwap: desired['memswap_limit'] ?? 0,
    NanoCpus: Math.round(Number(desired['cpus'] ?? 0) * 1e9),
    CpuShares: desired['cpu_shares'] ?? 0,
    CpusetCpus: desired['cpuset'] ?? '',
    PidsLimit: desired['pids_limit'] ?? 0,
    RestartPolicy: restartOption(desired['restart']),
  };
}

/**
 * The limits for an update of a container that is there. A zero would mean "leave it as it is", so a limit that goes is written
 * as one that limits nothing. `present` says which limits it has now: one that it never had is left alone.
 */
export function limitUpdate(desired: { readonly [name: string]: Plain }, present: Attributes, info: EngineInfo): object {
  const had = (name: string) => present[name] !== undefined;
  const memory = desired['mem_limit'];
  const update: { [name: string]: unknown } = { RestartPolicy: restartOption(desired['restart']), PidsLimit: desired['pids_limit'] ?? -1 };
  if (memory !== undefined || had('mem_limit')) {
    update['Memory'] = memory ?? BOUNDLESS;
    const swap = memory === undefined ? BOUNDLESS : (desired['memswap_limit'] ?? 2 * Number(memory));
    // The engine writes -1 down without telling the kernel.
    if (info.SwapLimit) update['MemorySwap'] = swap === -1 ? BOUNDLESS : swap;
  }
  if (desired['mem_reservation'] !== undefined) update['MemoryReservation'] = desired['mem_reservation'];
  else if (had('mem_reservation')) update['MemoryReservation'] = memory ?? BOUNDLESS;
  if (desired['cpus'] !== undefined) update['NanoCpus'] = Math.round(Number(desired['cpus']) * 1e9);
  else if (had('cpus')) update['NanoCpus'] = info.NCPU * 1e9;
  if (desired['cpu_shares'] !== undefined || had('cpu_shares')) update['CpuShares'] = desired['cpu_shares'] ?? 1024;
  if (desired['cpuset'] !== undefined || had('cpuset')) update['CpusetCpus'] = desired['cpuset'] ?? allCpus(info);
  return update;
}

/** A restart policy such as `on-failure:3` as the engine wants it; absent is `no`. */
export function restartOption(value: Plain | undefined): { readonly Name: string; readonly MaximumRetryCount?: number } {
  const [name = 'no', count] = typeof value === 'string' ? value.split(':') : [];
  return count === undefined ? { Name: name } : { Name: name, MaximumRetryCount: Number(count) };
}
