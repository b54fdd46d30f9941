import pLimit from 'p-limit';
import type { ResourceAddress } from '../core/address.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { Attributes } from '../core/value.ts';
import type { Vault } from '../core/vault.ts';
import { type Assessed, type Assessment, assess } from '../plan/assess.ts';
import { EMPTY_WORLD, type PlanInputs, type World } from '../plan/inputs.ts';
import { recordedAttributes, recordedComputed } from '../plan/live.ts';
import { ownMark } from '../plan/marks.ts';
import { objectQuery } from '../plan/query.ts';
import { type Observed, ProviderError, type ReadSession } from '../providers/contract.ts';
import { listMarked } from './marked.ts';
import { readIo, type SessionContext, type Sessions } from './sessions.ts';

/**
 * Reads the live world for a plan, side by side with bounded parallelism. While the state begins, what bears a mark is listed first. Some
 * identities are known only when other objects have been read, so it goes in rounds: assess, read what can be read now, and again until nothing
 * new can be. A round costs one pass over the resources, and there are as many as identities hang on one another in a row, commonly one.
 */
export async function collectWorld(
  context: SessionContext & { readonly parallelism: number },
  sessions: Sessions<ReadSession>,
  inputs: Omit<PlanInputs, 'world'>,
): Promise<World> {
  const observations = new Map<ResourceAddress, Observed>();
  const occupants = new Map<ResourceAddress, Observed>();
  const versions = new Map<string, { readonly [name: string]: string }>();
  const unreachable = new Map<string, readonly Diagnostic[]>();
  const limit = pLimit(context.parallelism);
  const isBegun = inputs.snapshot !== undefined && !inputs.beginning;
  const marks = isBegun ? EMPTY_WORLD : await listMarked(context, sessions, inputs.snapshot);
  let world: World = { ...EMPTY_WORLD, marked: marks.marked, unlisted: marks.unlisted };
  // Without a state nothing is remembered that could stand for what is live.
  const refresh = inputs.options.refresh || inputs.snapshot === undefined;
  for (;;) {
    const assessment = assess({ ...inputs, world });
    const reads = refresh ? pendingReads(inputs, world, assessment, observations, occupants) : [];
    const remembered = pendingMemories(
      assessment,
      observations,
      inputs.opened?.vault,
      refresh ? (inputs.backsOut?.addresses ?? NONE) : undefined,
    );
    if (reads.length === 0 && remembered.length === 0) {
      await openRest(assessment, sessions, versions, unreachable);
      return { ...world, versions, unreachable };
    }
    for (const [address, observed] of remembered) observations.set(address, observed);
    await Promise.all(
      reads.map((read) =>
        limit(async () => {
          const observed = await readOne(context, sessions, read, versions, unreachable);
          (read.occupant ? occupants : observations).set(read.address, observed);
        }),
      ),
    );
    world = { ...world, observations, occupants, versions, unreachable };
  }
}

interface Read {
  readonly address: ResourceAddress;
  readonly alias: string;
  readonly query: Parameters<ReadSession['read']>[0];
  readonly importId: string | undefined;
  /** Whether it asks what stands at the new identity of something recorded. */
  readonly occupant: boolean;
}

function aliasOf(assessed: Assessed): string {
  // A recorded object is read where it was put; only what is not there yet is looked for where the documents put it.
  return assessed.recorded?.row.provider ?? assessed.instance?.provider ?? '';
}

function pendingReads(
  inputs: Omit<PlanInputs, 'world'>,
  world: Pick<World, 'marked'>,
  assessment: Assessment,
  observations: ReadonlyMap<ResourceAddress, Observed>,
  occupants: ReadonlyMap<ResourceAddress, Observed>,
): readonly Read[] {
  const mark = ownMark(inputs.environment.name, inputs.snapshot, world.marked);
  const reads: Read[] = [];
  for (const assessed of assessment.resources.values()) {
    const { address, recorded, evaluated, type } = assessed;
    // What is taken back first is not looked at as it stands now.
    if (inputs.backsOut?.addresses.has(address) === true && !type.data) continue;
    // While marks count, what an unselected address has must be known: it would look like nobody's.
    const counts = assessment.selected.has(address) || (inputs.beginning && world.marked.length > 0);
    if (!counts && recorded === undefined) continue;
    const identity = evaluated?.identity;
    if (!observations.has(address)) {
      const importId = recorded === undefined ? inputs.environment.imports.find((entry) => entry.address === address)?.id : undefined;
      const query = objectQuery(address, type, mark, {
        row: recorded?.row,
        identity,
        unsettled: assessed.unsettled,
        importedRef: undefined,
        // What is to go is not looked at in terms of what the documents want.
        desired: inputs.options.destroy && !type.data ? undefined : evaluated?.normal,
        byMark: recorded?.byMark === true,
        vault: inputs.opened?.vault,
      });
      if (query !== undefined || importId !== undefined) {
        const asked = { ...(query ?? { address, type: type.type, mark }), ...(inputs.options.refreshTags ? { refreshTags: true } : {}) };
        reads.push({ address, alias: aliasOf(assessed), query: asked, importId, occupant: false });
      }
    } else if (recorded !== undefined && identity !== undefined && identity !== recorded.row.identity && !occupants.has(address)) {
      const alias = assessed.instance?.provider ?? aliasOf(assessed);
      reads.push({ address, alias, query: { address, type: type.type, mark, identity }, importId: undefined, occupant: true });
    }
  }
  return reads;
}

const NONE: ReadonlySet<ResourceAddress> = new Set();

/** Without a refresh, what is recorded stands for what is live; with one, for what is taken back before the plan begins: `only` that. */
function pendingMemories(
  assessment: Assessment,
  observations: ReadonlyMap<ResourceAddress, Observed>,
  vault: Vault | undefined,
  only: ReadonlySet<ResourceAddress> | undefined,
): readonly [ResourceAddress, Observed][] {
  if (only?.size === 0) return [];
  return [...assessment.resources.values()].flatMap((assessed): [ResourceAddress, Observed][] => {
    const row = assessed.recorded?.row;
    if (observations.has(assessed.address) || only?.has(assessed.address) === false || assessed.type.data) return [];
    if (row === undefined) return only === undefined ? [] : [[assessed.address, { kind: 'absent' }]];
    if (row.ref === null) return [[assessed.address, { kind: 'absent' }]];
    const attributes: Attributes = recordedAttributes(assessed.type, row);
    const computed = recordedComputed(row, vault);
    return [[assessed.address, { kind: 'found', owner: 'ours', ref: row.ref, id: row.id, attributes, computed }]];
  });
}

async function readOne(
  context: SessionContext,
  sessions: Sessions<ReadSession>,
  read: Read,
  versions: Map<string, { readonly [name: string]: string }>,
  unreachable: Map<string, readonly Diagnostic[]>,
): Promise<Observed> {
  const session = await sessions.get(read.alias);
  if (!session.ok) {
    unreachable.set(read.alias, session.diagnostics);
    return blind(session.diagnostics);
  }
  versions.set(read.alias, session.value.versions);
  try {
    if (read.importId === undefined) return await session.value.read(read.query, readIo(context));
    const ref = await session.value.resolve(read.query.type, read.importId, readIo(context));
    if (ref === undefined) return { kind: 'cannot-see', code: 'IMPORT_NOT_FOUND', reason: `there is no object ${read.importId} to import` };
    return await session.value.read({ ...read.query, ref }, readIo(context));
  } catch (error) {
    // An answer that is no answer must never look like "not there".
    if (error instanceof ProviderError) return { kind: 'cannot-see', code: error.code, reason: error.message };
    if (context.signal.aborted) return { kind: 'cannot-see', code: 'INTERRUPTED', reason: 'the read was interrupted' };
    throw error;
  }
}

function blind(diagnostics: readonly Diagnostic[]): Observed {
  const [first] = diagnostics;
  return { kind: 'cannot-see', code: first?.code ?? 'UNREACHABLE', reason: first?.detail ?? 'its provider cannot be reached' };
}

/** Providers of what has not been read (unknown identities) are opened too: their versions belong to the plan, and their absence to its refusals. */
async function openRest(
  assessment: Assessment,
  sessions: Sessions<ReadSession>,
  versions: Map<string, { readonly [name: string]: string }>,
  unreachable: Map<string, readonly Diagnostic[]>,
): Promise<void> {
  const aliases = new Set<string>();
  for (const assessed of assessment.resources.values()) {
    if (!assessment.selected.has(assessed.address)) continue;
    aliases.add(aliasOf(assessed));
    if (assessed.instance !== undefined) aliases.add(assessed.instance.provider);
  }
  for (const alias of [...aliases].sort()) {
    if (alias === '' || versions.has(alias) || unreachable.has(alias)) continue;
    const session = await sessions.get(alias);
    if (session.ok) versions.set(alias, session.value.versions);
    else unreachable.set(alias, session.diagnostics);
  }
}
