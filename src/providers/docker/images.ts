import { posix } from 'node:path';
import type { Plain } from '../../core/value.ts';
import { ProviderError, type Receipt } from '../contract.ts';
import type { Acting } from './acting.ts';
import { mapOf } from './container/create-options.ts';
import { isNotFound, statusOf } from './errors.ts';
import { declaredBy, hasContent, platformOf } from './image.ts';
import { missing, pull, spellImage } from './pull.ts';
import { findImage, type ImageName, referenceOf } from './read.ts';
import { pinnedTag } from './reference.ts';
import { digestIn } from './tags.ts';
import { transfer } from './transfer.ts';
import type { ImageReply } from './wire.ts';

/** The largest archive that is read. */
const ARCHIVE_LIMIT = 2 * 1024 ** 3;

/** Does one effect of a `docker.image`. */
export async function performImage(acting: Acting): Promise<Receipt> {
  const { operation, world, io } = acting;
  world.refresh();
  switch (operation.effect.name) {
    case 'create':
      return createImage(acting);
    case 'verify': {
      const name = desiredName(operation.desired);
      const image = await findImage(name, world, io.signal);
      if (image === undefined) throw new ProviderError('NOT_FOUND', `The image ${spellImage(name)} is no longer on the engine.`);
      requireExpected(image, operation.desired, name);
      return {};
    }
    case 'set-aside':
    // An image of an earlier revision may be what is gone back to, so a replacement never removes it.
    case 'retire':
      return {};
    case 'remove':
      await removeImage(acting);
      return {};
    default:
      throw new Error(`docker.image has no effect ${operation.effect.name}`);
  }
}

async function createImage(acting: Acting): Promise<Receipt> {
  const { operation, client, world, io } = acting;
  const name = desiredName(operation.desired);
  const present = await findImage(name, world, io.signal);
  const image = present ?? (await fetchImage(acting, name));
  requireExpected(image, operation.desired, name);
  if (present === undefined) {
    await client.post(`/images/${encodeURIComponent(image.Id)}/tag`, {
      signal: io.signal,
      doing: `tag the image ${spellImage(name)}`,
      query: { repo: markRepository(acting), tag: operation.id },
    });
    world.refresh();
  }
  return { ref: image.Id };
}

/** Loads the archive, or pulls. Throws when what comes is not what was asked for. */
async function fetchImage(acting: Acting, name: ImageName): Promise<ImageReply> {
  const { operation, world, io } = acting;
  const archive = operation.desired['archive'];
  if (typeof archive === 'string') {
    const path = posix.resolve(operation.context.folder, archive);
    const bytes = await io.host.readFile(path, { limit: ARCHIVE_LIMIT });
    io.progress('loading', { bytes: bytes.length });
    const doing = `load the image archive ${archive}`;
    const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const failure = await transfer(acting, { doing, path: '/images/load', query: { quiet: true }, file });
    if (failure !== undefined) throw new ProviderError('OTHER', `The engine could not ${doing}: ${failure.replace(/[.\s]*$/, '')}.`);
    world.refresh();
    const image = await findImage(name, world, io.signal);
    if (image !== undefined) return image;
    throw new ProviderError('INVALID', `The archive ${archive} was loaded, but it does not hold the image ${spellImage(name)}.`, {
      next: 'Compare the digest in the document with that of the archive: docker image ls --digests --no-trunc',
    });
  }
  await pull(acting, name, typeof operation.desired['platform'] === 'string' ? operation.desired['platform'] : undefined);
  const image = await findImage(name, world, io.signal);
  if (image === undefined) throw new ProviderError('INVALID', `The registry answered, but the image ${spellImage(name)} did not come.`);
  return image;
}

function requireExpected(image: ImageReply, desired: { readonly [name: string]: Plain }, name: ImageName): void {
  requirePlatform(image, desired, spellImage(name));
  const declared = declaredBy(image);
  for (const [key, expected] of Object.entries(mapOf(desired['expect']))) {
    const found = declared[key as keyof typeof declared];
    if (JSON.stringify(found) === JSON.stringify(expected)) continue;
    const says = found === undefined ? 'does not declare one' : `declares ${JSON.stringify(found)}`;
    throw new ProviderError('INVALID', `The image ${spellImage(name)} should have the ${key} ${JSON.stringify(expected)}, but it ${says}.`);
  }
}

function requirePlatform(image: ImageReply, desired: { readonly [name: string]: Plain }, name: string): void {
  const platform = desired['platform'];
  const actual = platformOf(image);
  if (typeof platform !== 'string' || actual === platform || actual.startsWith(`${platform}/`)) return;
  throw new ProviderError('INVALID', `The image ${name} is for ${actual}, not for ${platform}.`);
}

/**
 * Removes an image that this environment fetched, once no container is made from it. One that was there before, or that somebody else tagged
 * meanwhile, stays.
 */
async function removeImage(acting: Acting): Promise<void> {
  const { operation, client, world, io } = acting;
  if (operation.ref === undefined) return;
  const image = await world.image(operation.ref, io.signal);
  const mark = `${markRepository(acting)}:${operation.id}`;
  if (image === undefined || !image.RepoTags.includes(mark)) return;
  world.refresh();
  const containers = await world.containers(io.signal);
  if (containers.some((entry) => entry.ImageID === image.Id)) return;
  const drop = (name: string) =>
    client.remove(`/images/${encodeURIComponent(name)}`, { signal: io.signal, doing: `remove the image ${name}` });
  await drop(mark);
  world.refresh();
  const left = await world.image(image.Id, io.signal);
  if (left === undefined || left.RepoTags.some((tag) => !tag.startsWith('<none>'))) return;
  try {
    for (const digest of left.RepoDigests) await drop(digest);
    if (left.RepoDigests.length === 0) await drop(left.Id);
  } catch (error) {
    // A container that came meanwhile, or another image built on this one, keeps it.
    if (statusOf(error) !== 409 && !isNotFound(error)) throw error;
  } finally {
    world.refresh();
  }
}

/** Images bear no labels of ours, so a tag says which ones this environment fetched. */
function markRepository(acting: Acting): string {
  return `io.accede/${acting.operation.mark.lineage}`;
}

function desiredName(desired: { readonly [name: string]: Plain }): ImageName {
  const { repository, digest } = desired;
  if (typeof digest !== 'string') throw new Error('a docker.image without a digest reached its handler');
  return typeof repository === 'string' ? { repository, digest } : { digest };
}

/** How the engine finds the image of a container, pulled first where it can be. Throws `NOT_FOUND` when it is not there and cannot be pulled. */
export async function ensureImage(acting: Acting): Promise<string> {
  const { operation, world, io } = acting;
  const wanted = mapOf(operation.desired['image']);
  const text = (name: string) => (typeof wanted[name] === 'string' ? wanted[name] : undefined);
  const [id, repository, digest, tag] = [text('id'), text('repository'), text('digest'), text('tag')];
  const name: ImageName | undefined =
    id !== undefined ? { digest: id } : digest === undefined ? undefined : { digest, ...(repository === undefined ? {} : { repository }) };
  if (name !== undefined) {
    const present = await findImage(name, world, io.signal);
    const image = present ?? (await pulled(acting, name));
    requirePlatform(image, operation.desired, spellImage(name));
    return referenceOf(image, name);
  }
  return ensureTag(acting, repository ?? '', tag ?? 'latest');
}

/**
 * The image of a tag, as `repository:tag@digest`: what the tag meant when its text was new stays with the container that way, and goes over to
 * its successor. Every effect of one change takes the same image, even when the tag moves meanwhile. An image that was built on the engine and
 * never came from a registry is taken as it is.
 */
async function ensureTag(acting: Acting, repository: string, tag: string): Promise<string> {
  const { operation, world, io } = acting;
  const reference = `${repository}:${tag}`;
  const change = `${operation.operation} ${operation.address} ${reference}`;
  const kept = world.pins.get(change) ?? (await pinOfPresent(acting, reference));
  if (kept === undefined) {
    const local = await world.image(reference, io.signal);
    if (local !== undefined && digestIn(local, repository) === undefined) {
      requirePlatform(local, operation.desired, reference);
      return reference;
    }
  }
  const name = { repository, digest: kept ?? (await world.tagDigest(repository, tag, io)) };
  const image = (await findImage(name, world, io.signal)) ?? (await pulled(acting, name));
  requirePlatform(image, operation.desired, reference);
  world.pins.set(change, name.digest);
  return `${reference}@${name.digest}`;
}

/** What the tag meant for the container that is there. */
async function pinOfPresent(acting: Acting, reference: string): Promise<string | undefined> {
  const { operation, world, io } = acting;
  const container = operation.ref === undefined ? undefined : await world.container(operation.ref, io.signal);
  return container !== undefined && pinnedTag(container.Config.Image) === reference ? container.Config.Image.split('@')[1] : undefined;
}

async function pulled(acting: Acting, name: ImageName): Promise<ImageReply> {
  const platform = acting.operation.desired['platform'];
  await pull(acting, name, typeof platform === 'string' ? platform : undefined);
  const image = await findImage(name, acting.world, acting.io.signal);
  if (image === undefined || !hasContent(image, name.digest)) throw missing(name);
  return image;
}
