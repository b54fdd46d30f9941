import type { ResourceAddress } from '../core/address.ts';
import { parsePath } from '../core/path.ts';
import type { Attributes } from '../core/value.ts';
import type { Rivalry } from '../providers/contract.ts';
import type { Assessed } from './assess.ts';
import type { PlanMessage, Refusal } from './model.ts';
import { roleOf } from './role.ts';

/**
 * Refuses a replacement that would make the new object beside the old one where both cannot be at once. `asker` is the address that is replaced
 * in this order and hands it down, when the resource's own document does not ask for it.
 */
export function rivalRefusal(assessed: Assessed, asker: ResourceAddress | undefined): Refusal | undefined {
  const { decision, address, observed } = assessed;
  if (decision.action !== 'replace' || decision.order !== 'create-first') return undefined;
  const [first, ...more] = rivalriesOf(assessed, observed?.kind === 'found' ? observed.attributes : (decision.before ?? {}));
  if (first === undefined) return undefined;
  const why = asker === undefined ? 'its document asks for it' : `${asker} needs it and is replaced that way`;
  const out = asker === undefined ? 'or replace it with update.order: stop-first' : `or replace ${asker} with update.order: stop-first`;
  const others = more.map(({ message }) => ` ${message}`).join('');
  return {
    code: 'START_FIRST_IMPOSSIBLE',
    path: `${address}.${first.path}`,
    message: `The new one would come before the old one goes (${why}). ${first.message}${others} ${first.advice.replace(/\.$/, '')}, ${out}.`,
    ...sourceOf(assessed, first),
  };
}

/** Says of what is not replaced now, and never can be in the order that its document asks for. */
export function rivalWarnings(assessed: Assessed): readonly PlanMessage[] {
  const { decision, instance, address } = assessed;
  const isAsked = instance?.update?.order === 'start-first';
  if (!isAsked || decision.after === null || !['create', 'update', 'adopt', 'noop', 'start', 'move'].includes(decision.action)) return [];
  return rivalriesOf(assessed, decision.after).map(({ message, advice }) => ({
    code: 'START_FIRST_IMPOSSIBLE',
    message: `Its document asks for order: start-first, and the next replacement will be refused. ${message} ${advice}`,
    address,
  }));
}

function rivalriesOf(assessed: Assessed, live: Attributes): readonly Rivalry[] {
  const { type, decision } = assessed;
  if (type.rivalries === undefined || decision.after === null) return [];
  return type.rivalries(decision.after, live, roleOf(assessed));
}

function sourceOf({ instance }: Assessed, { path }: Rivalry): Pick<Refusal, 'source'> {
  return instance === undefined ? {} : { source: instance.locate(parsePath(path) ?? []) };
}
