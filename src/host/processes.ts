import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { ProviderError, type RunningProcess } from '../providers/contract.ts';
import { errnoOf, faultOf } from './fault.ts';

/** What the kernel appends to the path of a program whose file was removed or replaced while it runs. */
const REPLACED = ' (deleted)';

/**
 * The processes of these executables, by the kernel's list in `proc`, this one left out. Throws `ProviderError` when any process but the machine's
 * first cannot be looked at: a list with holes proves nothing.
 */
export async function processesOf(proc: string, executables: readonly string[]): Promise<readonly RunningProcess[]> {
  const wanted = new Map<string, string>();
  for (const executable of executables) {
    wanted.set(executable, executable);
    wanted.set(await resolved(executable), executable);
  }
  const found: RunningProcess[] = [];
  for (const entry of await entriesOf(proc)) {
    const pid = Number(entry);
    if (pid === process.pid) continue;
    const program = await programOf(proc, entry);
    const executable = program === undefined ? undefined : wanted.get(program);
    const started = executable === undefined ? undefined : await startOf(proc, entry);
    if (executable !== undefined && started !== undefined) found.push({ pid, executable, started });
  }
  return found;
}

/** Signals a process unless it is gone, or its number belongs to another one by now. Throws `ProviderError` where the system refuses. */
export async function signalProcess(proc: string, { pid, started }: RunningProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if ((await startOf(proc, String(pid))) !== started) return;
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw faultOf(error, `The process ${pid} could not be ended`);
  }
}

async function entriesOf(proc: string): Promise<readonly string[]> {
  try {
    const entries = (await readdir(proc)).filter((entry) => /^\d+$/.test(entry));
    // Where processes are shown at all, this one is among them.
    if (entries.length > 0) return entries;
  } catch (error) {
    throw faultOf(error, 'The list of processes could not be read');
  }
  throw new ProviderError('FORBIDDEN', `The list of processes could not be read: ${proc} shows none.`);
}

async function resolved(executable: string): Promise<string> {
  try {
    return await realpath(executable);
  } catch (error) {
    // A program whose file is gone may run on; its path is all that there is.
    if (errnoOf(error) === 'ENOENT') return executable;
    throw faultOf(error, `The program ${executable} could not be looked at`);
  }
}

/** Undefined for a process that is gone and for one without a program, as the kernel's own. */
async function programOf(proc: string, pid: string): Promise<string | undefined> {
  try {
    const program = await readlink(join(proc, pid, 'exe'));
    return program.endsWith(REPLACED) ? program.slice(0, -REPLACED.length) : program;
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    // The first process is the machine's own, which some machines show to nobody.
    if (pid === '1' && code === 'EACCES') return undefined;
    throw faultOf(error, `The list of processes could not be read whole: the program of the process ${pid} cannot be seen`);
  }
}

/** When a process started, in ticks of the kernel's clock; undefined for one that is gone. */
async function startOf(proc: string, pid: string): Promise<string | undefined> {
  try {
    const stat = await readFile(join(proc, pid, 'stat'), 'utf8');
    // The name of the program stands in parentheses and may hold anything; the start is the twentieth field behind it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw faultOf(error, `The process ${pid} could not be looked at`);
  }
}
