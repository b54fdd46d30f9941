import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../src/providers/contract.ts';
import type { Acting } from '../../../src/providers/docker/acting.ts';
import { renameContainer } from '../../../src/providers/docker/containers.ts';
import type { ContainerReply } from '../../../src/providers/docker/wire.ts';

const stale = { Id: 'c1', Name: 'job' } as ContainerReply;

/** An engine that refuses every rename, with a container of this name. */
function refusing(statusCode: number, name: string | undefined): Acting {
  const cause = Object.assign(new Error('refused'), { statusCode });
  return {
    io: { signal: new AbortController().signal },
    client: { post: () => Promise.reject(new ProviderError('INVALID', 'Refused.', { cause })) },
    world: { container: () => Promise.resolve(name === undefined ? undefined : { ...stale, Name: name }) },
  } as unknown as Acting;
}

describe('a container that is renamed', () => {
  it('must be left as it is when it has the name already, as that of a failed run that was marked a moment ago', async () => {
    for (const status of [400, 409])
      await expect(renameContainer(refusing(status, 'job-failed'), stale, 'job-failed')).resolves.toBeUndefined();
  });

  it('must not count as renamed otherwise', async () => {
    for (const acting of [refusing(409, 'job'), refusing(409, undefined), refusing(500, 'job-failed')])
      await expect(renameContainer(acting, stale, 'job-failed')).rejects.toThrow('Refused.');
  });
});
