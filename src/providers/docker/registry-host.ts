import { registryHostIn } from './reference.ts';

/** The default registry as images name it. */
const DEFAULT_REGISTRY = 'docker.io';
/** The default registry as `docker login` writes it down and as credential helpers know it. */
const DEFAULT_REGISTRY_KEY = 'https://index.docker.io/v1/';
const DEFAULT_SPELLINGS: ReadonlySet<string> = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io']);

/** One spelling for every way to write a registry's address: host and port alone, in lower case, `docker.io` for the default one. */
export function canonicalRegistry(text: string): string {
  const host = text
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/\/.*$/, '')
    .toLowerCase();
  return DEFAULT_SPELLINGS.has(host) ? DEFAULT_REGISTRY : host;
}

/** The registry of a repository, in its one spelling. */
export function registryOf(repository: string): string {
  return canonicalRegistry(registryHostIn(repository) ?? DEFAULT_REGISTRY);
}

/** The address under which `docker login` stores what it was given for a registry. */
export function credentialKey(registry: string): string {
  return registry === DEFAULT_REGISTRY ? DEFAULT_REGISTRY_KEY : registry;
}

/** The members of a map that speak of a registry, the one that `docker login` writes first, then by name. */
export function entriesFor<T>(map: { readonly [key: string]: T }, registry: string): readonly (readonly [string, T])[] {
  const first = credentialKey(registry);
  return Object.entries(map)
    .filter(([key]) => canonicalRegistry(key) === registry)
    .toSorted(([a], [b]) => Number(b === first) - Number(a === first) || (a < b ? -1 : 1));
}
