import { canonicalText } from '../../core/canonical.ts';
import { isAttributes, type Plain } from '../../core/value.ts';
import { type EffectIo, type Operation, ProviderError, type Receipt, type Undo } from '../contract.ts';
import { generationType, WORLD_SETTINGS } from './resource-types.ts';
import { beginTask, finishTask, NEVER_RAN, taskType } from './task.ts';
import type { FakeObject, FakeWorld, WorldEntry } from './world.ts';

/** What an effect comes to: what it changes (nothing when its after is found already) and what it answers. */
interface Outcome {
  readonly changes: WorldEntry | undefined;
  readonly receipt: Receipt;
}

/** Does one effect in the world, with whatever the world's script has for it, and writes it to the world's account. */
export async function performFake(world: FakeWorld, zone: string, operation: Operation, io: EffectIo): Promise<Receipt> {
  const call = {
    operation: operation.operation,
    key: operation.key,
    address: operation.address,
    effect: operation.effect.name,
    ref: operation.ref ?? null,
  };
  const scripted = world.due(operation.address, operation.effect.name);
  try {
    if (scripted.delay > 0) await io.clock.sleep(scripted.delay, io.signal);
    if (world.unreachable) throw new ProviderError('UNREACHABLE', 'The fake world does not answer.');
    if (scripted.failure !== undefined) throw scripted.failure;
    io.progress(operation.effect.name);
    const { changes, receipt } = decide(world, zone, operation);
    const ref = receipt.ref ?? call.ref;
    if (changes === undefined) world.write({ call: { ...call, ref, result: 'already' } });
    else world.write({ call: { ...call, ref, result: scripted.loseReply ? 'lost' : 'done' }, ...changes });
    if (!scripted.loseReply) return receipt;
  } catch (error) {
    if (error instanceof ProviderError) world.write({ call: { ...call, result: 'failed', code: error.code } });
    throw error;
  }
  throw new ProviderError('UNKNOWN_OUTCOME', `The reply of the fake world to ${call.effect} was lost.`);
}

/** Takes one effect back. In the world's script and account it goes by the name `undo-` and that of the effect. */
export async function undoFake(world: FakeWorld, zone: string, undo: Undo, io: EffectIo): Promise<void> {
  const effect = `undo-${undo.effect.name}`;
  const call = { operation: undo.operation, key: undo.key, address: undo.address, effect, ref: undo.ref ?? null };
  const scripted = world.due(undo.address, effect);
  if (scripted.delay > 0) await io.clock.sleep(scripted.delay, io.signal);
  if (scripted.failure !== undefined) {
    world.write({ call: { ...call, result: 'failed', code: scripted.failure.code } });
    throw scripted.failure;
  }
  const changes = undone(world, zone, undo);
  world.write({ call: { ...call, result: changes === undefined ? 'already' : 'done' }, ...changes });
}

function undone(world: FakeWorld, zone: string, undo: Undo): WorldEntry | undefined {
  const { effect, before } = undo;
  if (effect.object === 'create') {
    const made = world.objects().find((object) => object.zone === zone && object.mark?.id === undo.id);
    return made === undefined ? undefined : { drop: [made.ref] };
  }
  const object = present(world, zone, undo);
  if (object === undefined || before === undefined) return undefined;
  switch (effect.object) {
    case 'depose':
      return object.name === before['name'] ? undefined : { put: [{ ...object, name: String(before['name']) }] };
    case 'update': {
      // What the world never shows is not known of the time before.
      const { token } = object.attributes;
      const running = object.running || object.type === generationType.type;
      return { put: [{ ...object, running, attributes: { ...before, ...(token === undefined ? {} : { token }) } }] };
    }
    case 'keep':
      if (effect.name === 'stop') return object.running || undo.dormant === true ? undefined : { put: [{ ...object, running: true }] };
      if (effect.name === 'start') return object.running && undo.dormant ? { put: [{ ...object, running: false }] } : undefined;
      return undefined;
    case 'remove':
    case 'retire':
      throw new Error(`the fake provider does not take back ${effect.name}`);
  }
  return effect.object satisfies never;
}

function decide(world: FakeWorld, zone: string, operation: Operation): Outcome {
  if (operation.effect.object === 'create') return create(world, zone, operation);
  const object = present(world, zone, operation);
  switch (operation.effect.object) {
    case 'remove':
    case 'retire':
      return { changes: object === undefined ? undefined : { drop: [object.ref] }, receipt: {} };
    case 'update': {
      const known = required(object, operation);
      const attributes = completed(operation.desired);
      if (canonicalText(known.attributes) === canonicalText(attributes)) return { changes: undefined, receipt: {} };
      // A generation that is only activated does not count as running.
      const running = known.running && known.type !== generationType.type;
      return { changes: { put: [{ ...known, attributes, running }] }, receipt: {} };
    }
    case 'depose': {
      // An object that was taken away by hand needs no room made.
      const name = `${object?.name ?? ''}~${object?.ref ?? ''}`;
      if (object === undefined || object.name.endsWith(`~${object.ref}`)) return { changes: undefined, receipt: {} };
      return { changes: { put: [{ ...object, name }] }, receipt: {} };
    }
    case 'keep':
      return keep(object, operation);
  }
  return operation.effect.object satisfies never;
}

/** The object's attributes with what the world sets by itself. */
function completed(desired: Operation['desired']): Operation['desired'] {
  const given = desired['settings'] ?? {};
  const settings = isAttributes(given) ? (given as { readonly [name: string]: Plain }) : {};
  return { ...desired, settings: { ...WORLD_SETTINGS, ...settings } };
}

function create(world: FakeWorld, zone: string, operation: Operation): Outcome {
  const objects = world.objects().filter((object) => object.type === operation.type && object.zone === zone);
  const own = objects.find((object) => object.mark?.id === operation.id && object.mark.lineage === operation.mark.lineage);
  if (own !== undefined) return { changes: undefined, receipt: { ref: own.ref, computed: own.computed } };
  const { name } = operation.desired;
  if (typeof name !== 'string') throw new Error(`${operation.address} has no name`);
  const other = objects.find((object) => object.name === name);
  if (other !== undefined) {
    const ours = other.mark?.lineage === operation.mark.lineage;
    throw new ProviderError(ours ? 'CONFLICT' : 'FOREIGN', `An object ${name} is there already${ours ? '' : ' and is not ours'}.`);
  }
  const ref = world.nextRef();
  const made: FakeObject = {
    ref,
    type: operation.type,
    name,
    zone,
    mark: { ...operation.mark, id: operation.id, address: operation.address },
    attributes: completed(operation.desired),
    computed: { id: ref, address: `${ref}.example`, ...(operation.type === taskType.type ? NEVER_RAN : {}) },
    running: false,
  };
  return { changes: { put: [made] }, receipt: { ref, computed: made.computed } };
}

function keep(object: FakeObject | undefined, operation: Operation): Outcome {
  switch (operation.effect.name) {
    case 'commit':
    case 'start': {
      const known = required(object, operation);
      return { changes: known.running ? undefined : { put: [{ ...known, running: true }] }, receipt: {} };
    }
    case 'stop':
      return { changes: object?.running === true ? { put: [{ ...object, running: false }] } : undefined, receipt: {} };
    case 'prove':
      // Scripted failures stand for an image that is not there; the world itself always has it.
      return { changes: undefined, receipt: {} };
    case 'ready':
      if (!required(object, operation).running) throw new ProviderError('NOT_READY', 'The service exited while it was waited for.');
      return { changes: undefined, receipt: {} };
    case 'begin': {
      const begun = beginTask(required(object, operation), operation);
      return { changes: begun === undefined ? undefined : { put: [begun] }, receipt: {} };
    }
    case 'finish': {
      const finished = finishTask(required(object, operation), operation);
      return { changes: { put: [finished] }, receipt: { computed: finished.computed } };
    }
    default:
      throw new Error(`the fake provider has no effect ${operation.effect.name}`);
  }
}

/** The object that the effect is about: by live id. Somebody else's is refused. */
function present(world: FakeWorld, zone: string, operation: Pick<Operation, 'ref' | 'mark'>): FakeObject | undefined {
  const object = operation.ref === undefined ? undefined : world.get(operation.ref);
  if (object === undefined || object.zone !== zone) return undefined;
  if (object.mark !== undefined && object.mark.lineage !== operation.mark.lineage) {
    throw new ProviderError('FOREIGN', `The object ${object.name} became somebody else's.`);
  }
  return object;
}

function required(object: FakeObject | undefined, operation: Operation): FakeObject {
  if (object !== undefined) return object;
  throw new ProviderError('NOT_FOUND', `The object of ${operation.address} is not there.`);
}
