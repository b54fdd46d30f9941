/** What a plan does with one resource. The list is closed; it is the plan format's `changes[].action`. */
export const ACTIONS = ['create', 'update', 'replace', 'start', 'delete', 'adopt', 'forget', 'move', 'noop', 'read', 'refuse'] as const;
export type Action = (typeof ACTIONS)[number];

/** Whether the predecessor of a replaced object goes before or after its successor comes. */
export type ReplaceOrder = 'destroy-first' | 'create-first';

/**
 * Why a change is in the plan: its own desired document changed, it follows another resource, the live world moved, or somebody asked
 * (`--replace`, taint, `destroy`). `of` is the address or the words that belong to the kind.
 */
export interface Cause {
  readonly kind: 'self' | 'follows' | 'drift' | 'requested';
  readonly of?: string;
}
