import { type Diagnostic, fail, type Outcome, succeed } from '../core/diagnostic.ts';
import type { Snapshot } from '../state/model.ts';
import type { EditRequest } from './edit.ts';
import type { EngineContext } from './engine.ts';
import { diagnoseBackend } from './failure.ts';
import { freshIdentity } from './identity.ts';
import { acquireLock } from './locking.ts';
import { findLineage } from './marked.ts';

/** What `state init` made. */
export interface Initialised {
  readonly serial: number;
  readonly lineage: string;
  /** Objects that were seen to bear a mark of that lineage; null when nothing was looked at. */
  readonly marked: number | null;
}

/**
 * Makes an empty state. Without a lineage in question it goes on with the one that marks name, and begins one of its own where nothing is
 * marked; marks that disagree, and a provider that cannot be looked into, are refused. `new` and a lineage are taken as they are, and nothing
 * is looked at. One that is there already is `STATE_EXISTS`.
 */
export async function initState(
  context: EngineContext,
  request: EditRequest,
  wanted: { readonly lineage: string | undefined },
): Promise<Outcome<Initialised>> {
  try {
    const present = await context.store.read();
    if (present !== undefined) return fail(exists(context, present));
    const found = wanted.lineage === undefined ? await findLineage(context) : undefined;
    if (found?.ok === false) return found;
    const lineage = found?.value.lineage ?? (wanted.lineage === 'new' ? undefined : wanted.lineage);
    const identity = freshIdentity(context.environment.name, context.clock, context.ids, lineage);
    const answer = await acquireLock(
      context.store,
      { who: request.actor, purpose: 'state init', create: { identity } },
      { timeout: request.lockTimeout, clock: context.clock, stop: request.stop },
    );
    // Only a state has a lock: somebody made it meanwhile.
    if (answer.kind === 'busy') return fail(exists(context, await context.store.read()));
    try {
      const snapshot = await answer.session.read();
      if (snapshot.identity.fingerprintKey !== identity.fingerprintKey) return fail(exists(context, snapshot));
      const operation = await answer.session.begin(
        {
          kind: 'init',
          planDigest: null,
          class: null,
          actor: request.actor,
          reason: request.reason,
          startedAt: new Date(context.clock.now()).toISOString(),
        },
        snapshot.head,
      );
      await answer.session.end(operation.serial, 'done', { lineage: identity.lineage });
      return succeed({ serial: operation.serial, lineage: identity.lineage, marked: found?.value.objects ?? null });
    } finally {
      await answer.session.release();
    }
  } catch (error) {
    return fail(diagnoseBackend(error));
  }
}

function exists({ environment }: EngineContext, present: Snapshot | undefined): Diagnostic {
  const which = present === undefined ? '' : ` It is at #${present.head.serial} with the lineage ${present.identity.lineage}.`;
  return {
    severity: 'error',
    code: 'STATE_EXISTS',
    summary: 'There is a state already',
    detail: `The environment ${environment.name} has a state, and it was left as it is.${which}`,
    next: 'accede status',
  };
}
