import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { buildImage } from '../../scripts/servers/image.ts';
import { Bench } from './docker-bench.ts';

function shown(program: string, ...args: readonly string[]): string {
  return spawnSync(program, args, { encoding: 'utf8' }).stdout;
}

it('must run two engines side by side, and leave nothing of them', async () => {
  const benches = [await Bench.start(), await Bench.start()];
  const [one, two] = benches as [Bench, Bench];
  try {
    expect(one.engine.prefix).not.toBe(two.engine.prefix);
    for (const bench of benches) {
      const { id } = await buildImage(bench.engine.host, { healthcheck: { test: ['CMD', 'true'], intervalMs: 200 } });
      await bench.hand('POST', '/networks/create', { Name: 'net' });
      const { Id } = (await bench.hand('POST', '/containers/create?name=cc', { Image: id, HostConfig: { NetworkMode: 'net' } })) as {
        readonly Id: string;
      };
      await bench.hand('POST', `/containers/${Id}/start`);
      const health = async () =>
        ((await bench.hand('GET', `/containers/${Id}/json`)) as { State: { Health: { Status: string } } }).State.Health.Status;
      await expect.poll(health, { timeout: 10_000 }).toBe('healthy');
      const networks = (await bench.hand('GET', '/networks/net')) as {
        readonly IPAM: { readonly Config: readonly { readonly Subnet: string }[] };
      };
      expect(networks.IPAM.Config[0]?.Subnet.startsWith(`${bench.engine.prefix}.`)).toBe(true);
    }
  } finally {
    await Promise.all(benches.map((bench) => bench.stop()));
  }
  for (const { folder, engine } of benches) {
    expect(existsSync(folder)).toBe(false);
    expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(folder);
    expect(shown('ip', 'address')).not.toContain(` ${engine.prefix}.`);
    expect(shown('iptables', '-S')).not.toContain(` ${engine.prefix}.`);
    expect(shown('ps', '-eo', 'args')).not.toContain(folder);
  }
});
