import type { ResourceAddress } from '../core/address.ts';
import { type Attributes, isList } from '../core/value.ts';
import type { ResourceType } from '../providers/contract.ts';
import type { ResourceInstance } from '../spec/environment.ts';

/** Whether an object is to be protected from removal: its own word first, then the policy's patterns, then its type's default. */
export function isProtected(instance: ResourceInstance, type: ResourceType, policy: Attributes): boolean {
  const own = instance.lifecycle.preventDestroy;
  return own ?? isProtectedAt(instance.address, type, policy);
}

/** The same for what no document describes. */
export function isProtectedAt(address: ResourceAddress, type: ResourceType, policy: Attributes): boolean {
  const patterns = policy['prevent_destroy'];
  if (isList(patterns) && patterns.some((pattern) => typeof pattern === 'string' && matchesAddress(address, pattern))) return true;
  return type.protected;
}

/** An address pattern: `*` stands for any run of characters, everything else for itself. */
export function matchesAddress(address: ResourceAddress, pattern: string): boolean {
  const source = pattern
    .split('*')
    .map((literal) => literal.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${source}$`).test(address);
}
