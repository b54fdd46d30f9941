import type { Action } from '../core/action.ts';
import { compareText, type ResourceAddress } from '../core/address.ts';
import { digestOf } from '../core/canonical.ts';
import type { Diagnostic, Outcome } from '../core/diagnostic.ts';
import { hasErrors } from '../core/diagnostic.ts';
import { formatPath, type PathSegment } from '../core/path.ts';
import {
  type Attributes,
  encodeValue,
  isAttributes,
  isList,
  type Plain,
  Sensitive,
  secretNames,
  Unknown,
  type Value,
} from '../core/value.ts';
import type { Effect } from '../providers/contract.ts';
import { type Assessed, type Assessment, assess } from './assess.ts';
import { facetsOf } from './decide.ts';
import { planDigest } from './digest.ts';
import { driftOf } from './drift.ts';
import { withEnvironmentSteps } from './environment-steps.ts';
import { planGuards } from './guards.ts';
import { notKeptWarnings } from './hindrances.ts';
import type { PlanInputs } from './inputs.ts';
import { judge } from './judge.ts';
import { fingerprintOfObserved } from './live.ts';
import { beginningLineage } from './marks.ts';
import { sensitivePaths } from './masking.ts';
import type { PlanDocument, PlanMessage, PlannedChange, PlannedStep, Refusal, Summary } from './model.ts';
import { planOutputs } from './outputs.ts';
import type { PreparedChange, PreparedPlan } from './prepared.ts';
import { roleOf } from './role.ts';
import { type Schedule, scheduleSteps } from './rolling.ts';
import { pullRefusals } from './stages.ts';
import { effectsOf } from './steps.ts';
import { classify } from './succession/classify.ts';
import { governingBlock } from './succession/policy.ts';

/**
 * The plan: from what is desired, recorded and observed to what will be done. Pure. Fails when the documents have mistakes; whatever else
 * stands in the way is a refusal inside of the plan, so that the rest can still be read.
 */
export function planEnvironment(inputs: PlanInputs): Outcome<PreparedPlan> {
  const assessment = assess(inputs);
  if (hasErrors(assessment.diagnostics)) return { ok: false, diagnostics: assessment.diagnostics };
  const key = inputs.snapshot === undefined ? undefined : Buffer.from(inputs.snapshot.identity.fingerprintKey, 'hex');
  const judged = judge(inputs, assessment);
  const shown = [...judged.resources.values()]
    .filter((assessed) => assessment.selected.has(assessed.address) && !(inputs.options.destroy && isUnmade(assessed)))
    .sort((a, b) => compareText(a.address, b.address));
  const named = new Map<ResourceAddress, readonly Effect[]>(shown.map((assessed) => [assessed.address, effectsOf(assessed)]));
  const schedule = scheduleSteps(judged.resources, named);
  if ('cycle' in schedule) return { ok: false, diagnostics: [stepCycle(schedule.cycle)] };
  const { effects, rolling } = schedule;
  const targeted = inputs.options.targets.length > 0 || inputs.options.excludes.length > 0 || inputs.options.refreshOnly;
  const planned = planOutputs(
    inputs.options.destroy || targeted ? [] : inputs.environment.outputs,
    targeted ? [] : (inputs.snapshot?.outputs ?? []),
    assessment.lookup,
    key,
  );
  if (hasErrors(planned.diagnostics)) return { ok: false, diagnostics: planned.diagnostics };

  const fingerprints = Object.fromEntries(
    shown.flatMap((assessed) =>
      assessed.observed === undefined
        ? []
        : [[assessed.address, fingerprintOfObserved(assessed.type, assessed.observed, assessed.masks, key)] as const],
    ),
  );
  const head = stateOf(inputs);
  const documentInputs = inputsOf(inputs);
  const guards = planGuards(inputs, { state: head, inputs: documentInputs, fingerprints });
  const partOf = (step: PlannedStep) => effects.get(step.address)?.find(({ name }) => name === step.effect)?.part;
  const classifiedWith = (refusals: readonly Refusal[]) =>
    classify(inputs, new Map(shown.map((assessed) => [assessed.address, assessed])), {
      refusals,
      outputs: planned.outputs,
      lookup: assessment.lookup,
      graph: assessment.graph,
      steps: schedule.steps,
      guards,
    });
  const refusals = [...judged.refusals, ...pullRefusals(schedule.steps, judged.resources, partOf)];
  const chosen = classifiedWith(refusals);
  const procedure = withEnvironmentSteps(inputs.environment, {
    steps: schedule.steps,
    succession: chosen,
    protectedData: shown.filter(losesProtectedData).map(({ address }) => address),
    waived: governingBlock(inputs.environment, inputs.snapshot?.sealed ?? null, 'hooks')['backup'] === 'none',
  });
  const { steps } = procedure;
  const { outageAddresses, ...classified } = procedure.refusal === undefined ? chosen : classifiedWith([...refusals, procedure.refusal]);
  const succession = { ...classified, stages: procedure.stages };
  const changes = shown.map((assessed) => plannedChange(assessed, inputs, key));
  const content: Omit<PlanDocument, 'digest'> = {
    format: 'accede.plan/v1',
    environment: inputs.environment.name,
    engine: { version: inputs.version },
    inputs: documentInputs,
    state: head,
    succession,
    applicable: succession.class !== 'refuse' && !inputs.options.skipSecrets,
    changes,
    steps,
    rolling,
    fingerprints,
    outageAddresses,
    affected: affectedBy(assessment, outageAddresses, judged.resources),
    secretsChanged: secretsChanged(inputs, shown, key),
    drift: shown.flatMap((assessed) => driftOf(assessed, key) ?? []),
    outputs: planned.outputs,
    summary: summarise(changes),
    warnings: warningsOf(inputs, assessment.diagnostics, [
      ...notesOf(shown),
      ...storeHints(shown),
      ...judged.warnings,
      ...notKeptWarnings(inputs.environment, shown),
      ...atOnceWarnings(schedule.atOnce),
    ]),
    createdAt: new Date(inputs.createdAt).toISOString(),
    expiresAt: new Date(inputs.createdAt + inputs.maxAge).toISOString(),
  };
  const document: PlanDocument = { ...content, digest: planDigest(content) };
  const work = new Map<ResourceAddress, PreparedChange>();
  for (const [index, assessed] of shown.entries()) {
    const change = changes[index];
    const list = effects.get(assessed.address) ?? [];
    if (change === undefined || list.length === 0) continue;
    work.set(assessed.address, preparedChange(assessed, change, list));
  }
  return {
    ok: true,
    value: { document, work, environmentWork: procedure.work, lookup: assessment.lookup, vault: inputs.opened?.vault },
    diagnostics: [...assessment.diagnostics, ...busyWarning(inputs)],
  };
}

/** Whether nothing was ever made at the address, so that there is nothing to destroy and nothing to keep. */
function isUnmade(assessed: Assessed): boolean {
  return assessed.decision.action === 'noop' && assessed.recorded === undefined && assessed.unsettled.length === 0;
}

/** Whether data that is protected would be gone afterwards. */
function losesProtectedData({ decision, recorded }: Assessed): boolean {
  return (decision.action === 'delete' || decision.action === 'replace') && recorded?.row.protected === true;
}

function preparedChange(assessed: Assessed, planned: PlannedChange, effects: readonly Effect[]): PreparedChange {
  return {
    planned,
    type: assessed.type,
    context: assessed.context,
    instance: assessed.instance,
    row: assessed.recorded?.row,
    byMark: assessed.recorded?.byMark === true,
    observed: assessed.observed ?? { kind: 'absent' },
    desired: assessed.decision.after ?? undefined,
    masks: assessed.masks,
    unsettled: assessed.unsettled,
    protected: assessed.protected,
    effects,
    needs: assessed.needs,
  };
}

function stateOf(inputs: PlanInputs): PlanDocument['state'] {
  const { snapshot } = inputs;
  const begins = beginningLineage(snapshot, inputs.world.marked);
  if (snapshot === undefined) return { lineage: null, epoch: null, serial: 0, digest: digestOf([]), begins };
  const { identity, epoch, head } = snapshot;
  return { lineage: identity.lineage, epoch, serial: head.serial, digest: head.digest, begins };
}

function inputsOf(inputs: PlanInputs): PlanDocument['inputs'] {
  const { environment, world } = inputs;
  return {
    sourceDigest: environment.sourceDigest,
    releaseDigest: environment.release?.digest ?? null,
    commit: inputs.commit,
    folder: inputs.folder,
    variables: encodeValue(environment.variables, undefined) as { readonly [name: string]: Plain },
    providers: Object.fromEntries([...world.versions].sort(([a], [b]) => compareText(a, b))),
    options: inputs.options,
  };
}

function plannedChange(assessed: Assessed, inputs: PlanInputs, key: Buffer | undefined): PlannedChange {
  const { decision, recorded, instance, address } = assessed;
  const encoded = (value: Attributes | null) => (value === null ? null : (encodeValue(value, key) as { readonly [name: string]: Plain }));
  const unchanged = decision.action === 'noop';
  const imported = inputs.environment.imports.find((entry) => entry.address === address);
  return {
    address,
    type: assessed.type.type,
    provider: instance?.provider ?? recorded?.row.provider ?? '',
    role: roleOf(assessed),
    action: decision.action,
    replaceOrder: decision.action === 'replace' ? decision.order : null,
    cause: decision.cause,
    reason: decision.reason,
    facets: facetsOf(decision.paths),
    paths: decision.paths,
    before: unchanged ? null : encoded(decision.before),
    after: unchanged || decision.action === 'delete' || decision.action === 'forget' ? null : encoded(decision.after),
    unknown: decision.after === null ? [] : unknownPaths(decision.after).sort(compareText),
    sensitive: [...new Set([...sensitivePaths(decision.before ?? {}), ...sensitivePaths(decision.after ?? {})])].sort(compareText),
    movedFrom: recorded?.movedFrom ?? null,
    importId: imported !== undefined && recorded === undefined ? imported.id : null,
    protected: assessed.protected,
    source: instance?.source ?? null,
  };
}

function unknownPaths(value: Value, at: readonly PathSegment[] = []): string[] {
  if (value instanceof Unknown) return [formatPath(at)];
  if (value instanceof Sensitive) return value.isOpen ? unknownPaths(value.reveal(), at) : [];
  if (isList(value)) return value.flatMap((item, index) => unknownPaths(item, [...at, index]));
  if (isAttributes(value)) return Object.entries(value).flatMap(([name, item]) => unknownPaths(item, [...at, name]));
  return [];
}

/** Who depends on what goes down and is left running. */
function affectedBy(
  assessment: Assessment,
  outage: readonly ResourceAddress[],
  resources: ReadonlyMap<ResourceAddress, Assessed>,
): readonly ResourceAddress[] {
  return (assessment.graph.closure(outage, 'neededBy') as readonly ResourceAddress[]).filter(
    (address) => !outage.includes(address) && resources.get(address)?.decision.action === 'noop',
  );
}

/**
 * Secrets whose value is not the one in force, with the resources that they reach. Before anything is in force all of them are named: there is
 * no fingerprint to compare with.
 */
function secretsChanged(inputs: PlanInputs, shown: readonly Assessed[], key: Buffer | undefined): PlanDocument['secretsChanged'] {
  if (inputs.options.destroy) return [];
  const inForce = inputs.snapshot?.sealed?.secrets;
  const changed = [...inputs.environment.secrets].filter(
    ([name, secret]) => !secret.isSkipped && (inForce === undefined || inForce[name] !== secret.fingerprint(key)),
  );
  const reach = new Map<string, ResourceAddress[]>(changed.map(([name]) => [name, []]));
  for (const assessed of reach.size === 0 ? [] : shown) {
    for (const name of secretNames(assessed.evaluated?.normal ?? null)) reach.get(name)?.push(assessed.address);
  }
  return [...reach].sort(([a], [b]) => compareText(a, b)).map(([name, addresses]) => ({ name, addresses }));
}

function summarise(changes: readonly PlannedChange[]): Summary {
  const count = (action: Action) => changes.filter((change) => change.action === action).length;
  return {
    create: count('create'),
    update: count('update'),
    replace: count('replace'),
    start: count('start'),
    delete: count('delete'),
    adopt: count('adopt'),
    forget: count('forget'),
    move: count('move'),
    noop: count('noop'),
    refuse: count('refuse'),
  };
}

/** What providers want to be known of the objects that they read. */
/** What comes new beside data that is protected may be what writes it: going back after a new version touched it is then no longer promised. */
function storeHints(shown: readonly Assessed[]): readonly PlanMessage[] {
  const holdsData = new Set(shown.filter((assessed) => assessed.protected).map(({ address }) => address));
  return shown
    .filter(({ decision, type, instance, needs }) => {
      const mayBeStore = type.roles.includes('store') && instance?.role === type.role;
      return decision.action === 'create' && mayBeStore && needs.some((needed) => holdsData.has(needed));
    })
    .map(({ address, needs }) => ({
      code: 'ROLE_STORE_SUGGESTED',
      message: `It uses ${needs.filter((needed) => holdsData.has(needed)).join(', ')}, which holds data. If it is a database, a queue or an object store, write role: store, so that a new version that has touched its files is never taken back without your word (lifecycle.reversible: true).`,
      address,
    }));
}

function notesOf(shown: readonly Assessed[]): readonly PlanMessage[] {
  return shown.flatMap(({ address, observed, decision }) => {
    if (observed?.kind !== 'found') return [];
    const said = (observed.notes ?? []).filter(({ lasting }) => lasting !== true || decision.action !== 'noop');
    return said.map(({ code, message }) => ({ code, message, address }));
  });
}

/** That instances go down together although they should take turns. */
function atOnceWarnings(atOnce: Schedule['atOnce']): readonly PlanMessage[] {
  return atOnce.map(({ resource, cycle }) => ({
    code: 'UPDATE_AT_ONCE',
    message: `The instances of ${resource} cannot take turns: something that all of them use is replaced as well, and it goes only after all of them have let go of it (${cycle.join(' → ')}). They are replaced at once. To have them take turns, change what they use in a commit of its own.`,
    address: resource,
  }));
}

function warningsOf(inputs: PlanInputs, diagnostics: readonly Diagnostic[], notes: readonly PlanMessage[]): readonly PlanMessage[] {
  const own: PlanMessage[] = diagnostics
    .filter((diagnostic) => diagnostic.severity === 'warning')
    .map((diagnostic) => ({
      code: diagnostic.code,
      message: diagnostic.detail,
      ...(diagnostic.address === undefined ? {} : { address: diagnostic.address }),
    }));
  if (inputs.options.skipSecrets)
    own.push({ code: 'SECRETS_SKIPPED', message: 'Secrets that could not be read count as unchanged; the plan cannot be applied.' });
  const open = inputs.snapshot?.open;
  if (open !== undefined && open !== null) {
    const { id, kind } = open.operation;
    const what = inputs.backsOut === undefined ? 'This plan goes on from where the world stands now.' : 'It is taken back first.';
    own.push({ code: 'OPERATION_OPEN', message: `${id} (${kind}) has not ended. ${what}` });
  } else if ((inputs.snapshot?.unsettled.length ?? 0) > 0) {
    own.push({ code: 'STEPS_UNSETTLED', message: 'An earlier run broke off in the middle of a step. An apply clears up what it left.' });
  }
  own.push(...notes);
  return own.sort((a, b) => compareText(a.code, b.code) || compareText(a.address ?? '', b.address ?? ''));
}

/** Who works on the environment right now. It stands beside the plan, not in it: it says nothing of what the plan does. */
function busyWarning(inputs: PlanInputs): readonly Diagnostic[] {
  const holder = inputs.snapshot?.lock;
  if (holder === null || holder === undefined) return [];
  const detail = `${holder.who} holds the lock since ${holder.since} for ${holder.purpose}. When that has changed anything, this plan is stale.`;
  return [
    { severity: 'warning', code: 'OPERATION_RUNNING', summary: 'Somebody is working on this environment', detail, next: 'accede status' },
  ];
}

function stepCycle(cycle: readonly string[]): Diagnostic {
  return {
    severity: 'error',
    code: 'STEP_CYCLE',
    summary: 'The changes wait for one another in a circle',
    detail: `No order of steps can carry out all of these changes at once: ${cycle.join(' → ')}. Split them over two commits.`,
  };
}
