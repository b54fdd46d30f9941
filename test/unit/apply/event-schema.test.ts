import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventSchema } from '../../../src/apply/event-schema.ts';
import type { AccedeEvent } from '../../../src/apply/events.ts';
import { planSchema } from '../../../src/plan/schema.ts';
import { desired } from '../../support/desired.ts';
import { EngineBench } from '../../support/engine.ts';

const SCHEMAS = join(import.meta.dirname, '..', '..', '..', 'specs', 'schema');

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

const thing = (name: string, attributes = {}, options = {}) => desired(`fake.thing.${name}`, attributes, options);

/** The published JSON Schema, which is made from the schema in the source. */
function published(name: string) {
  const schema = JSON.parse(readFileSync(join(SCHEMAS, `${name}.schema.json`), 'utf8')) as object;
  return new Ajv({ strict: false, validateFormats: false }).compile(schema);
}

/** What a reader of the NDJSON stream gets. */
function asRead(events: readonly AccedeEvent[]): readonly unknown[] {
  return events.map((event) => JSON.parse(JSON.stringify(event)) as unknown);
}

describe('the schema of events', () => {
  it('must take every event of a run with steps done, failed, unknown and skipped', async () => {
    const resources = [thing('done'), thing('failed'), thing('lost'), thing('skipped', {}, { dependsOn: ['fake.thing.failed'] })];
    bench.world.failOn('fake.thing.failed:create', 'CONFLICT', 1, { lines: ['last words'] });
    bench.world.loseReply('fake.thing.lost:create');
    await bench.breakOff();
    const { document } = await bench.prepare(resources);
    expect(await bench.apply(document, resources)).toMatchObject({ exitCode: 6 });
    const types = new Set(bench.events.map(({ type }) => type));
    const wanted = [
      'lock.acquired',
      'guard.checked',
      'operation.started',
      'step.intended',
      'step.done',
      'step.failed',
      'step.unknown',
      'step.skipped',
    ];
    expect([...types]).toEqual(expect.arrayContaining([...wanted, 'operation.failed']));
    const check = published('event');
    for (const event of asRead(bench.events)) {
      expect(eventSchema.safeParse(event), JSON.stringify(event)).toMatchObject({ success: true, data: event });
      expect(check(event), JSON.stringify(check.errors)).toBe(true);
    }
  });

  it('must take the account of a run that did everything, and of one that was refused', async () => {
    const { document } = await bench.prepare([thing('a')]);
    await bench.apply(document, [thing('a')]);
    await bench.apply(document, [thing('a')]);
    const ends = bench.events.filter(({ type }) => type === 'operation.done' || type === 'operation.failed');
    expect(ends.map(({ type }) => type)).toEqual(['operation.done', 'operation.failed']);
    for (const event of asRead(ends)) expect(eventSchema.parse(event)).toEqual(event);
  });

  it('must refuse an event of an unknown type, with an unknown member, or without one', async () => {
    await bench.converge([thing('a')]);
    const [event] = asRead(bench.events.filter(({ type }) => type === 'step.done')) as readonly { readonly [name: string]: unknown }[];
    expect(eventSchema.safeParse(event).success).toBe(true);
    const check = published('event');
    const { seconds: _, ...short } = event ?? {};
    for (const wrong of [{ ...event, type: 'step.lost' }, { ...event, more: 1 }, short, { ...event, sequence: 0 }]) {
      expect(eventSchema.safeParse(wrong).success).toBe(false);
      expect(check(wrong)).toBe(false);
    }
  });
});

describe('the published schema of plans', () => {
  it('must take a real plan and refuse what the reader of plan files refuses', async () => {
    const { document } = await bench.prepare([thing('a')]);
    const plan = JSON.parse(JSON.stringify(document)) as { readonly [name: string]: unknown };
    const check = published('plan');
    expect(check(plan), JSON.stringify(check.errors)).toBe(true);
    for (const wrong of [
      { ...plan, more: 1 },
      { ...plan, digest: 'sha256:1' },
      { ...plan, steps: undefined },
    ]) {
      const read = JSON.parse(JSON.stringify(wrong)) as unknown;
      expect(planSchema.safeParse(read).success).toBe(false);
      expect(check(read)).toBe(false);
    }
  });
});
