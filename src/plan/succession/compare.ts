import path from 'node:path';
import { compareText, type ResourceAddress } from '../../core/address.ts';
import { digestOf } from '../../core/canonical.ts';
import { type Diagnostic, hasErrors, type Outcome } from '../../core/diagnostic.ts';
import type { ClassName } from '../../core/successor-class.ts';
import { type Attributes, encodeValue, type Plain } from '../../core/value.ts';
import type { Observed, Registry } from '../../providers/contract.ts';
import type { Environment } from '../../spec/environment.ts';
import type { ResourceRow, Sealed, Snapshot } from '../../state/model.ts';
import { type Assessed, type Assessment, assess } from '../assess.ts';
import { DEFAULT_OPTIONS, EMPTY_WORLD, type PlanInputs } from '../inputs.ts';
import type { Succession } from '../model.ts';
import { changesOf } from './changes.ts';
import { classRow } from './classes.ts';
import { admits, type PathChange } from './mask.ts';
import { matchClass, type SuccessionPolicy } from './match.ts';
import { releaseChanges } from './release-changes.ts';
import { unmetRequirements } from './requirements.ts';
import { ruleOf } from './rule.ts';
import { governanceOf } from './sealed-documents.ts';
import { untouchedBetween, type WrittenSide } from './untouched.ts';

/** What two documents are to one another, without any live access. */
export type Compared = Pick<Succession, 'class' | 'chosen' | 'rule' | 'changedPaths' | 'rejected' | 'refusals'>;

/** The class that one release would be after another. */
export function compareReleases(before: Plain, after: Plain, policy: SuccessionPolicy): Compared {
  return compared(releaseChanges(before, after), policy);
}

/**
 * The class that one environment would be after another had been put in force and nothing had drifted: what a plan would say, as far as no
 * live object, no secret, no hook and no approval has a part in it. Mistakes that only show with resources filled in are in the outcome.
 */
export function compareEnvironments(
  before: Environment,
  after: Environment,
  registry: Registry,
  policy: SuccessionPolicy,
): Outcome<Compared> {
  const former = assess(inputsFor(before, registry, undefined, new Map()));
  if (hasErrors(former.diagnostics)) return failure(former.diagnostics);
  const snapshot = inForce(before, former);
  const observations = new Map([...former.resources.values()].flatMap(foundAs));
  const inputs = inputsFor(inPlaceOf(after, before), registry, snapshot, observations);
  const candidate = assess(inputs);
  if (hasErrors(candidate.diagnostics)) return failure(candidate.diagnostics);
  const isUntouched = untouchedBetween(sideOf(before, former), sideOf(after, candidate));
  const changes = changesOf(inputs, { resources: candidate.resources, outputs: [], lookup: candidate.lookup }, isUntouched);
  const outputs = outputChanges(before, after);
  return { ok: true, value: compared([...changes, ...outputs], policy), diagnostics: [] };
}

/** Where the documents lie is no change: the candidate takes the name and the folder of its predecessor. */
function inPlaceOf(after: Environment, before: Environment): Environment {
  const moved = (folder: string) => path.resolve(before.folder, path.relative(after.folder, folder));
  return {
    ...after,
    name: before.name,
    folder: before.folder,
    resources: after.resources.map((instance) => ({ ...instance, folder: moved(instance.folder) })),
  };
}

function failure(diagnostics: readonly Diagnostic[]): Outcome<never> {
  return { ok: false, diagnostics };
}

function compared(changes: readonly PathChange[], policy: SuccessionPolicy): Compared {
  if (changes.length === 0) {
    const rule = 'nothing differs';
    return { class: 'no-op', chosen: 'no-op', rule, changedPaths: [], rejected: [], refusals: [] };
  }
  const match = matchClass(changes, policy);
  const refusals = [
    ...(match.refusal === null ? [] : [{ code: match.refusal.code, path: match.refusal.paths[0] ?? '', message: match.refusal.message }]),
    ...(match.chosen === null ? [] : unmetRequirements(match.chosen, changes, undefined)),
  ];
  const name: ClassName = refusals.length > 0 ? 'refuse' : match.class;
  const row = match.chosen === null ? undefined : classRow(match.chosen);
  return {
    class: name,
    chosen: match.chosen,
    rule: refusals.length > 0 ? ruleOf.refused(refusals, match.chosen) : ruleOf.matched(match, changes),
    changedPaths: [...changes]
      .sort((a, b) => compareText(a.path, b.path) || compareText(a.role, b.role))
      .map((change) => ({
        path: change.path,
        role: change.role,
        facet: change.facet,
        action: change.action,
        admittedBy: row !== undefined && admits(row.mask, change) ? row.name : null,
      })),
    rejected: match.rejected,
    refusals,
  };
}

/** Outputs whose text differs. What they show follows from resources. */
function outputChanges(before: Environment, after: Environment): readonly PathChange[] {
  const textsOf = ({ outputs }: Environment) => new Map(outputs.map(({ name, description }) => [name, description ?? '']));
  const [left, right] = [textsOf(before), textsOf(after)];
  return [...new Set([...left.keys(), ...right.keys()])]
    .filter((name) => left.get(name) !== right.get(name))
    .map((name) => ({ path: `outputs.${name}`, role: 'infrastructure', facet: 'annotation', action: 'changed' }));
}

const KEY = '00'.repeat(32);
const NOON = '2000-01-01T12:00:00.000Z';

function inputsFor(
  environment: Environment,
  registry: Registry,
  snapshot: Snapshot | undefined,
  observations: ReadonlyMap<ResourceAddress, Observed>,
): PlanInputs {
  return {
    environment,
    registry,
    snapshot,
    beginning: false,
    world: { ...EMPTY_WORLD, observations },
    options: DEFAULT_OPTIONS,
    version: '',
    commit: null,
    folder: '.',
    createdAt: 0,
    maxAge: 0,
  };
}

/** The state that an apply of the environment would leave. */
function inForce(environment: Environment, { resources }: Assessment): Snapshot {
  const key = Buffer.from(KEY, 'hex');
  const rows = [...resources.values()].flatMap((assessed) => rowOf(assessed, key));
  const sealed: Sealed = {
    serial: 1,
    sourceDigest: environment.sourceDigest,
    releaseDigest: environment.release?.digest ?? null,
    governance: governanceOf(environment, key),
    commit: null,
    secrets: {},
    source: null,
  };
  return {
    identity: { format: 1, environment: environment.name, lineage: KEY.slice(32), fingerprintKey: KEY, encryption: null, createdAt: NOON },
    head: { serial: 1, digest: digestOf([]) },
    resources: new Map(rows.map((row) => [row.address, row])),
    outputs: [],
    sealed,
    open: null,
    lastOperation: null,
    unsettled: [],
    lock: null,
    epoch: 1,
    holds: [],
  };
}

function rowOf(assessed: Assessed, key: Buffer): readonly ResourceRow[] {
  const { address, type, instance, evaluated, needs } = assessed;
  if (instance === undefined || evaluated === undefined || type.data) return [];
  return [
    {
      address,
      type: type.type,
      provider: instance.provider,
      schemaVersion: type.schemaVersion,
      id: address,
      ref: address,
      identity: evaluated.identity ?? '',
      status: 'ready',
      marked: true,
      attributes: encodeValue(evaluated.normal, key) as ResourceRow['attributes'],
      computed: encodeValue(evaluated.foreseen, key) as ResourceRow['computed'],
      fingerprint: '',
      dependencies: needs,
      protected: assessed.protected,
      role: instance.role,
      deposed: [],
      folder: '.',
    },
  ];
}

/** The live object that an apply of the environment would leave. */
function foundAs({ address, type, evaluated }: Assessed): readonly (readonly [ResourceAddress, Observed])[] {
  if (evaluated === undefined || type.data) return [];
  const attributes: Attributes = evaluated.normal;
  return [[address, { kind: 'found', owner: 'ours', ref: address, attributes, computed: evaluated.foreseen }]];
}

function sideOf({ resources }: Environment, { lookup }: Assessment): WrittenSide {
  return { templates: new Map(resources.map((instance) => [instance.address, instance.attributes])), lookup };
}
