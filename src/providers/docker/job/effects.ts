import type { Stage } from '../../../core/facet.ts';
import type { Change, Effect } from '../../contract.ts';
import { bareText } from '../lift.ts';

/**
 * What is done to a job. Image and schema are proven before anything runs. What is started cannot be taken back; a leftover of a broken-off run
 * goes on from where it is, since every effect looks first at what the container did already.
 */
export function jobEffects(change: Change): readonly Effect[] {
  const stage = stageOf(change);
  const at = (name: string, object: Effect['object'], direction: Effect['direction'] = 'back'): Effect => ({
    name,
    part: 'apply',
    stage,
    object,
    direction,
  });
  const fetch: Effect = { name: 'fetch', part: 'prepare', stage: 'preflight', object: 'keep', direction: 'back' };
  const retire: Effect = { name: 'retire', part: 'retire', stage: 'retire', object: 'retire', direction: 'forward' };
  const run = [at('start', 'keep', 'forward'), at('wait', 'keep'), at('collect', 'keep')];
  const last = change.deposed ? [retire] : [];
  switch (change.action) {
    case 'create':
      return [fetch, at('create', 'create'), ...run, ...last];
    case 'start':
      return [...run, ...last];
    case 'update':
      return [at('update', 'update'), ...last];
    case 'replace': {
      if (change.order === 'create-first') return [fetch, at('set-aside', 'depose'), at('create', 'create'), ...run, retire];
      const clear: Effect = { name: 'clear', part: 'remove', stage, object: 'remove', direction: 'forward' };
      return [fetch, clear, at('create', 'create'), ...run, ...last];
    }
    case 'delete':
      return [
        { name: 'stop', part: 'remove', stage: 'retire', object: 'keep', direction: 'back' },
        { name: 'remove', part: 'remove', stage: 'retire', object: 'remove', direction: 'forward' },
        ...last,
      ];
    default:
      return change.action satisfies never;
  }
}

function stageOf(change: Change): Stage {
  const stage = bareText((change.desired ?? change.live)?.['stage']);
  return stage === 'start' || stage === 'verify' ? stage : 'migrate';
}
