import { compareText, type ResourceAddress } from '../core/address.ts';
import { STAGES } from '../core/facet.ts';
import type { ResourceType } from '../providers/contract.ts';
import type { PlanInputs } from './inputs.ts';
import { type MarkedObject, removalOf, rowOfMarked, type Stray, straysOf } from './marks.ts';
import { isProtectedAt } from './protection.ts';
import type { RecordedResource } from './refactor.ts';

/**
 * What bears our mark and has no place in documents and state, and what a plan removes of it: everything when all is to go, else what the
 * documents name as removed. Nothing of it was ever recorded, so the order in which it and the rest let go of one another is made from the
 * stages: what is made in a later one goes first.
 */
export class Strays {
  readonly #inputs: PlanInputs;
  readonly #all: readonly Stray[];
  readonly #byId: ReadonlyMap<string, MarkedObject>;
  /** By the address where it was made, but for what was left beside an object. */
  readonly #made: ReadonlyMap<ResourceAddress, MarkedObject>;
  readonly #levels = new Map<ResourceAddress, number>();
  #selected: ReadonlySet<ResourceAddress> = new Set();

  constructor(inputs: PlanInputs, taken: ReadonlySet<ResourceAddress>) {
    this.#inputs = inputs;
    this.#all = straysOf(inputs, taken);
    const made = this.#all.filter(({ object }) => object.left !== true);
    this.#made = new Map(made.flatMap(({ object, madeAs }) => (madeAs === undefined ? [] : [[madeAs, object] as const])));
    this.#byId = new Map(inputs.beginning ? inputs.world.marked.map((object) => [object.id, object]) : []);
  }

  /** Addresses under which the plan would remove some, before it is known what the plan is about. */
  get addresses(): readonly ResourceAddress[] {
    return this.#all.filter((stray) => this.#isToGo(stray)).map(({ address }) => address);
  }

  /** Says what the plan is about. What was made at an address which it is not about, or which it cannot see, may be that one's object. */
  select(selected: ReadonlySet<ResourceAddress>): void {
    this.#selected = selected;
  }

  /** All but those that may be some address's object. */
  get nobodys(): readonly Stray[] {
    const { environment, world } = this.#inputs;
    const desired = new Set(environment.resources.map((instance) => instance.address));
    return this.#all.filter(({ madeAs }) => {
      if (madeAs === undefined || !desired.has(madeAs)) return true;
      return this.#selected.has(madeAs) && world.observations.get(madeAs)?.kind !== 'cannot-see';
    });
  }

  /** Where the object is that was made at an address, when it is in nobody's place; not what was left beside one. */
  madeAt(address: ResourceAddress): MarkedObject | undefined {
    return this.#made.get(address);
  }

  /** Tells of a resource of the documents, after those that it needs. */
  note(address: ResourceAddress, type: ResourceType, needs: readonly ResourceAddress[]): void {
    this.#levels.set(address, Math.max(levelOf(type), ...needs.map((needed) => this.#levels.get(needed) ?? 0)));
  }

  /** What stands for the record of a resource of the documents when all is to go and only the mark of its object is known. */
  standIn(
    known: Parameters<typeof rowOfMarked>[1] & { readonly provider: string },
    found: { readonly ref: string; readonly id?: string } | undefined,
  ): RecordedResource | undefined {
    const object = this.#byId.get(found?.id ?? '');
    if (found === undefined || object?.type !== known.type.type || !this.#inputs.options.destroy) return undefined;
    const level = this.#levels.get(known.address) ?? 0;
    const lower = this.#going.filter((stray) => this.#levelOf(stray) < level).map(({ address }) => address);
    const dependencies = [...new Set([...known.dependencies, ...lower])].sort(compareText);
    const { provider, ...rest } = known;
    const row = rowOfMarked({ id: object.id, ref: found.ref, provider }, { ...rest, dependencies });
    return { row, movedFrom: undefined, byMark: true };
  }

  /** What stands for the records of those that the plan removes. */
  get records(): ReadonlyMap<ResourceAddress, RecordedResource> {
    const going = this.#going;
    return new Map(
      going.map((stray) => {
        const { address, object } = stray;
        const type = this.#typeOf(stray);
        const level = levelOf(type);
        const lower = [
          ...[...this.#levels].filter(([, other]) => other < level).map(([other]) => other),
          ...going.filter((other) => this.#levelOf(other) < level).map((other) => other.address),
        ];
        const base = {
          address,
          type,
          identity: '',
          protected: isProtectedAt(stray.madeAs ?? address, type, this.#inputs.environment.policy),
        };
        const row = rowOfMarked(object, { ...base, role: type.role, folder: '.', dependencies: lower.sort(compareText) });
        return [address, { row, movedFrom: undefined, byMark: true }];
      }),
    );
  }

  get #going(): readonly Stray[] {
    return this.nobodys.filter((stray) => this.#isToGo(stray) && this.#selected.has(stray.address));
  }

  #isToGo(stray: Stray): boolean {
    const said = removalOf(this.#inputs, stray);
    return said === undefined ? this.#inputs.options.destroy : said === 'delete';
  }

  #levelOf(stray: Stray): number {
    return levelOf(this.#typeOf(stray));
  }

  #typeOf({ object }: Stray): ResourceType {
    const found = this.#inputs.registry.find(object.type);
    if (found === undefined) throw new Error(`${object.type} was listed and has no type`);
    return found.type;
  }
}

function levelOf(type: ResourceType): number {
  return STAGES.indexOf(type.stage);
}
