import { type Attributes, isAttributes, isList, type Value } from '../../../core/value.ts';
import { bare, bareText, compact, memberNames, textSet } from '../lift.ts';
import { FACTS } from './live.ts';

/** Lists that are sets of text: what is given anyway counts as there when it is asked for. */
const SETS: ReadonlySet<string> = new Set(['expose', 'security_opt']);

/**
 * The live attributes in terms of the desired ones. What image or engine would give anyway comes back where the desired form names it; what
 * has several names (an image, a network, another container) gets the one that the desired form uses; anonymous volumes and log options
 * that nobody asked for go.
 */
export function alignContainer(desired: Attributes, live: Attributes): Attributes {
  const { _defaults: raw, ...own } = live;
  const defaults = isAttributes(raw) ? raw : {};
  const facts = isAttributes(defaults[FACTS]) ? defaults[FACTS] : {};
  const aligned: { [name: string]: Value | undefined } = { ...own };
  for (const [name, given] of Object.entries(defaults)) {
    if (name === FACTS || name === 'logging' || desired[name] === undefined) continue;
    aligned[name] = restore(name, desired[name], own[name], given);
  }
  aligned['image'] = alignImage(desired['image'], own['image'], facts);
  aligned['platform'] = alignPlatform(desired['platform'], facts);
  aligned['volumes'] = alignVolumes(desired['volumes'], own['volumes'], facts);
  aligned['networks'] = alignNetworks(desired['networks'], own['networks'], facts);
  aligned['logging'] = alignLogging(desired['logging'], own['logging'], defaults['logging']);
  for (const name of ['network_mode', 'pid', 'ipc']) aligned[name] = alignPeer(desired[name], aligned[name], facts);
  // An entrypoint of one's own takes the command of the image away: no command is then what was asked for.
  const isEmptyCommand = isList(aligned['command']) && aligned['command'].length === 0;
  if (isEmptyCommand && desired['command'] === undefined && desired['entrypoint'] !== undefined) delete aligned['command'];
  return keepEmptyWords(aligned);
}

/** `compact`, but an empty command or entrypoint means that there is none, not that it is at the default. */
function keepEmptyWords(aligned: { readonly [name: string]: Value | undefined }): Attributes {
  const result: { [name: string]: Value } = { ...compact(aligned) };
  for (const name of ['command', 'entrypoint']) {
    const words = aligned[name];
    if (isList(words) && words.length === 0) result[name] = words;
  }
  return result;
}

function restore(name: string, desired: Value, own: Value | undefined, given: Value): Value | undefined {
  if (isAttributes(given)) {
    const names = new Set(memberNames(desired));
    const back = Object.fromEntries(Object.entries(given).filter(([member]) => names.has(member)));
    return isAttributes(own) ? { ...back, ...own } : back;
  }
  if (isList(given) && SETS.has(name)) {
    const list = bare(desired);
    const asked = new Set(isList(list) ? list.map(bareText) : []);
    return textSet([...(isList(own) ? own : []), ...given.filter((item) => asked.has(bareText(item)))]);
  }
  return own ?? given;
}

/** The image in the desired spelling when it is the same one; else in a spelling that differs in as little as it can. */
function alignImage(desired: Value | undefined, own: Value | undefined, facts: Attributes): Value | undefined {
  const wanted = bare(desired);
  const id = bareText(facts['image_id']);
  if (!isAttributes(wanted) || id === undefined) return own;
  const digests = texts(facts['image_digests']);
  const tags = texts(facts['image_tags']);
  if (bareText(wanted['id']) !== undefined) return { id };
  const repository = bareText(wanted['repository']);
  const digest = bareText(wanted['digest']);
  const tag = bareText(wanted['tag']);
  if (repository === undefined) return own;
  if (tag !== undefined) {
    const pin = bareText(facts['image_pin']);
    if (tags.includes(`${repository}:${tag}`) || pin === `${repository}:${tag}`) return { repository, tag };
    return pin?.startsWith(`${repository}:`) ? { repository, tag: pin.slice(repository.length + 1) } : own;
  }
  if (digest === undefined) return own;
  if (digests.includes(`${repository}@${digest}`) || digest === id) return { repository, digest };
  // The same bytes from another repository: a mirror, of which the container knows nothing.
  if (digests.some((text) => text.endsWith(`@${digest}`))) return { repository, digest };
  const other = digests.find((text) => text.startsWith(`${repository}@`));
  if (other !== undefined) return { repository, digest: other.slice(repository.length + 1) };
  const isOfRepository = tags.some((text) => text.slice(0, text.lastIndexOf(':')) === repository);
  // An image without any name contradicts no repository: it was loaded by its content.
  if (isOfRepository || (digests.length === 0 && tags.length === 0)) return { repository, digest: id };
  return own;
}

/** The platform of the image, as exactly as the desired one says it; absent when the desired form has none. */
function alignPlatform(desired: Value | undefined, facts: Attributes): Value | undefined {
  const platform = bareText(facts['platform']);
  if (desired === undefined || platform === undefined) return undefined;
  const wanted = bareText(desired);
  return wanted !== undefined && platform.startsWith(`${wanted}/`) ? wanted : platform;
}

/** Leaves out anonymous volumes that the image declares and the desired form does not mention; one that it names by the engine's name has that. */
function alignVolumes(desired: Value | undefined, live: Value | undefined, facts: Attributes): Value | undefined {
  if (!isList(live)) return live;
  const wanted = bare(desired);
  const byTarget = new Map((isList(wanted) ? wanted : []).map((mount) => [mountTarget(mount), bare(mount)]));
  const declared = new Set(texts(facts['image_volumes']));
  const anonymous = isAttributes(facts['anonymous']) ? facts['anonymous'] : {};
  return live.flatMap((mount): readonly Value[] => {
    if (!isAttributes(mount)) return [mount];
    const target = mountTarget(mount);
    const other = byTarget.get(target);
    if (other === undefined && mount['source'] === undefined && target !== undefined && declared.has(target)) return [];
    if (!isAttributes(other)) return [mount];
    const name = target === undefined ? undefined : bareText(anonymous[target]);
    const own = name !== undefined && bareText(other['source']) === name ? { source: name } : {};
    // Whether a missing host path would have been made is no property of the mount that is there.
    const { create_host_path: _asked, ...shown } = mount;
    const rest = { ...shown, ...own };
    return [other['create_host_path'] === undefined ? rest : { ...rest, create_host_path: other['create_host_path'] }];
  });
}

function mountTarget(mount: Value): string | undefined {
  const inner = bare(mount);
  return isAttributes(inner) ? bareText(inner['target']) : undefined;
}

/** Networks under the id by which the desired form names them, where it does. */
function alignNetworks(desired: Value | undefined, own: Value | undefined, facts: Attributes): Value | undefined {
  if (!isAttributes(own)) return own;
  const ids = isAttributes(facts['networks']) ? facts['networks'] : {};
  const wanted = new Set(memberNames(desired));
  return Object.fromEntries(
    Object.entries(own).map(([name, attachment]) => {
      const id = bareText(ids[name]);
      return [!wanted.has(name) && id !== undefined && wanted.has(id) ? id : name, attachment];
    }),
  );
}

/** What the container has of its own, and of what the engine may have given only what the desired form names. */
function alignLogging(desired: Value | undefined, own: Value | undefined, given: Value | undefined): Value | undefined {
  const wanted = bare(desired);
  if (!isAttributes(wanted) || !isAttributes(given)) return own;
  const present = isAttributes(own) ? own : {};
  const named = new Set(memberNames(wanted['options']));
  const options = Object.entries(isAttributes(given['options']) ? given['options'] : {}).filter(([name]) => named.has(name));
  return compact({
    driver: present['driver'] ?? (wanted['driver'] === undefined ? undefined : given['driver']),
    options: { ...Object.fromEntries(options), ...(isAttributes(present['options']) ? present['options'] : {}) },
  });
}

/** `container:<id>` as `container:<name>` where the desired form says it so. */
function alignPeer(desired: Value | undefined, live: Value | undefined, facts: Attributes): Value | undefined {
  const wanted = bareText(desired);
  const mode = bareText(live);
  if (wanted === undefined || mode === undefined || !mode.startsWith('container:')) return live;
  const other = mode.slice('container:'.length);
  const peers = isAttributes(facts['peers']) ? facts['peers'] : {};
  const isSame = Object.entries(peers).some(
    ([id, name]) => [id, name].includes(other) && [`container:${id}`, `container:${String(name)}`].includes(wanted),
  );
  return isSame ? wanted : live;
}

function texts(value: Value | undefined): readonly string[] {
  return isList(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
