import { parseCron } from '../../../core/cron.ts';
import { type Attributes, isAttributes, type Value } from '../../../core/value.ts';
import type { Problem, TypeContext } from '../../contract.ts';
import { defineType, traitsOf } from '../../define.ts';
import { alignContainer } from '../container/align.ts';
import { checkContainer } from '../container/check.ts';
import { normalizeContainer } from '../container/normal.ts';
import { bareText, compact, liftOptional, plainText } from '../lift.ts';
import { onlyTrue } from '../network.ts';
import { parseDuration } from '../spelling.ts';
import { jobEffects, runOfJob } from './effects.ts';
import { isOnRequest } from './modes.ts';
import { jobSchema } from './schema.ts';

/** `docker.job`: a container that runs to its end, once per state of its inputs or on request, and leaves a receipt. */
export const jobType = defineType({
  type: 'docker.job',
  summary: 'A process in a container that runs to its end, when its inputs change or when it is asked for, and may leave a receipt.',
  schemaVersion: 1,
  schema: jobSchema,
  traits: {
    'image.repository': traitsOf('Repository of the image.', { facet: 'identity', immutable: true, bound: true }),
    'image.digest': traitsOf('Digest of the image.', { facet: 'implementation', immutable: true, bound: true }),
    'image.id': traitsOf('Id of the image.', { facet: 'implementation', immutable: true, bound: true }),
    'image.tag': traitsOf('Tag of the image.', { facet: 'implementation', immutable: true, bound: true }),
    result: traitsOf('The receipt of the last completed run; null without one.', { computed: true }),
    exit_code: traitsOf('Exit code of the last completed run.', { computed: true }),
    finished_at: traitsOf('When the last completed run ended.', { computed: true }),
    inputs_digest: traitsOf('Digest of the inputs of the last completed run.', { computed: true }),
    container: traitsOf('Id of the container of the last completed run; it may have been removed since.', { computed: true }),
    request: traitsOf('Fingerprint of what the last completed run by reference was asked.', { computed: true }),
    completed: traitsOf('With `run: once`, the results of all completed runs by the digest of their inputs.', { computed: true }),
    _defaults: traitsOf('What image and engine give by themselves.', { facet: 'annotation' }),
  },
  durations: ['timeout'],
  role: 'job',
  stage: 'migrate',
  marks: true,
  foreignCode: 'JOB_FOREIGN',
  example: `resources:
  docker.job:
    migrate:
      image: registry.example/shop/api@sha256:4a5b2cf2b1c9c1b1d2b6ccf1c0b4cf7b1b9f1a3f9d6e8c7b5a4938271605f4e3
      name: shop-migrate
      entrypoint: [/usr/bin/migrate]
      command: up --receipt /tmp/receipt.json
      environment: { LOG_LEVEL: info }
      secrets: { /run/secrets/database: "\${secrets.database}" }
      networks: [shop]
      user: "10001:10001"
      mem_limit: 512m
      inputs: { schema_version: 12 }
      run: once
      stage: migrate
      timeout: 30m
      output: /tmp/receipt.json
      keep: 3
    report:
      image: sha256:4a5b2cf2b1c9c1b1d2b6ccf1c0b4cf7b1b9f1a3f9d6e8c7b5a4938271605f4e3
      command: [report, --json]
      run: on_change
      stage: verify
      stdout: true
    backup:
      image: sha256:4a5b2cf2b1c9c1b1d2b6ccf1c0b4cf7b1b9f1a3f9d6e8c7b5a4938271605f4e3
      command: [backup, --to, /backups]
      run: on_demand
      schedule: 30 2 * * *
    grant:
      image: sha256:4a5b2cf2b1c9c1b1d2b6ccf1c0b4cf7b1b9f1a3f9d6e8c7b5a4938271605f4e3
      command: [grant, --request, /accede/request.json]
      run: by_reference
      stdout: true
`,
  check: checkJob,
  normalize: normalizeJob,
  identity: (desired) => plainText(desired['name']),
  // What was recorded has no defaults of the engine in it and is compared as it is.
  align: (desired, live) => (live['_defaults'] === undefined ? live : alignContainer(desired, live)),
  effects: jobEffects,
  // What is run on request alone has no object that a change could ask anew; what stops being so has to run once more.
  replaces: (path, desired, before) => (isOnRequest(desired) ? false : path === 'run' && isOnRequest(before) ? true : undefined),
  onRequest: runOfJob,
  offers: ['logs', 'exec'],
});

function normalizeJob(attributes: Attributes, context: TypeContext): Attributes {
  const a = attributes;
  return {
    ...normalizeContainer(a, context),
    ...compact({
      run: otherThan(a['run'], 'on_change'),
      schedule: liftOptional(a['schedule'], canonicalSchedule),
      stage: otherThan(a['stage'], 'migrate'),
      timeout: liftOptional(a['timeout'], (text) => (typeof text === 'string' ? (parseDuration(text) ?? text) : text)),
      output: a['output'],
      stdout: onlyTrue(a['stdout']),
      schema: liftOptional(a['schema'], (file) => (isAttributes(file) ? (file['text'] ?? '') : file)),
      keep: otherThan(a['keep'], 0),
    }),
    ...(a['inputs'] === undefined || a['inputs'] === null ? {} : { inputs: a['inputs'] }),
  };
}

function canonicalSchedule(schedule: Value): Value {
  const cron = typeof schedule === 'string' ? parseCron(schedule) : undefined;
  return cron === undefined || typeof cron === 'string' ? schedule : cron.text;
}

function otherThan(value: Value | undefined, usual: Value): Value | undefined {
  return liftOptional(value, (inner) => (inner === usual ? undefined : inner));
}

function checkJob(attributes: Attributes, context: TypeContext): readonly Problem[] {
  const { output, stdout, schema } = attributes;
  const found: Problem[] = [...checkContainer(attributes, context)];
  const complain = (code: string, summary: string, detail: string, path: string) =>
    found.push({ severity: 'error', code, summary, detail, path: [path] });
  if (output !== undefined && stdout === true) {
    complain('JOB_OUTPUT_TWICE', 'Two receipts of one job', 'A job has one receipt: keep output or stdout, not both.', 'stdout');
  }
  if (attributes['schedule'] !== undefined && bareText(attributes['run']) !== 'on_demand') {
    const detail = 'A schedule says when a job that is run on demand is due: add run: on_demand, or take the schedule away.';
    complain('JOB_SCHEDULE_UNUSED', 'Schedule of a job that is not run on demand', detail, 'schedule');
  }
  if (bareText(attributes['run']) === 'by_reference' && attributes['read_only'] === true) {
    const detail = 'The request of a run is copied into its container, and the engine copies nothing where the root is read-only.';
    complain('READ_ONLY_FILES', 'Request for a job with a read-only root', detail, 'read_only');
  }
  if (schema === undefined) return found;
  if (output === undefined && (stdout === undefined || stdout === false)) {
    const detail = 'A schema says what the receipt has to be, so the job needs one: add output: /path or stdout: true.';
    complain('JOB_WITHOUT_OUTPUT', 'Schema without a receipt', detail, 'schema');
  }
  const text = isAttributes(schema) ? schema['text'] : undefined;
  if (isAttributes(schema) && (text === undefined || (typeof text === 'string' && !isSchemaText(text)))) {
    const detail = `${bareText(schema['path']) ?? 'The file'} holds no JSON Schema: it has to be one JSON object, or true or false.`;
    complain('JOB_SCHEMA_UNREADABLE', 'Schema file without a JSON Schema', detail, 'schema');
  }
  return found;
}

function isSchemaText(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'boolean' || (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed));
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
