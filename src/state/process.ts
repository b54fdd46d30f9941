import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { LockInfo } from './model.ts';

/** Who this process is, and whether the holder of a lock is still there. */
export interface ProcessIdentity {
  readonly host: string;
  readonly bootId: string;
  readonly pid: number;
  /** Clock ticks between boot and the start of the process. */
  readonly processStart: string;
  /** Milliseconds since the boot, on a clock that never steps and that all processes of this boot share. */
  uptime(): number;
  /** False only when the holder is certainly gone; undefined when it can't be seen from here, as on another host. */
  isAlive(info: LockInfo): boolean | undefined;
}

/** Inode of the first pid namespace on every Linux. */
const FIRST_PID_NAMESPACE = 'pid:[4026531836]';

/** The identity of the running process, from `/proc`. Without `/proc` nobody is ever told dead, and nothing throws. */
export function systemProcessIdentity(): ProcessIdentity {
  const host = hostWithNamespace();
  const bootId = readText('/proc/sys/kernel/random/boot_id') ?? '';
  const processStart = startOf(process.pid)?.ticks ?? '';
  return {
    host,
    bootId,
    pid: process.pid,
    processStart,
    uptime: () => Number(process.hrtime.bigint() / 1_000_000n),
    isAlive(info) {
      if (info.host !== host || bootId === '' || processStart === '') return undefined;
      if (info.bootId !== bootId) return false;
      const found = startOf(info.pid);
      if (found === undefined) return isHidden(info.pid) ? undefined : false;
      return found.running && found.ticks === info.processStart;
    },
  };
}

/**
 * A pid means something inside of its namespace alone. Two containers can share the host's name and the state's folder, so a process outside
 * of the first namespace carries its namespace in the name of its host: to the others it is on another host.
 */
function hostWithNamespace(): string {
  try {
    const namespace = readlinkSync('/proc/self/ns/pid');
    return namespace === FIRST_PID_NAMESPACE ? hostname() : `${hostname()} ${namespace}`;
  } catch (error) {
    if (isMissing(error)) return hostname();
    throw error;
  }
}

function startOf(pid: number): { readonly ticks: string; readonly running: boolean } | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses and may hold spaces and parentheses itself; the third comes after the last of them.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0] ?? '';
  return { ticks: fields[19] ?? '', running: state !== 'Z' && state !== 'X' };
}

/** `/proc` can be mounted so that it hides the processes of others. */
function isHidden(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM' || code === 'ENOTDIR';
}
