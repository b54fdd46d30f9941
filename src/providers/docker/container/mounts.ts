import { posix } from 'node:path';
import { type Attributes, isAttributes, isList, type Value } from '../../../core/value.ts';
import { bare, bareText, compact, keyedBySecret, lift, liftOptional, sortedBy } from '../lift.ts';
import { canonicalPath, parseBytes } from '../spelling.ts';
import type { ContainerReply } from '../wire.ts';
import { isAnonymous } from './anonymous.ts';

const PROPAGATIONS = new Set(['private', 'rprivate', 'shared', 'rshared', 'slave', 'rslave']);

/**
 * Reads `[source:]target[:options]` into the long form. A source that begins with `/` or `.` is a path, another one a volume. Undefined when
 * it is none.
 */
export function parseMountText(text: string): Attributes | undefined {
  const parts = text.split(':');
  const [first = '', second, third, ...rest] = parts;
  if (rest.length > 0) return undefined;
  if (second === undefined) return first.startsWith('/') ? { type: 'volume', target: first } : undefined;
  if (!second.startsWith('/')) return undefined;
  const options = third === undefined ? {} : parseMountOptions(third);
  if (options === undefined) return undefined;
  if (/^[./]/.test(first)) return { type: 'bind', source: first, target: second, ...options };
  return /^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(first) ? { type: 'volume', source: first, target: second, ...options } : undefined;
}

function parseMountOptions(text: string): Attributes | undefined {
  const options: { [name: string]: Value } = {};
  const bind: { [name: string]: Value } = {};
  for (const option of text.split(',')) {
    if (option === 'ro') options['read_only'] = true;
    else if (option === 'z' || option === 'Z') bind['selinux'] = option;
    else if (option === 'nocopy') options['volume'] = { nocopy: true };
    else if (PROPAGATIONS.has(option)) bind['propagation'] = option;
    else if (option !== 'rw' && option !== 'cached' && option !== 'delegated' && option !== 'consistent') return undefined;
  }
  return Object.keys(bind).length === 0 ? options : { ...options, bind };
}

/** Mounts of volumes and host paths as a list sorted by target. Relative sources are relative to `folder`. Mounts in memory are left to `normalizeTmpfs`. */
export function normalizeVolumes(value: Value | undefined, folder: string): Value | undefined {
  return liftOptional(value, (inner) => {
    if (!isList(inner)) return inner;
    const mounts = inner
      .map((item) => lift(item, (one) => (typeof one === 'string' ? (parseMountText(one) ?? one) : one)))
      .filter((item) => !isTmpfs(item))
      .map((item) => lift(item, (one) => (isAttributes(one) ? flatMount(one, folder) : one)));
    return sortedBy(mounts, targetOf);
  });
}

/** Mounts in memory by path, each with its sorted options; those of `volumes` with `type: tmpfs` too. */
export function normalizeTmpfs(tmpfs: Value | undefined, volumes: Value | undefined): Value | undefined {
  const texts = tmpfs === undefined || tmpfs === null ? [] : isList(tmpfs) ? tmpfs : [tmpfs];
  const list = bare(volumes);
  const long = isList(list) ? list.filter(isTmpfs).map((item) => lift(item, (one) => (isAttributes(one) ? tmpfsText(one) : one))) : [];
  if (texts.length + long.length === 0) return undefined;
  const lines = [...texts.flatMap((item) => (isList(bare(item)) ? (bare(item) as readonly Value[]) : [item])), ...long];
  return keyedBySecret(lines, (items) =>
    Object.fromEntries(
      items.map((item) => {
        const [path = '', options = ''] = String(item).split(/:(.*)/s);
        return [canonicalPath(path), tmpfsOptions(options)];
      }),
    ),
  );
}

/** The short form of a long one; a secret, or unknown, when a member of it is. */
function tmpfsText(mount: Attributes): Value {
  const settings = isAttributes(mount['tmpfs']) ? mount['tmpfs'] : {};
  const members = [mount['target'] ?? '', mount['read_only'] ?? false, settings['size'] ?? '', settings['mode'] ?? ''];
  return keyedBySecret(members, ([target, readOnly, size, mode]) => {
    const options = [
      ...(readOnly === true ? ['ro'] : []),
      ...(size === '' ? [] : [`size=${String(size)}`]),
      ...(mode === '' ? [] : [`mode=${String(mode)}`]),
    ];
    return `${String(target)}:${options.join(',')}`;
  });
}

/** Options of a mount in memory in one spelling: sorted, sizes in bytes, modes without leading zeroes. */
export function tmpfsOptions(text: string): string {
  const options = text.split(',').filter((option) => option !== '' && option !== 'rw');
  const spelled = options.map((option) => {
    const [name, value] = option.split('=');
    if (name === 'size' && value !== undefined) return `size=${parseBytes(value) ?? value}`;
    if (name === 'mode' && value !== undefined) return `mode=${value.replace(/^0+(?=\d)/, '')}`;
    return option;
  });
  return [...new Set(spelled)].toSorted().join(',');
}

function isTmpfs(item: Value): boolean {
  const inner = bare(item);
  return isAttributes(inner) && inner['type'] === 'tmpfs';
}

function targetOf(mount: Value): string | undefined {
  return isAttributes(mount) ? bareText(mount['target']) : undefined;
}

function flatMount(mount: Attributes, folder: string): Attributes {
  const bind = isAttributes(mount['bind']) ? mount['bind'] : {};
  const volume = isAttributes(mount['volume']) ? mount['volume'] : {};
  const isBind = mount['type'] === 'bind';
  return compact({
    type: mount['type'],
    source: liftOptional(mount['source'], (source) => (isBind && typeof source === 'string' ? posix.resolve(folder, source) : source)),
    target: liftOptional(mount['target'], (target) => (typeof target === 'string' ? canonicalPath(target) : target)),
    read_only: mount['read_only'] === false ? undefined : mount['read_only'],
    propagation: bind['propagation'] === 'rprivate' ? undefined : bind['propagation'],
    selinux: bind['selinux'],
    create_host_path: bind['create_host_path'] === true ? undefined : bind['create_host_path'],
    nocopy: volume['nocopy'] === false ? undefined : volume['nocopy'],
  });
}

/** The volumes and host paths that are mounted in a live container, in normal form. A volume without a name of its own has no source. */
export function liveVolumes(container: ContainerReply): readonly Value[] {
  const noCopy = new Set([
    ...container.HostConfig.Mounts.filter((mount) => mount.VolumeOptions?.NoCopy === true).map((mount) => mount.Target),
    ...container.HostConfig.Binds.filter((bind) => /:(?:[^:]*,)?nocopy(?:,[^:]*)?$/.test(bind)).map((bind) => bind.split(':')[1] ?? ''),
  ]);
  const withoutHostPath = new Set(container.HostConfig.Mounts.filter((mount) => mount.Type === 'bind').map((mount) => mount.Target));
  const mounts = container.Mounts.filter((mount) => mount.Type === 'bind' || mount.Type === 'volume').map((mount) =>
    compact({
      type: mount.Type,
      source: mount.Type === 'bind' ? canonicalPath(mount.Source) : isAnonymous(mount) ? undefined : mount.Name,
      target: canonicalPath(mount.Destination),
      read_only: mount.RW ? undefined : true,
      propagation: mount.Type !== 'bind' || mount.Propagation === 'rprivate' || mount.Propagation === '' ? undefined : mount.Propagation,
      selinux: mount.Type === 'bind' ? mount.Mode.split(',').find((option) => option === 'z' || option === 'Z') : undefined,
      create_host_path: mount.Type === 'bind' && withoutHostPath.has(mount.Destination) ? false : undefined,
      nocopy: noCopy.has(mount.Destination) ? true : undefined,
    }),
  );
  return sortedBy(mounts, targetOf);
}

/** Mounts in memory of a live container. */
export function liveTmpfs(container: ContainerReply): Attributes {
  const short = Object.entries(container.HostConfig.Tmpfs).map(([path, options]) => [canonicalPath(path), tmpfsOptions(options)]);
  const long = container.HostConfig.Mounts.filter((mount) => mount.Type === 'tmpfs').map((mount) => {
    const size = mount.TmpfsOptions?.SizeBytes ?? 0;
    const mode = mount.TmpfsOptions?.Mode ?? 0;
    const options = [...(size === 0 ? [] : [`size=${size}`]), ...(mode === 0 ? [] : [`mode=${mode.toString(8)}`])];
    return [canonicalPath(mount.Target), tmpfsOptions(options.join(','))];
  });
  return Object.fromEntries([...short, ...long]) as Attributes;
}
