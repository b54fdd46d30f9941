import { parseAddress } from '../core/address.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import { decodeValue } from '../core/value.ts';
import type { ResourceRow, Snapshot } from './model.ts';

/**
 * Checks what every state must hold, whoever wrote it: an address has the type of its row, no two objects have one id, attributes and outputs
 * decode, and no row depends on itself. A dependency on an address that is not there is a warning: the order of deletion loses one edge.
 */
export function verifyIntegrity(snapshot: Pick<Snapshot, 'resources' | 'outputs'>): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const owners = new Map<string, string>();
  const report = (row: ResourceRow, code: string, summary: string, detail: string) =>
    diagnostics.push({ severity: 'error', code, summary, detail, address: row.address });

  for (const [address, row] of snapshot.resources) {
    if (row.address !== address || parseAddress(row.address)?.type !== row.type) {
      report(
        row,
        'STATE_ADDRESS',
        'A row of the state has the wrong address',
        `The row of ${address} says that it is ${row.address}, a ${row.type}.`,
      );
    }
    for (const id of [row.id, ...row.deposed.map((deposed) => deposed.id)]) {
      const owner = owners.get(id);
      if (owner !== undefined) {
        const whose = owner === address ? `${address} has it twice` : `it belongs to ${owner} and to ${address}`;
        report(row, 'STATE_DUPLICATE_ID', 'Two objects of the state have one id', `The id ${id} must belong to one object, but ${whose}.`);
      }
      owners.set(id, address);
    }
    for (const part of ['attributes', 'computed'] as const) {
      const problem = decodeProblem(row[part]);
      if (problem !== undefined) {
        report(row, 'STATE_VALUE', 'A stored value has an unknown form', `The ${part} of ${address} can't be read: ${problem}.`);
      }
    }
    for (const needed of row.dependencies) {
      if (needed === address) {
        report(row, 'STATE_SELF_DEPENDENCY', 'A row of the state depends on itself', `${address} stands in its own dependencies.`);
      } else if (!snapshot.resources.has(needed)) {
        diagnostics.push(missingDependency(address, needed));
      }
    }
  }
  for (const output of snapshot.outputs) {
    const problem = decodeProblem(output.value);
    if (problem !== undefined) {
      diagnostics.push({
        severity: 'error',
        code: 'STATE_VALUE',
        summary: 'A stored value has an unknown form',
        detail: `The output ${output.name} can't be read: ${problem}.`,
      });
    }
  }
  return diagnostics;
}

/** The warning of a dependency on something that the state does not hold. */
export function missingDependency(address: string, needed: string): Diagnostic {
  return {
    severity: 'warning',
    code: 'STATE_DEPENDENCY',
    summary: 'A row of the state depends on something that is not in the state',
    detail: `${address} was applied when it needed ${needed}, and ${needed} is not in the state any more. Its place in the order of deletion does not count that any longer.`,
    address,
  };
}

function decodeProblem(stored: Parameters<typeof decodeValue>[0]): string | undefined {
  try {
    decodeValue(stored);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
