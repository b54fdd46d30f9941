import { compareText, type ResourceAddress } from '../../core/address.ts';
import type { ResourceLookup } from '../../core/template.ts';
import { type Attributes, isAttributes, type Plain } from '../../core/value.ts';
import type { Assessed } from '../assess.ts';
import { evaluateInstance } from '../evaluate.ts';
import type { PlanInputs } from '../inputs.ts';
import type { PlannedOutput } from '../model.ts';
import type { PathChange } from './mask.ts';
import { addedRoles, releaseChanges, withTuningInForce } from './release-changes.ts';
import { type Derivations, resourceChanges } from './resource-changes.ts';
import { documentChanges, governanceOf } from './sealed-documents.ts';
import { type Untouched, untouchedSinceRecord } from './untouched.ts';

/** What was found out about the candidate that its changes are told from. */
export interface Found {
  readonly resources: ReadonlyMap<ResourceAddress, Assessed>;
  readonly outputs: readonly PlannedOutput[];
  readonly lookup: ResourceLookup;
}

/**
 * Every place at which the candidate differs from the sealed predecessor: resources, the release, governance, provider blocks and outputs.
 * What the live world moved is not in it. Sorted by path. Empty where nothing is sealed.
 */
export function changesOf(inputs: PlanInputs, found: Found, isUntouched?: Untouched): readonly PathChange[] {
  const { snapshot, environment, registry, options } = inputs;
  const sealed = snapshot?.sealed ?? null;
  if (snapshot === undefined || sealed === null || options.destroy || options.refreshOnly) return [];
  const key = Buffer.from(snapshot.identity.fingerprintKey, 'hex');
  const held = isAttributes(sealed.governance) ? (sealed.governance as { readonly [name: string]: Plain }) : {};
  const release = held['release'];
  const knowsRelease = release !== undefined;
  const after = environment.release?.document;
  const before = release === null ? undefined : release;
  const known: Derivations = {
    key,
    isUntouched: isUntouched ?? untouchedSinceRecord(found.resources, key),
    secrets: changedSecrets(inputs, key),
    untuned: knowsRelease ? untuned(inputs, found, withTuningInForce(before, after)) : () => undefined,
    addedRoles: knowsRelease ? addedRoles(before, after) : new Set(),
  };
  const isRecorded = (address: string) => snapshot.resources.has(address as ResourceAddress);
  const resources = resourceChanges(found.resources, known, isRecorded);
  const missing = missingReceipts(found.resources);
  if (options.targets.length > 0 || options.excludes.length > 0) return sorted([...resources, ...missing]);
  const isOnBothSides = (address: string) => isRecorded(address) && found.resources.get(address as ResourceAddress)?.instance !== undefined;
  const documents = documentChanges(sealed.governance, governanceOf(environment, key), registry, isOnBothSides);
  const released = knowsRelease ? withoutAdopted(releaseChanges(before, after), resources, found.resources) : [];
  const own = sorted([...resources, ...missing, ...documents, ...released]);
  // What a repair or a follower brings with it is no change of the outputs.
  const isQuiet = [...found.resources.values()].every(({ decision }) => decision.action === 'noop');
  const outputs = isQuiet || own.length > 0 ? found.outputs.filter((output) => output.changed).map(outputChange) : [];
  return sorted([...own, ...outputs]);
}

function sorted(changes: readonly PathChange[]): readonly PathChange[] {
  return [...changes].sort((a, b) => compareText(a.path, b.path) || compareText(a.role, b.role));
}

function outputChange({ name }: PlannedOutput): PathChange {
  return { path: `outputs.${name}`, role: 'infrastructure', facet: 'annotation', action: 'changed' };
}

/** Names of the secrets whose value is not the one in force; one that came or went is none of them. */
function changedSecrets({ environment, snapshot }: PlanInputs, key: Buffer): ReadonlySet<string> {
  const inForce = snapshot?.sealed?.secrets ?? {};
  const names = [...environment.secrets].filter(([name, secret]) => {
    const former = inForce[name];
    return former !== undefined && !secret.isSkipped && former !== secret.fingerprint(key);
  });
  return new Set(names.map(([name]) => name));
}

/** The normal form of each resource with the tuning values in force, computed when it is asked for. */
function untuned({ environment }: PlanInputs, found: Found, release: Plain | undefined): Derivations['untuned'] {
  const instances = release === undefined ? undefined : environment.resourcesUnder?.(release);
  if (instances === undefined) return () => undefined;
  const byAddress = new Map(instances.map((instance) => [instance.address, instance]));
  const known = new Map<ResourceAddress, Attributes | undefined>();
  return (address) => {
    if (known.has(address)) return known.get(address);
    const instance = byAddress.get(address);
    const assessed = found.resources.get(address);
    const outcome =
      instance === undefined || assessed === undefined
        ? undefined
        : evaluateInstance(instance, assessed.type, assessed.context, found.lookup, assessed.recorded?.row);
    const normal = outcome?.ok === true ? outcome.value.normal : undefined;
    known.set(address, normal);
    return normal;
  };
}

/** Reference data whose receipt is gone counts as content that is not there. */
function missingReceipts(resources: ReadonlyMap<ResourceAddress, Assessed>): readonly PathChange[] {
  return [...resources.values()].flatMap(({ address, recorded, decision, instance }): readonly PathChange[] => {
    if (instance?.role !== 'data' || recorded === undefined || decision.cause?.kind !== 'drift') return [];
    const isMissing = decision.cause.of === 'missing' || decision.cause.of === 'unfinished';
    return isMissing ? [{ path: `${address}.receipt`, role: 'data', facet: 'content', action: 'changed', address }] : [];
  });
}

/** A role policy that a release takes over from what is in force already changes nothing: no worker of that role differs. */
function withoutAdopted(
  released: readonly PathChange[],
  resources: readonly PathChange[],
  assessed: ReadonlyMap<ResourceAddress, Assessed>,
): readonly PathChange[] {
  const moved = new Set(resources.map(({ address }) => address));
  const workers = new Map<string, boolean>();
  for (const { instance, address } of assessed.values()) {
    if (instance?.role !== 'worker' || instance.key === undefined) continue;
    workers.set(instance.key, (workers.get(instance.key) ?? false) || moved.has(address));
  }
  return released.filter(({ path, role, facet, action }) => {
    const name = /^release\.roles(?:\.([A-Za-z_][A-Za-z0-9_-]*)|\["([^"]+)"\])/.exec(path);
    if (name === null || role !== 'worker' || action !== 'changed' || (facet !== 'tuning' && facet !== 'content')) return true;
    return workers.get(name[1] ?? name[2] ?? '') !== false;
  });
}
