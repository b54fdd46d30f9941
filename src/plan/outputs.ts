import { compareText } from '../core/address.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import { evaluateTemplate, OMIT, type ResourceLookup } from '../core/template.ts';
import { containsSensitive, containsUnknown, decodeValue, encodeValue, sameValue, type Value } from '../core/value.ts';
import type { OutputBlock } from '../spec/environment.ts';
import type { StoredOutput } from '../state/model.ts';
import type { PlannedOutput } from './model.ts';

/** The outputs after the plan beside those that the state holds, sorted by name. */
export function planOutputs(
  blocks: readonly OutputBlock[],
  stored: readonly StoredOutput[],
  lookup: ResourceLookup,
  key: Buffer | undefined,
): { readonly outputs: readonly PlannedOutput[]; readonly diagnostics: readonly Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const before = new Map(stored.map((output) => [output.name, decodeValue(output.value)]));
  const after = new Map<string, Value>();
  for (const block of blocks) {
    const outcome = evaluateTemplate(block.value, lookup);
    diagnostics.push(...outcome.diagnostics.map((diagnostic) => ({ ...diagnostic, source: diagnostic.source ?? block.source })));
    if (outcome.ok && outcome.value !== OMIT) after.set(block.name, outcome.value);
  }
  const names = [...new Set([...before.keys(), ...after.keys()])].sort(compareText);
  const outputs = names.map((name): PlannedOutput => {
    const was = before.get(name);
    const will = after.get(name);
    return {
      name,
      before: was === undefined ? null : encodeValue(was, key),
      after: will === undefined ? null : encodeValue(will, key),
      changed: !sameValue(was, will, key),
      unknown: will !== undefined && containsUnknown(will),
      sensitive: [was, will].some((value) => value !== undefined && containsSensitive(value)),
    };
  });
  return { outputs, diagnostics };
}
