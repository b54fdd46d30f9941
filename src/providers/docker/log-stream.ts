import type { LogOptions, ObjectQuery, ReadIo, Written } from '../contract.ts';
import type { ReadClient } from './client.ts';
import { Frames } from './frames.ts';
import { locateContainer } from './located.ts';
import type { World } from './world.ts';

/** The longest time that a timer of Node can wait for. */
const FOREVER = 2 ** 31 - 1;

/** Hands over what a container wrote, until it ends where it is followed. False when there is no container. Throws `ProviderError`. */
export async function readLog(asked: {
  readonly query: ObjectQuery;
  readonly options: LogOptions;
  readonly sink: (written: Written) => Promise<void>;
  readonly io: ReadIo;
  readonly world: World;
  readonly client: ReadClient;
}): Promise<boolean> {
  const { query, options, sink, io, world, client } = asked;
  const container = await locateContainer(query, world, io.signal);
  if (container === undefined) return false;
  const frames = new Frames(container.Config.Tty);
  await client.follow(`/containers/${container.Id}/logs`, {
    signal: io.signal,
    doing: `read the log of the container ${container.Name}`,
    timeout: FOREVER,
    query: {
      stdout: true,
      stderr: true,
      follow: options.follow,
      timestamps: options.timestamps,
      tail: options.tail ?? 'all',
      ...(options.since === undefined ? {} : { since: (options.since / 1000).toFixed(3) }),
    },
    take: async (chunk) => {
      for (const written of frames.take(chunk)) await sink(written);
    },
  });
  return true;
}
