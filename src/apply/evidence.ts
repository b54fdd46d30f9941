import { digestOf } from '../core/canonical.ts';
import type { Plain } from '../core/value.ts';
import type { PlanDocument } from '../plan/model.ts';
import type { OperationRow, Snapshot } from '../state/model.ts';
import type { EngineContext } from './engine.ts';
import type { AccedeEvent, ApplyResult } from './events.ts';
import { OutageRecorder } from './outage.ts';

/** How many steps evidence names one by one; the rest is counted and sealed by a digest. */
const MOST_STEPS = 5000;

interface StepAccount {
  readonly step: string;
  readonly status: 'done' | 'failed' | 'unknown' | 'skipped' | 'taken back';
  readonly seconds: number | null;
  readonly figures: { readonly [name: string]: number };
  readonly code: string | null;
}

/** What a run is about, beside what its events tell. */
export interface EvidenceSubject {
  readonly operation: string;
  readonly serial: number;
  readonly environment: string;
  readonly lineage: string;
  readonly kind: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly startedAt: string;
  readonly engine: string;
  /** Of the plan that was carried out; nulls where a run had none. */
  readonly plan: {
    readonly digest: string | null;
    readonly class: string | null;
    readonly direction: string | null;
    readonly sourceDigest: string | null;
    readonly releaseDigest: string | null;
    readonly commit: string | null;
    readonly providers: Plain;
    readonly guards: Plain;
    /** Who approved it, and which freeze windows were broken for it; absent where nobody had to. */
    readonly approved?: Plain;
    readonly freezeBroken?: Plain;
  };
}

/** What an apply says of itself in its evidence. */
export function evidenceSubject(
  { environment, version }: Pick<EngineContext, 'environment' | 'version'>,
  operation: OperationRow,
  snapshot: Snapshot,
  { digest, inputs, succession }: PlanDocument,
  admission: { readonly [name: string]: Plain },
): EvidenceSubject {
  const { id, serial, kind, actor, reason, startedAt } = operation;
  const { sourceDigest, releaseDigest, commit, providers } = inputs;
  const guards = succession.guards.map((guard): Plain => ({ ...guard }));
  return {
    operation: id,
    serial,
    kind,
    actor,
    reason,
    startedAt,
    environment: environment.name,
    lineage: snapshot.identity.lineage,
    engine: version,
    plan: {
      digest,
      class: succession.class,
      direction: succession.direction,
      sourceDigest,
      releaseDigest,
      commit,
      providers,
      guards,
      ...admission,
    },
  };
}

/** Gathers from the events of a run what its evidence says of every step. */
export class EvidenceRecorder {
  readonly #steps = new Map<string, StepAccount>();
  readonly #outage: OutageRecorder | undefined;

  /** With a plan, the evidence tells also for how long each address of its outage was down. */
  constructor(plan?: Pick<PlanDocument, 'outageAddresses' | 'changes' | 'steps'>) {
    this.#outage = plan === undefined ? undefined : new OutageRecorder(plan);
  }

  receive(event: AccedeEvent): void {
    this.#outage?.receive(event);
    switch (event.type) {
      case 'step.done':
        this.#note({ step: event.step, status: 'done', seconds: event.seconds, figures: event.figures, code: null });
        return;
      case 'step.failed':
        this.#note({ step: event.step, status: 'failed', seconds: event.seconds, figures: {}, code: event.diagnostic.code });
        return;
      case 'step.unknown':
        this.#note({ step: event.step, status: 'unknown', seconds: null, figures: {}, code: event.diagnostic.code });
        return;
      case 'step.skipped':
        this.#note({ step: event.step, status: 'skipped', seconds: null, figures: {}, code: null });
        return;
      case 'step.compensated':
        this.#note({ step: event.step, status: 'taken back', seconds: event.seconds, figures: {}, code: null });
        return;
      default:
        return;
    }
  }

  /** The evidence document, `accede.evidence/v1`: bounded, without any value of an attribute and without raw output. */
  document(
    subject: EvidenceSubject,
    result: Pick<ApplyResult, 'outcome' | 'exitCode' | 'seconds' | 'diagnostics'>,
    endedAt: string,
  ): Plain {
    const all = [...this.#steps.values()].sort((a, b) => (a.step < b.step ? -1 : a.step > b.step ? 1 : 0));
    const named = all.slice(0, MOST_STEPS).map((account): Plain => ({ ...account }));
    return {
      format: 'accede.evidence/v1',
      ...subject,
      endedAt,
      outcome: result.outcome,
      exitCode: result.exitCode,
      seconds: result.seconds,
      errors: result.diagnostics
        .filter(({ severity }) => severity === 'error')
        .map(({ code, address }) => ({ code, address: address ?? null })),
      outage: this.#outage?.document() ?? [],
      steps: named,
      stepsDigest: digestOf(all),
      stepsLeftOut: all.length - named.length,
    };
  }

  #note(account: StepAccount): void {
    this.#steps.set(account.step, account);
  }
}
