import { compareText, type ResourceAddress } from '../../core/address.ts';
import { FACETS, type Facet, type Role } from '../../core/facet.ts';
import { parsePath } from '../../core/path.ts';
import { type Attributes, findUnknown, isAttributes, isList, Sensitive, sameValue, type Unknown, type Value } from '../../core/value.ts';
import { traitsAt } from '../../providers/define.ts';
import type { Assessed } from '../assess.ts';
import { type Difference, diffAttributes, touches, valueAt } from '../diff.ts';
import { recordedAttributes } from '../live.ts';
import { roleOf } from '../role.ts';
import type { ChangeMark, PathChange } from './mask.ts';
import type { Untouched } from './untouched.ts';

/** What tells a change that only follows another one from a change of its own. */
export interface Derivations {
  /** Names of the secrets whose value is not the one in force. */
  readonly secrets: ReadonlySet<string>;
  /**
   * The normal form that the candidate would have with the tuning values that are in force; undefined where that is not known or no tuning
   * value differs.
   */
  readonly untuned: (address: ResourceAddress) => Attributes | undefined;
  /** Tells whether what a value that nobody knows before an apply is made of stays as it is. */
  readonly isUntouched: Untouched;
  /** Keys of the worker roles that the candidate's release adds. */
  readonly addedRoles: ReadonlySet<string>;
  readonly key: Buffer | undefined;
}

/** A difference whose value will only be known once what it reads is there. */
interface Waiting {
  readonly assessed: Assessed;
  readonly path: string;
  readonly facet: Facet;
  readonly origins: readonly ResourceAddress[];
}

/**
 * How the resources of the candidate differ from what is recorded as desired. What only the live world moved is not in it, nor what follows
 * from that alone. Sorted by path.
 */
export function resourceChanges(
  resources: ReadonlyMap<ResourceAddress, Assessed>,
  known: Derivations,
  recordedHere: (address: ResourceAddress) => boolean,
): readonly PathChange[] {
  const gathered = new Gathering(resources, known, recordedHere);
  return gathered.run();
}

class Gathering {
  readonly #resources: ReadonlyMap<ResourceAddress, Assessed>;
  readonly #known: Derivations;
  readonly #recordedHere: (address: ResourceAddress) => boolean;
  readonly #found = new Map<ResourceAddress, PathChange[]>();
  readonly #waiting: Waiting[] = [];
  readonly #users = new Map<ResourceAddress, Set<Role>>();

  constructor(resources: ReadonlyMap<ResourceAddress, Assessed>, known: Derivations, recordedHere: (address: ResourceAddress) => boolean) {
    this.#resources = resources;
    this.#known = known;
    this.#recordedHere = recordedHere;
  }

  run(): readonly PathChange[] {
    this.#gatherUsers();
    const gone: Assessed[] = [];
    const come: Assessed[] = [];
    for (const assessed of this.#resources.values()) {
      if (assessed.type.data) continue;
      const row = assessed.recorded?.byMark === true ? undefined : assessed.recorded?.row;
      if (assessed.instance === undefined) {
        if (row !== undefined && this.#recordedHere(row.address) && assessed.decision.action !== 'noop') gone.push(assessed);
      } else if (row === undefined) {
        if (assessed.decision.action !== 'noop') come.push(assessed);
      } else this.#compare(assessed, recordedAttributes(assessed.type, row));
    }
    this.#pair(gone, come);
    this.#follow();
    return [...this.#found.values()].flat().sort((a, b) => compareText(a.path, b.path) || compareText(a.role, b.role));
  }

  /** What plays the part of whatever refers to it. */
  #gatherUsers(): void {
    for (const assessed of this.#resources.values()) {
      const needed = new Set([...assessed.needs, ...(assessed.recorded?.row.dependencies ?? [])]);
      for (const address of needed) {
        const other = this.#resources.get(address);
        if (other?.type.roleOfUsers !== true) continue;
        const roles = this.#users.get(address) ?? new Set<Role>();
        this.#users.set(address, roles.add(roleOf(assessed)));
      }
    }
  }

  #rolesOf(assessed: Assessed): readonly Role[] {
    const users = this.#users.get(assessed.address);
    return users === undefined || users.size === 0 ? [roleOf(assessed)] : [...users].sort(compareText);
  }

  #put(assessed: Assessed, path: string, change: Omit<PathChange, 'path' | 'role' | 'address'> & { readonly role?: Role }): void {
    const { address } = assessed;
    const list = this.#found.get(address) ?? [];
    this.#found.set(address, list);
    const at = path === '' ? address : `${address}.${path}`;
    for (const role of change.role === undefined ? this.#rolesOf(assessed) : [change.role]) {
      if (!list.some((other) => other.path === at && other.role === role)) list.push({ ...change, path: at, role, address });
    }
  }

  /** Everything in which a recorded resource and its document differ. */
  #compare(assessed: Assessed, recorded: Attributes): void {
    const { type, evaluated, instance, decision, recorded: record } = assessed;
    const row = record?.row;
    if (evaluated === undefined || instance === undefined || row === undefined) return;
    if (decision.action === 'noop' && decision.paths.length === 0) return;
    const desired = evaluated.normal;
    const ignored = instance.lifecycle.ignoreChanges;
    for (const difference of ignored === 'all' ? [] : diffAttributes(type, recorded, desired, { key: this.#known.key })) {
      if (ignored !== 'all' && touches(difference.path, ignored)) continue;
      this.#differ(assessed, recorded, desired, difference);
    }
    const changes = decision.paths.filter(({ path, cause }) => cause === 'change' && !type.traits.has(rootOf(path)));
    for (const { path, facet } of changes) this.#put(assessed, path, { facet, action: 'changed' });
    if (record?.movedFrom !== undefined) this.#put(assessed, 'address', { facet: 'annotation', action: 'changed' });
    const isTriggered = decision.cause?.kind === 'follows' && decision.paths.length === 0;
    // What is asked for by name, or by a trigger, is made anew as it is wired.
    if ((decision.cause?.kind === 'requested' || isTriggered) && !this.#found.has(assessed.address))
      this.#put(assessed, '', { facet: 'configuration', action: 'changed' });
    for (const { path, facet, cause } of decision.paths) {
      if (cause !== 'follows' || containsPath(this.#found.get(assessed.address), `${assessed.address}.${path}`)) continue;
      if (this.#waiting.some((waiting) => waiting.assessed === assessed && waiting.path === path)) continue;
      this.#waiting.push({ assessed, path, facet, origins: assessed.needs });
    }
  }

  #differ(assessed: Assessed, recorded: Attributes, desired: Attributes, difference: Difference): void {
    const { path } = difference;
    const { facet } = traitsAt(assessed.type, path);
    const segments = parsePath(path) ?? [];
    const [before, after] = [valueAt(recorded, segments), valueAt(desired, segments)];
    const unknown = difference.unknown || after instanceof Sensitive ? findUnknown(after ?? null) : undefined;
    if (unknown !== undefined) {
      // What is written otherwise is a change of its own, whatever it will come to.
      if (this.#known.isUntouched(assessed.address, path))
        this.#waiting.push({ assessed, path, facet, origins: originsOf(unknown, assessed.needs) });
      else this.#put(assessed, path, { facet, action: 'changed' });
      return;
    }
    if (facet === 'identity' && isMirror(path, recorded, desired)) {
      this.#put(assessed, path, { facet: 'annotation', action: 'changed' });
      return;
    }
    if (facet === 'identity') {
      const [role] = this.#rolesOf(assessed);
      const kept = role === 'ownership' ? growth(before, after) : undefined;
      const mark: ChangeMark | undefined = role === 'data' && segments.at(-1) === 'reset' ? 'reset' : undefined;
      this.#put(assessed, path, { facet, action: kept ?? 'changed', ...(mark === undefined ? {} : { mark }) });
      return;
    }
    this.#put(assessed, path, { facet: this.#causeOf(assessed, segments, facet, before, after), action: 'changed' });
  }

  /** Where a value differs only because a secret or a tuning value does, that is what differs. */
  #causeOf(
    assessed: Assessed,
    segments: readonly (string | number)[],
    own: Facet,
    before: Value | undefined,
    after: Value | undefined,
  ): Facet {
    if (own === 'authority' || own === 'placement' || own === 'annotation') return own;
    if (isSameSecret(before, after) && after instanceof Sensitive && after.names.some((name) => this.#known.secrets.has(name)))
      return 'credential';
    const untuned = this.#known.untuned(assessed.address);
    if (untuned !== undefined && sameValue(before, valueAt(untuned, segments), this.#known.key)) return 'tuning';
    return own;
  }

  /** A resource that goes and one that comes as the very same live object are one whose identity changes. */
  #pair(gone: readonly Assessed[], come: readonly Assessed[]): void {
    const nameOf = (assessed: Assessed): string | undefined => {
      const identity = assessed.evaluated?.identity ?? assessed.recorded?.row.identity;
      const provider = assessed.instance?.provider ?? assessed.recorded?.row.provider;
      return identity === undefined || identity === '' ? undefined : `${assessed.type.type} ${provider} ${identity}`;
    };
    const left = new Map(gone.map((assessed) => [nameOf(assessed), assessed]));
    const taken = new Set<Assessed>();
    for (const assessed of come) {
      const name = nameOf(assessed);
      const former = name === undefined ? undefined : left.get(name);
      if (former !== undefined) {
        taken.add(former);
        this.#put(assessed, 'identity', { facet: 'identity', action: 'changed' });
        continue;
      }
      const isRole = roleOf(assessed) === 'worker' && this.#known.addedRoles.has(assessed.instance?.key ?? '');
      this.#put(assessed, '', { facet: 'configuration', action: 'added', ...(isRole ? { mark: 'release-role' as const } : {}) });
    }
    for (const assessed of gone) {
      if (taken.has(assessed)) continue;
      // `removed` with `destroy: false` lets go of it and touches nothing.
      const isLetGo = assessed.decision.action === 'forget' && assessed.decision.cause === null;
      this.#put(assessed, '', isLetGo ? { facet: 'governance', action: 'changed' } : { facet: 'configuration', action: 'removed' });
    }
  }

  /** What waits for something that the documents change follows it; what waits for something that only drifted is repaired with it. */
  #follow(): void {
    const moved = new Set<ResourceAddress>(this.#found.keys());
    let isNew = true;
    while (isNew) {
      isNew = false;
      for (const assessed of this.#resources.values()) {
        if (!assessed.type.data || moved.has(assessed.address) || assessed.decision.action !== 'read') continue;
        if (!assessed.needs.some((needed) => moved.has(needed))) continue;
        moved.add(assessed.address);
        isNew = true;
      }
      for (const { assessed, path, facet, origins } of this.#waiting) {
        if (containsPath(this.#found.get(assessed.address), `${assessed.address}.${path}`)) continue;
        const origin = origins.find((address) => moved.has(address));
        if (origin === undefined) continue;
        this.#put(assessed, path, { ...this.#followed(origin, facet), action: 'changed' });
        moved.add(assessed.address);
        isNew = true;
      }
    }
  }

  /** What follows a runtime or a credential that was there before counts as that. */
  #followed(origin: ResourceAddress, own: Facet): { readonly facet: Facet; readonly role?: Role } {
    const cause = this.#resources.get(origin);
    const keepsOwn = own === 'identity' || own === 'authority' || own === 'placement';
    if (cause === undefined || keepsOwn || cause.recorded === undefined) return { facet: own };
    const role = roleOf(cause);
    if (role !== 'runtime' && role !== 'credential') return { facet: own };
    const facets = new Set((this.#found.get(origin) ?? []).filter(({ action }) => action === 'changed').map(({ facet }) => facet));
    const facet = FACETS.find((candidate) => facets.has(candidate));
    return facet === undefined || facet === 'annotation' ? { facet: own } : { facet, role };
  }
}

function containsPath(list: readonly PathChange[] | undefined, path: string): boolean {
  return list?.some((change) => change.path === path) === true;
}

function rootOf(path: string): string {
  return String(parsePath(path)?.[0] ?? path);
}

/** The resources that an unknown value may wait for: the one that it names, else all that are needed. */
function originsOf(unknown: Unknown, needs: readonly ResourceAddress[]): readonly ResourceAddress[] {
  const named = needs.filter((needed) => unknown.of === needed || unknown.of.startsWith(`${needed}.`));
  return named.length > 0 ? named : needs;
}

/** Whether both are made from the same secrets. */
function isSameSecret(before: Value | undefined, after: Value | undefined): boolean {
  if (!(before instanceof Sensitive) || !(after instanceof Sensitive)) return false;
  return before.names.length > 0 && before.names.join(' ') === after.names.join(' ');
}

/** A repository beside a digest that stays names another place of the same bytes. */
function isMirror(path: string, recorded: Attributes, desired: Attributes): boolean {
  const segments = parsePath(path) ?? [];
  if (segments.at(-1) !== 'repository') return false;
  const beside = [...segments.slice(0, -1), 'digest'];
  const [before, after] = [valueAt(recorded, beside), valueAt(desired, beside)];
  return before !== undefined && sameValue(before, after, undefined);
}

/** Whether a list or map of names only grew or only lost members; undefined when neither. */
function growth(before: Value | undefined, after: Value | undefined): 'added' | 'removed' | undefined {
  if (before === undefined) return 'added';
  if (after === undefined) return 'removed';
  const [left, right] = [membersOf(before), membersOf(after)];
  if (left === undefined || right === undefined) return undefined;
  if (left.every((name) => right.includes(name))) return 'added';
  return 'removed';
}

function membersOf(value: Value): readonly string[] | undefined {
  if (isAttributes(value)) return Object.keys(value);
  return isList(value) && value.every((item) => typeof item === 'string') ? (value as readonly string[]) : undefined;
}
