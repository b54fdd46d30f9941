import type { Bench } from './docker-bench.ts';
import { type Making, remakeContainer } from './docker-remake.ts';

/** How a container was at one time, as the engine told it. */
export interface Then extends Making {
  readonly Id: string;
  readonly Name: string;
  readonly NetworkSettings: { readonly Networks: { readonly [name: string]: Endpoint } };
}

interface Endpoint {
  readonly Aliases: readonly string[] | null;
  readonly IPAMConfig: unknown;
}

export async function inspectContainer(bench: Bench, name: string): Promise<Then> {
  return (await bench.hand('GET', `/containers/${name}/json`)) as Then;
}

/** What `docker update` changes. */
const UPDATABLE = [
  'RestartPolicy',
  'Memory',
  'MemorySwap',
  'MemoryReservation',
  'NanoCpus',
  'CpuShares',
  'CpusetCpus',
  'PidsLimit',
] as const;

/** Makes a container anew by hand as another was then, with the marks that it bears now. */
export async function putBackAnew(bench: Bench, name: string, then: Then): Promise<void> {
  const now = await inspectContainer(bench, name);
  await remakeContainer(bench, now.Id, ({ Config, HostConfig }) => {
    const labels = { ...unmarked(then.Config['Labels']), ...marksOf(Config['Labels']) };
    Object.assign(Config, then.Config, { Labels: labels });
    if (Config['Hostname'] === then.Id.slice(0, 12)) delete Config['Hostname'];
    Object.assign(HostConfig, then.HostConfig);
  });
}

/** Changes a container by hand, without a new one, to what it was then. */
export async function putBackInPlace(bench: Bench, name: string, then: Then): Promise<void> {
  const now = await inspectContainer(bench, name);
  if (now.Name !== then.Name) await bench.hand('POST', `/containers/${now.Id}/rename?name=${then.Name.slice(1)}`);
  const [before, after] = [then.NetworkSettings.Networks, now.NetworkSettings.Networks];
  if (endpointsOf(before, then.Id) !== endpointsOf(after, now.Id)) {
    for (const network of Object.keys(after)) await bench.hand('POST', `/networks/${network}/disconnect`, { Container: now.Id });
    for (const [network, { Aliases, IPAMConfig }] of Object.entries(before)) {
      const aliases = (Aliases ?? []).filter((alias) => !then.Id.startsWith(alias));
      await bench.hand('POST', `/networks/${network}/connect`, { Container: now.Id, EndpointConfig: { Aliases: aliases, IPAMConfig } });
    }
  }
  const differing = UPDATABLE.filter((member) => JSON.stringify(then.HostConfig[member]) !== JSON.stringify(now.HostConfig[member]));
  const change = Object.fromEntries(differing.map((member) => [member, then.HostConfig[member]]));
  if (differing.length > 0) await bench.hand('POST', `/containers/${now.Id}/update`, change);
}

function endpointsOf(networks: Then['NetworkSettings']['Networks'], id: string): string {
  const aliases = ({ Aliases }: Endpoint) => (Aliases ?? []).filter((alias) => !id.startsWith(alias));
  return JSON.stringify(Object.entries(networks).map(([name, endpoint]) => [name, aliases(endpoint), endpoint.IPAMConfig]));
}

const MARK = 'io.accede.';

/** The labels that are marks of ours. */
export function marksOf(labels: unknown): object {
  return Object.fromEntries(Object.entries(labels ?? {}).filter(([name]) => name.startsWith(MARK)));
}

/** The labels that are no marks of ours. */
export function unmarked(labels: unknown): object {
  return Object.fromEntries(Object.entries(labels ?? {}).filter(([name]) => !name.startsWith(MARK)));
}
