import { type Attributes, isAttributes, isList, Sensitive, type Value } from '../../../core/value.ts';
import type { Problem, TypeContext } from '../../contract.ts';
import { memberNames, plainText } from '../lift.ts';
import { reservedLabels, secretNames } from '../network.ts';
import { parseImageReference } from '../reference.ts';
import { parseEnvFile } from './env-file.ts';
import { envFileText, normalizeContainer } from './normal.ts';

/** Mistakes of a container that its schema cannot state. */
export function checkContainer(attributes: Attributes, context: TypeContext): readonly Problem[] {
  const normal = normalizeContainer(attributes, context);
  return [
    ...secretNames(attributes),
    ...imageProblems(attributes, context),
    ...reservedLabels(attributes['labels']),
    ...networkProblems(attributes, normal),
    ...portProblems(normal),
    ...mountProblems(attributes, normal, context),
    ...fileProblems(attributes),
    ...limitProblems(normal),
    ...envFileProblems(attributes),
    ...securityProblems(attributes),
  ];
}

function problem(code: string, summary: string, detail: string, path: readonly (string | number)[], expected?: string): Problem {
  return { severity: 'error', code, summary, detail, path, ...(expected === undefined ? {} : { expected }) };
}

/** Refuses a tag where the provider block does not allow it. */
export function imageProblems(attributes: Attributes, context: TypeContext): readonly Problem[] {
  const text = plainText(attributes['image']);
  const reference = text === undefined ? undefined : parseImageReference(text);
  if (reference?.kind !== 'tag' || context.config['allow_tags'] === true) return [];
  const detail = `The image ${text} is named by a tag, which may mean another image tomorrow. Name it by its digest, which docker image inspect ${text} lists under RepoDigests (and as Id, for one that was built on the engine), or set allow_tags: true on the provider.`;
  return [problem('IMAGE_NOT_PINNED', 'Image without a digest', detail, ['image'], `${reference.repository}@sha256:… or sha256:…`)];
}

function networkProblems(attributes: Attributes, normal: Attributes): readonly Problem[] {
  const found: Problem[] = [];
  const mode = plainText(attributes['network_mode']);
  if (mode !== undefined && attributes['networks'] !== undefined) {
    found.push(
      problem(
        'NETWORKS_AND_MODE',
        'Both networks and network_mode',
        `A container with network_mode ${mode} joins no networks by name. Keep one of the two.`,
        ['network_mode'],
      ),
    );
  }
  for (const name of ['bridge', 'host', 'none', 'default']) {
    if (!memberNames(normal['networks']).includes(name)) continue;
    const detail = `${name} is no network with names and aliases. Write network_mode: ${name === 'default' ? 'bridge' : name} instead, or name a docker.network.`;
    found.push(problem('NETWORK_PREDEFINED', 'Predefined network in networks', detail, ['networks']));
  }
  if (mode === undefined || mode === 'bridge') return found;
  for (const name of ['ports', 'hostname', 'dns', 'extra_hosts'] as const) {
    const isRefused = name === 'ports' || mode.startsWith('container:');
    if (attributes[name] === undefined || !isRefused) continue;
    found.push(
      problem(
        'NETWORK_MODE_CONFLICT',
        'Not possible with this network mode',
        `With network_mode ${mode} the container has no network of its own, so ${name} means nothing.`,
        [name],
      ),
    );
  }
  return found;
}

function portProblems(normal: Attributes): readonly Problem[] {
  const ports = normal['ports'];
  if (!isList(ports)) return [];
  const seen = new Set<string>();
  const found: Problem[] = [];
  for (const port of ports) {
    if (!isAttributes(port)) continue;
    const { host_ip: ip, published, protocol } = port;
    if (ip instanceof Sensitive || protocol instanceof Sensitive) continue;
    if (typeof published !== 'number') continue;
    if (published > 65535)
      found.push(problem('PORT_OUT_OF_RANGE', 'Port out of range', `${published} is no port.`, ['ports'], '1 to 65535'));
    const key = `${String(ip ?? '')}:${published}/${String(protocol)}`;
    if (seen.has(key))
      found.push(
        problem(
          'PORT_TWICE',
          'Port published twice',
          `Port ${published}/${String(protocol)} is published twice. Take one of the two away.`,
          ['ports'],
        ),
      );
    seen.add(key);
  }
  return found;
}

function mountProblems(attributes: Attributes, normal: Attributes, context: TypeContext): readonly Problem[] {
  const found: Problem[] = [];
  const targets = new Set(memberNames(normal['tmpfs']));
  const volumes = normal['volumes'];
  for (const mount of isList(volumes) ? volumes : []) {
    const target = isAttributes(mount) ? plainText(mount['target']) : undefined;
    if (!isAttributes(mount) || target === undefined) continue;
    if (targets.has(target))
      found.push(problem('MOUNT_TWICE', 'Two mounts at one path', `Two mounts end at ${target}. Take one of them away.`, ['volumes']));
    targets.add(target);
    if (mount['type'] === 'bind' && mount['source'] === undefined) {
      found.push(
        problem('MOUNT_WITHOUT_SOURCE', 'Mount without a source', `The bind mount at ${target} needs a source: a path on the host.`, [
          'volumes',
        ]),
      );
    }
  }
  const host = plainText(context.config['host']) ?? 'unix://';
  const written = attributes['volumes'];
  for (const [index, mount] of (isList(written) ? written : []).entries()) {
    const source = bindSource(mount);
    if (source === undefined || !source.startsWith('.') || host.startsWith('unix://')) continue;
    const detail = `The path ${source} is relative to the document, but the engine is at ${host} and would look on its own machine. Write an absolute path, or use configs.`;
    found.push(problem('RELATIVE_MOUNT_REMOTE', 'Relative mount on another machine', detail, ['volumes', index]));
  }
  return found;
}

/** The path on the host that a mount is written with, when it is plain text. */
function bindSource(mount: Value): string | undefined {
  if (!isAttributes(mount)) return plainText(mount)?.split(':')[0];
  return mount['type'] === 'bind' ? plainText(mount['source']) : undefined;
}

/** The engine refuses to copy files into a container whose file system is read-only. */
function fileProblems(attributes: Attributes): readonly Problem[] {
  if (attributes['read_only'] !== true) return [];
  return (['configs', 'secrets'] as const)
    .filter((name) => memberNames(attributes[name]).length > 0)
    .map((name) =>
      problem(
        'READ_ONLY_FILES',
        'Files in a read-only container',
        `The engine cannot copy ${name} into a container with read_only: true. Mount the files from the host, or leave read_only out.`,
        [name],
      ),
    );
}

function limitProblems(normal: Attributes): readonly Problem[] {
  const amount = (name: string) => {
    const value = normal[name];
    return typeof value === 'number' ? value : undefined;
  };
  const [limit, reservation, swap] = [amount('mem_limit'), amount('mem_reservation'), amount('memswap_limit')];
  const found: Problem[] = [];
  if (limit !== undefined && reservation !== undefined && reservation > limit) {
    found.push(
      problem(
        'MEMORY_RESERVATION',
        'Memory reservation over the limit',
        'mem_reservation is more than mem_limit. Lower it or raise the limit.',
        ['mem_reservation'],
      ),
    );
  }
  const isLimitJudged = limit !== undefined || normal['mem_limit'] === undefined;
  if (swap !== undefined && swap !== -1 && isLimitJudged && (limit === undefined || swap < limit)) {
    const detail = 'memswap_limit counts memory and swap together, so it needs mem_limit and may not be less than it.';
    found.push(problem('MEMORY_SWAP', 'Swap limit without room', detail, ['memswap_limit']));
  }
  if (limit !== undefined && limit < 6 * 1024 * 1024) {
    found.push(
      problem('MEMORY_LIMIT', 'Memory limit too small', 'The engine refuses a memory limit under 6 MiB.', ['mem_limit'], '6m or more'),
    );
  }
  return found;
}

function envFileProblems(attributes: Attributes): readonly Problem[] {
  const files = attributes['env_file'];
  if (files === undefined) return [];
  const list = isList(files) ? files : [files];
  return list.flatMap((file: Value): readonly Problem[] => {
    if (!isAttributes(file)) return [];
    const text = envFileText(file);
    const name = plainText(file['path']) ?? 'the file';
    if (text !== undefined && typeof text !== 'string') return [];
    if (text === undefined)
      return [problem('ENV_FILE_NOT_TEXT', 'Environment file is not text', `${name} is not UTF-8 text.`, ['env_file'])];
    const { badLines } = parseEnvFile(text);
    if (badLines.length === 0) return [];
    return [
      problem(
        'ENV_FILE_LINE',
        'Unreadable line in an environment file',
        `${name} has lines that are not NAME=VALUE: ${badLines.join(', ')}.`,
        ['env_file'],
        'NAME=VALUE',
      ),
    ];
  });
}

/** The engine wants the profile itself where the command line takes a file. */
function securityProblems(attributes: Attributes): readonly Problem[] {
  const options = attributes['security_opt'];
  return (isList(options) ? options : []).flatMap((option, index): readonly Problem[] => {
    const profile = /^seccomp[=:](.*)$/.exec(plainText(option) ?? '')?.[1];
    if (profile === undefined || profile === 'unconfined' || profile === 'builtin') return [];
    const detail =
      'A seccomp profile from a file is not available yet. Write seccomp=unconfined, or leave the option out for the default profile.';
    return [problem('SECCOMP_PROFILE', 'Seccomp profile not available', detail, ['security_opt', index])];
  });
}
