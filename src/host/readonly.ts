import type { Host, ReadHost } from '../providers/contract.ts';

/** The host for a plan: an object that holds the reading methods and no other, so that not even a cast finds one that changes something. */
export function readOnlyHost(host: Host | ReadHost): ReadHost {
  return Object.freeze({
    name: host.name,
    variables: host.variables,
    status: (path) => host.status(path),
    readFile: (path, options) => host.readFile(path, options),
    list: (path) => host.list(path),
    inspect: (argv, options) => host.inspect(argv, options),
    processesOf: (executables) => host.processesOf(executables),
    userId: (name) => host.userId(name),
    groupId: (name) => host.groupId(name),
  } satisfies ReadHost);
}
