import { compareText, ENVIRONMENT } from '../core/address.ts';
import { parseDuration } from '../core/duration.ts';
import { STAGES, type Stage } from '../core/facet.ts';
import { type Attributes, isAttributes, isList, type Value } from '../core/value.ts';
import type { Effect } from '../providers/contract.ts';
import type { Environment } from '../spec/environment.ts';
import type { PlannedStep, Refusal, Succession } from './model.ts';
import { phaseOf } from './stages.ts';
import { type BackupFacts, backupMissing, backupOf, hasEffects, procedureOf } from './succession/procedure.ts';

/** A program that the documents name. */
export interface Hook {
  readonly run: readonly [string, ...string[]];
  /** Milliseconds. */
  readonly timeout: number;
}

/** Old writers that the documents name. */
export interface Quiesce {
  readonly units: readonly string[];
  /** `KEY` or `KEY=VALUE`. */
  readonly label: string | undefined;
  /** Absolute paths of executables. */
  readonly processes: readonly string[];
}

/** A step of the environment itself with what it does. */
export interface EnvironmentWork {
  readonly effect: Effect;
  readonly act: { readonly kind: 'hook'; readonly hook: Hook } | { readonly kind: 'quiesce'; readonly quiesce: Quiesce };
}

/** How long a hook may take when it does not say. */
const HOOK_TIMEOUT = 10 * 60_000;
const BACKUP_TIMEOUT = 60 * 60_000;

const LISTS = ['before', 'verify', 'after', 'failed'] as const;
export type HookList = (typeof LISTS)[number];

/** The hooks of a list, in the order in which they are written. */
export function hooksOf(environment: Pick<Environment, 'hooks'>, list: HookList): readonly Hook[] {
  const given = environment.hooks[list];
  return isList(given) ? given.flatMap((hook) => hookOf(hook, HOOK_TIMEOUT) ?? []) : [];
}

function hookOf(value: Value | undefined, timeout: number): Hook | undefined {
  if (!isAttributes(value) || !isList(value['run'])) return undefined;
  const [program, ...rest] = value['run'].map(String);
  const limit = typeof value['timeout'] === 'string' ? parseDuration(value['timeout']) : undefined;
  return program === undefined ? undefined : { run: [program, ...rest], timeout: limit ?? timeout };
}

/** The old writers that are to be stopped; undefined where none are named. */
export function quiesceOf({ quiesce }: Pick<Environment, 'quiesce'>): Quiesce | undefined {
  const texts = (value: Value | undefined) => (isList(value) ? value.map(String) : []);
  const containers: Attributes = isAttributes(quiesce['containers']) ? quiesce['containers'] : {};
  const label = typeof containers['label'] === 'string' ? containers['label'] : undefined;
  const found = { units: texts(quiesce['units']), label, processes: texts(quiesce['processes']) };
  return found.units.length + found.processes.length === 0 && label === undefined ? undefined : found;
}

/** The name of the effect of one hook. */
export function hookEffect(list: HookList, index: number): string {
  return `hook.${list}.${index + 1}`;
}

export const BACKUP = 'hook.backup';
export const QUIESCE = 'quiesce';

/**
 * The plan's own steps with those of the environment: hooks before everything, backup, old writers, hooks that verify. Each is in the stage of
 * its own, so that the order of stages alone puts it in its place. The refusal stands where the class needs a backup and none is declared.
 */
export function withEnvironmentSteps(
  environment: Pick<Environment, 'hooks' | 'quiesce'>,
  plan: {
    readonly steps: readonly PlannedStep[];
    readonly succession: Succession;
    readonly protectedData: readonly string[];
    /** Whether `hooks.backup: none` is in force. */
    readonly waived: boolean;
  },
): {
  readonly steps: readonly PlannedStep[];
  readonly work: readonly EnvironmentWork[];
  readonly stages: readonly Stage[];
  readonly refusal: Refusal | undefined;
} {
  const { steps, succession } = plan;
  // What goes on from a run that broke off runs the procedure that its changes ask for.
  const name = succession.class === 'resume' ? (succession.chosen ?? succession.class) : (succession.then ?? succession.class);
  const none = { steps, work: [], stages: succession.stages, refusal: undefined };
  if (name === 'refuse' || !hasEffects(steps)) return none;
  const procedure = procedureOf(name);
  const facts: BackupFacts = { protectedData: plan.protectedData, succession };
  const backup = backupOf(procedure, facts);
  const declared = hookOf(environment.hooks['backup'], BACKUP_TIMEOUT);
  if (backup.required && declared === undefined && !plan.waived) return { ...none, refusal: backupMissing(name, facts) };
  const hook = backup.runs ? declared : undefined;
  const quiesce = procedure.quiesces ? quiesceOf(environment) : undefined;
  const work: EnvironmentWork[] = [
    ...hooksOf(environment, 'before').map((one, index) => hookWork(hookEffect('before', index), 'backup', one)),
    ...(hook === undefined ? [] : [hookWork(BACKUP, 'backup', hook)]),
    ...(quiesce === undefined ? [] : [quiesceWork(quiesce)]),
    ...hooksOf(environment, 'verify').map((one, index) => hookWork(hookEffect('verify', index), 'verify', one)),
  ];
  if (work.length === 0) return none;
  const own = environmentStepsOf(work, steps);
  const used = new Set<Stage>([...succession.stages, ...own.map((step) => step.stage)]);
  return {
    steps: [...steps, ...own].sort((a, b) => compareText(a.id, b.id)),
    work,
    stages: STAGES.filter((stage) => used.has(stage)),
    refusal: undefined,
  };
}

/** Hooks of one stage run one after another; those that verify come after whatever else belongs to that stage. */
function environmentStepsOf(work: readonly EnvironmentWork[], steps: readonly PlannedStep[]): readonly PlannedStep[] {
  const verifying = steps.filter((step) => step.stage === 'verify').map((step) => step.id);
  let previous: { readonly id: string; readonly stage: Stage } | undefined;
  return work.map(({ effect }) => {
    const { name, stage, direction } = effect;
    const id = `${ENVIRONMENT}:${name}`;
    const behind = previous?.stage === stage ? [previous.id] : stage === 'verify' ? verifying : [];
    previous = { id, stage };
    return { id, address: ENVIRONMENT, effect: name, stage, phase: phaseOf(stage), after: behind.toSorted(compareText), direction };
  });
}

/** What a hook did is its own business: nothing of it is taken back, and it stands in nobody's way. */
function hookWork(name: string, stage: Stage, hook: Hook): EnvironmentWork {
  return { effect: { name, part: 'prepare', stage, object: 'keep', direction: 'back' }, act: { kind: 'hook', hook } };
}

function quiesceWork(quiesce: Quiesce): EnvironmentWork {
  const effect: Effect = { name: QUIESCE, part: 'apply', stage: 'quiesce', object: 'keep', direction: 'back' };
  return { effect, act: { kind: 'quiesce', quiesce } };
}
