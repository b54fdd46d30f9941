import { compareText, type ResourceAddress } from '../core/address.ts';
import { type Diagnostic, fail, type Outcome, succeed } from '../core/diagnostic.ts';
import { containsSensitive } from '../core/value.ts';
import { providerBlock } from '../plan/context.ts';
import { objectQuery } from '../plan/query.ts';
import { type Command, type LogOptions, type ObjectQuery, ProviderError, type Written } from '../providers/contract.ts';
import type { Environment } from '../spec/environment.ts';
import type { Snapshot } from '../state/model.ts';
import { notRecorded } from './edit.ts';
import type { EngineContext } from './engine.ts';
import { diagnoseProvider } from './failure.ts';
import { effectIo, readIo, readSessions, writeSessions } from './sessions.ts';

/** An object of the environment that somebody wants to reach, and the provider block through which it was put there. */
export interface Reached {
  readonly address: ResourceAddress;
  readonly provider: string;
  readonly query: ObjectQuery;
}

/**
 * What is recorded at an address and lets itself be reached. The address of a resource with `for_each` means all of its instances, for logs
 * alone.
 */
export function findReached(
  snapshot: Snapshot,
  registry: EngineContext['registry'],
  address: ResourceAddress,
  what: 'logs' | 'exec',
): Outcome<readonly Reached[]> {
  const exact = snapshot.resources.get(address);
  const instances = [...snapshot.resources.values()].filter((row) => what === 'logs' && row.address.startsWith(`${address}[`));
  const rows = exact === undefined ? instances.sort((a, b) => compareText(a.address, b.address)) : [exact];
  if (rows.length === 0) return fail(notRecorded(address, snapshot.resources.keys()));
  const mark = { environment: snapshot.identity.environment, lineage: snapshot.identity.lineage };
  const reached: Reached[] = [];
  for (const row of rows) {
    const type = registry.find(row.type)?.type;
    if (type?.offers?.includes(what) !== true) return fail(notOffered(address, row.type, what));
    const query = objectQuery(row.address, type, mark, {
      row,
      identity: row.identity,
      unsettled: [],
      importedRef: undefined,
      desired: undefined,
    });
    if (query !== undefined) reached.push({ address: row.address, provider: row.provider, query });
  }
  return succeed(reached);
}

/** Whether the way to an object can only be opened with a secret, which is then to be read first. */
export function needsSecret(environment: Environment, reached: readonly Reached[]): boolean {
  return reached.some(({ provider }) => {
    const block = providerBlock(environment, provider);
    return block !== undefined && containsSensitive(block.config);
  });
}

/** Hands over what the objects' programs wrote, one after the other, or side by side where they are followed. Takes no lock. */
export async function readLogs(
  context: EngineContext,
  reached: readonly Reached[],
  options: LogOptions,
  sink: (address: ResourceAddress, written: Written) => Promise<void>,
): Promise<readonly Diagnostic[]> {
  const sessions = readSessions(context);
  const one = async ({ address, provider, query }: Reached): Promise<readonly Diagnostic[]> => {
    const session = await sessions.get(provider);
    if (!session.ok) return session.diagnostics;
    if (session.value.logs === undefined) throw new Error(`the provider ${provider} offers logs and has none`);
    try {
      const isThere = await session.value.logs(query, options, (written) => sink(address, written), readIo(context));
      return isThere ? [] : [missing(address, 'nothing wrote a log')];
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      return [diagnoseProvider(error, address, 'logs')];
    }
  };
  try {
    if (options.follow) return (await Promise.all(reached.map(one))).flat();
    const found: Diagnostic[] = [];
    for (const each of reached) {
      if (context.signal.aborted) break;
      found.push(...(await one(each)));
    }
    return found;
  } finally {
    await sessions.close();
  }
}

/** Runs a command inside of an object and answers its code. Takes no lock: it is not Accede that changes something there. */
export async function execCommand(
  context: EngineContext,
  { address, provider, query }: Reached,
  command: Command,
  sink: (written: Written) => Promise<void>,
): Promise<Outcome<number>> {
  const sessions = writeSessions(context, () => []);
  try {
    const session = await sessions.get(provider);
    if (!session.ok) return session;
    if (session.value.exec === undefined) throw new Error(`the provider ${provider} offers exec and has none`);
    const end = await session.value.exec(
      query,
      command,
      sink,
      effectIo(context, context.signal, () => undefined),
    );
    if (end === undefined) return fail(missing(address, 'nothing can be run in it'));
    return end.kind === 'ended' ? succeed(end.code) : fail(notRunning(address, end.reason));
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return fail(diagnoseProvider(error, address, 'exec'));
  } finally {
    await sessions.close();
  }
}

function notOffered(address: ResourceAddress, type: string, what: 'logs' | 'exec'): Diagnostic {
  const [code, why] =
    what === 'logs' ? ['LOGS_NOT_OFFERED', 'which writes no log that can be read'] : ['EXEC_NOT_OFFERED', 'in which no command can be run'];
  return { severity: 'error', code, summary: 'The type of the resource does not offer that', detail: `${address} is a ${type}, ${why}.` };
}

function missing(address: ResourceAddress, what: string): Diagnostic {
  return {
    severity: 'error',
    code: 'OBJECT_MISSING',
    summary: 'The object is not there',
    detail: `${address} is recorded, and there is no object of ours for it now, so ${what}.`,
    next: 'accede plan',
  };
}

function notRunning(address: ResourceAddress, reason: string): Diagnostic {
  return {
    severity: 'error',
    code: 'NOT_RUNNING',
    summary: 'The object does not run',
    detail: `A command runs only inside of what runs, and ${address} does not: ${reason}.`,
    next: `accede logs '${address}' --tail 50`,
  };
}
