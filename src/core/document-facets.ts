import type { Facet } from './facet.ts';
import type { PathSegment } from './path.ts';

/**
 * What each part of the documents that is no attribute of a resource is about. `own`: the parts below say it themselves. `*` stands for any
 * key. A path without an entry takes that of its nearest parent.
 */
export type FacetTable = Readonly<Record<string, Facet | 'own'>>;

/** The Environment and its fragments. What only feeds other values counts where it arrives, so that it is for readers by itself. */
export const ENVIRONMENT_FACETS: FacetTable = {
  apiVersion: 'annotation',
  kind: 'annotation',
  metadata: 'identity',
  include: 'annotation',
  ignore: 'annotation',
  variables: 'annotation',
  locals: 'annotation',
  secrets: 'annotation',
  defaults: 'annotation',
  providers: 'own',
  resources: 'own',
  outputs: 'annotation',
  moved: 'annotation',
  removed: 'governance',
  import: 'annotation',
  overrides: 'annotation',
  release: 'own',
  state: 'placement',
  policy: 'governance',
  quiesce: 'governance',
  hooks: 'governance',
};

/** The keys that any resource has beside its type's own. */
export const COMMON_FACETS: FacetTable = {
  for_each: 'annotation',
  enabled: 'annotation',
  depends_on: 'annotation',
  provider: 'placement',
  role: 'identity',
  update: 'annotation',
  lifecycle: 'annotation',
  'lifecycle.prevent_destroy': 'governance',
  'lifecycle.data': 'governance',
  'lifecycle.reversible': 'governance',
  timeouts: 'annotation',
  commit_after: 'annotation',
};

/** The release document. What a role says beside these is content, and tuning inside of the range that the sealed release gives it. */
export const RELEASE_FACETS: FacetTable = {
  apiVersion: 'annotation',
  kind: 'annotation',
  metadata: 'annotation',
  'metadata.name': 'annotation',
  'metadata.version': 'annotation',
  ...entryFacets('services'),
  'services.*.role': 'identity',
  ...entryFacets('jobs'),
  ...entryFacets('frontends'),
  'frontends.*.routing': 'routing',
  'catalogs.*.app_id': 'identity',
  'catalogs.*.job': 'configuration',
  'catalogs.*.release_digest': 'content',
  ...sourceFacets('catalogs.*.metadata'),
  'runtimes.*.generation': 'implementation',
  'runtimes.*.index': 'configuration',
  'runtimes.*.index.trust': 'authority',
  'runtimes.*.archive': 'implementation',
  'roles.*': 'content',
  'roles.*.schema': 'identity',
  'roles.*.tunable': 'content',
};

/** Fragments of one `image`, where it was built from, and what vouches for it. */
function entryFacets(section: string): FacetTable {
  return {
    [`${section}.*.image.repository`]: 'identity',
    [`${section}.*.image.digest`]: 'implementation',
    [`${section}.*.image.tag`]: 'annotation',
    ...sourceFacets(`${section}.*.source`),
    [`${section}.*.sbom`]: 'implementation',
    [`${section}.*.provenance`]: 'annotation',
  };
}

function sourceFacets(at: string): FacetTable {
  return {
    [`${at}.repository`]: 'identity',
    [`${at}.path`]: 'identity',
    [`${at}.commit`]: 'implementation',
    [`${at}.tree`]: 'implementation',
  };
}

/** The facet of a place: its own entry, or that of the nearest parent that has one; undefined where none has. */
export function facetAt(table: FacetTable, segments: readonly PathSegment[]): Facet | 'own' | undefined {
  for (let length = segments.length; length > 0; length--) {
    const written = segments.slice(0, length).map(String);
    // Names stand at the second place of a path: services.NAME, roles.NAME.
    const withName = written.map((segment, index) => (index === 1 ? '*' : segment));
    for (const names of [written, withName]) {
      const key = names.join('.');
      if (Object.hasOwn(table, key)) return table[key];
    }
  }
  return undefined;
}
