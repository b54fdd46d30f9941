import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { applyPlan } from '../../src/apply/apply.ts';
import type { ApplyRequest, EngineContext } from '../../src/apply/engine.ts';
import type { AccedeEvent, ApplyResult } from '../../src/apply/events.ts';
import { preparePlan } from '../../src/apply/prepare.ts';
import { recoverBack } from '../../src/apply/recover.ts';
import { type Clock, type IdSource, systemClock } from '../../src/core/clock.ts';
import type { Diagnostic } from '../../src/core/diagnostic.ts';
import { localHost } from '../../src/host/local.ts';
import { DEFAULT_OPTIONS } from '../../src/plan/inputs.ts';
import type { PlanDocument, PlanOptions } from '../../src/plan/model.ts';
import type { PreparedPlan } from '../../src/plan/prepared.ts';
import type { Host, Registry } from '../../src/providers/contract.ts';
import { fakeProvider } from '../../src/providers/fake/provider.ts';
import { FakeWorld } from '../../src/providers/fake/world.ts';
import { localProvider } from '../../src/providers/local/provider.ts';
import { createRegistry } from '../../src/providers/registry.ts';
import type { Environment, ResourceInstance } from '../../src/spec/environment.ts';
import { BackendError, type Mutation, type StateStore, type WriteSession } from '../../src/state/contract.ts';
import { openStore } from '../../src/state/open.ts';
import { systemProcessIdentity } from '../../src/state/process.ts';
import { desired, environment } from './desired.ts';

const STAMP = { commit: null, folder: '.' };

/** The engine on the fake world with a real state store in a folder of its own. */
export class EngineBench {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'accede-engine-'));
  readonly world = new FakeWorld();
  readonly events: AccedeEvent[] = [];
  readonly registry: Registry = createRegistry([fakeProvider(this.world), localProvider]);
  readonly clock: Clock = systemClock;
  #nextId = 0;
  readonly ids: IdSource = { id: () => (++this.#nextId).toString(16).padStart(32, '0') };
  readonly #stores: StateStore[] = [];

  async store(): Promise<StateStore> {
    const store = await openStore({
      location: { backend: 'sqlite', path: path.join(this.folder, '.accede', 'state.db') },
      environment: 'test',
      clock: this.clock,
      ids: this.ids,
      host: systemProcessIdentity(),
    });
    this.#stores.push(store);
    return store;
  }

  async context(resources: readonly ResourceInstance[] | Environment): Promise<EngineContext> {
    const given = Array.isArray(resources) ? environment(resources as readonly ResourceInstance[]) : (resources as Environment);
    return {
      environment: { ...given, folder: this.folder, workTree: this.folder },
      registry: this.registry,
      store: await this.store(),
      clock: this.clock,
      ids: this.ids,
      host: localHost(),
      version: '0.0.0-test',
      parallelism: 4,
      signal: new AbortController().signal,
    };
  }

  /** A plan that goes on over whatever broke off, as `recover --forward` does, unless the options say otherwise. */
  async prepare(resources: readonly ResourceInstance[] | Environment, options: Partial<PlanOptions> = {}): Promise<PreparedPlan> {
    const outcome = await preparePlan(await this.context(resources), { ...DEFAULT_OPTIONS, recover: true, ...options }, STAMP);
    if (!outcome.ok) throw new Error(`no plan: ${JSON.stringify(outcome.diagnostics)}`);
    return outcome.value;
  }

  async mistakes(resources: readonly ResourceInstance[] | Environment, options: Partial<PlanOptions> = {}): Promise<readonly Diagnostic[]> {
    const outcome = await preparePlan(await this.context(resources), { ...DEFAULT_OPTIONS, ...options }, STAMP);
    return outcome.diagnostics;
  }

  async apply(
    plan: PlanDocument,
    resources: readonly ResourceInstance[] | Environment,
    more: Partial<ApplyRequest> = {},
  ): Promise<ApplyResult> {
    return applyPlan(await this.context(resources), { ...this.#request(plan), ...more });
  }

  #request(plan: PlanDocument): ApplyRequest {
    return {
      plan,
      stamp: STAMP,
      actor: 'tester@here',
      reason: null,
      lockTimeout: 0,
      ifDone: false,
      stop: new AbortController().signal,
      emit: (event) => this.events.push(event),
    };
  }

  /**
   * An apply whose state is lost at the first write that `at` picks, as when the process is killed there: what was done before stays, what comes
   * after is never recorded.
   */
  async applyUntil(
    plan: PlanDocument,
    resources: readonly ResourceInstance[] | Environment,
    at: (mutation: Mutation) => boolean,
    host: Host = localHost(),
  ): Promise<ApplyResult> {
    const context = { ...(await this.context(resources)), host };
    const inner = context.store;
    const store: StateStore = {
      read: () => inner.read(),
      readAt: (serial) => inner.readAt(serial),
      sealings: () => inner.sealings(),
      sourceDigests: () => inner.sourceDigests(),
      sources: (digests) => inner.sources(digests),
      history: () => inner.history(),
      steps: (serial) => inner.steps(serial),
      spentBy: (digest) => inner.spentBy(digest),
      unlock: (id, who) => inner.unlock(id, who),
      audit: () => inner.audit(),
      verifyAudit: () => inner.verifyAudit(),
      evidence: (serial) => inner.evidence(serial),
      now: () => inner.now(),
      setHold: (hold) => inner.setHold(hold),
      liftHolds: (who, reason) => inner.liftHolds(who, reason),
      approvals: (digest) => inner.approvals(digest),
      putApproval: (approval, who) => inner.putApproval(approval, who),
      close: () => inner.close(),
      async acquire(request) {
        const answer = await inner.acquire(request);
        if (answer.kind === 'busy') return answer;
        const { session } = answer;
        let lost = false;
        const write: WriteSession['write'] = async (mutations) => {
          lost ||= mutations.some(at);
          if (lost) throw new BackendError('STATE_UNREACHABLE', 'the store is gone');
          await session.write(mutations);
        };
        const wrapped: WriteSession = {
          fence: session.fence,
          read: () => session.read(),
          begin: (operation, expected) => session.begin(operation, expected),
          resume: (serial) => session.resume(serial),
          write,
          end: (serial, outcome, summary, sealed, evidence) => session.end(serial, outcome, summary, sealed, evidence),
          retire: (retirement) => session.retire(retirement),
          release: () => session.release(),
        };
        return { ...answer, session: wrapped };
      },
    };
    return applyPlan({ ...context, store }, { ...this.#request(plan) });
  }

  /** Leaves an operation open that was killed before it did anything: until the next apply has ended well, failures only go forward. */
  async breakOff(): Promise<void> {
    const resources = [desired('local.value.broken-off', { input: 1 })];
    const { document } = await this.prepare(resources);
    await this.applyUntil(document, resources, (mutation) => mutation.kind === 'step');
    this.events.length = 0;
  }

  /** Plans and applies, and expects it to work. */
  async converge(resources: readonly ResourceInstance[] | Environment, options: Partial<PlanOptions> = {}): Promise<ApplyResult> {
    const { document } = await this.prepare(resources, options);
    const result = await this.apply(document, resources);
    if (result.exitCode !== 0) throw new Error(`apply: ${JSON.stringify(result)}`);
    return result;
  }

  /** Lets a source that was held since its apply failed come again. */
  async lift(): Promise<void> {
    await (await this.store()).liftHolds('tester@here', 'the world was told to fail');
  }

  /** Takes the open operation back from its journal. */
  async recoverBack(resources: readonly ResourceInstance[] | Environment, host: Host = localHost()): Promise<ApplyResult> {
    const { actor, lockTimeout, stop, emit } = this.#request({} as PlanDocument);
    return recoverBack({ ...(await this.context(resources)), host }, { actor, lockTimeout, stop, emit });
  }

  async close(): Promise<void> {
    for (const store of this.#stores) await store.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** One line per change and step: what tests compare. */
export function outline(document: PlanDocument): string {
  const lines = [`${document.succession.class}${document.applicable ? '' : ' (not applicable)'}`];
  for (const change of document.changes) {
    if (change.action === 'noop') continue;
    lines.push(`${change.action} ${change.address}${change.replaceOrder === null ? '' : ` ${change.replaceOrder}`}: ${change.reason}`);
  }
  for (const step of document.steps) lines.push(`  ${step.id}${step.after.length === 0 ? '' : ` < ${step.after.join(', ')}`}`);
  for (const drift of document.drift) lines.push(`drift ${drift.kind} ${drift.address}: ${drift.answer}`);
  for (const refusal of document.succession.refusals) lines.push(`refused ${refusal.code} ${refusal.path}`);
  return lines.join('\n');
}
