import type { ResourceAddress } from '../core/address.ts';
import { canonicalText } from '../core/canonical.ts';
import { type Attributes, clearForm, decodeValue, type Plain, withoutCiphertext } from '../core/value.ts';
import type { Vault } from '../core/vault.ts';
import { alignedLive, maskedLive, recordedAttributes } from '../plan/live.ts';
import { objectQuery } from '../plan/query.ts';
import { isOwnEffect } from '../plan/steps.ts';
import {
  type Change,
  type Effect,
  type EffectIo,
  type Mark,
  ProviderError,
  type ResourceType,
  type Session,
  type TypeContext,
} from '../providers/contract.ts';
import type { ResourceRow, StepRow } from '../state/model.ts';
import { preimageInClear, withoutSecrets } from './operation.ts';
import { encodedAttributes } from './record.ts';
import { type Intent, StepRefused } from './run-context.ts';
import { decodePart } from './vaults.ts';
import type { Reversible } from './way-back.ts';

/** What is known of a change whose run is gone. */
export interface RecordedFacts {
  readonly address: ResourceAddress;
  readonly type: ResourceType;
  readonly context: TypeContext;
  /** The record before the operation, under the address that it had then. */
  readonly row: ResourceRow | undefined;
  /** The steps of the change, in order. */
  readonly steps: readonly StepRow[];
  readonly operation: string;
  readonly mark: Mark;
  readonly key: Buffer;
  readonly vault: Vault | undefined;
  session(alias: string): Promise<Session>;
}

/** A change as the journal tells it: enough to take it back without the plan and without the documents that it came from. */
export class RecordedChange implements Reversible {
  readonly movedFrom: ResourceAddress | null;
  readonly #facts: RecordedFacts;
  /** What was there before: that of the first step. */
  readonly #preimage: StepRow['preimage'];

  constructor(facts: RecordedFacts) {
    this.#facts = facts;
    this.movedFrom = facts.row === undefined || facts.row.address === facts.address ? null : facts.row.address;
    this.#preimage = facts.steps[0]?.preimage ?? null;
  }

  async undo(effect: Effect, intent: Intent, ref: string | null, io: EffectIo): Promise<void> {
    if (isOwnEffect(effect)) return;
    const { address, type, context, row, operation, mark, steps } = this.#facts;
    const step = steps.find((candidate) => candidate.effect === effect.name);
    const action = step?.action === 'adopt' ? 'update' : step?.action;
    // Anything else concerned the record alone.
    if (step === undefined || !isChange(action)) return;
    const session = await this.#facts.session(step.provider);
    if (session.undo === undefined) throw new ProviderError('OTHER', 'Its provider knows no way back from this effect.');
    const sealed = withoutCiphertext(intent.desired ?? row?.attributes ?? {}) as { readonly [name: string]: Plain };
    const before = this.#preimage === null ? undefined : preimageInClear(this.#opened(this.#preimage, 'preimage'));
    const desired = intent.desired === null ? sealed : clearForm(this.#opened(intent.desired, 'desired'), undefined);
    await session.undo(
      {
        operation,
        key: intent.key,
        effect,
        change: { action, order: 'destroy-first', paths: [], deposed: (row?.deposed.length ?? 0) > 0 },
        address,
        type: type.type,
        mark,
        id: intent.id,
        ...(ref === null ? {} : { ref }),
        desired: withoutSecrets(desired as { readonly [name: string]: Plain }),
        sealed,
        context,
        timeouts: {},
        ...(before === undefined ? {} : { before: before.attributes }),
        // The journal tells no more than that it was to be started.
        dormant: action === 'start',
        sealedBefore: before?.sealed ?? [],
      },
      io,
    );
  }

  /** Nothing is known of the documents that gave time for it. */
  drainBefore(): number {
    return 0;
  }

  #opened(stored: NonNullable<StepRow['preimage']>, part: 'preimage' | 'desired'): Attributes {
    return decodePart(stored, this.#facts.vault, { address: this.#facts.address, part }) as Attributes;
  }

  async requireAsBefore(io: EffectIo): Promise<void> {
    const { address, type, row, mark, key, steps } = this.#facts;
    const [first] = steps;
    const known = { row, identity: first?.identity, unsettled: [], importedRef: undefined, desired: undefined };
    const query = objectQuery(address, type, mark, known);
    if (query === undefined || first === undefined || type.data) return;
    const observed = await (await this.#facts.session(row?.provider ?? first.provider)).read(query, io);
    const recorded = row === undefined ? undefined : recordedAttributes(type, row);
    const masks = { desired: undefined, recorded, secrets: [] };
    const live = observed.kind === 'found' ? encodedAttributes(maskedLive(type, observed, masks), key) : null;
    const preimage = this.#preimage === null ? null : withoutCiphertext(this.#preimage);
    if (same(live, preimage)) return;
    if (observed.kind === 'found' && preimage !== null) {
      // What a server gives by itself, it may give anew meanwhile: the operator's part has to be as before, as a plan would compare it.
      const before = decodeValue(preimage) as Attributes;
      const against = recorded ?? before;
      const aligned = encodedAttributes(type.align?.(against, before) ?? before, key);
      if (same(encodedAttributes(alignedLive(type, observed, against, masks), key), aligned)) return;
    }
    throw new StepRefused(
      {
        severity: 'error',
        code: 'NOT_AS_BEFORE',
        summary: 'A resource is not as before',
        detail: `${address} is not what it was before the run.`,
        address,
        expected: this.#preimage === null ? 'absent' : 'as before',
        observed: observed.kind === 'found' ? 'present, and different' : observed.kind,
      },
      { moved: true },
    );
  }
}

function isChange(action: string | undefined): action is Change['action'] {
  return action === 'create' || action === 'update' || action === 'replace' || action === 'start' || action === 'delete';
}

function same(one: Plain, other: Plain): boolean {
  return canonicalText(one) === canonicalText(other);
}
