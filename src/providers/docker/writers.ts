import { z } from 'zod';
import { type EffectIo, ProviderError, type ReadIo } from '../contract.ts';
import type { Writer } from '../writers-seam.ts';
import type { WriteClient } from './client.ts';
import { isOfEnvironment } from './marks.ts';
import { setRestartPolicy, stopContainer } from './removal.ts';
import type { ContainerReply } from './wire.ts';
import type { World } from './world.ts';

const restartPolicy = z.object({ Name: z.string(), MaximumRetryCount: z.number() });

/** Every running container that bears the label and not the mark of this environment. */
export async function listWriters(label: string, environment: string, world: World, io: ReadIo): Promise<readonly Writer[]> {
  world.refresh();
  const [key = '', ...rest] = label.split('=');
  const value = label.includes('=') ? rest.join('=') : undefined;
  const labelled = (await world.containers(io.signal)).filter(({ Labels, State }) => {
    const has = Object.hasOwn(Labels, key) && (value === undefined || Labels[key] === value);
    return has && State !== 'exited' && State !== 'created' && State !== 'dead' && !isOfEnvironment(Labels, environment);
  });
  const containers = await Promise.all(labelled.map(({ Id }) => world.container(Id, io.signal)));
  return containers.flatMap((container) => (container === undefined ? [] : [writerOf(container)]));
}

function writerOf({ Id, Name, State, HostConfig }: ContainerReply): Writer {
  const { Name: policy, MaximumRetryCount } = HostConfig.RestartPolicy;
  return { ref: Id, name: Name, startedAt: State.StartedAt, autostart: JSON.stringify({ Name: policy || 'no', MaximumRetryCount }) };
}

interface Acting {
  readonly client: WriteClient;
  readonly world: World;
  readonly io: EffectIo;
}

/** Takes a container's restart policy away and stops it in its own time. */
export async function haltWriter({ ref }: Writer, acting: Acting): Promise<void> {
  const container = await acting.world.container(ref, acting.io.signal);
  if (container === undefined) return;
  await setRestartPolicy(acting, container, { Name: 'no' });
  await stopContainer(acting, container);
}

/** Gives a container its restart policy again and starts it. */
export async function releaseWriter({ ref, name, autostart }: Writer, acting: Acting): Promise<void> {
  const { client, world, io } = acting;
  const container = await world.container(ref, io.signal);
  if (container === undefined) throw new ProviderError('NOT_FOUND', `The container ${name} was removed meanwhile, so it cannot come back.`);
  const { Name, MaximumRetryCount } = restartPolicy.parse(JSON.parse(autostart));
  await setRestartPolicy(acting, container, MaximumRetryCount === 0 ? { Name } : { Name, MaximumRetryCount });
  if (container.State.Running) return;
  await client.post(`/containers/${container.Id}/start`, { signal: io.signal, doing: `start the container ${name}`, timeout: 60_000 });
}
