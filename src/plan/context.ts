import path from 'node:path';
import { parseAddress, type ResourceAddress } from '../core/address.ts';
import type { Attributes } from '../core/value.ts';
import type { TypeContext } from '../providers/contract.ts';
import type { Environment, ProviderBlock, ResourceInstance } from '../spec/environment.ts';
import type { ResourceRow } from '../state/model.ts';

/** What the pure half of a type may know of a desired resource. */
export function instanceContext(environment: Environment, instance: ResourceInstance): TypeContext {
  return contextOf(environment, instance.address, configOf(environment, instance.provider), instance.folder);
}

/** The same for a resource that only the state knows. */
export function rowContext(environment: Environment, row: ResourceRow): TypeContext {
  return placeContext(environment, row);
}

/** The same for what only the journal knows. */
export function placeContext(environment: Environment, row: Pick<ResourceRow, 'address' | 'provider' | 'folder'>): TypeContext {
  return contextOf(environment, row.address, configOf(environment, row.provider), path.resolve(environment.folder, row.folder));
}

function contextOf(environment: Environment, address: ResourceAddress, config: Attributes, folder: string): TypeContext {
  const parts = parseAddress(address);
  if (parts === undefined) throw new Error(`${address} is not an address`);
  return {
    environment: environment.name,
    address,
    name: parts.name,
    ...(parts.key === undefined ? {} : { key: parts.key }),
    folder,
    config,
  };
}

/** The configuration of a provider block; that of a block which is not written is empty. */
export function configOf(environment: Environment, alias: string): Attributes {
  return environment.providers.find((block) => block.alias === alias)?.config ?? {};
}

/** The block of an alias. A plain provider name that is not written is implied; an alias that is not written is not there. */
export function providerBlock(environment: Environment, alias: string): ProviderBlock | undefined {
  const written = environment.providers.find((block) => block.alias === alias);
  if (written !== undefined || alias.includes(':')) return written;
  return { alias, provider: alias, config: {}, folder: environment.folder };
}
