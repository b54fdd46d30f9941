import { type FailPoint, InjectedFault, passing } from '../core/fail-point.ts';
import type { Host } from '../providers/contract.ts';
import { faultOf } from './fault.ts';

/** A host that tells of each change of its files and of each program that may change something. For tests alone. */
export function failingHost(inner: Host, faults: FailPoint): Host {
  const change = async <T>(about: string, act: () => Promise<T>): Promise<T> => {
    try {
      return await passing(faults, 'host.change', about, act);
    } catch (error) {
      throw error instanceof InjectedFault ? faultOf(systemError(error), `${about} broke off`) : error;
    }
  };
  return {
    ...inner,
    writeFile: (path, content, options) => change(`write ${path}`, () => inner.writeFile(path, content, options)),
    setMode: (path, mode) => change(`set the mode of ${path}`, () => inner.setMode(path, mode)),
    setOwner: (path, uid, gid) => change(`set the owner of ${path}`, () => inner.setOwner(path, uid, gid)),
    makeFolder: (path, options) => change(`make ${path}`, () => inner.makeFolder(path, options)),
    removeResidue: (path, options) => change(`remove what is left beside ${path}`, () => inner.removeResidue(path, options)),
    removeFile: (path, options) => change(`remove ${path}`, () => inner.removeFile(path, options)),
    removeFolder: (path) => change(`remove ${path}`, () => inner.removeFolder(path)),
    rename: (from, to) => change(`rename ${from} to ${to}`, () => inner.rename(from, to)),
    signalProcess: (process, signal) => change(`signal the process ${process.pid}`, () => inner.signalProcess(process, signal)),
    run: (argv, options) => change(`run ${argv[0]}`, () => inner.run(argv, options)),
  };
}

function systemError(fault: InjectedFault): Error {
  const code = fault.kind === 'enospc' ? 'ENOSPC' : fault.kind === 'eio' ? 'EIO' : 'ETIMEDOUT';
  return Object.assign(fault, { code });
}
