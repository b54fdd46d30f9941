import type { ResourceAddress } from '../core/address.ts';
import type { Role } from '../core/facet.ts';
import type { Observed, ResourceType } from '../providers/contract.ts';
import type { ResourceInstance } from '../spec/environment.ts';
import type { Decision } from './decide.ts';

/** What is known of a resource that another one may restart with. */
interface Neighbour {
  readonly type: ResourceType;
  readonly instance: ResourceInstance | undefined;
  readonly recorded: unknown;
  readonly decision: Decision;
}

/**
 * The decision of a resource that is to restart with what it depends on (`restart: true`): where one of these goes down or changes, and the
 * resource itself would go on running, it is restarted. What is replaced or started anyway stays decided as it is.
 */
export function withRestart(
  decision: Decision,
  own: { readonly instance: ResourceInstance; readonly type: ResourceType; readonly observed: Observed | undefined },
  named: (address: string) => readonly (readonly [ResourceAddress, Neighbour | undefined])[],
): Decision {
  const { instance, type, observed } = own;
  const goesOn = decision.action === 'noop' || decision.action === 'move' || (decision.action === 'update' && !decision.start);
  if (!goesOn || type.restarts !== true || observed?.kind !== 'found' || observed.dormant !== undefined) return decision;
  const cause = instance.dependsOn
    .filter(({ restart }) => restart)
    .flatMap(({ address }) => named(address))
    .find(([, neighbour]) => neighbour !== undefined && takesAlong(neighbour));
  if (cause === undefined) return decision;
  const [of] = cause;
  const reason = `restarts with ${of}`;
  if (decision.action === 'update') return { ...decision, reason: `${decision.reason}; ${reason}`, restart: true };
  return { ...decision, action: 'start', cause: { kind: 'follows', of }, reason, restart: true };
}

/** Roles of what runs: a change in place does not take it down. */
const RUNNING: readonly Role[] = ['service', 'worker', 'store'];

function takesAlong({ type, instance, recorded, decision }: Neighbour): boolean {
  switch (decision.action) {
    case 'replace':
    case 'start':
      return true;
    case 'create':
      return recorded !== undefined;
    case 'update':
      return decision.start || decision.restart === true || (decision.paths.length > 0 && !RUNNING.includes(instance?.role ?? type.role));
    default:
      return false;
  }
}
