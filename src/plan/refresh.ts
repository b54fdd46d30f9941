import type { Attributes } from '../core/value.ts';
import type { Observed, ResourceType } from '../providers/contract.ts';
import { traitsAt } from '../providers/define.ts';
import type { ResourceRow } from '../state/model.ts';
import type { Decision } from './decide.ts';
import { diffAttributes } from './diff.ts';
import { alignedLive, type Masks, recordedAttributes } from './live.ts';

/** The reason that a change of the record alone bears under `--refresh-only`. */
export const RECORDED_AS_IT_IS = 'recorded as it is';

/** What `--refresh-only` does with a resource: the record takes over what is live; the live world stays as it is. */
export function refreshDecision(known: {
  readonly type: ResourceType;
  readonly row: ResourceRow | undefined;
  readonly observed: Observed | undefined;
  readonly masks: Masks;
  readonly key: Buffer | undefined;
}): Decision {
  const { row, observed, type } = known;
  const base = { order: null, paths: [], before: null, after: null, start: false, refusal: undefined } as const;
  if (row === undefined) return { ...base, action: 'noop', cause: null, reason: 'not recorded' };
  const recorded = recordedAttributes(type, row);
  if (observed === undefined || observed.kind === 'absent') {
    if (row.ref === null) return { ...base, action: 'noop', cause: null, reason: 'not there, as recorded' };
    return { ...base, action: 'forget', cause: { kind: 'drift', of: 'missing' }, reason: 'no longer there', before: recorded };
  }
  if (observed.kind === 'cannot-see') {
    const refusal = { code: observed.code, message: `It cannot be told what is there: ${observed.reason}` };
    return { ...base, action: 'refuse', cause: null, reason: 'cannot be seen', before: recorded, refusal };
  }
  if (observed.owner !== 'ours') {
    return {
      ...base,
      action: 'forget',
      cause: { kind: 'drift', of: 'foreign' },
      reason: 'what stands there now is not ours',
      before: recorded,
    };
  }
  const live: Attributes = alignedLive(type, observed, recorded, known.masks);
  const skip = (name: string) => type.traits.get(name)?.writeOnly === true;
  const paths = diffAttributes(type, recorded, live, { key: known.key, skip }).map(({ path }) => ({
    path,
    facet: traitsAt(type, path).facet,
    replaces: false,
    cause: 'drift' as const,
  }));
  if (paths.length === 0) return { ...base, action: 'noop', cause: null, reason: 'nothing differs' };
  return {
    ...base,
    action: 'update',
    cause: { kind: 'drift', of: 'changed' },
    reason: RECORDED_AS_IT_IS,
    before: recorded,
    after: live,
    paths,
  };
}
