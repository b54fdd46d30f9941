import { type EffectIo, type Operation, ProviderError, type Undo } from '../contract.ts';
import type { WriteClient } from './client.ts';
import { markedId, ownerOf } from './marks.ts';
import type { World } from './world.ts';

/** What one effect is done with. */
export interface Acting {
  readonly operation: Operation;
  readonly client: WriteClient;
  readonly world: World;
  readonly io: EffectIo;
}

/** What one effect is taken back with. */
export interface Undoing extends Acting {
  readonly operation: Undo;
}

/** An object as far as its ownership is concerned. */
export interface Owned {
  readonly kind: 'container' | 'network' | 'volume';
  readonly name: string;
  readonly ref: string;
  readonly labels: { readonly [name: string]: string };
}

/**
 * Throws `FOREIGN` unless the object is ours. Asked right before everything that changes or ends an object, since it may have become somebody
 * else's after the plan.
 */
export function requireOurs(owned: Owned, operation: Operation): void {
  // The name of a volume can be given again, so it does not outweigh somebody else's mark as an engine's own id does.
  const isRecorded = operation.ref === owned.ref && (owned.kind !== 'volume' || markedId(owned.labels) === undefined);
  if (ownerOf(owned.labels, operation.mark, isRecorded) === 'ours') return;
  throw foreign(owned);
}

/** The error for an object in our way that is not ours. */
export function foreign(owned: Pick<Owned, 'kind' | 'name'>): ProviderError {
  return new ProviderError(
    'FOREIGN',
    `The ${owned.kind} ${owned.name} is not ours: it bears no mark of this environment. It was left as it is.`,
    {
      next: `Rename yours, or remove the ${owned.kind} by hand when nobody needs it.`,
    },
  );
}

/** Whether an object was made for exactly this change: its mark has our id. */
export function isThisOne(labels: Owned['labels'], operation: Operation): boolean {
  return markedId(labels) === operation.id;
}
