import type { Diagnostic } from '../core/diagnostic.ts';
import { type Attributes, findUnknown, type Value } from '../core/value.ts';
import { ignoreChanges } from '../plan/diff.ts';
import { evaluateInstance } from '../plan/evaluate.ts';
import { filledIn, fingerprintOfObserved, isSameObject, type Masks, recordedComputed } from '../plan/live.ts';
import type { PreparedChange } from '../plan/prepared.ts';
import { objectQuery } from '../plan/query.ts';
import { RECORDED_AS_IT_IS } from '../plan/refresh.ts';
import { isOwnEffect } from '../plan/steps.ts';
import {
  type Effect,
  type EffectIo,
  type Found,
  type Mark,
  type Operation,
  ProviderError,
  type Receipt,
  type Undo,
} from '../providers/contract.ts';
import type { Mutation } from '../state/contract.ts';
import type { Deposed, ResourceRow, StepRow } from '../state/model.ts';
import { agrees, effectOperation, foreseeable, preimageInClear, sealedForm } from './operation.ts';
import { effectKey, journalForm, maskedReceipt, readdressed, recordOfObserved, resourceRow, seenBefore } from './record.ts';
import { type Intent, type RunContext, type Settled, StepRefused } from './run-context.ts';
import { changeDiagnostic, failedCondition, notesOf, resultDifference, whyNotFound } from './verdicts.ts';
import { letPass } from './waiting.ts';
import type { Reversible } from './way-back.ts';

/** One change on its way through its effects: which object it has, what is desired of it by now, what its record says. */
export class ChangeRun implements Reversible {
  readonly change: PreparedChange;
  readonly #run: RunContext;
  readonly #alias: string;
  /** Our id of the object that the change leaves. */
  readonly #id: string;
  /** The object that is there now: the old one until it is removed or steps aside, then the new one. */
  #present: Deposed | undefined;
  #desired: Attributes | undefined;
  /** The object as it was before the change, secrets as fingerprints, with a key also encrypted. */
  readonly #preimage: StepRow['preimage'];
  #identity: string;
  #row: ResourceRow | undefined;
  #checked = false;
  #evaluated = false;
  /** The recorded address until the first write under the new one. */
  #formerAddress: ResourceRow['address'] | undefined;

  constructor(change: PreparedChange, run: RunContext) {
    this.change = change;
    this.#run = run;
    const { row, observed, planned, unsettled } = change;
    this.#row = row === undefined ? undefined : readdressed(row, planned.address, run.key, run.vault);
    this.#formerAddress = row !== undefined && row.address !== planned.address ? row.address : undefined;
    this.#alias = change.instance?.provider ?? row?.provider ?? '';
    this.#desired = change.desired;
    this.#identity = row?.identity ?? '';
    this.#preimage = journalForm(seenBefore(change), run, planned.address, 'preimage');
    const made = unsettled.find((step) => step.object === 'create')?.id;
    if (observed.kind === 'found') this.#present = { id: observed.id ?? row?.id ?? made ?? run.newId(), ref: observed.ref };
    const makes = change.effects.some((effect) => effect.object === 'create');
    // A creation that may have happened is repeated under its own id, so that it can only be found, never doubled.
    const repeated = this.#present === undefined ? made : undefined;
    this.#id = makes ? (repeated ?? run.newId()) : (this.#present?.id ?? row?.id ?? run.newId());
  }

  get movedFrom(): ResourceRow['address'] | null {
    return this.change.planned.movedFrom;
  }

  /** The alias of the provider through which the object is reached now; a change of the provider block removes through the old one. */
  #aliasFor(effect: Effect): string {
    const gone = effect.part === 'remove' || effect.part === 'retire';
    return gone ? (this.change.row?.provider ?? this.#alias) : this.#alias;
  }

  /** Makes sure that the object is the one planned for, and that everything which the effect needs is known. Throws `StepRefused`. */
  async prepare(effect: Effect, io: EffectIo): Promise<Intent> {
    if (!this.#checked) {
      await this.#compareFingerprint(io);
      this.#requirePreconditions();
      this.#checked = true;
    }
    if (effect.part === 'apply' && !this.#evaluated) {
      this.#evaluate();
      this.#requirePreconditions();
      this.#evaluated = true;
    }
    const wanted = effect.object === 'create' || effect.object === 'update' ? this.#desired : undefined;
    const { address } = this.change.planned;
    const target = effect.object === 'retire' ? this.#row?.deposed[0] : effect.object === 'create' ? undefined : this.#present;
    return {
      key: effectKey(this.#run, address, effect, wanted),
      id: target?.id ?? this.#id,
      ref: target?.ref ?? null,
      identity: this.#identity,
      desired: journalForm(wanted, this.#run, address, 'desired'),
      preimage: this.#preimage,
    };
  }

  /** Does the effect. Throws `ProviderError`. A step for the record alone does nothing here. */
  async perform(effect: Effect, intent: Intent, io: EffectIo): Promise<Receipt> {
    if (effect.lasts !== undefined) return letPass(effect.lasts, io);
    if (isOwnEffect(effect)) return {};
    const session = await this.#run.session(this.#aliasFor(effect));
    if (effect.object !== 'retire') return session.perform(this.#operation(effect, intent), io);
    // Predecessors of several broken-off runs may have piled up: all of them go.
    let receipt: Receipt = {};
    for (const deposed of this.#row?.deposed ?? []) {
      receipt = await session.perform(this.#operation(effect, { ...intent, id: deposed.id, ref: deposed.ref }), io);
    }
    return receipt;
  }

  /** How long what an effect brought about goes on before that is taken back: a successor that may serve already is drained as its predecessor would be. */
  drainBefore(effect: Effect): number {
    const { instance, effects, planned } = this.change;
    const isLast = effects.findLast((other) => other.part === 'apply') === effect;
    const isServing = isLast && planned.replaceOrder === 'create-first' && this.#row?.status === 'ready';
    return isServing ? (instance?.update?.drain ?? 0) : 0;
  }

  /** Takes an effect back, done or not. `ref` is the live id that it left, where it told one. Throws `ProviderError`. */
  async undo(effect: Effect, intent: Intent, ref: string | null, io: EffectIo): Promise<void> {
    if (isOwnEffect(effect)) return;
    const session = await this.#run.session(this.#aliasFor(effect));
    if (session.undo === undefined) throw new ProviderError('OTHER', 'Its provider knows no way back from this effect.');
    const { computed: _forgotten, ...operation } = this.#operation(effect, intent);
    const { observed } = this.change;
    const seen = seenBefore(this.change);
    const before = seen === undefined ? undefined : preimageInClear(seen);
    const dormant = observed.kind === 'found' && observed.dormant !== undefined;
    const known: Undo = { ...operation, ...(ref === null ? {} : { ref }), sealedBefore: before?.sealed ?? [], dormant };
    await session.undo(before === undefined ? known : { ...known, before: before.attributes }, io);
  }

  async requireAsBefore(io: EffectIo): Promise<void> {
    this.#desired = this.change.desired;
    await this.#compareFingerprint(io, 'as before');
  }

  #operation(effect: Effect, intent: Intent): Operation {
    return effectOperation(this.change, effect, intent, {
      operation: this.#run.operation,
      mark: this.#mark(),
      desired: effect.part === 'prepare' ? foreseeable(this.change, this.#run.exposures.lookup) : this.#desired,
      deposed: (this.#row?.deposed.length ?? 0) > 0,
      key: this.#run.key,
      vault: this.#run.vault,
    });
  }

  #mark(): Mark {
    return { environment: this.#run.environmentName, lineage: this.#run.lineage };
  }

  /**
   * The record after the effect. After the last effect that brings the object about, the object is read back and compared: where it is not as
   * desired, the record says unfinished and the answer holds the failure. A lost creation is settled once its object stands aside.
   */
  async settle(effect: Effect, intent: Intent, receipt: Receipt, io: EffectIo): Promise<Settled> {
    const figures = receipt.figures ?? {};
    const isLast = this.change.effects.findLast(({ lasts }) => lasts === undefined) === effect;
    const { action } = this.change.planned;
    if (action === 'read') return this.#readData(io);
    const gone = action === 'forget' || action === 'delete';
    const { row, failure, notes }: Outcome = gone
      ? { row: this.#rowWhileGoing(effect), failure: undefined }
      : await this.#rowWhileComing(effect, intent, maskedReceipt(receipt, this.change.type, this.#masks(), this.#run.conceal), io);
    this.#row = row;
    const mutations: Mutation[] = [];
    if (this.#formerAddress !== undefined) mutations.push({ kind: 'drop', address: this.#formerAddress });
    this.#formerAddress = undefined;
    if (gone && isLast) mutations.push({ kind: 'drop', address: this.change.planned.address });
    else if (row !== undefined) mutations.push({ kind: 'row', row });
    const isSettled = (step: StepRow) => isLast || effect.object === 'create' || (effect.object === 'depose' && step.id === intent.id);
    const settled = failure === undefined ? this.change.unsettled.filter(isSettled) : [];
    mutations.push(...settled.map((step): Mutation => ({ kind: 'step', step: { ...step, status: 'settled' } })));
    return { mutations, figures, failure, notes: notes ?? [] };
  }

  /** What is only read has no record: it is looked at, and others see it from now on. */
  async #readData(io: EffectIo): Promise<Settled> {
    const { planned, type } = this.change;
    const known = { row: undefined, identity: this.#identity, unsettled: [], importedRef: undefined, desired: this.#desired };
    const query = objectQuery(planned.address, type, this.#mark(), known);
    if (query === undefined) throw this.#bug('what it asks is not known');
    const found = await (await this.#run.session(this.#alias)).read(query, io);
    const problem =
      found.kind === 'found' ? found.problem : { code: found.kind === 'absent' ? 'DATA_ABSENT' : found.code, message: whyNotFound(found) };
    if (found.kind === 'found') this.#expose(found, this.#masks(), {});
    const failure =
      problem === undefined
        ? undefined
        : changeDiagnostic(this.change, problem.code, 'What should be read is not as asked', `${planned.address}: ${problem.message}`);
    return { mutations: [], figures: {}, failure, notes: [] };
  }

  #rowWhileGoing(effect: Effect): ResourceRow | undefined {
    const row = this.#row;
    if (row === undefined) return undefined;
    if (effect.object === 'remove') return { ...row, ref: null };
    if (effect.object === 'retire') return { ...row, deposed: [] };
    return row;
  }

  async #rowWhileComing(effect: Effect, intent: Intent, receipt: Receipt, io: EffectIo): Promise<Outcome> {
    const row = this.#row;
    const keep = (next: ResourceRow | undefined): Outcome => ({ row: next, failure: undefined });
    switch (effect.object) {
      case 'remove':
        this.#present = undefined;
        return keep(row === undefined ? undefined : { ...row, ref: null });
      case 'depose': {
        const aside = this.#present;
        this.#present = undefined;
        const base = row ?? { ...this.#newRow(null, {}, ''), status: 'unfinished' };
        return keep(aside === undefined ? row : { ...base, id: this.#id, ref: null, deposed: [...base.deposed, aside] });
      }
      case 'retire':
        return keep(row === undefined ? undefined : { ...row, deposed: [] });
      case 'create':
      case 'update':
      case 'keep':
        break;
      default:
        return effect.object satisfies never;
    }
    if (effect.part === 'commit') return keep(row === undefined ? undefined : { ...row, status: 'ready' });
    if (effect.part !== 'apply') return keep(row);
    const isLastApply = this.change.effects.findLast((other) => other.part === 'apply') === effect;
    const ref = receipt.ref ?? intent.ref;
    if (ref !== null) this.#present = { id: intent.id, ref };
    return isLastApply ? this.#finished(ref, receipt, effect.object === 'create', io) : keep(this.#unfinished(ref, receipt, effect));
  }

  /** In the middle of its effects: enough to find the object again, and the word that it is not finished. */
  #unfinished(ref: string | null, receipt: Receipt, effect: Effect): ResourceRow {
    const row = this.#row;
    const made = effect.object === 'create' || effect.object === 'update' || row === undefined;
    const attributes = made ? (this.#desired ?? {}) : undefined;
    const base = this.#newRow(ref, receipt.computed ?? {}, row?.fingerprint ?? '');
    const kept = attributes === undefined && row !== undefined ? { attributes: row.attributes, computed: row.computed } : {};
    return { ...base, ...kept, status: 'unfinished' };
  }

  async #finished(ref: string | null, receipt: Receipt, makesAnew: boolean, io: EffectIo): Promise<Outcome> {
    const { type, planned } = this.change;
    // What was known of the object stays known: a step that changes the record alone tells nothing new.
    const known = makesAnew || this.#row === undefined ? {} : recordedComputed(this.#row, this.#run.vault);
    const recorded = {
      attributes: sealedForm(this.#desired ?? {}, this.#run.key),
      computed: { ...known, ...receipt.computed },
    };
    const session = await this.#run.session(this.#alias);
    const found = await session.read(
      {
        address: planned.address,
        type: type.type,
        mark: this.#mark(),
        ...(ref === null ? {} : { ref }),
        id: this.#id,
        ...(this.#identity === '' ? {} : { identity: this.#identity }),
        recorded,
      },
      io,
    );
    if (found.kind !== 'found') {
      const detail = `${planned.address} cannot be found after its step was done: ${whyNotFound(found)}.`;
      const failure = changeDiagnostic(this.change, 'RESULT_MISSING', 'The object is not there after the step', detail);
      return { row: { ...this.#newRow(ref, receipt.computed ?? {}, ''), status: 'unfinished' }, failure };
    }
    const masks = this.#masks();
    const facts = recordOfObserved(type, found, masks, this.#run.key);
    const marked = facts.id !== undefined;
    const row = { ...this.#newRow(facts.ref ?? ref, { ...facts.computed, ...receipt.computed }, facts.fingerprint), marked };
    this.#expose(found, masks, receipt);
    const failure = resultDifference(this.change, found, this.#desired, masks, this.#run.key) ?? this.#failedCondition('postconditions');
    // What is only activated is not finished: a run that breaks off here leaves it to be committed or taken back.
    const isFinal = failure === undefined && !this.change.effects.some((effect) => effect.part === 'commit');
    // Of an object that is there already, the plan has told.
    const notes = this.change.observed.kind === 'absent' ? notesOf(found, planned.address) : [];
    return { row: isFinal ? row : { ...row, status: 'unfinished' }, failure, notes };
  }

  #newRow(ref: string | null, computed: Attributes, fingerprint: string): ResourceRow {
    const { change } = this;
    const previous = this.#row;
    return resourceRow(
      {
        address: change.planned.address,
        type: change.type,
        provider: this.#alias,
        role: change.planned.role,
        identity: this.#identity,
        id: this.#id,
        ref,
        marked: previous?.marked ?? false,
        status: 'ready',
        attributes: this.#desired ?? {},
        computed,
        dependencies: change.needs,
        protected: change.protected,
        deposed: previous?.deposed ?? [],
        folder: change.context.folder,
        environmentFolder: this.#run.environmentFolder,
        fingerprint,
      },
      this.#run,
    );
  }

  #masks(): Masks {
    return { ...this.change.masks, desired: this.#desired };
  }

  /** The object must still be the one that the plan saw. One whose identity was not known then must not be there now. */
  async #compareFingerprint(io: EffectIo, what: 'as planned' | 'as before' = 'as planned'): Promise<void> {
    const { change } = this;
    const { planned, row, type } = change;
    const expected = this.#run.fingerprints[planned.address];
    if (expected === undefined) return;
    const alias = row?.provider ?? this.#alias;
    const identity = this.#desired === undefined ? undefined : type.identity(this.#desired, change.context);
    const query = objectQuery(planned.address, type, this.#mark(), {
      row,
      identity,
      unsettled: change.unsettled,
      // As the plan asked, before anything was ignored.
      desired: type.data || this.#desired === undefined ? this.#desired : change.masks.desired,
      byMark: change.byMark === true,
      vault: this.#run.vault,
      importedRef: planned.importId !== null && change.observed.kind === 'found' ? change.observed.ref : undefined,
    });
    if (query === undefined) return;
    const observed = await (await this.#run.session(alias)).read(query, io);
    const seen = fingerprintOfObserved(type, observed, change.masks, this.#run.planKey);
    const actual = observed.kind === 'cannot-see' ? `cannot see: ${observed.reason}` : seen;
    if (actual === expected) return;
    if (what === 'as before' && isSameObject(type, [change.observed, observed], row, change.masks, this.#run.key)) return;
    const detail = `${planned.address} changed after the plan was made. Nothing was done to it. Plan again.`;
    const moved = changeDiagnostic(this.change, 'LIVE_MOVED', 'A live object is not the one that the plan saw', detail);
    throw new StepRefused({ ...moved, expected: expected ?? 'absent', observed: actual ?? 'absent', next: 'accede plan' }, { moved: true });
  }

  /** Fills in what the plan could not know. What the plan did know must come out the same. */
  #evaluate(): void {
    const { instance, type, context, planned, row } = this.change;
    if (instance === undefined || planned.action === 'forget' || planned.reason === RECORDED_AS_IT_IS) return;
    const outcome = evaluateInstance(instance, type, context, this.#run.exposures.lookup, this.change.row);
    if (!outcome.ok) {
      const [first] = outcome.diagnostics;
      throw first === undefined ? this.#bug('its attributes cannot be evaluated') : new StepRefused(first, { moved: false });
    }
    const { normal } = outcome.value;
    const missing = findUnknown(normal);
    if (missing !== undefined) throw this.#bug(`${missing.of} is still unknown after everything that it needs is done`);
    const seen = this.change.desired ?? {};
    const { ignoreChanges: ignored } = instance.lifecycle;
    const isNew = row === undefined && this.change.observed.kind !== 'found';
    const desired = ignored.length === 0 || isNew ? normal : ignoreChanges(normal, seen, ignored);
    if (!agrees(seen, desired, this.#run.key)) throw this.#bug('what it should become is not what the plan shows');
    const identity = type.identity(desired, context);
    if (identity === undefined) throw this.#bug('its identity is not known');
    this.#desired = desired;
    this.#identity = identity;
  }

  #expose(found: Found, masks: Masks, receipt: Receipt): void {
    const { instance, type, context } = this.change;
    if (instance === undefined) return;
    const outcome = evaluateInstance(instance, type, context, this.#run.exposures.lookup, this.change.row);
    if (!outcome.ok) return;
    const facts = recordOfObserved(type, found, masks, this.#run.key);
    const computed = { ...facts.computed, ...receipt.computed };
    const { normal, written, foreseen } = outcome.value;
    const value: Value = { ...normal, ...written, ...computed, ...filledIn(foreseen, computed) };
    this.#run.exposures.set(instance, value);
  }

  #failedCondition(which: 'preconditions' | 'postconditions'): Diagnostic | undefined {
    return failedCondition(this.change, which, this.#run.exposures.lookup);
  }

  #requirePreconditions(): void {
    const failed = this.#failedCondition('preconditions');
    if (failed !== undefined) throw new StepRefused(failed, { moved: false });
  }

  #bug(what: string): StepRefused {
    const detail = `${this.change.planned.address}: ${what}. This is a bug in Accede.`;
    return new StepRefused(changeDiagnostic(this.change, 'PLAN_DISAGREES', 'A step does not agree with its plan', detail), {
      moved: false,
    });
  }
}

type Outcome = Pick<Settled, 'failure'> & Partial<Pick<Settled, 'notes'>> & { readonly row: ResourceRow | undefined };
