import { compareText } from '../core/address.ts';
import { parsePath } from '../core/path.ts';
import { encodeValue, type Plain } from '../core/value.ts';
import type { Assessed } from './assess.ts';
import { diffAttributes, touches, valueAt } from './diff.ts';
import { alignedLive } from './live.ts';
import type { Drift } from './model.ts';
import { RECORDED_AS_IT_IS } from './refresh.ts';

/**
 * How the live world moved away from the record, resource by resource; never mixed with what the documents change. What a run that broke off
 * left behind is not drift.
 */
export function driftOf(assessed: Assessed, key: Buffer | undefined): Drift | undefined {
  const { recorded, observed, decision, address } = assessed;
  if (recorded === undefined || recorded.byMark === true || observed === undefined || observed.kind === 'cannot-see') return undefined;
  const { row } = recorded;
  if (observed.kind === 'absent') {
    const explained = row.ref === null || assessed.unsettled.some((step) => step.object === 'remove');
    return explained ? undefined : { address, kind: 'missing', paths: [], answer: answerTo(assessed), reason: 'no longer there' };
  }
  if (observed.owner !== 'ours') {
    // What an import names, or a run that broke off had just made, bears no mark and is ours all the same.
    if (decision.action !== 'refuse' && decision.action !== 'forget') return undefined;
    return { address, kind: 'foreign', paths: [], answer: answerTo(assessed), reason: 'what stands there is not ours' };
  }
  const paths = driftedPaths(assessed, key);
  // What was never finished may run or not from one moment to the next; the plan must not depend on that.
  if (row.status === 'unfinished' && decision.action !== 'noop') {
    return { address, kind: 'unfinished', paths, answer: answerTo(assessed), reason: 'made but not finished' };
  }
  const goes = decision.action === 'replace' || decision.action === 'delete' || decision.action === 'forget';
  if (observed.dormant !== undefined && !goes)
    return { address, kind: 'stopped', paths, answer: answerTo(assessed), reason: observed.dormant.reason };
  if (paths.length > 0 && assessed.unsettled.length === 0) {
    return { address, kind: 'changed', paths, answer: answerTo(assessed), reason: `${paths.map(({ path }) => path).join(', ')} changed` };
  }
  return undefined;
}

function driftedPaths(assessed: Assessed, key: Buffer | undefined): Drift['paths'] {
  const { recorded, observed, type, masks, instance } = assessed;
  const attributes = masks.recorded;
  if (recorded === undefined || attributes === undefined || observed?.kind !== 'found') return [];
  const live = alignedLive(type, observed, attributes, masks);
  const ignored = instance?.lifecycle.ignoreChanges ?? [];
  if (ignored === 'all') return [];
  const skip = (name: string) => type.traits.get(name)?.writeOnly === true;
  const shown = (value: Parameters<typeof encodeValue>[0] | undefined): Plain => (value === undefined ? null : encodeValue(value, key));
  return diffAttributes(type, attributes, live, { key, skip })
    .filter(({ path }) => !touches(path, ignored))
    .map(({ path }) => {
      const segments = parsePath(path) ?? [];
      return { path, recorded: shown(valueAt(attributes, segments)), live: shown(valueAt(live, segments)) };
    })
    .sort((a, b) => compareText(a.path, b.path));
}

function answerTo(assessed: Assessed): string {
  switch (assessed.decision.action) {
    case 'create':
      return 'will be created again';
    case 'start':
      return 'will start';
    case 'update':
      return assessed.decision.reason === RECORDED_AS_IT_IS ? 'will be recorded as it is' : 'will be put back';
    case 'replace':
      return 'will be replaced';
    case 'delete':
      return 'will be deleted';
    case 'forget':
      return 'will be forgotten';
    case 'adopt':
      return 'is what the documents want now';
    case 'refuse':
      return 'is refused';
    case 'move':
    case 'noop':
    case 'read':
      return 'stays as it is';
  }
  return assessed.decision.action satisfies never;
}
