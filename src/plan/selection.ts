import type { ResourceAddress } from '../core/address.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { Graph } from '../core/graph.ts';
import { addressHint } from '../core/naming.ts';
import { isNamedBy } from './instances.ts';
import type { PlanOptions } from './model.ts';

/**
 * Which addresses the plan is about: with `--target` those named and all that they need, without those named by `--exclude` and all that
 * needs them. A destroy goes the other way: what needs a target goes with it, and what an excluded one needs stays. A name that fits nothing
 * is an error, since it would silently select nothing.
 */
export function selectAddresses(
  all: readonly ResourceAddress[],
  graph: Graph,
  options: PlanOptions,
): { readonly selected: ReadonlySet<ResourceAddress>; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const named = (patterns: readonly string[], flag: string) =>
    patterns.flatMap((pattern) => {
      const found = all.filter((address) => isNamedBy(address, pattern));
      if (found.length === 0) diagnostics.push(unknownAddress(pattern, flag, all));
      return found;
    });
  const targets = named(options.targets, '--target');
  const excludes = named(options.excludes, '--exclude');
  named(options.replace, '--replace');
  const inside = (addresses: readonly ResourceAddress[], direction: 'needs' | 'neededBy') =>
    new Set([...addresses, ...(graph.closure(addresses, direction) as readonly ResourceAddress[])]);
  const [along, against] = options.destroy ? (['neededBy', 'needs'] as const) : (['needs', 'neededBy'] as const);
  const wanted = options.targets.length === 0 ? new Set(all) : inside(targets, along);
  const unwanted = inside(excludes, against);
  return { selected: new Set([...wanted].filter((address) => !unwanted.has(address))), diagnostics };
}

function unknownAddress(pattern: string, flag: string, all: readonly ResourceAddress[]): Diagnostic {
  return {
    severity: 'error',
    code: 'UNKNOWN_ADDRESS',
    summary: 'An option names no resource',
    detail: `${flag} ${pattern} fits nothing in the documents or in the state.${addressHint(pattern, all)}`,
    address: pattern,
    next: 'accede graph --format json',
  };
}
