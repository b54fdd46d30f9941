import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { ProviderError } from '../../../src/providers/contract.ts';
import { connect } from '../../../src/providers/docker/client.ts';
import { probeHttp } from '../../../src/providers/docker/probe.ts';

it('must end a request to what never answers, also when memory is collected meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const collecting = setInterval(collect, 20);
  const { signal } = new AbortController();
  const connection = await connect({ kind: 'tcp', host: '127.0.0.1', port });
  try {
    const asked = connection.writer.post('/x', { signal, doing: 'do it', timeout: 300 }).catch((error: unknown) => error);
    const probed = probeHttp({ url: `http://127.0.0.1:${port}/` }, signal);
    const failure = await asked;
    expect(failure).toBeInstanceOf(ProviderError);
    expect(failure).toMatchObject({ code: 'UNKNOWN_OUTCOME', message: expect.stringContaining('did not answer in time') });
    expect(await probed).toMatch(/does not answer \(no answer in time\)/);
    const harmless = { signal, doing: 'pull it', timeout: 100, mutates: false, onChunk: () => undefined };
    const pulled = connection.writer.stream('/x', harmless).catch((error: unknown) => error);
    expect(await pulled).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('did not answer in time') });
    const off = new AbortController();
    const cancelled = connection.reader.get('/x', { signal: off.signal, doing: 'look' }).catch((error: unknown) => error);
    off.abort();
    expect(await cancelled).toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('called off') });
  } finally {
    clearInterval(collecting);
    connection.close();
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  }
});
