import type { Change, Effect } from '../contract.ts';

/** How the objects of a type are brought about. */
interface Making {
  /** The stage of everything but going. */
  readonly stage: Effect['stage'];
  /** The direction of making, changing and setting aside. */
  readonly direction: 'back' | 'stays';
  /** What the effect on an object that stays is called. */
  readonly update: 'update' | 'verify';
  /** Whether two of them never stand in each other's way, so that the order that was asked for makes no difference. */
  readonly independent: boolean;
}

/** The effects of a type whose objects run nothing: made, changed and removed in one step each. Its predecessor is set aside in the record alone. */
export function namedObjectEffects(change: Change, making: Making): readonly Effect[] {
  const { stage, direction } = making;
  const create: Effect = { name: 'create', part: 'apply', stage, object: 'create', direction };
  const retire: Effect = { name: 'retire', part: 'retire', stage: 'retire', object: 'retire', direction: 'forward' };
  const last = change.deposed ? [retire] : [];
  switch (change.action) {
    case 'create':
      return [create, ...last];
    case 'delete':
      return [{ name: 'remove', part: 'remove', stage: 'retire', object: 'remove', direction: 'forward' }, ...last];
    case 'replace':
      if (change.order === 'destroy-first' && !making.independent)
        return [{ name: 'remove', part: 'remove', stage, object: 'remove', direction: 'forward' }, create, ...last];
      return [{ name: 'set-aside', part: 'apply', stage, object: 'depose', direction }, create, retire];
    case 'update':
    case 'start':
      return [{ name: making.update, part: 'apply', stage, object: 'update', direction }, ...last];
    default:
      return change.action satisfies never;
  }
}
