import { z } from 'zod';
import { STAGES } from '../core/facet.ts';
import type { AccedeEvent } from './events.ts';

const text = z.string();
const count = z.int().nonnegative();
const seconds = z.number().nonnegative();
const names = z.array(text);
const figures = z.record(text, z.number());

const source = z.strictObject({
  file: text,
  line: count,
  column: count,
  endLine: count,
  endColumn: count,
  excerpt: text.optional(),
});

const diagnostic = z.strictObject({
  severity: z.enum(['error', 'warning']),
  code: text,
  summary: text,
  detail: text,
  address: text.optional(),
  path: text.optional(),
  source: source.optional(),
  expected: text.optional(),
  observed: text.optional(),
  next: text.optional(),
});

const result = z.strictObject({
  exitCode: count,
  outcome: z.enum(['done', 'failed', 'compensated', 'interrupted', 'stale', 'refused', 'busy', 'spent']),
  plan: text,
  class: text,
  serial: count.nullable(),
  steps: z.strictObject({ done: names, notDone: names, unknown: names }),
  seconds,
  outputs: z.record(text, z.json()),
  diagnostics: z.array(diagnostic),
});

const run = z.strictObject({
  exitCode: count,
  outcome: z.enum(['done', 'failed', 'interrupted', 'refused', 'busy']),
  address: text,
  serial: count.nullable(),
  run: z.enum(['new', 'continued', 'earlier', 'none']),
  programCode: count.nullable(),
  answer: z.json(),
  seconds,
  diagnostics: z.array(diagnostic),
});

const operation = z.string().regex(/^op-[0-9]+$/, 'op- and a serial');

const head = {
  format: z.literal('accede.event/v1'),
  time: z.iso.datetime(),
  sequence: z.int().positive(),
  operation: operation.nullable(),
};

const step = { step: text, address: text, effect: text };

/** The shape of one event of the stream. Strict: a member or a type that this version does not know makes it another format. */
export const eventSchema: z.ZodType<AccedeEvent> = z.discriminatedUnion('type', [
  z.strictObject({ ...head, type: z.literal('operation.started'), plan: text, class: text, steps: count, serial: count }),
  z.strictObject({ ...head, type: z.literal('lock.acquired'), lock: text, fence: count, tookOver: text.nullable() }),
  z.strictObject({ ...head, type: z.literal('lock.waiting'), holder: text, since: z.iso.datetime(), purpose: text }),
  z.strictObject({ ...head, type: z.literal('guard.checked'), name: text, ok: z.boolean() }),
  z.strictObject({ ...head, type: z.enum(['stage.started', 'stage.done']), stage: z.enum(STAGES), steps: count }),
  z.strictObject({ ...head, ...step, type: z.literal('step.intended'), stage: z.enum(STAGES) }),
  z.strictObject({ ...head, type: z.literal('step.progress'), step: text, address: text, message: text, figures }),
  z.strictObject({ ...head, ...step, type: z.literal('step.done'), seconds, figures }),
  z.strictObject({ ...head, ...step, type: z.literal('step.failed'), seconds, diagnostic, lines: names }),
  z.strictObject({ ...head, ...step, type: z.literal('step.unknown'), diagnostic }),
  z.strictObject({ ...head, ...step, type: z.literal('step.skipped'), because: text }),
  z.strictObject({ ...head, type: z.literal('compensation.started'), steps: count }),
  z.strictObject({ ...head, ...step, type: z.literal('step.compensated'), changed: z.boolean(), seconds }),
  z.strictObject({ ...head, type: z.enum(['operation.done', 'operation.failed']), result }),
  z.strictObject({ ...head, type: z.literal('run.started'), address: text, serial: count, continues: operation.nullable() }),
  z.strictObject({ ...head, type: z.enum(['run.done', 'run.failed']), result: run }),
]) as unknown as z.ZodType<AccedeEvent>;
