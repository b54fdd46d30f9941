import { compareText, type ResourceAddress } from '../../core/address.ts';
import type { Role } from '../../core/facet.ts';
import type { Graph } from '../../core/graph.ts';
import type { Assessed } from '../assess.ts';
import { isNamedBy } from '../instances.ts';
import { roleOf } from '../role.ts';
import type { OutageKind } from './classes.ts';

/** Roles whose objects serve somebody: replacing or stopping one is an outage. */
const SERVING: ReadonlySet<Role> = new Set<Role>(['service', 'worker', 'store', 'frontend', 'ingress', 'runtime']);

/**
 * What goes down, by address: the promise of the plan. What it replaces or stops always; with `tuple` also every worker when a family is
 * claimed, and what restarts with something that goes down; with `stopped` every service and worker that uses the data or the catalog.
 */
export function outageOf(kind: OutageKind, resources: ReadonlyMap<ResourceAddress, Assessed>, graph: Graph): readonly ResourceAddress[] {
  const down = new Set<ResourceAddress>();
  for (const assessed of resources.values()) if (goesDown(assessed)) down.add(assessed.address);
  if (kind === 'tuple' || kind === 'stopped') {
    if (claimsFamily(resources)) for (const { address, instance } of resources.values()) if (instance?.role === 'worker') down.add(address);
    addRestarting(down, resources);
  }
  if (kind === 'stopped') for (const address of usersOfData(resources, graph)) down.add(address);
  return [...down].sort(compareText);
}

function goesDown(assessed: Assessed): boolean {
  const { decision } = assessed;
  if (!SERVING.has(roleOf(assessed))) return false;
  return decision.restart === true || decision.action === 'delete' || (decision.action === 'replace' && decision.order === 'destroy-first');
}

function isWork({ decision }: Assessed): boolean {
  return decision.action !== 'noop' && decision.action !== 'read';
}

function claimsFamily(resources: ReadonlyMap<ResourceAddress, Assessed>): boolean {
  return [...resources.values()].some((assessed) => roleOf(assessed) === 'ownership' && isWork(assessed));
}

/** `depends_on` with `restart: true`, to its end. */
function addRestarting(down: Set<ResourceAddress>, resources: ReadonlyMap<ResourceAddress, Assessed>): void {
  for (let size = -1; size !== down.size; ) {
    size = down.size;
    for (const { address, instance } of resources.values()) {
      const restarts = instance?.dependsOn.filter(({ restart }) => restart) ?? [];
      if (restarts.some((dependency) => [...down].some((other) => isNamedBy(other, dependency.address)))) down.add(address);
    }
  }
}

function usersOfData(resources: ReadonlyMap<ResourceAddress, Assessed>, graph: Graph): readonly ResourceAddress[] {
  const data = [...resources.values()].filter((assessed) => isWork(assessed) && isData(roleOf(assessed))).map(({ address }) => address);
  const users = graph.closure(data, 'neededBy') as readonly ResourceAddress[];
  return users.filter((address) => {
    const role = resources.get(address)?.instance?.role;
    return role === 'service' || role === 'worker';
  });
}

function isData(role: Role): boolean {
  return role === 'data' || role === 'catalog' || role === 'trust';
}
