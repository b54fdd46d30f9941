import type { Clock, IdSource } from '../core/clock.ts';
import type { Diagnostic, Outcome } from '../core/diagnostic.ts';
import type { FailPoint } from '../core/fail-point.ts';
import { providerBlock } from '../plan/context.ts';
import {
  type EffectIo,
  type Host,
  ProviderError,
  type ReadIo,
  type ReadSession,
  type Registry,
  type Residue,
  type Session,
} from '../providers/contract.ts';
import type { Environment } from '../spec/environment.ts';
import { failingSession } from './failing-session.ts';

export interface SessionContext {
  readonly environment: Environment;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly host: Host;
  readonly signal: AbortSignal;
  readonly faults?: FailPoint;
}

/** What reads get. The host is the same object; its type leaves only what looks. */
export function readIo(context: SessionContext): ReadIo {
  return { clock: context.clock, signal: context.signal, host: context.host };
}

/** What effects get; `progress` belongs to the step. */
export function effectIo(context: SessionContext, signal: AbortSignal, progress: EffectIo['progress']): EffectIo {
  const { clock, host, ids, faults } = context;
  return { clock, signal, host, ids, progress, ...(faults === undefined ? {} : { faults }) };
}

/** Sessions by provider alias, opened when they are first asked for and closed together. One failed opening is remembered: it is not tried again for every resource. */
export class Sessions<S extends ReadSession> {
  readonly #open: (alias: string) => Promise<Outcome<S>>;
  readonly #sessions = new Map<string, Promise<Outcome<S>>>();

  constructor(open: (alias: string) => Promise<Outcome<S>>) {
    this.#open = open;
  }

  get(alias: string): Promise<Outcome<S>> {
    const known = this.#sessions.get(alias);
    if (known !== undefined) return known;
    const opened = this.#open(alias);
    this.#sessions.set(alias, opened);
    return opened;
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) {
      const outcome = await session;
      if (outcome.ok) await outcome.value.close();
    }
  }
}

export function readSessions(context: SessionContext): Sessions<ReadSession> {
  return new Sessions(async (alias) => {
    const found = providerOf(context, alias);
    return 'missing' in found ? { ok: false, diagnostics: [found.missing] } : found.provider.openReadOnly(found.config, readIo(context));
  });
}

/** Sessions for an apply. Opening one removes what runs that broke off left of its provider. */
export function writeSessions(context: SessionContext, residue: (alias: string) => readonly Residue[]): Sessions<Session> {
  return new Sessions(async (alias) => {
    const found = providerOf(context, alias);
    if ('missing' in found) return { ok: false, diagnostics: [found.missing] };
    const io = effectIo(context, context.signal, () => undefined);
    const opened = await found.provider.open(found.config, io);
    const { faults } = context;
    const outcome = opened.ok && faults !== undefined ? { ...opened, value: failingSession(opened.value, faults) } : opened;
    const left = residue(alias);
    if (outcome.ok && left.length > 0) await outcome.value.reconcile?.(left, io);
    return outcome;
  });
}

function providerOf(context: SessionContext, alias: string) {
  const block = providerBlock(context.environment, alias);
  const provider = block === undefined ? undefined : context.registry.providers.get(block.provider);
  if (block !== undefined && provider !== undefined) return { provider, config: block.config };
  const missing: Diagnostic = {
    severity: 'error',
    code: 'PROVIDER_MISSING',
    summary: 'A recorded resource needs a provider block that is not in the documents',
    detail: `The state holds resources of the provider ${alias}, but the documents have no such block any more. Put it back until they are gone, or give them up with a removed entry.`,
    expected: `providers.${alias}`,
  };
  return { missing };
}

/** The session of an alias. Throws `ProviderError` when its provider cannot be opened. */
export async function openSession(sessions: Sessions<Session>, alias: string): Promise<Session> {
  const outcome = await sessions.get(alias);
  if (outcome.ok) return outcome.value;
  throw new ProviderError('UNREACHABLE', outcome.diagnostics[0]?.detail ?? `the provider ${alias} cannot be opened`);
}
