import type { ResourceAddress, TypeName } from '../../src/core/address.ts';
import { randomIds } from '../../src/core/clock.ts';
import type { Acquired, NewOperation, StateStore } from '../../src/state/contract.ts';
import { initialHead } from '../../src/state/digest.ts';
import type { Identity, OperationRow, ResourceRow, StepRow } from '../../src/state/model.ts';

const TYPE = 'box.thing' as TypeName;
const NOON = '2026-01-01T12:00:00.000Z';

export function addressOf(name: string | number): ResourceAddress {
  return `${TYPE}.r${name}` as ResourceAddress;
}

/** A row that is valid in every part. */
export function rowOf(name: string | number, changes: Partial<ResourceRow> = {}): ResourceRow {
  return {
    address: addressOf(name),
    type: TYPE,
    provider: 'box',
    schemaVersion: 1,
    id: `id-${name}`,
    ref: `ref-${name}`,
    identity: `thing ${name}`,
    status: 'ready',
    marked: true,
    attributes: { size: 1, labels: { a: 'b' } },
    computed: { serial: `s-${name}` },
    fingerprint: 'f'.repeat(64),
    dependencies: [],
    protected: false,
    role: 'service',
    deposed: [],
    folder: '',
    ...changes,
  };
}

export function stepOf(serial: number, step: string, changes: Partial<StepRow> = {}): StepRow {
  return {
    serial,
    step,
    address: addressOf(step),
    type: TYPE,
    provider: 'box',
    effect: 'create',
    object: 'create',
    action: 'create',
    part: 'apply',
    stage: 'migrate',
    direction: 'back',
    after: [],
    key: `key-${step}`,
    status: 'intended',
    id: `id-${step}`,
    ref: null,
    identity: `thing ${step}`,
    desired: { size: 1 },
    preimage: null,
    folder: '.',
    startedAt: NOON,
    endedAt: null,
    error: null,
    ...changes,
  };
}

export function identityOf(environment: string): Identity {
  return {
    format: 1,
    environment,
    lineage: randomIds.id(),
    fingerprintKey: randomIds.id() + randomIds.id(),
    encryption: null,
    createdAt: NOON,
  };
}

export function operationOf(changes: Partial<NewOperation> = {}): NewOperation {
  return { kind: 'apply', planDigest: null, class: null, actor: 'tester', reason: null, startedAt: NOON, ...changes };
}

/** Takes the lock and makes the state when there is none. Throws when it is busy. */
export async function acquired(store: StateStore, environment: string): Promise<Acquired> {
  const answer = await store.acquire({ who: 'tester', purpose: 'test', create: { identity: identityOf(environment) } });
  if (answer.kind === 'busy') throw new Error(`the lock is held by ${answer.holder.who}`);
  return answer;
}

/** Begins an operation on whatever the head is. */
export async function begun(store: StateStore, session: Acquired['session'], changes: Partial<NewOperation> = {}): Promise<OperationRow> {
  const head = (await store.read())?.head ?? initialHead();
  return session.begin(operationOf(changes), head);
}
