import type { Change, Effect } from '../contract.ts';

/**
 * Effects of a type whose every object is made, changed and removed in one step each. `createFirst` says whether the present change lets the
 * successor stand beside its predecessor, which then steps aside in the record alone; `undo` whether what is removed can be made again from what is recorded.
 */
export function singleStepEffects(change: Change, options: { readonly createFirst: boolean; readonly undo: boolean }): readonly Effect[] {
  const direction = options.undo ? 'back' : 'forward';
  const create: Effect = { name: 'create', part: 'apply', stage: 'migrate', object: 'create', direction: 'back' };
  const retire: Effect = { name: 'retire', part: 'retire', stage: 'retire', object: 'retire', direction };
  const left = change.deposed ? [retire] : [];
  switch (change.action) {
    case 'create':
      return [create, ...left];
    case 'update':
      return [{ name: 'update', part: 'apply', stage: 'migrate', object: 'update', direction: 'back' }, ...left];
    case 'replace':
      if (options.createFirst)
        return [{ name: 'depose', part: 'apply', stage: 'migrate', object: 'depose', direction: 'back' }, create, retire];
      return [{ name: 'remove', part: 'remove', stage: 'migrate', object: 'remove', direction }, create, ...left];
    case 'start':
      return left;
    case 'delete':
      return [{ name: 'remove', part: 'retire', stage: 'retire', object: 'remove', direction }, ...left];
  }
  return change.action satisfies never;
}
