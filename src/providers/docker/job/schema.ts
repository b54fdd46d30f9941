import { z } from 'zod';
import { parseCron } from '../../../core/cron.ts';
import type { Traits } from '../../contract.ts';
import { attribute, TRAITS_KEY } from '../../define.ts';
import { containerSchema } from '../container/schema.ts';
import { objectName } from '../network.ts';
import { parseDuration } from '../spelling.ts';
import { RUN_MODES } from './modes.ts';

const LONGEST = 24 * 3600 * 1000;

/** What of a container makes sense for a process that ends. */
const SHARED = {
  image: true,
  command: true,
  entrypoint: true,
  environment: true,
  env_file: true,
  secrets: true,
  configs: true,
  volumes: true,
  tmpfs: true,
  networks: true,
  network_mode: true,
  hostname: true,
  extra_hosts: true,
  dns: true,
  dns_search: true,
  dns_opt: true,
  user: true,
  group_add: true,
  working_dir: true,
  init: true,
  read_only: true,
  cap_add: true,
  cap_drop: true,
  security_opt: true,
  privileged: true,
  devices: true,
  ulimits: true,
  sysctls: true,
  shm_size: true,
  mem_limit: true,
  mem_reservation: true,
  memswap_limit: true,
  cpus: true,
  cpu_shares: true,
  cpuset: true,
  pids_limit: true,
  oom_score_adj: true,
  logging: true,
  labels: true,
  stop_signal: true,
  stop_grace_period: true,
  pid: true,
  ipc: true,
  platform: true,
  runtime: true,
} as const;

const shared = containerSchema.pick(SHARED);

/** The attributes of a container that are inputs of a job: a change of one is another run. Labels alone say nothing to the process. */
const inputs = Object.fromEntries(
  Object.entries(shared.shape).map(([name, schema]) => {
    const traits = schema.meta()?.[TRAITS_KEY] as Traits | undefined;
    if (traits === undefined) throw new Error(`docker.container: attribute ${name} has no traits`);
    // What a container bears as a label, a job that has ended bears for readers alone.
    const facet = name === 'labels' ? 'annotation' : traits.facet;
    return [name, attribute(schema, traits.description, { ...traits, facet, immutable: facet !== 'annotation' })];
  }),
) as typeof shared.shape;

/** What the YAML of a `docker.job` may hold. */
export const jobSchema = z.strictObject({
  ...inputs,
  name: attribute(objectName.optional(), 'Name of its container on the engine; default `<environment>-<name>[-<key>]`.', {
    facet: 'identity',
  }),
  inputs: attribute(z.unknown().optional(), 'Any values that count as inputs of the run beside its other attributes.', {
    immutable: true,
    writeOnly: true,
  }),
  run: attribute(
    z.enum(RUN_MODES).optional(),
    'When it runs: `on_change`, when its inputs differ from those of the last completed run; `once`, when no run ever completed with them; `on_demand`, when `accede run ADDRESS` is called; `by_reference`, when it is given a request, one JSON document that it finds at `/accede/request.json`. Default `on_change`.',
    { facet: 'governance', writeOnly: true },
  ),
  schedule: attribute(
    z
      .string()
      .refine((text) => typeof parseCron(text) !== 'string', {
        error: ({ input }) => `five fields of cron in UTC, as 30 2 * * *, or a shorthand as @daily (${String(parseCron(String(input)))})`,
      })
      .optional(),
    'When an `on_demand` job is due, in the five fields of cron (minute, hour, day of the month, month, day of the week; UTC) or as `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. Nothing runs by it alone: it is for what runs `accede run ADDRESS`.',
    { facet: 'governance', writeOnly: true },
  ),
  stage: attribute(z.enum(['migrate', 'start', 'verify']).optional(), 'Stage in which it runs; default `migrate`.', {
    facet: 'governance',
    writeOnly: true,
  }),
  timeout: attribute(
    z
      .string()
      .refine((text) => isUpToADay(parseDuration(text)), 'a duration up to 24h such as 10m')
      .optional(),
    'Time after which it is stopped and counts as failed; default `10m`, at most `24h`.',
    { facet: 'tuning', writeOnly: true },
  ),
  output: attribute(
    z.string().regex(/^\//, 'an absolute path').optional(),
    'File in the container that holds its receipt: one JSON document of at most 1 MiB.',
    { immutable: true, writeOnly: true },
  ),
  stdout: attribute(z.boolean().optional(), 'Takes its standard output as the receipt; what it logs belongs on standard error.', {
    immutable: true,
    writeOnly: true,
  }),
  schema: attribute(
    z.string().min(1).optional(),
    'File beside the document with the JSON Schema (draft-07 or 2020-12) that the receipt has to fit, from the next run on.',
    { writeOnly: true, reads: true },
  ),
  keep: attribute(z.int().min(0).max(100).optional(), 'How many containers of earlier completed runs stay for reading; default 0.', {
    facet: 'tuning',
    writeOnly: true,
  }),
});

function isUpToADay(milliseconds: number | undefined): boolean {
  return milliseconds !== undefined && milliseconds > 0 && milliseconds <= LONGEST;
}

/** The attributes that say nothing to the process that runs: a change of one is no other run. */
export const OUTSIDE: ReadonlySet<string> = new Set(['name', 'labels', 'run', 'schedule', 'stage', 'timeout', 'schema', 'keep']);
