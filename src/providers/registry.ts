import { compareText } from '../core/address.ts';
import type { Provider, Registry, ResourceType } from './contract.ts';
import { dockerProvider } from './docker/provider.ts';
import { localProvider } from './local/provider.ts';

/** Puts providers together. Throws on two providers or types of one name and on a type that bears another provider's name: bugs of the build. */
export function createRegistry(providers: readonly Provider[]): Registry {
  const byName = new Map<string, Provider>();
  const byType = new Map<string, { readonly type: ResourceType; readonly provider: Provider }>();
  for (const provider of [...providers].sort((a, b) => compareText(a.name, b.name))) {
    if (byName.has(provider.name)) throw new Error(`two providers are called ${provider.name}`);
    byName.set(provider.name, provider);
    for (const type of provider.types) {
      if (!type.type.startsWith(`${provider.name}.`)) throw new Error(`the provider ${provider.name} has the type ${type.type}`);
      if (byType.has(type.type)) throw new Error(`two types are called ${type.type}`);
      byType.set(type.type, { type, provider });
    }
  }
  const types = [...byType.values()].map((entry) => entry.type).sort((a, b) => compareText(a.type, b.type));
  return { providers: byName, types, find: (type) => byType.get(type) };
}

/** The providers of this build. Making it loads no driver; a provider loads its own when it is opened. */
export function defaultRegistry(): Registry {
  return createRegistry([dockerProvider, localProvider]);
}
