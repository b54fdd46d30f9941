import type { ResourceInstance } from '../spec/environment.ts';
import type { ResourceRow } from '../state/model.ts';
import type { PlannedChange } from './model.ts';

type Path = PlannedChange['paths'][number];

/** What the record says of a resource beside its attributes, and what it should say. */
export interface Metadata {
  readonly instance: ResourceInstance | undefined;
  /** Whether it had another address before. */
  readonly moved: boolean;
  /** What the record should say. */
  readonly wanted:
    | {
        readonly protected: boolean;
        readonly provider: string;
        readonly needs: readonly string[];
        readonly identity: string | undefined;
      }
    | undefined;
  /** Where the recorded attributes lead by now; where it is recorded, unless the environment's folder moved. */
  readonly recordedIdentity: string | undefined;
  /** What the record says it needs, after moves. */
  readonly recordedNeeds: readonly string[];
}

/** Differences in what the record says beside the attributes. They touch no object, but for another provider block. */
export function metadataChanges(situation: Metadata, row: ResourceRow, attributes: readonly Path[]): readonly Path[] {
  const { wanted } = situation;
  if (wanted === undefined) return [];
  const changes: Path[] = [];
  if (wanted.protected !== row.protected)
    changes.push({ path: 'lifecycle.prevent_destroy', facet: 'governance', replaces: false, cause: 'change' });
  if (wanted.provider !== row.provider) changes.push({ path: 'provider', facet: 'placement', replaces: true, cause: 'change' });
  // What part it plays says nothing to the object, and who may change it everything.
  if (situation.instance?.role !== row.role) changes.push({ path: 'role', facet: 'identity', replaces: false, cause: 'change' });
  if (wanted.needs.join('\n') !== situation.recordedNeeds.join('\n')) {
    changes.push({ path: 'depends_on', facet: 'annotation', replaces: false, cause: 'change' });
  }
  // An identity can change with no attribute: a relative path, when the environment's folder moved. A moved address takes its identity along.
  const isElsewhere = wanted.identity !== undefined && wanted.identity !== row.identity && row.identity !== '';
  const isByAttribute = situation.recordedIdentity === row.identity || attributes.some(({ facet }) => facet === 'identity');
  if (isElsewhere && !situation.moved && !isByAttribute) {
    changes.push({ path: 'identity', facet: 'identity', replaces: true, cause: 'change' });
  }
  return changes;
}
