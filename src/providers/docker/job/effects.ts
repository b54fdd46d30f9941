import type { Stage } from '../../../core/facet.ts';
import type { Attributes } from '../../../core/value.ts';
import type { Change, Effect, OnRequest } from '../../contract.ts';
import { bareText } from '../lift.ts';
import { isOnRequest } from './modes.ts';

const FETCH: Effect = { name: 'fetch', part: 'prepare', stage: 'preflight', object: 'keep', direction: 'back' };

/**
 * What is done to a job. Image and schema are proven before anything runs. What a run wrote stays; a leftover of a broken-off run
 * goes on from where it is, since every effect looks first at what the container did already.
 */
export function jobEffects(change: Change): readonly Effect[] {
  const stage = stageOf(change.desired ?? change.live);
  const at = (name: string, object: Effect['object'], direction: Effect['direction'] = 'back'): Effect => ({
    name,
    part: 'apply',
    stage,
    object,
    direction,
    ...(name === 'wait' ? { waits: true } : {}),
  });
  const retire: Effect = { name: 'retire', part: 'retire', stage: 'retire', object: 'retire', direction: 'forward' };
  const run = [at('start', 'keep', 'stays'), at('wait', 'keep', 'stays'), at('collect', 'keep', 'stays')];
  const last = change.deposed ? [retire] : [];
  if (change.action !== 'delete' && isOnRequest(change.desired ?? change.live))
    return [...declarationEffects(change.action, stage), ...last];
  switch (change.action) {
    case 'create':
      return [FETCH, at('create', 'create'), ...run, ...last];
    case 'start':
      return [...run, ...last];
    case 'update':
      return [at('update', 'update'), ...last];
    case 'replace': {
      if (change.order === 'create-first') return [FETCH, at('set-aside', 'depose'), at('create', 'create'), ...run, retire];
      const clear: Effect = { name: 'clear', part: 'remove', stage, object: 'remove', direction: 'forward' };
      return [FETCH, clear, at('create', 'create'), ...run, ...last];
    }
    case 'delete':
      return [
        { name: 'stop', part: 'remove', stage: 'retire', object: 'keep', direction: 'forward' },
        { name: 'remove', part: 'remove', stage: 'retire', object: 'remove', direction: 'forward' },
        ...last,
      ];
    default:
      return change.action satisfies never;
  }
}

/**
 * What an apply does to a job that is run on request: it takes the definition over, with the image fetched so that the first run is quick, and
 * deals with what a run left that nobody saw the end of. It runs nothing.
 */
function declarationEffects(action: Exclude<Change['action'], 'delete'>, stage: Stage): readonly Effect[] {
  const declare = (object: Effect['object']): Effect => ({ name: 'declare', part: 'apply', stage, object, direction: 'back' });
  switch (action) {
    case 'create':
      return [FETCH, declare('create')];
    case 'update':
      return [FETCH, declare('update')];
    case 'replace':
      return [FETCH, { name: 'clear', part: 'remove', stage, object: 'remove', direction: 'forward' }, declare('create')];
    case 'start':
      return [
        { name: 'await', part: 'apply', stage, object: 'keep', direction: 'stays', waits: true },
        { name: 'settle', part: 'apply', stage, object: 'keep', direction: 'stays' },
      ];
    default:
      return action satisfies never;
  }
}

/** One run of a job that is run on request; undefined for one that is not. */
export function runOfJob(attributes: Attributes): OnRequest | undefined {
  if (!isOnRequest(attributes)) return undefined;
  const stage = stageOf(attributes);
  const at = (name: string, more: Partial<Effect> = {}): Effect => ({
    name,
    part: 'apply',
    stage,
    object: 'keep',
    direction: 'stays',
    ...more,
  });
  return {
    takes: bareText(attributes['run']) === 'by_reference' ? 'document' : 'nothing',
    effects: [FETCH, at('clear'), at('create'), at('start'), at('wait', { waits: true }), at('collect')],
    begins: 'start',
    answer: 'result',
    asked: 'request',
  };
}

function stageOf(attributes: Attributes | undefined): Stage {
  const stage = bareText(attributes?.['stage']);
  return stage === 'start' || stage === 'verify' ? stage : 'migrate';
}
