import type { ResourceAddress } from '../core/address.ts';
import { fail, hasErrors, type Outcome, succeed } from '../core/diagnostic.ts';
import { nearMiss } from '../core/naming.ts';
import type { Vault } from '../core/vault.ts';
import { type Assessed, assess } from '../plan/assess.ts';
import { DEFAULT_OPTIONS, type OpenedVault } from '../plan/inputs.ts';
import { alignedLive } from '../plan/live.ts';
import { roleOf } from '../plan/role.ts';
import type { Found } from '../providers/contract.ts';
import type { ResourceInstance } from '../spec/environment.ts';
import { BackendError } from '../state/contract.ts';
import type { ResourceRow, Snapshot } from '../state/model.ts';
import { collectWorld } from './collect.ts';
import { type EditDecision, type EditRequest, type EditResult, editState } from './edit.ts';
import type { EngineContext, PlanStamp } from './engine.ts';
import { diagnoseBackend } from './failure.ts';
import { freshIdentity } from './identity.ts';
import { findLineage } from './marked.ts';
import { recordOfObserved, resourceRow } from './record.ts';
import { readSessions } from './sessions.ts';
import { openedVault, openVault } from './vaults.ts';

/**
 * Takes an object that exists into the state, at an address that the documents hold. Nothing live is changed: what differs from the documents
 * is for the next plan. A state that is not there yet begins as an apply would begin it: with the lineage of the marks, where there are any.
 * An object that bears another environment's mark, or that is recorded already, is refused.
 */
export async function importObject(
  context: EngineContext,
  request: EditRequest,
  wanted: { readonly address: ResourceAddress; readonly id: string; readonly stamp: PlanStamp },
): Promise<Outcome<EditResult>> {
  const instance = context.environment.resources.find((candidate) => candidate.address === wanted.address);
  if (instance === undefined) return fail(notDesired(context, wanted.address));
  let lineage: string | null = null;
  if ((await hasState(context)) === false) {
    const found = await findLineage(context);
    if (!found.ok) return found;
    ({ lineage } = found.value);
    // A failed import must not leave an empty state behind, so the object is looked at before there is one.
    const seen = await examine(context, instance, undefined, wanted);
    if (!seen.ok) return seen;
  }
  return await editState(context, request, {
    kind: 'import',
    purpose: 'import',
    create: { identity: freshIdentity(context.environment.name, context.clock, context.ids, lineage) },
    decide: async (snapshot) => {
      const seen = await examine(context, instance, snapshot, wanted);
      if (!seen.ok) return seen;
      const { assessed, found } = seen.value;
      const vault = await openVault(context, snapshot.identity, { needed: false });
      return succeed<EditDecision>({
        mutations: [{ kind: 'row', row: rowOf(context, assessed, instance, found, snapshot, vault) }],
        changed: [wanted.address],
        summary: { address: wanted.address, ref: found.ref },
        diagnostics: seen.diagnostics,
      });
    },
  });
}

/** Undefined when the store can't be read: the edit itself then says why. */
async function hasState(context: EngineContext): Promise<boolean | undefined> {
  try {
    return (await context.store.read()) !== undefined;
  } catch (error) {
    if (error instanceof BackendError) return undefined;
    throw error;
  }
}

/** The object, when it may be imported. */
async function examine(
  context: EngineContext,
  instance: ResourceInstance,
  snapshot: Snapshot | undefined,
  wanted: { readonly address: ResourceAddress; readonly id: string; readonly stamp: PlanStamp },
): Promise<Outcome<{ readonly assessed: Assessed; readonly found: Found }>> {
  const { address, id, stamp } = wanted;
  if (snapshot?.resources.has(address) === true) {
    return fail(
      refusal(
        'ALREADY_RECORDED',
        'The address is in the state already',
        `${address} is recorded already. Forget it first when it stands for another object.`,
        `accede state rm '${address}'`,
      ),
    );
  }
  const assessed = await look(context, instance, snapshot, id, stamp);
  if (!assessed.ok) return assessed;
  const { observed } = assessed.value;
  if (observed?.kind !== 'found') {
    const reason = observed?.kind === 'cannot-see' ? observed.reason : `there is no object ${id}`;
    return fail(
      refusal(
        observed?.kind === 'cannot-see' ? observed.code : 'IMPORT_NOT_FOUND',
        'The object can not be imported',
        `${address} was to be imported from ${id}, but ${reason}.`,
      ),
    );
  }
  if (observed.owner === 'other') {
    return fail(
      refusal(
        assessed.value.type.foreignCode,
        'The object belongs to somebody else',
        `${id} bears the mark of another environment or state, so it is not taken over. Have that one forget it first.`,
      ),
    );
  }
  const holder = [...(snapshot?.resources.values() ?? [])].find((row) => row.type === instance.type && row.ref === observed.ref);
  if (holder !== undefined) {
    return fail(
      refusal(
        'ALREADY_RECORDED',
        'The object is in the state already',
        `${id} is recorded as ${holder.address}. Move that one instead.`,
        `accede state mv '${holder.address}' '${address}'`,
      ),
    );
  }
  return succeed({ assessed: assessed.value, found: observed }, assessed.diagnostics);
}

/** Reads the object as a plan with an `import` block would. */
async function look(
  context: EngineContext,
  instance: ResourceInstance,
  snapshot: Snapshot | undefined,
  id: string,
  stamp: PlanStamp,
): Promise<Outcome<Assessed>> {
  const { address } = instance;
  const environment = {
    ...context.environment,
    imports: [...context.environment.imports.filter((entry) => entry.address !== address), { address, id, source: instance.source }],
  };
  let opened: OpenedVault | undefined;
  try {
    opened = await openedVault(context, snapshot);
  } catch (error) {
    return fail(diagnoseBackend(error));
  }
  const inputs = {
    environment,
    registry: context.registry,
    snapshot,
    beginning: false,
    opened,
    options: { ...DEFAULT_OPTIONS, targets: [address] },
    version: context.version,
    commit: stamp.commit,
    folder: stamp.folder,
    createdAt: context.clock.now(),
    maxAge: 0,
  };
  const sessions = readSessions({ ...context, environment });
  try {
    const world = await collectWorld({ ...context, environment }, sessions, inputs);
    const assessment = assess({ ...inputs, world });
    const assessed = assessment.resources.get(address);
    if (hasErrors(assessment.diagnostics)) return { ok: false, diagnostics: assessment.diagnostics };
    if (assessed === undefined) throw new Error(`${address} was not assessed`);
    return succeed(assessed, assessment.diagnostics);
  } finally {
    await sessions.close();
  }
}

function rowOf(
  context: EngineContext,
  assessed: Assessed,
  instance: ResourceInstance,
  found: Found,
  snapshot: Snapshot,
  vault: Vault | undefined,
): ResourceRow {
  const { type, masks, evaluated } = assessed;
  const key = Buffer.from(snapshot.identity.fingerprintKey, 'hex');
  const record = recordOfObserved(type, found, masks, key);
  const attributes = alignedLive(type, found, evaluated?.normal ?? {}, masks);
  // Its own: where the documents give another one, that is a change to come.
  const identity = type.identity(attributes, assessed.context) ?? evaluated?.identity ?? found.ref;
  return resourceRow(
    {
      address: assessed.address,
      type,
      provider: instance.provider,
      role: roleOf(assessed),
      identity,
      id: record.id ?? context.ids.id(),
      ref: found.ref,
      marked: record.id !== undefined,
      status: 'ready',
      attributes,
      computed: record.computed,
      dependencies: assessed.needs.filter((needed) => snapshot.resources.has(needed)),
      protected: assessed.protected,
      deposed: [],
      folder: instance.folder,
      environmentFolder: context.environment.folder,
      fingerprint: record.fingerprint,
    },
    { key, vault },
  );
}

function notDesired(context: EngineContext, address: ResourceAddress) {
  const near = nearMiss(
    address,
    context.environment.resources.map((instance) => instance.address),
  );
  return refusal(
    'NOT_IN_DOCUMENTS',
    'The address is not in the documents',
    `${address} stands in no document, so nobody would know what the object is to be.${near === undefined ? ' Write the resource first.' : ` Did you mean ${near}?`}`,
    'accede validate',
  );
}

function refusal(code: string, summary: string, detail: string, next?: string) {
  return { severity: 'error' as const, code, summary, detail, ...(next === undefined ? {} : { next }) };
}
