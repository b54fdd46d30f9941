import { compareText } from '../../core/address.ts';
import { COMMON_FACETS, facetAt } from '../../core/document-facets.ts';
import { formatPath } from '../../core/path.ts';
import { encodeValue, isAttributes, type Plain } from '../../core/value.ts';
import type { Registry } from '../../providers/contract.ts';
import { schemaTraits } from '../../providers/define.ts';
import type { Environment, ResourceInstance } from '../../spec/environment.ts';
import type { PathChange } from './mask.ts';
import { differences } from './release-changes.ts';

type Document = { readonly [name: string]: Plain };

/**
 * What is kept of an environment in force beside its resources, for judging the next one by it: policy, hooks and quiesce, the release, the
 * common keys that no record of a resource holds, and the provider blocks. Secrets in it are fingerprints under the state's key.
 */
export function governanceOf(environment: Environment, key: Buffer | undefined): Document {
  const common = environment.resources.flatMap((instance) => {
    const keys = commonKeys(instance);
    return Object.keys(keys).length === 0 ? [] : [[instance.address, keys] as const];
  });
  return {
    policy: encodeValue(environment.policy, undefined),
    hooks: encodeValue(environment.hooks, undefined),
    quiesce: encodeValue(environment.quiesce, undefined),
    release: environment.release?.document ?? null,
    // Who may change whom the environment trusts with its release may bring any image.
    trust: environment.release?.trust?.keys ?? null,
    common: Object.fromEntries(common),
    providers: Object.fromEntries(environment.providers.map(({ alias, config }) => [alias, encodeValue(config, key)])),
  };
}

/** The common keys that steer apply alone and stand in no record, those at their default left out. */
function commonKeys({ lifecycle, update, timeouts, commitAfter, dependsOn }: ResourceInstance): Document {
  const conditions = (list: ResourceInstance['lifecycle']['preconditions']) =>
    list.map(({ that, message }) => ({ that: that.text, message }));
  const { ignoreChanges, createBeforeDestroy, replaceTriggeredBy, preconditions, postconditions, data, reversible } = lifecycle;
  const steering: Document = {
    ...(data === undefined ? {} : { data }),
    ...(reversible === undefined ? {} : { reversible }),
    ...(ignoreChanges.length === 0 ? {} : { ignore_changes: ignoreChanges }),
    ...(createBeforeDestroy ? { create_before_destroy: true } : {}),
    ...(replaceTriggeredBy.length === 0
      ? {}
      : { replace_triggered_by: replaceTriggeredBy.map(({ type, name, key, path }) => [type, name, key ?? '', ...path].join('.')) }),
    ...(preconditions.length === 0 ? {} : { preconditions: conditions(preconditions) }),
    ...(postconditions.length === 0 ? {} : { postconditions: conditions(postconditions) }),
  };
  const restarts = dependsOn.filter(({ restart }) => restart).map(({ address }) => address);
  return {
    ...(Object.keys(steering).length === 0 ? {} : { lifecycle: steering }),
    ...(update === undefined ? {} : { update: { ...update } }),
    ...(Object.keys(timeouts).length === 0 ? {} : { timeouts: { ...timeouts } }),
    ...(commitAfter.length === 0 ? {} : { commit_after: commitAfter }),
    ...(restarts.length === 0 ? {} : { depends_on: restarts }),
  };
}

/** What of the candidate's governance, common keys and provider blocks differs from what is sealed. What an older state does not hold is not compared. */
export function documentChanges(
  sealed: Plain,
  candidate: Document,
  registry: Registry,
  isOnBothSides: (address: string) => boolean,
): readonly PathChange[] {
  if (!isAttributes(sealed)) return [];
  const before = sealed as Document;
  const changes: PathChange[] = [];
  for (const block of ['policy', 'hooks', 'quiesce', 'trust']) {
    if (before[block] === undefined) continue;
    for (const segments of differences(before[block], candidate[block], [block]))
      changes.push({ path: formatPath(segments), role: 'infrastructure', facet: 'governance', action: 'changed' });
  }
  changes.push(
    ...commonChanges(before['common'], candidate['common'], isOnBothSides),
    ...providerChanges(before['providers'], candidate['providers'], registry),
  );
  return changes.sort((a, b) => compareText(a.path, b.path));
}

/** Of resources that are on both sides; what comes and goes is told by itself. */
function commonChanges(
  before: Plain | undefined,
  after: Plain | undefined,
  isOnBothSides: (address: string) => boolean,
): readonly PathChange[] {
  if (before === undefined || after === undefined || !isAttributes(before) || !isAttributes(after)) return [];
  const [left, right] = [before as Document, after as Document];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].filter(isOnBothSides).flatMap((address) =>
    differences(left[address] ?? {}, right[address] ?? {}, []).map((segments): PathChange => {
      const facet = facetAt(COMMON_FACETS, segments);
      const known = facet === undefined || facet === 'own' ? 'annotation' : facet;
      return { path: `${address}.${formatPath(segments)}`, role: 'infrastructure', facet: known, action: 'changed' };
    }),
  );
}

/** Of provider blocks on both sides: one that comes or goes acts through the resources that name it. */
function providerChanges(before: Plain | undefined, after: Plain | undefined, registry: Registry): readonly PathChange[] {
  if (before === undefined || after === undefined || !isAttributes(before) || !isAttributes(after)) return [];
  const [left, right] = [before as Document, after as Document];
  return Object.keys(right).flatMap((alias) => {
    if (left[alias] === undefined) return [];
    const provider = registry.providers.get(alias.split(':')[0] ?? '');
    const traits = provider === undefined ? new Map<string, never>() : schemaTraits(provider.config);
    return differences(left[alias], right[alias], ['providers', alias]).map((segments): PathChange => {
      const attribute = traits.get(String(segments[2] ?? ''));
      const facet = attribute === undefined ? 'placement' : attribute.sensitive ? 'credential' : attribute.facet;
      return { path: formatPath(segments), role: 'infrastructure', facet, action: 'changed' };
    });
  });
}
