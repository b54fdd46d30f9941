import { z } from 'zod';
import type { Attributes, Plain } from '../../core/value.ts';
import type { Change, Effect, Operation, TypeContext } from '../contract.ts';
import { attribute, defineType, traitsOf } from '../define.ts';
import type { FakeObject } from './world.ts';

const at = (name: string, object: Effect['object'], more: Partial<Effect> = {}): Effect => ({
  name,
  part: 'apply',
  stage: 'migrate',
  object,
  direction: 'back',
  ...more,
});

/** An object that is made by an apply and run on request. */
export const taskType = defineType({
  type: 'fake.task',
  summary: 'A task of the fake world that is run on request',
  marks: true,
  schemaVersion: 1,
  schema: z.strictObject({
    name: attribute(z.string().min(1).optional(), 'Name in the fake world.', { facet: 'identity', immutable: true }),
    mode: attribute(z.enum(['demand', 'reference', 'never']).optional(), 'How it is run. Default "demand".', { facet: 'governance' }),
    stage: attribute(z.enum(['migrate', 'start', 'verify']).optional(), 'Stage in which it is made. Default "migrate".', {
      facet: 'annotation',
    }),
    token: attribute(z.string().optional(), 'A secret that it is given.', { facet: 'credential', sensitive: true, writeOnly: true }),
  }),
  traits: {
    id: traitsOf('The live id.', { computed: true }),
    address: traitsOf('Where it is reached.', { computed: true }),
    answer: traitsOf('What the last run answered.', { computed: true }),
    asked: traitsOf('Fingerprint of what it was asked.', { computed: true }),
  },
  role: 'job',
  stage: 'migrate',
  foreignCode: 'TASK_FOREIGN',
  example: 'resources:\n  fake.task:\n    one: { name: one, mode: demand, token: hush }\n',
  normalize: (attributes: Attributes, context: TypeContext) => ({
    ...attributes,
    name: attributes['name'] ?? `${context.environment}-${context.name}`,
    mode: attributes['mode'] ?? 'demand',
  }),
  identity: (desired) => (typeof desired['name'] === 'string' ? desired['name'] : undefined),
  align: (_desired, live) => {
    const { settings: _own, ...rest } = live;
    return rest;
  },
  effects: (change: Change) => {
    const chosen = change.desired?.['stage'];
    const stage = chosen === 'verify' || chosen === 'start' ? chosen : 'migrate';
    const last = change.deposed ? [at('retire', 'retire', { part: 'retire', stage: 'retire', direction: 'forward' })] : [];
    switch (change.action) {
      case 'create':
        return [at('create', 'create', { stage }), ...last];
      case 'update':
        return [at('update', 'update'), ...last];
      case 'start':
        return last;
      case 'replace':
        return [at('remove', 'remove', { part: 'remove', direction: 'forward' }), at('create', 'create'), ...last];
      case 'delete':
        return [at('remove', 'remove', { part: 'remove', stage: 'retire', direction: 'forward' }), ...last];
      default:
        return change.action satisfies never;
    }
  },
  onRequest: (attributes) => {
    if (attributes['mode'] === 'never') return undefined;
    return {
      takes: attributes['mode'] === 'reference' ? 'document' : 'nothing',
      effects: [at('prove', 'keep', { part: 'prepare', stage: 'preflight' }), at('begin', 'keep'), at('finish', 'keep', { waits: true })],
      begins: 'begin',
      answer: 'answer',
      asked: 'asked',
    };
  },
});

/** What the world has of a task that never ran. */
export const NEVER_RAN = { answer: null, asked: null };

/** Begins a run; nothing when this very run has begun already. */
export function beginTask(object: FakeObject, { request }: Operation): FakeObject | undefined {
  const { run, runs } = object.computed;
  if (request === undefined || run === request.id) return undefined;
  return { ...object, computed: { ...object.computed, run: request.id, runs: (typeof runs === 'number' ? runs : 0) + 1 } };
}

/** The task after its run. It answers its request, or how often it has run. With a token it prints that too, as programs do. */
export function finishTask(object: FakeObject, { request, desired }: Operation): FakeObject {
  const said: Plain = request?.document ?? object.computed['runs'] ?? 0;
  const { token } = desired;
  const answer = typeof token === 'string' ? `${JSON.stringify(said)} ${token}` : said;
  return { ...object, computed: { ...object.computed, answer, asked: request?.fingerprint ?? null } };
}
