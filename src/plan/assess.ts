import type { Cause } from '../core/action.ts';
import { compareText, type ResourceAddress } from '../core/address.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { Graph } from '../core/graph.ts';
import { type ResourceLookup, type ResourceReference, templateReferences } from '../core/template.ts';
import { type Attributes, Unknown, type Value } from '../core/value.ts';
import type { Observed, ResourceType, TypeContext } from '../providers/contract.ts';
import type { ResourceInstance } from '../spec/environment.ts';
import type { StepRow } from '../state/model.ts';
import { instanceContext, rowContext } from './context.ts';
import { type Decision, decide } from './decide.ts';
import { type Evaluated, evaluateInstance } from './evaluate.ts';
import { exposure } from './exposure.ts';
import type { PlanInputs } from './inputs.ts';
import { InstanceIndex, instanceGraph, isNamedBy } from './instances.ts';
import { type Masks, recordedAttributes } from './live.ts';
import type { Stray } from './marks.ts';
import { searchedSecrets } from './masking.ts';
import { isProtected } from './protection.ts';
import { rowOfUnsettled, unsettledSteps } from './query.ts';
import { holdersOf, moveRows, type RecordedResource } from './refactor.ts';
import { refreshDecision } from './refresh.ts';
import { withRestart } from './restart.ts';
import { selectAddresses } from './selection.ts';
import { Strays } from './strays.ts';

/** Everything that was found out about one resource. */
export interface Assessed {
  readonly address: ResourceAddress;
  readonly type: ResourceType;
  readonly context: TypeContext;
  readonly instance: ResourceInstance | undefined;
  readonly recorded: RecordedResource | undefined;
  readonly evaluated: Evaluated | undefined;
  readonly observed: Observed | undefined;
  readonly masks: Masks;
  readonly unsettled: readonly StepRow[];
  readonly protected: boolean;
  readonly needs: readonly ResourceAddress[];
  readonly decision: Decision;
}

export interface Assessment {
  /** By address: desired instances, what they need first, then what only the state knows. */
  readonly resources: ReadonlyMap<ResourceAddress, Assessed>;
  /** Of the desired instances. */
  readonly graph: Graph;
  readonly selected: ReadonlySet<ResourceAddress>;
  readonly diagnostics: readonly Diagnostic[];
  /** What bears our mark and has no place in documents and state, while that counts. */
  readonly strays: readonly Stray[];
  /** What expressions see of the resources. */
  readonly lookup: ResourceLookup;
}

/** Goes through all resources in the order of the graph and decides each. Pure; called again with more observations until all are in. */
export function assess(inputs: PlanInputs): Assessment {
  return new Assessor(inputs).run();
}

class Assessor {
  readonly #inputs: PlanInputs;
  readonly #index: InstanceIndex;
  readonly #graph: Graph;
  readonly #recorded: Map<ResourceAddress, RecordedResource>;
  readonly #strays: Strays;
  readonly #holders: ReturnType<typeof holdersOf>;
  readonly #renamed: ReadonlyMap<string, ResourceAddress>;
  readonly #unsettled: ReadonlyMap<ResourceAddress, readonly StepRow[]>;
  readonly #secrets: readonly string[];
  readonly #key: Buffer | undefined;
  readonly #diagnostics: Diagnostic[] = [];
  readonly #resources = new Map<ResourceAddress, Assessed>();
  /** What expressions see of resources without `for_each`, by `type.name`. */
  readonly #exposed = new Map<string, Value>();
  readonly #maps = new Map<string, Record<string, Value>>();
  #selected: ReadonlySet<ResourceAddress> = new Set();

  constructor(inputs: PlanInputs) {
    this.#inputs = inputs;
    this.#index = new InstanceIndex(inputs.environment.resources);
    this.#graph = instanceGraph(this.#index);
    this.#unsettled = unsettledSteps(inputs.snapshot);
    const moved = moveRows(inputs.snapshot?.resources ?? new Map(), inputs.environment.moved);
    this.#recorded = this.#withLeftovers(moved.recorded);
    this.#holders = holdersOf(this.#recorded);
    this.#strays = new Strays(inputs, new Set([...this.#index.byAddress.keys(), ...this.#recorded.keys()]));
    this.#diagnostics.push(...moved.diagnostics);
    this.#renamed = new Map(
      [...moved.recorded].flatMap(([to, { movedFrom }]) => (movedFrom === undefined ? [] : [[movedFrom, to] as const])),
    );
    this.#secrets = searchedSecrets([...inputs.environment.secrets.values(), ...(inputs.opened?.secrets ?? [])]);
    this.#key = inputs.snapshot === undefined ? undefined : Buffer.from(inputs.snapshot.identity.fingerprintKey, 'hex');
  }

  /**
   * What a creation that broke off may have left at an address which has no record, where nobody wants it: it is not in the documents, or
   * everything is to go.
   */
  #withLeftovers(recorded: ReadonlyMap<ResourceAddress, RecordedResource>): Map<ResourceAddress, RecordedResource> {
    const all = new Map(recorded);
    for (const [address, steps] of this.#unsettled) {
      if (all.has(address) || (this.#index.byAddress.has(address) && !this.#inputs.options.destroy)) continue;
      const row = rowOfUnsettled(steps);
      if (row !== undefined) all.set(address, { row, movedFrom: undefined });
    }
    return all;
  }

  run(): Assessment {
    const ordered = this.#graph.order();
    if ('cycle' in ordered) {
      this.#diagnostics.push(cycleDiagnostic(ordered.cycle));
      return this.#assessment();
    }
    const desired = ordered.order as readonly ResourceAddress[];
    const gone = [...this.#recorded.keys()].filter((address) => !this.#index.byAddress.has(address)).sort(compareText);
    const selection = selectAddresses([...desired, ...gone, ...this.#strays.addresses], this.#graph, this.#inputs.options);
    this.#selected = selection.selected;
    this.#strays.select(selection.selected);
    this.#diagnostics.push(...selection.diagnostics);
    for (const address of desired) this.#assessInstance(address);
    for (const address of gone) this.#assessGone(address);
    // What is nobody's can be told only when everything of the documents was looked for.
    const { observations } = this.#inputs.world;
    const isSought = ({ type, evaluated, address }: Assessed) =>
      type.data || evaluated?.identity === undefined || observations.has(address);
    if ([...this.#resources.values()].every((assessed) => assessed.instance === undefined || isSought(assessed))) {
      for (const [address, record] of this.#strays.records) {
        this.#recorded.set(address, record);
        this.#assessGone(address);
      }
    }
    return this.#assessment();
  }

  #assessment(): Assessment {
    return {
      resources: this.#resources,
      graph: this.#graph,
      selected: this.#selected,
      diagnostics: this.#diagnostics,
      strays: this.#strays.nobodys,
      lookup: this.#lookup,
    };
  }

  #assessInstance(address: ResourceAddress): void {
    const instance = this.#index.byAddress.get(address);
    const type = instance === undefined ? undefined : this.#inputs.registry.find(instance.type)?.type;
    if (instance === undefined || type === undefined) throw new Error(`${address} has no type`);
    const { environment } = this.#inputs;
    const context = instanceContext(environment, instance);
    const outcome = evaluateInstance(instance, type, context, this.#lookup, this.#recorded.get(address)?.row);
    if (this.#selected.has(address)) this.#diagnostics.push(...outcome.diagnostics);
    const evaluated = outcome.ok ? outcome.value : undefined;
    const needs = this.#index.needs(instance);
    const guarded = isProtected(instance, type, environment.policy);
    this.#strays.note(address, type, needs);
    const recorded = this.#recordedAt(address) ?? this.#standIn(instance, type, { identity: evaluated?.identity, needs, guarded });
    const shared = this.#shared(address, type, recorded, evaluated?.normal);
    const known = { address, type, context, instance, recorded, evaluated, needs, protected: guarded, ...shared };
    this.#keep({ ...known, decision: this.#decideInstance(known, instance) });
  }

  #decideInstance(known: Omit<Assessed, 'decision'>, instance: ResourceInstance): Decision {
    const { options } = this.#inputs;
    const { address, recorded, evaluated } = known;
    if (evaluated === undefined) return unselected('its document has mistakes');
    if (!this.#selected.has(address)) return unselected('outside of what the plan is about');
    if (options.destroy && recorded === undefined) return unselected('not there');
    if (options.refreshOnly) return refreshDecision({ ...known, row: recorded?.row, key: this.#key });
    const decision = decide({
      ...known,
      instance: options.destroy ? undefined : instance,
      row: recorded?.row,
      moved: recorded?.movedFrom !== undefined,
      desired: evaluated.normal,
      occupant: this.#inputs.world.occupants.get(address),
      key: this.#key,
      wanted: { protected: known.protected, provider: instance.provider, needs: known.needs, identity: evaluated.identity },
      recordedIdentity:
        recorded === undefined ? undefined : known.type.identity(recordedAttributes(known.type, recorded.row), known.context),
      recordedNeeds: this.#renamedNeeds(recorded),
      rebound: this.#rebound(instance, known.type),
      forced: this.#forced(instance),
      importing: this.#isImported(address),
      holder: this.#holder(known),
      mayAppear: this.#mayAppear(known.unsettled),
      leftover: this.#isLeftover(recorded),
      byMark: recorded?.byMark === true,
      elsewhere: this.#strays.madeAt(address)?.ref,
      destroy: options.destroy,
    });
    if (options.destroy) return decision;
    const named = (base: string) => this.#index.named(base).map((other) => [other.address, this.#resources.get(other.address)] as const);
    return withRestart(decision, { ...known, instance }, named);
  }

  #assessGone(address: ResourceAddress): void {
    const recorded = this.#recordedAt(address);
    if (recorded === undefined) return;
    const { row } = recorded;
    const found = this.#inputs.registry.find(row.type);
    if (found === undefined) {
      this.#diagnostics.push({
        severity: 'error',
        code: 'UNKNOWN_TYPE',
        summary: 'The state holds a resource of a type that no provider has',
        detail: `${row.address} was recorded with the type ${row.type}. A newer version of Accede may know it.`,
        address: row.address,
        next: `accede state rm '${row.address}'`,
      });
      return;
    }
    const { type } = found;
    const context = rowContext(this.#inputs.environment, row);
    const shared = this.#shared(address, type, recorded, undefined);
    const needs = this.#renamedNeeds(recorded) as readonly ResourceAddress[];
    const known = {
      address,
      type,
      context,
      instance: undefined,
      recorded,
      evaluated: undefined,
      needs,
      protected: row.protected,
      ...shared,
    };
    this.#keep({ ...known, decision: this.#decideGone(known, recorded) });
  }

  #decideGone(known: Omit<Assessed, 'decision'>, recorded: RecordedResource): Decision {
    const { environment, options } = this.#inputs;
    const { row } = recorded;
    if (!this.#selected.has(known.address)) return unselected('outside of what the plan is about');
    if (environment.removed.some((entry) => !entry.destroy && isNamedBy(row.address, entry.address))) {
      return { ...unselected('the documents give it up'), action: 'forget', before: recordedAttributes(known.type, row) };
    }
    if (options.refreshOnly) return refreshDecision({ ...known, row, key: this.#key });
    return decide({
      ...known,
      row,
      moved: recorded.movedFrom !== undefined,
      desired: undefined,
      occupant: undefined,
      key: this.#key,
      wanted: undefined,
      recordedIdentity: undefined,
      recordedNeeds: known.needs,
      rebound: [],
      forced: undefined,
      importing: false,
      holder: undefined,
      mayAppear: this.#mayAppear(known.unsettled),
      leftover: this.#isLeftover(recorded),
      byMark: recorded.byMark === true,
      elsewhere: undefined,
      destroy: options.destroy,
    });
  }

  /** What is recorded. A predecessor that stands in its old place again, since a run broke off on its way back, is none any more. */
  #recordedAt(address: ResourceAddress): RecordedResource | undefined {
    const recorded = this.#recorded.get(address);
    const observed = this.#inputs.world.observations.get(address);
    if (recorded === undefined || observed?.kind !== 'found') return recorded;
    const { row } = recorded;
    const deposed = row.deposed.filter(({ ref }) => ref !== observed.ref);
    return deposed.length === row.deposed.length ? recorded : { ...recorded, row: { ...row, deposed } };
  }

  #standIn(
    { address, provider, role }: ResourceInstance,
    type: ResourceType,
    known: { readonly identity: string | undefined; readonly needs: readonly ResourceAddress[]; readonly guarded: boolean },
  ): RecordedResource | undefined {
    const observed = this.#inputs.world.observations.get(address);
    const { identity = '', needs: dependencies, guarded } = known;
    const row = { address, type, provider, role, identity, dependencies, protected: guarded, folder: '.' };
    return this.#strays.standIn(row, observed?.kind === 'found' ? observed : undefined);
  }

  /** Whether the record was made up from a step that broke off. */
  #isLeftover(recorded: RecordedResource | undefined): boolean {
    return recorded !== undefined && this.#inputs.snapshot?.resources.has(recorded.row.address) !== true;
  }

  #mayAppear(unsettled: readonly StepRow[]): boolean {
    const latest = this.#inputs.snapshot?.head.serial;
    return unsettled.some((step) => step.object === 'create' && step.serial === latest);
  }

  #shared(address: ResourceAddress, type: ResourceType, recorded: RecordedResource | undefined, desired: Attributes | undefined) {
    const observed = this.#inputs.world.observations.get(address);
    const unsettled = this.#unsettled.get(recorded?.row.address ?? address) ?? [];
    const masks: Masks = {
      desired,
      recorded: recorded === undefined ? undefined : recordedAttributes(type, recorded.row),
      secrets: this.#secrets,
    };
    return { observed, unsettled, masks };
  }

  #keep(assessed: Assessed): void {
    this.#resources.set(assessed.address, assessed);
    const { instance } = assessed;
    if (instance === undefined) return;
    const base = `${instance.type}.${instance.name}`;
    if (instance.key === undefined) this.#exposed.set(base, exposure(assessed));
    else this.#mapOf(base)[instance.key] = exposure(assessed);
  }

  /** The instances of a `for_each` by key. One object that fills up, so that a thousand lookups do not copy a thousand entries each. */
  #mapOf(base: string): Record<string, Value> {
    const known = this.#maps.get(base);
    if (known !== undefined) return known;
    const unknowns = this.#index.under(base).map((instance) => [instance.key ?? '', new Unknown(instance.address)] as const);
    const made: Record<string, Value> = Object.fromEntries(unknowns);
    this.#maps.set(base, made);
    return made;
  }

  readonly #lookup: ResourceLookup = (type, name) => {
    const base = `${type}.${name}`;
    const [first] = this.#index.under(base);
    if (first === undefined) return undefined;
    return first.key === undefined ? (this.#exposed.get(base) ?? new Unknown(first.address)) : this.#mapOf(base);
  };

  #renamedNeeds(recorded: RecordedResource | undefined): readonly string[] {
    return (recorded?.row.dependencies ?? []).map((address) => this.#renamed.get(address) ?? address).sort(compareText);
  }

  /** Another address whose recorded object is the one that was found. */
  #holder({ address, type, observed }: Omit<Assessed, 'decision'>): ResourceAddress | undefined {
    if (observed?.kind !== 'found') return undefined;
    return this.#holders(type.type, observed.ref).find((other) => other !== address);
  }

  #isImported(address: ResourceAddress): boolean {
    return this.#inputs.environment.imports.some((entry) => entry.address === address);
  }

  /** Attributes of a bound kind that refer to an object which is replaced or comes anew. */
  #rebound(instance: ResourceInstance, type: ResourceType): readonly { readonly attribute: string; readonly of: string }[] {
    if (instance.attributes.kind !== 'map') return [];
    return instance.attributes.entries.flatMap(([attribute, template]) => {
      if (type.traits.get(attribute)?.bound !== true) return [];
      const gone = templateReferences(template)
        .flatMap((reference) => this.#index.referenced(reference))
        .find((needed) => this.#isRenewed(needed.address));
      return gone === undefined ? [] : [{ attribute, of: gone.address }];
    });
  }

  #isRenewed(address: ResourceAddress): boolean {
    const other = this.#resources.get(address);
    return other?.decision.action === 'replace' || (other?.decision.action === 'create' && other.recorded?.row.ref !== undefined);
  }

  #forced(instance: ResourceInstance): Cause | undefined {
    const asked = this.#inputs.options.replace.find((pattern) => isNamedBy(instance.address, pattern));
    if (asked !== undefined) return { kind: 'requested', of: `--replace ${asked}` };
    const trigger = instance.lifecycle.replaceTriggeredBy.find((reference) => this.#isTriggered(reference));
    return trigger === undefined ? undefined : { kind: 'follows', of: [trigger.type, trigger.name, ...trigger.path].join('.') };
  }

  #isTriggered(reference: ResourceReference): boolean {
    return this.#index.referenced(reference).some((needed) => {
      const other = this.#resources.get(needed.address);
      if (other === undefined || (other.decision.action !== 'update' && other.decision.action !== 'replace')) return false;
      if (reference.path.length === 0 || other.decision.action === 'replace') return true;
      const prefix = reference.path.join('.');
      return other.decision.paths.some(({ path }) => path === prefix || path.startsWith(`${prefix}.`) || path.startsWith(`${prefix}[`));
    });
  }
}

/** The loader finds cycles among references; one through a precondition shows here. */
function cycleDiagnostic(cycle: readonly string[]): Diagnostic {
  return {
    severity: 'error',
    code: 'CYCLE',
    summary: 'Resources need one another in a circle',
    detail: `None of them can come first: ${cycle.join(' → ')}. Take one of the references, dependencies or preconditions away.`,
    ...(cycle[0] === undefined ? {} : { address: cycle[0] }),
  };
}

function unselected(reason: string): Decision {
  return { action: 'noop', order: null, cause: null, reason, paths: [], before: null, after: null, start: false, refusal: undefined };
}
