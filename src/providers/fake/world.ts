import type { ResourceAddress, TypeName } from '../../core/address.ts';
import type { Plain } from '../../core/value.ts';
import { type Found, type Mark, ProviderError, type ProviderErrorCode } from '../contract.ts';

/** One object of the fake world, in the state in which it is now. */
export interface FakeObject {
  readonly ref: string;
  readonly type: TypeName;
  /** The key in the live world. */
  readonly name: string;
  /** Which of several separate worlds it is in; a provider block chooses with `zone`. */
  readonly zone: string;
  /** Undefined: nobody's. */
  readonly mark?: Mark & { readonly id: string; readonly address: ResourceAddress };
  /** Normal form, in clear. */
  readonly attributes: { readonly [name: string]: Plain };
  readonly computed: { readonly [name: string]: Plain };
  /** Services alone run. */
  readonly running: boolean;
}

/** One call of an effect, as the world saw it. */
export interface FakeCall {
  readonly operation: string;
  readonly key: string;
  readonly address: ResourceAddress;
  readonly effect: string;
  readonly ref: string | null;
  /** `done`: it changed the world. `already`: it found its own after. `failed`: it changed nothing. `lost`: it changed the world, and its reply was lost. */
  readonly result: 'done' | 'already' | 'failed' | 'lost';
  readonly code?: ProviderErrorCode;
}

/** What one line of a world's journal says: a call with what it changed, or a change by hand. */
export interface WorldEntry {
  readonly call?: FakeCall;
  readonly put?: readonly FakeObject[];
  readonly drop?: readonly string[];
}

/** Where a world keeps what happened. */
export interface WorldJournal {
  /** Durable when it returns. */
  append(entry: WorldEntry): void;
  /** What was appended since the last call by anybody else. */
  readNew(): readonly WorldEntry[];
}

interface Script {
  readonly what:
    | { readonly kind: 'fail'; readonly error: ProviderError }
    | { readonly kind: 'lose' }
    | { readonly kind: 'delay'; readonly ms: number };
  times: number;
}

/** What is to happen at an effect before it is done, and after. */
export interface Scripted {
  readonly delay: number;
  readonly failure: ProviderError | undefined;
  readonly loseReply: boolean;
}

/**
 * The world that the fake provider acts on, for tests of the engine: objects, a script of failures, and an account of every call. With a
 * journal it outlives the process; see `fileWorld`.
 */
export class FakeWorld {
  /** Nothing can be seen and nothing be done. */
  unreachable = false;
  /** Opening fails with a diagnostic. */
  refusesToOpen = false;
  /** What `versions` says. */
  version = '1';
  /** How often an object was read. */
  reads = 0;
  /** How often the objects of a type were listed by their marks. */
  lists = 0;
  /** What is to be known of objects, by name. */
  readonly notes = new Map<string, NonNullable<Found['notes']>>();
  readonly #objects = new Map<string, FakeObject>();
  /** Every live id that there ever was. */
  readonly #refs = new Set<string>();
  readonly #calls: FakeCall[] = [];
  readonly #scripts = new Map<string, Script[]>();
  readonly #journal: WorldJournal | undefined;

  constructor(journal?: WorldJournal) {
    this.#journal = journal;
    this.refresh();
  }

  /** Takes over what other processes have done to the same journal since. */
  refresh(): void {
    for (const entry of this.#journal?.readNew() ?? []) this.#apply(entry);
  }

  /** In the order in which they came to be. */
  objects(): readonly FakeObject[] {
    this.refresh();
    return [...this.#objects.values()];
  }

  /** By live id. */
  get(ref: string): FakeObject | undefined {
    this.refresh();
    return this.#objects.get(ref);
  }

  /** By name, the first one. */
  named(name: string, zone = 'default'): FakeObject | undefined {
    return this.objects().find((object) => object.name === name && object.zone === zone);
  }

  /** Every call of an effect, oldest first. */
  calls(): readonly FakeCall[] {
    this.refresh();
    return this.#calls;
  }

  /** The calls that changed the world. */
  mutations(): readonly FakeCall[] {
    return this.calls().filter((call) => call.result === 'done' || call.result === 'lost');
  }

  /** Changes an object by hand: drift. Members given as undefined go away. */
  set(name: string, attributes: { readonly [name: string]: Plain | undefined }): void {
    const object = this.#required(name);
    const merged = Object.entries({ ...object.attributes, ...attributes }).filter(
      (entry): entry is [string, Plain] => entry[1] !== undefined,
    );
    this.write({ put: [{ ...object, attributes: Object.fromEntries(merged) }] });
  }

  /** Removes an object by hand. */
  delete(name: string): void {
    this.write({ drop: [this.#required(name).ref] });
  }

  /** Stops a service by hand. */
  stop(name: string): void {
    this.write({ put: [{ ...this.#required(name), running: false }] });
  }

  /** Makes an object by hand, nobody's unless a mark is given. */
  add(object: Pick<FakeObject, 'type' | 'name'> & Partial<FakeObject>): FakeObject {
    const made: FakeObject = {
      ref: this.nextRef(),
      zone: 'default',
      attributes: { name: object.name },
      computed: {},
      running: true,
      ...object,
    };
    this.write({ put: [made] });
    return made;
  }

  /** Puts another lineage's mark on an object, or takes its mark away. */
  markForeign(name: string, as: 'other' | 'nobody'): void {
    const { mark, ...rest } = this.#required(name);
    const other = {
      environment: 'elsewhere',
      lineage: 'f'.repeat(32),
      id: 'e'.repeat(32),
      address: 'fake.thing.elsewhere' as ResourceAddress,
    };
    this.write({ put: [as === 'nobody' ? rest : { ...rest, mark: { ...mark, ...other } }] });
  }

  /** Takes back all failures, lost replies and delays that were asked for. */
  clearScripts(): void {
    this.#scripts.clear();
  }

  /** The next `times` effects that `at` names fail before they do anything. `at` is an effect's name, an address, or `<address>:<effect>`. */
  failOn(
    at: string,
    code: ProviderErrorCode,
    times = 1,
    options: { readonly message?: string; readonly lines?: readonly string[]; readonly exitCode?: number } = {},
  ): void {
    const message = options.message ?? `The fake world was told to fail at ${at}.`;
    const { message: _told, ...more } = options;
    this.#script(at, { what: { kind: 'fail', error: new ProviderError(code, message, more) }, times });
  }

  /** The next `times` effects that `at` names are done, and then throw UNKNOWN_OUTCOME. */
  loseReply(at: string, times = 1): void {
    this.#script(at, { what: { kind: 'lose' }, times });
  }

  /** Effects that `at` names take `ms` on the clock first. */
  delay(at: string, ms: number, times = Number.POSITIVE_INFINITY): void {
    this.#script(at, { what: { kind: 'delay', ms }, times });
  }

  /** Takes from the script what is due at an effect. */
  due(address: string, effect: string): Scripted {
    let delay = 0;
    let failure: ProviderError | undefined;
    let loseReply = false;
    for (const at of [effect, address, `${address}:${effect}`]) {
      for (const script of this.#scripts.get(at) ?? []) {
        if (script.times <= 0) continue;
        if (script.what.kind === 'fail' && failure !== undefined) continue;
        script.times -= 1;
        if (script.what.kind === 'fail') failure = script.what.error;
        else if (script.what.kind === 'lose') loseReply = true;
        else delay += script.what.ms;
      }
    }
    return { delay, failure, loseReply };
  }

  /** A live id that no object has had before. */
  nextRef(): string {
    let number = this.#refs.size + 1;
    while (this.#refs.has(`fake-${number}`)) number += 1;
    return `fake-${number}`;
  }

  /** Makes an entry durable and then true. */
  write(entry: WorldEntry): void {
    this.#journal?.append(entry);
    this.#apply(entry);
  }

  #apply(entry: WorldEntry): void {
    for (const ref of entry.drop ?? []) this.#objects.delete(ref);
    for (const object of entry.put ?? []) {
      this.#objects.set(object.ref, object);
      this.#refs.add(object.ref);
    }
    if (entry.call !== undefined) this.#calls.push(entry.call);
  }

  #script(at: string, script: Script): void {
    this.#scripts.set(at, [...(this.#scripts.get(at) ?? []), script]);
  }

  #required(name: string): FakeObject {
    const object = this.named(name) ?? this.get(name);
    if (object === undefined) throw new Error(`the fake world has no object ${name}`);
    return object;
  }
}
