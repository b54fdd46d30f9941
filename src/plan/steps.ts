import { compareText, type ResourceAddress } from '../core/address.ts';
import { Graph } from '../core/graph.ts';
import type { Effect, ResourceType } from '../providers/contract.ts';
import type { Assessed } from './assess.ts';
import { isAttributePath } from './diff.ts';
import type { PlannedStep } from './model.ts';
import { RECORDED_AS_IT_IS } from './refresh.ts';
import { roleOf } from './role.ts';
import { phaseOf, stageSteps } from './stages.ts';

/** The name of the effect that touches the record alone. */
export const RECORD = 'record';

/** The name of the effect that only reads. */
export const READ = 'read';

/** The name of the effect that lets time pass between two batches. */
export const PAUSE = 'pause';

/** The name of the effect that lets a predecessor go on for a while after everything has gone over to its successor. */
export const DRAIN = 'drain';

/** Whether the engine does an effect by itself, without a handler. */
export function isOwnEffect(effect: Effect): boolean {
  return effect.name === RECORD || effect.name === READ || effect.lasts !== undefined;
}

/** An effect that lets time pass. It touches nothing, so nothing is to be taken back. */
export function waitEffect(name: typeof PAUSE | typeof DRAIN, stage: Effect['stage'], milliseconds: number): Effect {
  return { name, part: 'retire', stage, object: 'keep', direction: 'back', waits: true, lasts: milliseconds };
}

/**
 * The effects of a decided change, in order. A change without any, and one that is only committed, still has the step that brings the record up
 * to date.
 */
export function effectsOf(assessed: Assessed): readonly Effect[] {
  const { decision, type } = assessed;
  const effects = onceStarted(assessed, withDrain(assessed, providerEffects(assessed)));
  const names = new Set(effects.map((effect) => effect.name));
  if (names.size !== effects.length) throw new Error(`${type.type}: effects of ${decision.action} have doubled names`);
  if (decision.action === 'noop' || decision.action === 'refuse') return effects;
  const isOnlyCommitted = effects.some(({ part }) => part === 'commit') && !effects.some(({ part }) => part === 'apply');
  return effects.length === 0 || isOnlyCommitted ? [recordEffect(type), ...effects] : effects;
}

function recordEffect(type: ResourceType): Effect {
  return { name: RECORD, part: 'apply', stage: type.stage, object: 'keep', direction: 'back' };
}

/** A predecessor that served beside its successor goes on for a while before it is retired. */
function withDrain({ decision, instance }: Assessed, effects: readonly Effect[]): readonly Effect[] {
  const drain = instance?.update?.drain ?? 0;
  const at = effects.findIndex((effect) => effect.object === 'retire');
  const isBeside = decision.action === 'replace' ? decision.order === 'create-first' : instance?.lifecycle.createBeforeDestroy === true;
  if (drain === 0 || at === -1 || !isBeside || decision.action === 'delete') return effects;
  return effects.toSpliced(at, 0, waitEffect(DRAIN, 'retire', drain));
}

/**
 * A store that a new version was started on may have changed its files in a way that the old one does not read: from that step on there is no
 * way back, unless the documents affirm that there is.
 */
function onceStarted(assessed: Assessed, effects: readonly Effect[]): readonly Effect[] {
  const { decision, instance } = assessed;
  if (decision.action !== 'replace' || roleOf(assessed) !== 'store' || instance?.lifecycle.reversible === true) return effects;
  const made = effects.findIndex((effect) => effect.object === 'create');
  return effects.map((effect, index) =>
    index > made && effect.part === 'apply' && effect.direction === 'back' ? { ...effect, direction: 'forward' as const } : effect,
  );
}

function providerEffects(assessed: Assessed): readonly Effect[] {
  const { decision, type, recorded, observed } = assessed;
  const live = observed?.kind === 'found' ? observed.attributes : undefined;
  const paths = decision.paths.map(({ path }) => path).filter((path) => isAttributePath(type, path));
  const change = {
    order: decision.order ?? 'destroy-first',
    paths,
    ...(decision.after === null ? {} : { desired: decision.after }),
    ...(live === undefined ? {} : { live }),
    deposed: (recorded?.row.deposed.length ?? 0) > 0,
  } as const;
  switch (decision.action) {
    case 'create':
    case 'replace':
    case 'delete':
      return type.effects({ ...change, action: decision.action });
    case 'start':
      return type.effects({ ...change, action: decision.action, ...(decision.restart === true ? { restart: true } : {}) });
    case 'adopt':
    case 'update': {
      const isRefresh = decision.reason === RECORDED_AS_IT_IS;
      // What only the record says differently, or already lives as the documents have it, has no effect on the object.
      const changes = isRefresh || (decision.action === 'adopt' && recorded !== undefined) ? [] : paths;
      const all = changes.length > 0 || change.deposed ? type.effects({ ...change, action: 'update' }) : [];
      const update = changes.length > 0 ? all : all.filter((effect) => effect.part === 'retire');
      const restart = decision.restart === true ? ({ restart: true } as const) : {};
      const start =
        decision.start || decision.restart === true ? type.effects({ ...change, ...restart, action: 'start', deposed: false }) : [];
      const known = new Set(update.map((effect) => effect.name));
      const added = start.filter((effect) => !known.has(effect.name));
      const retire = update.filter((effect) => effect.part === 'retire');
      const stop = added.filter((effect) => effect.part === 'remove');
      return [...stop, ...update.filter((effect) => effect.part !== 'retire'), ...added.filter((one) => !stop.includes(one)), ...retire];
    }
    case 'read':
      return [{ name: READ, part: 'apply', stage: type.stage, object: 'keep', direction: 'back' }];
    case 'forget':
    case 'move':
    case 'noop':
    case 'refuse':
      return [];
  }
  return decision.action satisfies never;
}

export function stepId(address: ResourceAddress, effect: string): string {
  return `${address}:${effect}`;
}

/** One change with its effects, as the order of steps sees it. */
interface Chain {
  readonly assessed: Assessed;
  readonly effects: readonly Effect[];
  /** Step ids by part, in order. */
  readonly parts: { readonly [part in Effect['part']]: readonly string[] };
}

/** Who has to be ready before a resource's turn comes, and with whom it takes its turn. */
export interface Turn {
  /** The batch before. */
  readonly behind: readonly ResourceAddress[];
  /** Its own batch, itself included. */
  readonly beside: readonly ResourceAddress[];
}

/** The steps of a plan, or the steps that wait for one another in a circle. */
export type Steps = { readonly steps: readonly PlannedStep[] } | { readonly cycle: readonly string[] };

/**
 * The steps of all changes and what each waits for. Inside of a change the effects run in their order. Between changes: nothing is brought
 * about before what it needs is; nothing is removed before what depended on it has let go; a predecessor goes only after everything that
 * depends on it has converged on its successor. What takes turns begins, but for what only prepares, when the batch before is ready.
 */
export function planSteps(
  resources: ReadonlyMap<ResourceAddress, Assessed>,
  effects: ReadonlyMap<ResourceAddress, readonly Effect[]>,
  turns: ReadonlyMap<ResourceAddress, Turn> = new Map(),
): Steps {
  const chains = new Map<ResourceAddress, Chain>();
  for (const [address, list] of effects) {
    const assessed = resources.get(address);
    if (assessed === undefined || list.length === 0) continue;
    const work = list.filter((effect) => effect.lasts === undefined);
    const part = (name: Effect['part']) => work.filter((effect) => effect.part === name).map((effect) => stepId(address, effect.name));
    const parts = {
      prepare: part('prepare'),
      remove: part('remove'),
      apply: part('apply'),
      commit: part('commit'),
      retire: part('retire'),
    };
    chains.set(address, { assessed, effects: list, parts });
  }
  const web: Web = { chains, turns, dependants: dependantsOf(resources), converged: convergence(resources, chains) };
  const patient = ordered([...chains.values()].flatMap((chain) => chainSteps(chain, web, { patient: true })));
  // A delete that waits for its dependants' successors can wait for itself through what they newly need; that their predecessors are gone is enough then.
  return 'cycle' in patient ? ordered([...chains.values()].flatMap((chain) => chainSteps(chain, web, { patient: false }))) : patient;
}

interface Web {
  readonly chains: ReadonlyMap<ResourceAddress, Chain>;
  readonly turns: ReadonlyMap<ResourceAddress, Turn>;
  readonly dependants: { readonly desired: Dependants; readonly recorded: Dependants };
  /** The steps after which an address, or through it what it needs, has converged. */
  converged(address: ResourceAddress): readonly string[];
}

type Dependants = ReadonlyMap<string, readonly ResourceAddress[]>;

function ordered(steps: readonly PlannedStep[]): Steps {
  const graph = new Graph();
  for (const step of steps) {
    graph.addNode(step.id);
    for (const before of step.after) graph.addEdge(step.id, before);
  }
  const order = graph.order();
  if ('cycle' in order) return order;
  return { steps: stageSteps(steps).toSorted((a, b) => compareText(a.id, b.id)) };
}

/** Who depends on an address: by the documents for what comes, by the record for what goes. */
function dependantsOf(resources: ReadonlyMap<ResourceAddress, Assessed>): Web['dependants'] {
  const desired = new Map<string, ResourceAddress[]>();
  const recorded = new Map<string, ResourceAddress[]>();
  const add = (map: Map<string, ResourceAddress[]>, needed: string, by: ResourceAddress) => {
    const list = map.get(needed);
    if (list === undefined) map.set(needed, [by]);
    else list.push(by);
  };
  for (const assessed of resources.values()) {
    for (const needed of assessed.needs) add(desired, needed, assessed.address);
    for (const needed of assessed.recorded?.row.dependencies ?? []) add(recorded, needed, assessed.address);
  }
  return { desired, recorded };
}

function convergence(resources: ReadonlyMap<ResourceAddress, Assessed>, chains: ReadonlyMap<ResourceAddress, Chain>): Web['converged'] {
  const known = new Map<ResourceAddress, readonly string[]>();
  for (const [address, assessed] of resources) {
    // Resources come in graph order, so what is needed is known already.
    const own = chains.get(address)?.parts.apply.at(-1);
    known.set(address, own !== undefined ? [own] : [...new Set(assessed.needs.flatMap((needed) => known.get(needed) ?? []))]);
  }
  return (address) => known.get(address) ?? [];
}

function chainSteps(chain: Chain, web: Web, options: { readonly patient: boolean }): readonly PlannedStep[] {
  const { assessed } = chain;
  const last = (address: ResourceAddress, parts: readonly Effect['part'][]) =>
    parts.flatMap((part) => web.chains.get(address)?.parts[part].at(-1) ?? []);
  const recorded = web.dependants.recorded.get(assessed.recorded?.row.address ?? assessed.address) ?? [];
  const letGo = (address: ResourceAddress) => {
    const isDeleted = web.chains.get(address)?.assessed.decision.action === 'delete';
    if (assessed.decision.action !== 'delete' && !isDeleted) return last(address, ['remove']);
    if (options.patient) return last(address, ['remove', 'apply', 'retire']);
    const removed = last(address, ['remove']);
    return removed.length > 0 ? removed : last(address, ['apply']);
  };
  const before: { readonly [part in Effect['part']]: readonly string[] } = {
    // It waits only for what is fetched in preflight too: everything else comes after it.
    prepare: assessed.needs.flatMap((needed) => {
      const steps = web.chains.get(needed)?.effects.filter((effect) => effect.part === 'apply') ?? [];
      return steps.length > 0 && steps.every((effect) => effect.stage === 'preflight') ? last(needed, ['apply']) : [];
    }),
    remove: recorded.flatMap(letGo),
    apply: assessed.needs.flatMap((needed) => web.converged(needed)),
    commit: [...(web.dependants.desired.get(assessed.address) ?? []), ...handedOver(assessed, web)].flatMap((address) =>
      last(address, ['apply']),
    ),
    retire: [
      ...(web.dependants.desired.get(assessed.address) ?? []).flatMap((address) => last(address, ['apply'])),
      ...recorded.flatMap(assessed.decision.action === 'delete' ? letGo : (address) => last(address, ['apply', 'retire'])),
    ],
  };
  const turn = web.turns.get(assessed.address);
  const ready = (addresses: readonly ResourceAddress[]) => addresses.flatMap((address) => last(address, ['apply']));
  const first = chain.effects.find((effect) => effect.part !== 'prepare');
  const started = new Set<Effect['part']>();
  const outsideOf = (effect: Effect): readonly string[] => {
    if (effect.lasts !== undefined) {
      const users = [...(web.dependants.desired.get(assessed.address) ?? []), ...recorded];
      return ready(effect.name === PAUSE ? (turn?.beside ?? []) : users);
    }
    const outside = started.has(effect.part) ? [] : before[effect.part];
    started.add(effect.part);
    return effect === first && turn !== undefined ? [...outside, ...endOf(turn.behind, web, ready)] : outside;
  };
  let previous: string | undefined;
  return chain.effects.map((effect) => {
    const id = stepId(assessed.address, effect.name);
    const outside = outsideOf(effect);
    const after = [...new Set([...(previous === undefined ? [] : [previous]), ...outside])]
      .filter((other) => other !== id)
      .sort(compareText);
    previous = id;
    return {
      id,
      address: assessed.address,
      effect: effect.name,
      stage: effect.stage,
      phase: phaseOf(effect.stage),
      after,
      direction: effect.direction,
      ...(effect.lasts === undefined ? {} : { seconds: effect.lasts / 1000 }),
    };
  });
}

/** What the documents want converged before a commit, beside what depends on it: addresses, or names of all their instances. */
function handedOver({ instance }: Assessed, web: Web): readonly ResourceAddress[] {
  const named = instance?.commitAfter ?? [];
  return [...web.chains.keys()].filter((address) => named.some((name) => address === name || address.startsWith(`${name}[`)));
}

/** The steps after which a batch is through: its pause, which waits for all of it, or without one the last of each that brings it about. */
function endOf(
  batch: readonly ResourceAddress[],
  web: Web,
  ready: (addresses: readonly ResourceAddress[]) => readonly string[],
): readonly string[] {
  const pauses = batch.filter((address) =>
    web.chains.get(address)?.effects.some((effect) => effect.name === PAUSE && effect.lasts !== undefined),
  );
  return pauses.length > 0 ? pauses.map((address) => stepId(address, PAUSE)) : ready(batch);
}
