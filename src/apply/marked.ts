import type { Outcome } from '../core/diagnostic.ts';
import { isAttributes, isList, Sensitive, type Value } from '../core/value.ts';
import { providerBlock } from '../plan/context.ts';
import type { World } from '../plan/inputs.ts';
import { beginningLineage, type MarkedObject } from '../plan/marks.ts';
import { beginningProblem } from '../plan/recovery.ts';
import { type InventoryMark, ProviderError, type ReadSession } from '../providers/contract.ts';
import type { StateStore } from '../state/contract.ts';
import type { OperationRow, Snapshot } from '../state/model.ts';
import { readIo, readSessions, type SessionContext, type Sessions } from './sessions.ts';

/**
 * Whether nothing was ever in force by a state: then it may stand in the place of one that was lost. After a whole destroy nothing is in force
 * either, but what that one left, and what an operator had forgotten by name, was left on purpose.
 */
export async function isBeginning(store: StateStore, snapshot: Snapshot | undefined): Promise<boolean> {
  if (snapshot === undefined) return true;
  if (snapshot.sealed !== null) return false;
  const operations = await store.history();
  return !operations.some((operation) => operation.kind === 'state-rm' || (operation.kind === 'destroy' && isThrough(operation)));
}

function isThrough({ outcome, summary }: OperationRow): boolean {
  const isPart = typeof summary === 'object' && summary !== null && 'part' in summary && summary['part'] === true;
  return outcome === 'done' && !isPart;
}

/**
 * Everything that bears a mark of this environment, in every provider block that the documents write or use: of the lineage of the state, or
 * while there is none of any. A block that cannot be opened or asked is named with the reason. None stands twice, though two blocks may lead
 * to one place.
 */
export async function listMarked(
  context: SessionContext,
  sessions: Sessions<ReadSession>,
  snapshot: Snapshot | undefined,
): Promise<Pick<World, 'marked' | 'unlisted'>> {
  const { environment } = context;
  const mark = { environment: environment.name, ...(snapshot === undefined ? {} : { lineage: snapshot.identity.lineage }) };
  const written = environment.providers.map((block) => block.alias);
  const aliases = [...new Set([...written, ...environment.resources.map((instance) => instance.provider)])].sort();
  const lists = await Promise.all(aliases.map(async (alias) => [alias, await listBlock(context, sessions, alias, mark)] as const));
  const byId = new Map<string, MarkedObject>();
  for (const object of lists.flatMap(([, list]) => (typeof list === 'string' ? [] : list))) {
    if (!byId.has(object.id)) byId.set(object.id, object);
  }
  return {
    marked: [...byId].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object),
    unlisted: new Map(lists.flatMap(([alias, list]) => (typeof list === 'string' ? [[alias, list] as const] : []))),
  };
}

/** The marked objects of one block, or why they cannot be listed. */
async function listBlock(
  context: SessionContext,
  sessions: Sessions<ReadSession>,
  alias: string,
  mark: InventoryMark,
): Promise<readonly MarkedObject[] | string> {
  const session = await sessions.get(alias);
  if (!session.ok) return session.diagnostics[0]?.detail ?? 'its provider cannot be opened';
  const { value } = session;
  const provider = context.registry.providers.get(providerBlock(context.environment, alias)?.provider ?? '');
  const types = (provider?.types ?? []).filter((type) => !type.data);
  try {
    const found = await Promise.all(types.map(async ({ type }) => (await value.inventory?.(type, mark, readIo(context))) ?? []));
    return found.flat().map((object) => ({ ...object, provider: alias }));
  } catch (error) {
    if (error instanceof ProviderError) return error.message;
    if (context.signal.aborted) return 'the list was interrupted';
    throw error;
  }
}

/** What bears a mark of this environment, for a look without secrets: a block whose configuration holds one is named and not looked into. */
export async function lookForMarks(context: SessionContext): Promise<Pick<World, 'marked' | 'unlisted'>> {
  const { environment } = context;
  const closed = new Set(environment.providers.filter(({ config }) => isSealed(config)).map(({ alias }) => alias));
  const providers = environment.providers.filter(({ alias }) => !closed.has(alias));
  const resources = environment.resources.filter(({ provider }) => !closed.has(provider));
  const sessions = readSessions(context);
  try {
    const { marked, unlisted } = await listMarked(
      { ...context, environment: { ...environment, providers, resources } },
      sessions,
      undefined,
    );
    const unread = [...closed].map((alias) => [alias, 'its configuration holds a secret, and none is read here'] as const);
    return { marked, unlisted: new Map([...unlisted, ...unread].sort(([a], [b]) => (a < b ? -1 : 1))) };
  } finally {
    await sessions.close();
  }
}

function isSealed(value: Value): boolean {
  if (value instanceof Sensitive) return !value.isOpen;
  if (isList(value)) return value.some(isSealed);
  return isAttributes(value) && Object.values(value).some(isSealed);
}

/** With which lineage a state begins that is made by itself, not by an apply: that of the marks, or null when nothing is marked. */
export async function findLineage(
  context: SessionContext,
): Promise<Outcome<{ readonly lineage: string | null; readonly objects: number }>> {
  const sessions = readSessions(context);
  try {
    const world = await listMarked(context, sessions, undefined);
    const problem = beginningProblem(context.environment, world);
    if (problem !== undefined) {
      const { code, message, next } = problem;
      const summary = 'With which lineage the state begins cannot be told';
      return { ok: false, diagnostics: [{ severity: 'error', code, summary, detail: message, ...(next === undefined ? {} : { next }) }] };
    }
    return { ok: true, value: { lineage: beginningLineage(undefined, world.marked), objects: world.marked.length }, diagnostics: [] };
  } finally {
    await sessions.close();
  }
}
