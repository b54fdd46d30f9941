import { type Attributes, isAttributes, isList, Sensitive, Unknown, type Value } from '../../../core/value.ts';
import type { TypeContext } from '../../contract.ts';
import { asList, asText, bare, compact, keyedBySecret, lift, liftOptional, plainText, textMap, textSet } from '../lift.ts';
import { defaultName, networkAliases } from '../naming.ts';
import { onlyTrue } from '../network.ts';
import { parseImageReference } from '../reference.ts';
import {
  canonicalCapability,
  canonicalCpus,
  canonicalIp,
  canonicalPath,
  canonicalSecurityOption,
  canonicalSignal,
  parseBytes,
  parseDuration,
  splitWords,
} from '../spelling.ts';
import { normalizeDevices, normalizeLogging, normalizeUlimits } from './devices.ts';
import { parseEnvFile } from './env-file.ts';
import { normalizeGpus } from './gpus.ts';
import { normalizeTmpfs, normalizeVolumes } from './mounts.ts';
import { normalizePorts } from './ports.ts';

/** The normal form of a container's YAML: one spelling of everything, defaults of the engine absent. Unknown values and secrets pass through. */
export function normalizeContainer(attributes: Attributes, context: TypeContext): Attributes {
  const a = attributes;
  const text = (name: string, spell: (text: string) => Value | undefined) => respell(a[name], spell);
  const normal = compact({
    image: normalizeImage(a['image']),
    name: a['name'] ?? defaultName(context),
    command: normalizeWords(a['command']),
    environment: normalizeEnvironment(a['env_file'], a['environment']),
    secrets: normalizeFiles(a['secrets'], 'value', '0400'),
    configs: normalizeFiles(a['configs'], 'content', '0444'),
    volumes: normalizeVolumes(a['volumes'], context.folder),
    tmpfs: normalizeTmpfs(a['tmpfs'], a['volumes']),
    ports: normalizePorts(a['ports']),
    expose: normalizeSet(a['expose'], (port) => (port.includes('/') ? port : `${port}/tcp`)),
    networks: normalizeNetworks(a['networks'], networkAliases(context)),
    network_mode: text('network_mode', (mode) => (mode === 'bridge' ? undefined : mode)),
    hostname: a['hostname'],
    extra_hosts: normalizeExtraHosts(a['extra_hosts']),
    dns: asList(a['dns'], (ip) => respell(ip, canonicalIp) ?? ip),
    dns_search: asList(a['dns_search'], asText),
    dns_opt: asList(a['dns_opt'], asText),
    user: liftOptional(a['user'], asText),
    group_add: normalizeSet(a['group_add'], (group) => group),
    working_dir: text('working_dir', canonicalPath),
    restart: text('restart', (policy) => (policy === 'no' ? undefined : policy.replace(/:0$/, ''))),
    init: a['init'],
    read_only: onlyTrue(a['read_only']),
    cap_add: normalizeSet(a['cap_add'], canonicalCapability),
    cap_drop: normalizeSet(a['cap_drop'], canonicalCapability),
    security_opt: normalizeSet(a['security_opt'], canonicalSecurityOption),
    privileged: onlyTrue(a['privileged']),
    devices: normalizeDevices(a['devices']),
    gpus: normalizeGpus(a['gpus']),
    ulimits: normalizeUlimits(a['ulimits']),
    sysctls: textMap(a['sysctls']),
    shm_size: amount(a['shm_size']),
    mem_limit: amount(a['mem_limit']),
    mem_reservation: amount(a['mem_reservation']),
    memswap_limit: amount(a['memswap_limit']),
    cpus: liftOptional(a['cpus'], (cpus) => Number(cpus)),
    cpu_shares: a['cpu_shares'],
    cpuset: text('cpuset', canonicalCpus),
    pids_limit: liftOptional(a['pids_limit'], (limit) => (limit === 0 || limit === -1 ? undefined : limit)),
    oom_score_adj: liftOptional(a['oom_score_adj'], (score) => (score === 0 ? undefined : score)),
    logging: normalizeLogging(a['logging']),
    labels: textMap(a['labels']),
    healthcheck: normalizeHealthcheck(a['healthcheck']),
    stop_signal: text('stop_signal', canonicalSignal),
    stop_grace_period: text('stop_grace_period', (period) => wholeSeconds(period)),
    pid: a['pid'],
    ipc: a['ipc'],
    platform: a['platform'],
    runtime: a['runtime'],
    renew_anon_volumes: onlyTrue(a['renew_anon_volumes']),
    ready: normalizeReady(a['ready']),
  });
  // An entrypoint that is taken away is an empty list, which elsewhere would mean "at the default".
  const entrypoint = normalizeWords(a['entrypoint']);
  return entrypoint === undefined ? normal : { ...normal, entrypoint };
}

/** An image in normal form: `{ repository, digest }`, `{ id }` or `{ repository, tag }`. */
export function normalizeImage(value: Value | undefined): Value | undefined {
  return liftOptional(value, (inner) => {
    if (isAttributes(inner)) {
      const [repository, digest] = [plainText(inner['repository']), plainText(inner['digest'])];
      if (repository !== undefined && digest !== undefined) return imageMembers(`${repository}@${digest}`);
      return compact({ repository: inner['repository'], digest: inner['digest'] });
    }
    return typeof inner === 'string' ? imageMembers(inner) : inner;
  });
}

function imageMembers(text: string): Value {
  const reference = parseImageReference(text);
  if (reference === undefined) return text;
  const { kind: _kind, ...members } = reference;
  return { ...members };
}

function respell(value: Value | undefined, spell: (text: string) => Value | undefined): Value | undefined {
  return liftOptional(value, (inner) => (typeof inner === 'string' ? spell(inner) : inner));
}

function normalizeWords(value: Value | undefined): Value | undefined {
  return liftOptional(value, (inner) => {
    if (typeof inner === 'string') return splitWords(inner) ?? [inner];
    return isList(inner) ? inner.map(asText) : inner;
  });
}

/** Files of variables first, in their order, then what stands in the document. */
function normalizeEnvironment(files: Value | undefined, environment: Value | undefined): Value | undefined {
  const own = textMap(environment);
  if (files === undefined || files === null) return own;
  const texts = (isList(files) ? files : [files]).map(envFileText).filter((text) => text !== undefined);
  const base = keyedBySecret(texts, (contents) =>
    Object.fromEntries(contents.flatMap((content) => [...parseEnvFile(String(content)).variables])),
  );
  if (own === undefined) return base;
  return lift(base, (fromFiles) => lift(own, (map) => (isAttributes(fromFiles) && isAttributes(map) ? { ...fromFiles, ...map } : map)));
}

/** The text of a file that the loader has read, with its wrappers; undefined when it is not UTF-8 or was not read. */
export function envFileText(file: Value): Value | undefined {
  if (file instanceof Unknown) return file;
  const text = liftOptional(file, (inner) => (isAttributes(inner) ? inner['text'] : undefined));
  return bare(text) === undefined && !(text instanceof Unknown) ? undefined : text;
}

function normalizeSet(value: Value | undefined, spell: (text: string) => string): Value | undefined {
  return liftOptional(value, (inner) =>
    isList(inner) ? textSet(inner.map((item) => lift(asText(item), (text) => (typeof text === 'string' ? spell(text) : text)))) : inner,
  );
}

/** Files by path, each `{ [content], mode, uid, gid }`; the content of a secret is a secret. */
function normalizeFiles(value: Value | undefined, content: 'value' | 'content', defaultMode: string): Value | undefined {
  return liftOptional(value, (files) => {
    if (!isAttributes(files)) return files;
    const entries = Object.entries(files).map(([path, file]): [string, Value] => {
      const inner = bare(file);
      const long = isAttributes(inner) ? inner : { [content]: file };
      const body = long[content] ?? '';
      return [
        canonicalPath(path),
        compact({
          [content]: content === 'value' && !(body instanceof Unknown) ? Sensitive.open(body) : body,
          mode: liftOptional(long['mode'] ?? defaultMode, (mode) => (typeof mode === 'string' ? mode.padStart(4, '0') : mode)),
          uid: long['uid'],
          gid: long['gid'],
        }),
      ];
    });
    return Object.fromEntries(entries);
  });
}

/** Networks by name with their addresses and sorted aliases. A list with a name that is not known yet is not known as a whole. */
function normalizeNetworks(value: Value | undefined, own: readonly string[]): Value | undefined {
  return liftOptional(value, (inner) => {
    const entries: [string, Value][] = [];
    if (isAttributes(inner)) {
      for (const [name, attachment] of Object.entries(inner)) entries.push([name, attach(attachment, own)]);
      return Object.fromEntries(entries);
    }
    if (!isList(inner)) return inner;
    const names = inner.map((item) => lift(item, (one) => (isAttributes(one) ? (one['name'] ?? null) : one)));
    const attachments = inner.map((item) => {
      const long = bare(item);
      return attach(isAttributes(long) ? long : {}, own);
    });
    return keyedBySecret(names, (texts) => Object.fromEntries(texts.map((name, index) => [String(name), attachments[index] ?? {}])));
  });
}

function attach(value: Value | undefined, own: readonly string[]): Value {
  return lift(value ?? {}, (inner) => {
    const attachment = isAttributes(inner) ? inner : {};
    const aliases = liftOptional(attachment['aliases'] ?? [], (list) => (isList(list) ? textSet([...list, ...own]) : list));
    return compact({
      aliases,
      ipv4_address: attachment['ipv4_address'],
      ipv6_address: respell(attachment['ipv6_address'], canonicalIp),
    });
  });
}

/** Lines for /etc/hosts as a sorted list of `host:address`. */
function normalizeExtraHosts(value: Value | undefined): Value | undefined {
  return liftOptional(value, (inner) => {
    if (isList(inner)) return textSet(inner.map((item) => respell(item, canonicalHostLine) ?? item));
    if (!isAttributes(inner)) return inner;
    return textSet(Object.entries(inner).map(([host, address]) => lift(address, (ip) => canonicalHostLine(`${host}:${String(ip)}`))));
  });
}

/** `host:address` from `host:address` or `host=address`, an IPv6 address without brackets and in its shortest spelling. */
export function canonicalHostLine(line: string): string {
  const at = line.search(/[:=]/);
  const address = line.slice(at + 1).replace(/^\[(.*)\]$/, '$1');
  return `${line.slice(0, at)}:${canonicalIp(address)}`;
}

function amount(value: Value | undefined): Value | undefined {
  return liftOptional(value, (inner) => {
    if (inner === '-1') return -1;
    const bytes = typeof inner === 'string' ? (parseBytes(inner) ?? inner) : inner;
    return bytes === 0 ? undefined : bytes;
  });
}

function wholeSeconds(period: string): Value {
  const milliseconds = parseDuration(period);
  return milliseconds === undefined ? period : Math.ceil(milliseconds / 1000) * 1000;
}

/** Times in milliseconds; `test` as the engine's list. `disable` is the test `NONE`. */
function normalizeHealthcheck(value: Value | undefined): Value | undefined {
  return liftOptional(value, (inner) => {
    if (!isAttributes(inner)) return inner;
    const time = (name: string) => respell(inner[name], (text) => parseDuration(text) ?? text);
    const test = liftOptional(inner['test'], (words) => (typeof words === 'string' ? ['CMD-SHELL', words] : words));
    return compact({
      test: inner['disable'] === undefined ? test : liftOptional(inner['disable'], (off) => (off === true ? ['NONE'] : test)),
      interval: time('interval'),
      timeout: time('timeout'),
      start_period: respell(inner['start_period'], (text) => parseDuration(text) || undefined),
      start_interval: time('start_interval'),
      retries: inner['retries'],
    });
  });
}

/** Times in milliseconds; `http` as a map, its accepted statuses as a list. */
function normalizeReady(value: Value | undefined): Value | undefined {
  return liftOptional(value, (inner) => {
    if (!isAttributes(inner)) return inner;
    const time = (name: string) => respell(inner[name], (text) => parseDuration(text) ?? text);
    return compact({
      docker: inner['docker'],
      http: liftOptional(inner['http'], (http) => {
        if (!isAttributes(http)) return { url: http };
        return { ...http, ...(typeof http['status'] === 'number' ? { status: [http['status']] } : {}) };
      }),
      tcp: inner['tcp'],
      command: liftOptional(inner['command'], (argv) => (isList(argv) ? argv.map(asText) : argv)),
      timeout: time('timeout'),
      interval: time('interval'),
    });
  });
}
