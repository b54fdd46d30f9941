import type { ReplaceOrder } from '../../src/core/action.ts';
import { formatAddress, type ResourceAddress, type TypeName } from '../../src/core/address.ts';
import { randomIds, systemClock } from '../../src/core/clock.ts';
import { type Attributes, clearForm, encodeValue, mapEntries, mapLeaves, type Plain, reveal, Sensitive } from '../../src/core/value.ts';
import { readOnlyHost } from '../../src/host/readonly.ts';
import type {
  Change,
  EffectIo,
  Host,
  Mark,
  ObjectQuery,
  Observed,
  Operation,
  Provider,
  ReadHost,
  ReadIo,
  ReadSession,
  Receipt,
  ResourceType,
  Session,
  TypeContext,
  Undo,
} from '../../src/providers/contract.ts';
import { traitsAt } from '../../src/providers/define.ts';
import { differences } from './differences.ts';

/** Stands for the key of a state. */
const SEALING_KEY = Buffer.alloc(32, 7);

/** What the driver keeps of a resource, as the state would. */
export interface Recorded {
  readonly id: string;
  readonly ref: string | undefined;
  readonly identity: string | undefined;
  /** Normal form. */
  readonly attributes: Attributes;
  readonly computed: Attributes;
  readonly deposed: string | undefined;
}

export interface DriverOptions {
  readonly provider: Provider;
  readonly config: Attributes;
  readonly host: Host;
  /** Absolute; what relative paths are relative to. */
  readonly folder: string;
  readonly environment?: string;
  readonly lineage?: string;
}

/**
 * The least of an engine that a provider needs to be tried: it normalises, reads with the read-only session, and walks the effects of one
 * change. It decides between update and replace by the traits alone, and plans nothing.
 */
export class Driver {
  readonly provider: Provider;
  readonly mark: Mark;
  /** Each effect is performed this often with the same key. */
  repetitions = 1;
  /** What the effects told of their progress, in order. */
  readonly told: { readonly message: string; readonly figures: { readonly [name: string]: number } }[] = [];
  readonly #options: DriverOptions;
  readonly #records = new Map<string, Recorded>();
  /** What was begun of the last change, in order, and the live id that each effect told. */
  #begun: { readonly operation: Operation; ref: string | undefined }[] = [];
  /** What was recorded and seen before the last change. */
  #before: { readonly record: Recorded | undefined; readonly seen: Observed | undefined } | undefined;
  #session: Session | undefined;
  #readSession: ReadSession | undefined;
  #operations = 0;

  constructor(options: DriverOptions) {
    this.#options = options;
    this.provider = options.provider;
    this.mark = { environment: options.environment ?? 'conformance', lineage: options.lineage ?? 'c0'.repeat(16) };
  }

  type(name: string): ResourceType {
    const type = this.provider.types.find((one) => one.type === name);
    if (type === undefined) throw new Error(`${this.provider.name} has no type ${name}`);
    return type;
  }

  address(type: string, name: string): ResourceAddress {
    return formatAddress({ type: type as TypeName, name });
  }

  context(type: string, name: string): TypeContext {
    const { folder, config } = this.#options;
    return { environment: this.mark.environment, address: this.address(type, name), name, folder, config };
  }

  normal(type: string, name: string, attributes: Attributes): Attributes {
    return this.type(type).normalize(attributes, this.context(type, name));
  }

  recorded(type: string, name: string): Recorded {
    const record = this.#records.get(this.address(type, name));
    if (record === undefined) throw new Error(`${type}.${name} is not recorded`);
    return record;
  }

  /** Reads with the read-only session and a host that cannot change anything. `desired` gives the identity when nothing is recorded. */
  async read(
    type: string,
    name: string,
    options: { readonly desired?: Attributes; readonly ref?: string; readonly host?: ReadHost; readonly refreshTags?: boolean } = {},
  ): Promise<Observed> {
    const record = this.#records.get(this.address(type, name));
    const fresh = options.desired === undefined ? undefined : this.normal(type, name, options.desired);
    const identity = record?.identity ?? (fresh === undefined ? undefined : this.type(type).identity(fresh, this.context(type, name)));
    const ref = options.ref ?? record?.ref;
    const query: ObjectQuery = {
      address: this.address(type, name),
      type: this.type(type).type,
      mark: this.mark,
      ...(ref === undefined ? {} : { ref }),
      ...(record === undefined ? {} : { id: record.id, recorded: { attributes: record.attributes, computed: record.computed } }),
      ...(identity === undefined ? {} : { identity }),
      ...(options.refreshTags === undefined ? {} : { refreshTags: options.refreshTags }),
    };
    return await (await this.readSession()).read(query, this.readIo(options.host));
  }

  /** The paths at which what is live differs from these attributes. Throws when it is not there. */
  async differences(type: string, name: string, desired: Attributes): Promise<readonly string[]> {
    const observed = await this.read(type, name);
    if (observed.kind !== 'found') throw new Error(`${type}.${name} is ${observed.kind}`);
    return differences(this.type(type), this.normal(type, name, desired), observed.attributes);
  }

  async create(type: string, name: string, attributes: Attributes): Promise<void> {
    await this.#walk(type, name, {
      action: 'create',
      order: 'destroy-first',
      paths: [],
      desired: this.normal(type, name, attributes),
      deposed: false,
    });
  }

  /** Brings the object to these attributes in the way that the traits demand, and says which. */
  async change(type: string, name: string, attributes: Attributes, order: ReplaceOrder = 'destroy-first'): Promise<'update' | 'replace'> {
    const desired = this.normal(type, name, attributes);
    const observed = await this.read(type, name);
    if (observed.kind !== 'found') throw new Error(`${type}.${name} is ${observed.kind}`);
    const definition = this.type(type);
    const paths = differences(definition, desired, observed.attributes);
    const action = paths.some((path) => traitsAt(definition, path).immutable) ? 'replace' : 'update';
    const live = definition.align?.(desired, observed.attributes) ?? observed.attributes;
    await this.#walk(type, name, { action, order, paths, desired, live, deposed: false }, observed);
    return action;
  }

  async start(type: string, name: string): Promise<void> {
    const desired = this.recorded(type, name).attributes;
    await this.#walk(type, name, { action: 'start', order: 'destroy-first', paths: [], desired, live: desired, deposed: false });
  }

  async delete(type: string, name: string): Promise<void> {
    const live = this.recorded(type, name).attributes;
    await this.#walk(type, name, { action: 'delete', order: 'destroy-first', paths: [], live, deposed: false });
    this.#records.delete(this.address(type, name));
  }

  /** Takes back what was begun of the last change, what came last first, whether it came to its end or not. */
  async takeBack(type: string, name: string): Promise<void> {
    const session = await this.session();
    const { record, seen } = this.#before ?? {};
    const found = seen?.kind === 'found' ? seen : undefined;
    for (const { operation, ref } of this.#begun.toReversed()) {
      if (operation.effect.direction !== 'back' || operation.effect.part === 'prepare') continue;
      const { ref: about, computed: _computed, ...rest } = operation;
      const left = ref ?? about;
      const undo: Undo = {
        ...rest,
        ...(left === undefined ? {} : { ref: left }),
        ...(found === undefined ? {} : { before: asRecord(reveal(found.attributes)), dormant: found.dormant !== undefined }),
        sealedBefore: [],
      };
      for (let time = 0; time < this.repetitions; time++) await session.undo?.(undo, this.effectIo());
    }
    const address = this.address(type, name);
    if (record === undefined) this.#records.delete(address);
    else this.#records.set(address, record);
  }

  /** Another driver of the same environment and lineage that has nothing recorded. */
  forgetful(): Driver {
    return new Driver({ ...this.#options, ...this.mark });
  }

  /** Records an object that is there already, as an import does. */
  adopt(type: string, name: string, ref: string, attributes: Attributes): void {
    const normal = this.normal(type, name, attributes);
    const identity = this.type(type).identity(normal, this.context(type, name));
    this.#records.set(this.address(type, name), {
      id: randomIds.id(),
      ref,
      identity,
      attributes: normal,
      computed: {},
      deposed: undefined,
    });
  }

  async readSession(): Promise<ReadSession> {
    this.#readSession ??= unwrap(await this.provider.openReadOnly(this.#options.config, this.readIo()));
    return this.#readSession;
  }

  async session(): Promise<Session> {
    this.#session ??= unwrap(await this.provider.open(this.#options.config, this.effectIo()));
    return this.#session;
  }

  async close(): Promise<void> {
    await this.#session?.close();
    await this.#readSession?.close();
  }

  readIo(host?: ReadHost): ReadIo {
    return { clock: systemClock, signal: new AbortController().signal, host: host ?? readOnlyHost(this.#options.host) };
  }

  effectIo(): EffectIo {
    return {
      ...this.readIo(),
      host: this.#options.host,
      ids: randomIds,
      progress: (message, figures = {}) => void this.told.push({ message, figures }),
    };
  }

  async #walk(type: string, name: string, change: Change, seen?: Observed): Promise<void> {
    const definition = this.type(type);
    const address = this.address(type, name);
    this.#operations += 1;
    const { desired, live: _live, ...rest } = change;
    const before = this.#records.get(address);
    this.#begun = [];
    this.#before = { record: before, seen };
    const makes = change.action === 'create' || change.action === 'replace';
    const attributes = desired ?? before?.attributes ?? {};
    const record = { ref: before?.ref, deposed: before?.deposed, id: before?.id ?? randomIds.id() };
    const newId = makes ? randomIds.id() : record.id;
    let computed: Attributes = {
      ...before?.computed,
      ...(desired === undefined ? {} : definition.foresee?.(desired, this.context(type, name))),
    };
    for (const effect of definition.effects(change)) {
      if (effect.object === 'create' && record.ref !== undefined && change.action === 'replace') {
        throw new Error(`${type}: the predecessor has to be removed or deposed before create, or the record loses it`);
      }
      const about = effect.object === 'create' ? newId : record.id;
      const ref = effect.object === 'retire' ? record.deposed : record.ref;
      const operation: Operation = {
        operation: `op-${this.#operations}`,
        key: `op-${this.#operations} ${address} ${effect.name}`,
        effect,
        change: rest,
        address,
        type: definition.type,
        mark: this.mark,
        id: about,
        ...(ref === undefined || effect.object === 'create' ? {} : { ref }),
        // What goes away is told by the record alone, in which a secret cannot be read any more.
        desired: asRecord(
          reveal(effect.part === 'apply' || effect.part === 'prepare' ? attributes : withoutSecrets(before?.attributes ?? {})),
        ),
        sealed: asRecord(
          encodeValue(effect.part === 'apply' || effect.part === 'prepare' ? attributes : (before?.attributes ?? {}), SEALING_KEY),
        ),
        ...(before === undefined ? {} : { computed: asRecord(clearForm(before.computed, SEALING_KEY)) }),
        context: this.context(type, name),
        timeouts: {},
      };
      const receipt = await this.#perform(operation);
      computed = { ...computed, ...receipt.computed };
      switch (effect.object) {
        case 'create':
          if (receipt.ref === undefined) throw new Error(`${type}: create answered no live id`);
          record.ref = receipt.ref;
          record.id = newId;
          break;
        case 'depose':
          record.deposed = record.ref;
          record.ref = undefined;
          break;
        case 'remove':
          record.ref = undefined;
          break;
        case 'retire':
          record.deposed = undefined;
          break;
        case 'update':
        case 'keep':
          record.ref = receipt.ref ?? record.ref;
          break;
        default:
          effect.object satisfies never;
      }
      const identity = desired === undefined ? before?.identity : definition.identity(desired, this.context(type, name));
      this.#records.set(address, { ...record, identity, attributes, computed });
    }
  }

  async #perform(operation: Operation): Promise<Receipt> {
    const session = await this.session();
    const step = { operation, ref: undefined as string | undefined };
    this.#begun.push(step);
    let first: Receipt | undefined;
    for (let time = 0; time < this.repetitions; time++) {
      const receipt = await session.perform(operation, this.effectIo());
      first ??= receipt;
      step.ref = receipt.ref;
      if (receipt.ref !== first.ref)
        throw new Error(`${operation.address}: ${operation.effect.name} repeated with the same key made another object`);
    }
    return first ?? {};
  }
}

function withoutSecrets(attributes: Attributes): Attributes {
  return mapEntries(attributes, (item) => mapLeaves(item, (leaf) => (leaf instanceof Sensitive ? null : leaf)));
}

function asRecord(value: Plain): { readonly [name: string]: Plain } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('attributes are no map');
  return value as { readonly [name: string]: Plain };
}

function unwrap<T>(
  outcome: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly diagnostics: readonly { readonly detail: string }[] },
): T {
  if (outcome.ok) return outcome.value;
  throw new Error(`the provider did not open: ${outcome.diagnostics.map((diagnostic) => diagnostic.detail).join(' ')}`);
}
