import type { z } from 'zod';
import type { ReadIo } from '../contract.ts';
import type { ReadClient } from './client.ts';
import { readImageContent } from './content/save.ts';
import type { Content } from './content/tree.ts';
import { isNotFound } from './errors.ts';
import { tagDigest } from './tags.ts';
import {
  type ContainerEntry,
  type ContainerReply,
  containerListReply,
  containerReply,
  type EngineInfo,
  type ImageReply,
  imageReply,
  infoReply,
  type NetworkReply,
  networkListReply,
  networkReply,
  type VolumeReply,
  volumeListReply,
  volumeReply,
} from './wire.ts';

/**
 * A session's eyes on its engine. Nothing of the engine that can change is remembered, since a plan may be old by the time it is applied: only reads
 * that go on at the same moment share one request. Throws `ProviderError` when the engine cannot be asked.
 */
export class World {
  readonly #client: ReadClient;
  readonly #underway = new Map<string, Promise<unknown>>();
  readonly #contents = new Map<string, Promise<Content>>();
  #info: Promise<EngineInfo> | undefined;
  /** Digests that changes of this session have taken for a tag: the one thing that is remembered, so that a change stays with its image. */
  readonly pins = new Map<string, string>();

  constructor(client: ReadClient) {
    this.#client = client;
  }

  /** Lets later reads share no request that began before now: something was changed. */
  refresh(): void {
    this.#underway.clear();
  }

  /** Every container, stopped ones too. */
  containers(signal: AbortSignal): Promise<readonly ContainerEntry[]> {
    const query = { all: true };
    return this.#shared('containers', () =>
      this.#ask('/containers/json', containerListReply, { signal, doing: 'list the containers', query }),
    );
  }

  networks(signal: AbortSignal): Promise<readonly NetworkReply[]> {
    return this.#shared('networks', () => this.#ask('/networks', networkListReply, { signal, doing: 'list the networks' }));
  }

  async volumes(signal: AbortSignal): Promise<readonly VolumeReply[]> {
    const reply = await this.#shared('volumes', () => this.#ask('/volumes', volumeListReply, { signal, doing: 'list the volumes' }));
    return reply.Volumes;
  }

  /** The engine's settings. They hold as long as it runs, so they are asked for once. */
  info(signal: AbortSignal): Promise<EngineInfo> {
    this.#info ??= this.#ask('/info', infoReply, { signal, doing: 'tell its settings' }).catch((error: unknown) => {
      this.#info = undefined;
      throw error;
    });
    return this.#info;
  }

  /** An image by id, digest reference or tag; undefined when it is not on the engine. */
  image(reference: string, signal: AbortSignal): Promise<ImageReply | undefined> {
    const path = `/images/${encodeURIComponent(reference)}/json`;
    return this.#shared(`image ${reference}`, () => this.#find(path, imageReply, { signal, doing: `inspect the image ${reference}` }));
  }

  /** What stands at a path of an image, by the image's id. It holds for ever, so each is read once. */
  imageContent(id: string, path: string, signal: AbortSignal): Promise<Content> {
    const key = `${id} ${path}`;
    const known = this.#contents.get(key);
    if (known !== undefined) return known;
    const asked = readImageContent(this.#client, id, path, signal).catch((error: unknown) => {
      this.#contents.delete(key);
      throw error;
    });
    this.#contents.set(key, asked);
    return asked;
  }

  /** What a tag means in its registry now. */
  tagDigest(repository: string, tag: string, io: Pick<ReadIo, 'host' | 'signal'>): Promise<string> {
    return this.#shared(`tag ${repository}:${tag}`, () => tagDigest({ client: this.#client, io }, repository, tag));
  }

  /** A container as it is now, by id or name; undefined when it is not there. */
  container(reference: string, signal: AbortSignal): Promise<ContainerReply | undefined> {
    return this.#find(`/containers/${encodeURIComponent(reference)}/json`, containerReply, {
      signal,
      doing: `inspect the container ${reference.slice(0, 64)}`,
    });
  }

  /** A network as it is now, by id; undefined when it is not there. */
  network(id: string, signal: AbortSignal): Promise<NetworkReply | undefined> {
    return this.#find(`/networks/${encodeURIComponent(id)}`, networkReply, { signal, doing: `inspect the network ${id}` });
  }

  /** A volume as it is now, by name; undefined when it is not there. */
  volume(name: string, signal: AbortSignal): Promise<VolumeReply | undefined> {
    return this.#find(`/volumes/${encodeURIComponent(name)}`, volumeReply, { signal, doing: `inspect the volume ${name}` });
  }

  #shared<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#underway.get(key);
    if (known !== undefined) return known as Promise<T>;
    const asked: Promise<T> = ask().finally(() => {
      if (this.#underway.get(key) === asked) this.#underway.delete(key);
    });
    this.#underway.set(key, asked);
    return asked;
  }

  async #ask<S extends z.ZodType>(path: string, schema: S, options: Parameters<ReadClient['get']>[1]): Promise<z.output<S>> {
    return schema.parse(await this.#client.get(path, options));
  }

  async #find<S extends z.ZodType>(path: string, schema: S, options: Parameters<ReadClient['get']>[1]): Promise<z.output<S> | undefined> {
    try {
      return await this.#ask(path, schema, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
