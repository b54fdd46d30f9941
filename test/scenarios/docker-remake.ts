import type { Bench } from './docker-bench.ts';

/** The parts of an inspect reply that make a container; both are changed in place. */
export interface Making {
  readonly Config: { [name: string]: unknown };
  readonly HostConfig: { [name: string]: unknown };
}

/** Networks that a container is on by its mode alone. */
const WITHOUT_ENDPOINT: readonly string[] = ['bridge', 'host', 'none'];

/** Makes a container anew by hand, with its marks and something different: what tools that "update" containers do. */
export async function remakeContainer(bench: Bench, ref: string, change: (making: Making) => void): Promise<string> {
  const old = (await bench.hand('GET', `/containers/${ref}/json`)) as Making & {
    readonly Name: string;
    readonly NetworkSettings: {
      readonly Networks: { readonly [name: string]: { readonly Aliases: readonly string[] | null; readonly IPAMConfig: unknown } };
    };
  };
  await bench.hand('DELETE', `/containers/${ref}?force=1`);
  const endpoints = Object.entries(old.NetworkSettings.Networks).map(
    ([name, endpoint]) =>
      [name, { Aliases: (endpoint.Aliases ?? []).filter((alias) => !ref.startsWith(alias)), IPAMConfig: endpoint.IPAMConfig }] as const,
  );
  const making = { Config: { ...old.Config }, HostConfig: { ...old.HostConfig } };
  if (making.Config['Hostname'] === ref.slice(0, 12)) delete making.Config['Hostname'];
  change(making);
  const [first, ...others] = endpoints;
  const body = {
    ...making.Config,
    HostConfig: making.HostConfig,
    ...(first === undefined || WITHOUT_ENDPOINT.includes(first[0])
      ? {}
      : { NetworkingConfig: { EndpointsConfig: { [first[0]]: first[1] } } }),
  };
  const { Id } = (await bench.hand('POST', `/containers/create?name=${old.Name.slice(1)}`, body)) as { readonly Id: string };
  for (const [name, endpoint] of others) await bench.hand('POST', `/networks/${name}/connect`, { Container: Id, EndpointConfig: endpoint });
  await bench.hand('POST', `/containers/${Id}/start`);
  return Id;
}

/** Makes a network anew by hand, with its marks and something different. */
export async function remakeNetwork(bench: Bench, ref: string, change: object): Promise<void> {
  const old = (await bench.hand('GET', `/networks/${ref}`)) as { readonly [name: string]: unknown };
  await bench.hand('DELETE', `/networks/${ref}`);
  await bench.hand('POST', '/networks/create', { ...old, CheckDuplicate: true, ...change });
}

/** Makes a volume anew by hand, with its marks and something different. */
export async function remakeVolume(bench: Bench, name: string, change: object): Promise<void> {
  const old = (await bench.hand('GET', `/volumes/${name}`)) as {
    readonly Labels: object;
    readonly Driver: string;
    readonly Options: object | null;
  };
  await bench.hand('DELETE', `/volumes/${name}`);
  await bench.hand('POST', '/volumes/create', {
    Name: name,
    Driver: old.Driver,
    DriverOpts: old.Options ?? {},
    Labels: old.Labels,
    ...change,
  });
}
