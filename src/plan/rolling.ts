import { compareText, type ResourceAddress } from '../core/address.ts';
import type { Effect } from '../providers/contract.ts';
import type { Assessed } from './assess.ts';
import type { PlannedStep, Rolling } from './model.ts';
import { isOwnEffect, PAUSE, planSteps, type Turn, waitEffect } from './steps.ts';

type Resources = ReadonlyMap<ResourceAddress, Assessed>;
type Effects = ReadonlyMap<ResourceAddress, readonly Effect[]>;

/** The steps of a plan with all that makes instances take turns. */
export interface Schedule {
  readonly steps: readonly PlannedStep[];
  /** What was given, with the pauses between batches. */
  readonly effects: Effects;
  readonly rolling: readonly Rolling[];
  /** Resources whose instances cannot take turns, each with the circle of steps that it would make. */
  readonly atOnce: readonly { readonly resource: string; readonly cycle: readonly string[] }[];
}

/**
 * Puts the effects of all changes in order. Instances of one `for_each` with an `update` key take turns when they are replaced, restarted or
 * started. Those that come new wait for nobody, and none that runs goes down before they are ready. Where what all of them stand on has to go
 * first, they cannot take turns, and go at once.
 */
export function scheduleSteps(resources: Resources, effects: Effects): Schedule | { readonly cycle: readonly string[] } {
  let groups = groupsOf(resources, effects);
  const atOnce: Schedule['atOnce'][number][] = [];
  for (;;) {
    const paused = withPauses(groups, effects);
    const planned = planSteps(resources, paused, turnsOf(groups));
    if (!('cycle' in planned)) {
      const rolling = groups.filter(({ batches }) => batches.length > 1).map(({ resource, batches }) => ({ resource, batches }));
      return { steps: planned.steps, effects: paused, rolling, atOnce };
    }
    const stuck = groups.filter((group) => isBehindItself(group, planned.cycle));
    if (stuck.length === 0) return planned;
    groups = groups.filter((group) => !stuck.includes(group));
    atOnce.push(...stuck.map(({ resource }) => ({ resource, cycle: planned.cycle })));
  }
}

/** The instances of one `for_each` that take turns. */
interface Group extends Rolling {
  /** Those that come new and need none of the others: they are ready before the first turn. */
  readonly coming: readonly ResourceAddress[];
}

/** Whether a circle of steps goes from one instance to another of the same resource, as it does where a batch waits for the one before. */
function isBehindItself({ batches, coming }: Group, cycle: readonly string[]): boolean {
  const members = [...coming, ...batches.flatMap(({ addresses }) => addresses)];
  const memberOf = (step: string | undefined) => members.find((address) => step?.startsWith(`${address}:`) === true);
  return cycle.some((step, index) => {
    const [one, next] = [memberOf(step), memberOf(cycle[index + 1])];
    return one !== undefined && next !== undefined && one !== next;
  });
}

function groupsOf(resources: Resources, effects: Effects): readonly Group[] {
  const taking = new Map<string, Assessed[]>();
  const coming = new Map<string, Assessed[]>();
  for (const assessed of resources.values()) {
    const { instance, address, decision } = assessed;
    if (instance?.key === undefined || instance.update === undefined) continue;
    const into = decision.action === 'create' ? coming : takesTurns(assessed, effects.get(address) ?? []) ? taking : undefined;
    if (into === undefined) continue;
    const base = `${instance.type}.${instance.name}`;
    const known = into.get(base);
    if (known === undefined) into.set(base, [assessed]);
    else known.push(assessed);
  }
  return [...taking]
    .map(([resource, members]) => {
      const free = (coming.get(resource) ?? []).filter((one) => neededAmong(one, members, resources).length === 0);
      return { resource, batches: batchesOf(byKey(members, resources)), coming: free.map(({ address }) => address) };
    })
    .sort((a, b) => compareText(a.resource, b.resource));
}

/** Whether an instance that is there already is replaced, restarted or started. What changes in place while it runs waits for nobody. */
function takesTurns({ decision }: Assessed, effects: readonly Effect[]): boolean {
  if (decision.action === 'delete') return false;
  return effects.some(
    (effect) => (effect.part === 'remove' || effect.part === 'apply') && effect.object !== 'update' && !isOwnEffect(effect),
  );
}

/** The first of a batch says how many are in it and what passes after it, so that one instance can go ahead of the rest. */
function batchesOf(members: readonly Assessed[]): Rolling['batches'] {
  const batches: Rolling['batches'][number][] = [];
  for (let rest = members; rest.length > 0; ) {
    const { batch = 1, pause = 0 } = rest[0]?.instance?.update ?? {};
    const addresses = rest.slice(0, batch).map(({ address }) => address);
    rest = rest.slice(batch);
    batches.push({ addresses, pause: rest.length === 0 ? 0 : pause / 1000 });
  }
  return batches;
}

/**
 * What does not run, so that nobody misses it, before what does; then by key. Where one needs another, with whatever lies between, the needed one
 * comes first.
 */
function byKey(members: readonly Assessed[], resources: Resources): readonly Assessed[] {
  const sorted = [...members].sort(
    (a, b) => Number(isServing(a)) - Number(isServing(b)) || compareText(a.instance?.key ?? '', b.instance?.key ?? ''),
  );
  const waiting = new Map(sorted.map((member) => [member.address, neededAmong(member, sorted, resources)]));
  const ordered: Assessed[] = [];
  while (waiting.size > 0) {
    const next = sorted.find(({ address }) => waiting.has(address) && waiting.get(address)?.every((needed) => !waiting.has(needed)));
    if (next === undefined) return sorted;
    waiting.delete(next.address);
    ordered.push(next);
  }
  return ordered;
}

function isServing({ observed, recorded }: Assessed): boolean {
  // Whether something that was never finished runs may change from one moment to the next; the plan must not depend on it.
  return recorded?.row.status !== 'unfinished' && observed?.kind === 'found' && observed.dormant === undefined;
}

/** The members that one needs, directly or through others. */
function neededAmong(member: Assessed, members: readonly Assessed[], resources: Resources): readonly ResourceAddress[] {
  const seen = new Set<ResourceAddress>([member.address]);
  const stack = [...member.needs];
  for (let address = stack.pop(); address !== undefined; address = stack.pop()) {
    if (seen.has(address)) continue;
    seen.add(address);
    stack.push(...(resources.get(address)?.needs ?? []));
  }
  return members.map(({ address }) => address).filter((address) => address !== member.address && seen.has(address));
}

function turnsOf(groups: readonly Group[]): ReadonlyMap<ResourceAddress, Turn> {
  const turns = new Map<ResourceAddress, Turn>();
  for (const { batches, coming } of groups) {
    for (const [index, { addresses }] of batches.entries()) {
      for (const address of addresses) turns.set(address, { behind: batches[index - 1]?.addresses ?? coming, beside: addresses });
    }
  }
  return turns;
}

/** The pause after a batch is a step of its last instance, right after what brings that about. */
function withPauses(groups: readonly Group[], effects: Effects): Effects {
  const all = new Map(effects);
  for (const { addresses, pause } of groups.flatMap(({ batches }) => batches)) {
    const carrier = addresses.at(-1);
    const own = carrier === undefined ? [] : (all.get(carrier) ?? []);
    const at = own.findLastIndex((effect) => effect.part === 'apply');
    const last = own[at];
    if (pause === 0 || carrier === undefined || last === undefined) continue;
    all.set(carrier, own.toSpliced(at + 1, 0, waitEffect(PAUSE, last.stage, Math.round(pause * 1000))));
  }
  return all;
}
