import type { Change, Effect } from '../../contract.ts';

const fetch: Effect = { name: 'fetch', part: 'prepare', stage: 'preflight', object: 'keep', direction: 'back' };
const stop: Effect = { name: 'stop', part: 'remove', stage: 'start', object: 'keep', direction: 'back' };
const remove: Effect = { name: 'remove', part: 'remove', stage: 'start', object: 'remove', direction: 'forward' };
const setAside: Effect = { name: 'set-aside', part: 'apply', stage: 'start', object: 'depose', direction: 'back' };
const create: Effect = { name: 'create', part: 'apply', stage: 'start', object: 'create', direction: 'back' };
const update: Effect = { name: 'update', part: 'apply', stage: 'start', object: 'update', direction: 'back' };
const start: Effect = { name: 'start', part: 'apply', stage: 'start', object: 'keep', direction: 'back' };
const ready: Effect = { name: 'ready', part: 'apply', stage: 'start', object: 'keep', direction: 'back', waits: true };
// A restart: what it depends on may be exchanged between the two.
const halt: Effect = { name: 'halt', part: 'remove', stage: 'start', object: 'keep', direction: 'back' };
const resume: Effect = { name: 'resume', part: 'apply', stage: 'start', object: 'keep', direction: 'back' };
const retire: Effect = { name: 'retire', part: 'retire', stage: 'retire', object: 'retire', direction: 'forward' };

/**
 * What is done to a container. Its image is there before anything is stopped. A replacement keeps the predecessor under another name until
 * everything else is done: stopped where it makes room first, else going on until its successor is ready. An update never starts one that does
 * not run: that is an action of its own.
 */
export function containerEffects(change: Change): readonly Effect[] {
  const last = change.deposed ? [retire] : [];
  switch (change.action) {
    case 'create':
      return [fetch, create, start, ready, ...last];
    case 'start':
      return change.restart === true ? [halt, resume, ready, ...last] : [start, ready, ...last];
    case 'update':
      return [update, ...last];
    case 'replace':
      if (change.order === 'create-first') return [fetch, setAside, create, start, ready, retire];
      return [fetch, stop, { ...setAside, part: 'remove' }, create, start, ready, retire];
    case 'delete':
      return [{ ...stop, stage: 'retire' }, { ...remove, stage: 'retire' }, ...last];
    default:
      return change.action satisfies never;
  }
}
