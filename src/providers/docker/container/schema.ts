import { z } from 'zod';
import { attribute } from '../../define.ts';
import { labelsSchema, objectName } from '../network.ts';
import { isImageDigest, parseImageReference } from '../reference.ts';
import { parseBytes, parseDuration, splitWords } from '../spelling.ts';
import { parseDeviceText } from './devices.ts';
import { parseMountText } from './mounts.ts';
import { parsePortText } from './ports.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const duration = z.string().refine((text) => parseDuration(text) !== undefined, 'a duration such as 1m30s');
const bytes = z.union([
  z.int().min(0),
  z.string().refine((text) => parseBytes(text) !== undefined, 'an amount of memory such as 512m or 1g'),
]);
const words = z.union([
  z.string().refine((text) => (splitWords(text)?.length ?? 0) > 0, 'a command line with at least one word and closed quotes'),
  z.array(scalar).min(1),
]);
const textOrTexts = z.union([z.string(), z.array(z.string())]);
const absolute = z.string().regex(/^\//, 'an absolute path');
const fileMode = z.string().regex(/^0?[0-7]{3,4}$/, 'a file mode in quotes such as "0440"');
const owner = z.int().min(0);
const port = z.int().min(1).max(65535);
const protocol = z.enum(['tcp', 'udp', 'sctp']);

const shortPort = z.union([
  port,
  z
    .string()
    .refine((text) => parsePortText(text) !== undefined, 'a port such as 8080:80, 127.0.0.1:8080:80/udp, or 127.0.0.1::80 for a free one'),
]);
const longPort = z.strictObject({
  target: port,
  published: z.union([port, z.string().regex(/^\d{1,5}$/, 'a port number')]).optional(),
  host_ip: z.string().optional(),
  protocol: protocol.optional(),
});

const longMount = z.strictObject({
  type: z.enum(['bind', 'volume', 'tmpfs']),
  source: z.string().min(1).optional(),
  target: absolute,
  read_only: z.boolean().optional(),
  bind: z
    .strictObject({
      propagation: z.enum(['private', 'rprivate', 'shared', 'rshared', 'slave', 'rslave']).optional(),
      create_host_path: z.boolean().optional(),
      selinux: z.enum(['z', 'Z']).optional(),
    })
    .optional(),
  volume: z.strictObject({ nocopy: z.boolean().optional() }).optional(),
  tmpfs: z.strictObject({ size: bytes.optional(), mode: fileMode.optional() }).optional(),
});
const mount = z.union([
  z.string().refine((text) => parseMountText(text) !== undefined, 'a mount such as data:/var/lib/app or ./conf:/etc/app:ro'),
  longMount,
]);

const attachment = z.strictObject({
  aliases: z.array(z.string().min(1)).optional(),
  ipv4_address: z.ipv4().optional(),
  ipv6_address: z.ipv6().optional(),
});
const networks = z.union([
  z.array(z.union([z.string().min(1), z.strictObject({ name: z.string().min(1), ...attachment.shape })])),
  z.record(z.string(), attachment.nullable()),
]);

const healthcheck = z.strictObject({
  test: attribute(
    z.union([z.string().min(1), z.array(z.string()).min(1)]).optional(),
    'Text for a shell, or `[CMD, …]`, `[CMD-SHELL, text]`, `[NONE]`.',
    {
      immutable: true,
    },
  ),
  disable: attribute(z.boolean().optional(), 'Switches the check of the image off.', { immutable: true }),
  interval: attribute(duration.optional(), 'Time between two checks.', { facet: 'tuning', immutable: true }),
  timeout: attribute(duration.optional(), 'Time after which a check counts as failed.', { facet: 'tuning', immutable: true }),
  start_period: attribute(duration.optional(), 'Time in which failures do not count.', { facet: 'tuning', immutable: true }),
  start_interval: attribute(duration.optional(), 'Time between two checks in the start period; engines from API 1.44.', {
    facet: 'tuning',
    immutable: true,
  }),
  retries: attribute(z.int().min(1).optional(), 'Failures in a row that make it unhealthy.', { facet: 'tuning', immutable: true }),
});

const gpu = z.strictObject({
  driver: z.string().min(1).optional(),
  count: z.union([z.literal('all'), z.int().min(1)]).optional(),
  device_ids: z.array(z.string().min(1)).min(1).optional(),
  capabilities: z.array(z.string().min(1)).optional(),
});
const limit = z.union([z.int().min(-1), z.strictObject({ soft: z.int().min(-1), hard: z.int().min(-1) })]);
const status = z.union([z.int().min(100).max(599), z.array(z.int().min(100).max(599)).min(1)]);
const url = z.url({ protocol: /^https?$/, error: 'a URL that begins with http:// or https://' });
const probe = {
  docker: z.literal(true).optional(),
  http: z
    .union([url, z.strictObject({ url, in: z.literal('container').optional(), status: status.optional(), body: z.string().optional() })])
    .optional(),
  tcp: z
    .string()
    .regex(/^(?:\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$/, 'an address such as 127.0.0.1:5432')
    .optional(),
  command: z.array(z.string()).min(1).optional(),
  timeout: duration.optional(),
  interval: duration.optional(),
};
const ready = z
  .strictObject(probe)
  .refine((value) => ['docker', 'http', 'tcp', 'command'].filter((name) => name in value).length <= 1, 'one of docker, http, tcp, command');

const secret = z.union([
  z.string(),
  z.strictObject({ value: z.string(), uid: owner.optional(), gid: owner.optional(), mode: fileMode.optional() }),
]);
const config = z.union([
  z.string(),
  z.strictObject({ content: z.string(), uid: owner.optional(), gid: owner.optional(), mode: fileMode.optional() }),
]);

/** An attribute whose change needs a new container; nearly all of them. */
const fixed = <T extends z.ZodType>(schema: T, description: string, options: Parameters<typeof attribute>[2] = {}): T =>
  attribute(schema, description, { immutable: true, ...options });

/** Text, or what the release says of an image: its tag is for people. */
const image = z.union([
  z.string().refine((text) => parseImageReference(text) !== undefined, 'an image such as registry/app@sha256:… or sha256:…'),
  z.strictObject({
    repository: z
      .string()
      .refine(
        (text) => parseImageReference(`${text}:x`)?.kind === 'tag',
        'a repository such as registry.example/shop/api, without tag and digest',
      ),
    digest: z.string().refine(isImageDigest, 'sha256: and 64 hexadecimal digits'),
    tag: z.string().optional(),
  }),
]);

/** What the YAML of a `docker.container` may hold: the service vocabulary of the Compose specification, as far as it makes sense here. */
export const containerSchema = z.strictObject({
  image: fixed(
    image,
    'Image by digest, `repository@sha256:…`, by its bare id, `sha256:…`, or as the map that a release has of it; by tag only where the provider says `allow_tags: true`.',
    { facet: 'implementation', bound: true },
  ),
  name: attribute(objectName.optional(), 'Name on the engine; default `<environment>-<name>[-<key>]`.'),
  command: fixed(words.optional(), 'Arguments of the entrypoint, or the command itself; text is split into words as a shell does.'),
  entrypoint: fixed(
    z.union([words, z.literal(''), z.array(scalar).max(0)]).optional(),
    'Replaces the entrypoint of the image; empty takes it away.',
  ),
  environment: fixed(
    z.union([z.record(z.string(), scalar), z.array(z.string())]).optional(),
    'Environment variables, as a map or a list of `NAME=VALUE`.',
  ),
  env_file: fixed(textOrTexts.optional(), 'Files of `NAME=VALUE` lines beside the document; `environment` is stronger.', { reads: true }),
  secrets: fixed(
    z.record(absolute, secret).optional(),
    'Files with secret content, by path in the container; owned by its user with mode 0400.',
    {
      facet: 'credential',
      writeOnly: true,
    },
  ),
  configs: fixed(z.record(absolute, config).optional(), 'Files by path in the container; owned by root with mode 0444.', {
    facet: 'content',
    writeOnly: true,
  }),
  volumes: fixed(z.array(mount).optional(), 'Mounts: `source:target[:options]` or the long form.', {
    bound: true,
    compare: { keyedBy: 'target' },
  }),
  tmpfs: fixed(textOrTexts.optional(), 'Mounts in memory: `path[:options]`.'),
  ports: fixed(
    z.array(z.union([shortPort, longPort])).optional(),
    'Published ports: `[host_ip:][published]:target[/protocol]` or the long form.',
    {
      compare: 'set',
    },
  ),
  expose: fixed(
    z.array(z.union([port, z.string().regex(/^\d{1,5}(?:\/(?:tcp|udp|sctp))?$/, 'a port such as 8080 or 53/udp')])).optional(),
    'Ports that are declared without being published.',
    {
      compare: 'set',
    },
  ),
  networks: attribute(networks.optional(), 'Networks by name: a list of names, a list of objects with `name`, or a map.', { bound: true }),
  network_mode: fixed(
    z
      .union([
        z.enum(['bridge', 'host', 'none']),
        z.string().regex(/^container:.+$/, 'bridge, host, none or container:NAME; a network by name stands in `networks`'),
      ])
      .optional(),
    'Uses no network of its own.',
    { bound: true },
  ),
  hostname: fixed(z.string().min(1).max(63).optional(), 'Host name in the container; default its short id.'),
  extra_hosts: fixed(
    z.union([z.record(z.string(), z.string()), z.array(z.string().regex(/^[^:=]+[:=].+$/, 'HOST:ADDRESS'))]).optional(),
    'More lines of /etc/hosts: `HOST:ADDRESS`, or a map.',
    {
      compare: 'set',
    },
  ),
  dns: fixed(textOrTexts.optional(), 'Name servers.'),
  dns_search: fixed(textOrTexts.optional(), 'Search domains.'),
  dns_opt: fixed(z.array(z.string()).optional(), 'Options of the resolver.'),
  user: fixed(z.union([z.string().min(1), z.int().min(0)]).optional(), 'User, `user[:group]`, by name or number.'),
  group_add: fixed(z.array(z.union([z.string(), z.int().min(0)])).optional(), 'More groups of the user.', { compare: 'set' }),
  working_dir: fixed(absolute.optional(), 'Working folder.'),
  restart: attribute(
    z
      .union([
        z.enum(['no', 'always', 'unless-stopped', 'on-failure']),
        z.string().regex(/^on-failure:\d+$/, 'no, always, unless-stopped, on-failure or on-failure:N'),
      ])
      .optional(),
    'When the engine starts it again; default `no`.',
    {
      facet: 'tuning',
    },
  ),
  init: fixed(z.boolean().optional(), 'Runs an init process that forwards signals and reaps processes.'),
  read_only: fixed(z.boolean().optional(), 'Mounts its file system for reading only.'),
  cap_add: fixed(z.array(z.string()).optional(), 'Capabilities to add, with or without `CAP_`.', { compare: 'set' }),
  cap_drop: fixed(z.array(z.string()).optional(), 'Capabilities to drop, with or without `CAP_`.', { compare: 'set' }),
  security_opt: fixed(z.array(z.string()).optional(), 'Security options, such as `no-new-privileges`.', { compare: 'set' }),
  privileged: fixed(z.boolean().optional(), 'Gives it all privileges of the host.'),
  devices: fixed(
    z
      .array(z.string().refine((text) => parseDeviceText(text) !== undefined, 'a device such as /dev/fuse or /dev/sda:/dev/xvda:r'))
      .optional(),
    'Devices of the host: `source[:target[:permissions]]`.',
    {
      compare: { keyedBy: 'target' },
    },
  ),
  gpus: fixed(
    z.union([z.literal('all'), z.int().min(1), z.array(gpu)]).optional(),
    'GPUs of the host: `all`, how many, or a list of `{ driver, count, device_ids, capabilities }`.',
  ),
  ulimits: fixed(z.record(z.string(), limit).optional(), 'Limits of its processes: a number, or `{ soft, hard }`.', { facet: 'tuning' }),
  sysctls: fixed(z.union([z.record(z.string(), scalar), z.array(z.string())]).optional(), 'Kernel parameters, as a map or a list.'),
  shm_size: fixed(bytes.optional(), 'Size of /dev/shm; default 64m.', { facet: 'tuning' }),
  mem_limit: attribute(bytes.optional(), 'Memory limit.', { facet: 'tuning' }),
  mem_reservation: attribute(bytes.optional(), 'Memory that it should get under pressure.', { facet: 'tuning' }),
  memswap_limit: attribute(
    z.union([bytes, z.literal(-1), z.literal('-1')]).optional(),
    'Memory and swap together; -1 for no limit; default twice `mem_limit`.',
    {
      facet: 'tuning',
    },
  ),
  cpus: attribute(
    z.union([z.number().positive(), z.string().regex(/^\d+(?:\.\d+)?$/, 'a number of CPUs such as 0.5')]).optional(),
    'Number of CPUs, in parts of one.',
    {
      facet: 'tuning',
    },
  ),
  cpu_shares: attribute(z.int().min(2).max(262144).optional(), 'Share of CPU time under load; default 1024.', { facet: 'tuning' }),
  cpuset: attribute(
    z
      .string()
      .regex(/^\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*$/, 'CPUs such as 0-1,3')
      .optional(),
    'CPUs on which it runs.',
    { facet: 'tuning' },
  ),
  pids_limit: attribute(z.int().min(-1).optional(), 'Most processes; -1 for no limit.', { facet: 'tuning' }),
  oom_score_adj: fixed(z.int().min(-1000).max(1000).optional(), 'How soon it is killed when memory runs out.', { facet: 'tuning' }),
  logging: fixed(
    z.strictObject({ driver: z.string().min(1).optional(), options: z.record(z.string(), scalar).optional() }).optional(),
    'Log driver and its options; default those of the engine.',
  ),
  labels: fixed(labelsSchema.optional(), 'Labels, as a map or a list of `NAME=VALUE`.'),
  healthcheck: fixed(healthcheck.optional(), 'How the engine tells whether it is healthy; members that are left out come from the image.'),
  stop_signal: fixed(
    z
      .string()
      .regex(/^(?:SIG)?[A-Z0-9+]+$/i, 'a signal such as SIGTERM')
      .optional(),
    'Signal that asks it to end.',
  ),
  stop_grace_period: fixed(duration.optional(), 'Time after that signal before it is killed, in whole seconds; default 10s.', {
    facet: 'tuning',
  }),
  pid: fixed(
    z
      .string()
      .regex(/^(?:host|container:.+)$/, 'host or container:NAME')
      .optional(),
    'Process namespace of the host or of another container.',
    { bound: true },
  ),
  ipc: fixed(
    z
      .union([
        z.enum(['none', 'private', 'shareable', 'host']),
        z.string().regex(/^container:.+$/, 'none, private, shareable, host or container:NAME'),
      ])
      .optional(),
    'IPC namespace.',
    {
      bound: true,
    },
  ),
  platform: fixed(
    z
      .string()
      .regex(/^[a-z0-9]+\/[a-z0-9_]+(?:\/[a-z0-9.]+)?$/, 'a platform such as linux/amd64')
      .optional(),
    'Platform that the image must be for.',
    { facet: 'implementation' },
  ),
  runtime: fixed(z.string().min(1).optional(), 'OCI runtime; default that of the engine.'),
  renew_anon_volumes: attribute(
    z.boolean().optional(),
    'Gives a successor new anonymous volumes and removes them with their container; otherwise they go over and are kept.',
    {
      facet: 'annotation',
      writeOnly: true,
    },
  ),
  ready: attribute(
    ready.optional(),
    'When it counts as ready: `{ docker: true }`, `{ http }`, `{ tcp }` or `{ command }`, with `timeout` (480s) and `interval` (1s).',
    {
      facet: 'tuning',
      writeOnly: true,
    },
  ),
});
