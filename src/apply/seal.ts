import { type Bundle, storedBundle } from '../core/bundle.ts';
import { type Outcome, settle } from '../core/diagnostic.ts';
import { evaluateTemplate, OMIT } from '../core/template.ts';
import { encodeValue } from '../core/value.ts';
import type { PlanDocument } from '../plan/model.ts';
import { governanceOf } from '../plan/succession/sealed-documents.ts';
import type { Environment } from '../spec/environment.ts';
import type { Mutation } from '../state/contract.ts';
import type { Sealed, StoredOutput } from '../state/model.ts';
import type { Exposures } from './exposures.ts';

/**
 * What a successful apply puts in force; undefined for a run over a part of the environment, which puts nothing in force as a whole, and null
 * for one that took everything down.
 */
export function sealOf(
  environment: Environment,
  document: PlanDocument,
  known: { readonly serial: number; readonly key: Buffer; readonly bundle: Bundle | undefined },
): Sealed | null | undefined {
  const { serial, key, bundle } = known;
  const { destroy, keepProtected } = document.inputs.options;
  if (!isWhole(document)) return undefined;
  if (destroy) return keepProtected ? undefined : null;
  return {
    serial,
    sourceDigest: environment.sourceDigest,
    releaseDigest: environment.release?.digest ?? null,
    governance: governanceOf(environment, key),
    commit: document.inputs.commit,
    secrets: Object.fromEntries(
      [...environment.secrets].flatMap(([name, secret]) => {
        const fingerprint = secret.fingerprint(key);
        return fingerprint === undefined ? [] : [[name, fingerprint]];
      }),
    ),
    source: bundle?.digest ?? null,
  };
}

/** What the environment was made of, where the plan puts it in force as a whole. */
export function bundleToKeep(environment: Environment, document: PlanDocument): Bundle | undefined {
  return isWhole(document) && !document.inputs.options.destroy ? environment.bundle?.() : undefined;
}

/** Writes that keep what is not kept yet of a bundle. */
export function keeping(bundle: Bundle | undefined, kept: ReadonlySet<string>): readonly Mutation[] {
  if (bundle === undefined) return [];
  const missing = [...storedBundle(bundle)].filter(([digest]) => !kept.has(digest));
  return missing.map(([digest, body]) => ({ kind: 'source', digest, body }));
}

/** The outputs after the run. A run over a part leaves those that are `recorded`. */
export function finalOutputs(
  environment: Environment,
  document: PlanDocument,
  exposures: Exposures,
  known: { readonly recorded: readonly StoredOutput[]; readonly key: Buffer },
): Outcome<readonly StoredOutput[]> {
  if (!isWhole(document)) return settle(known.recorded, []);
  if (document.inputs.options.destroy) return settle([], []);
  const outputs: StoredOutput[] = [];
  for (const block of environment.outputs) {
    const outcome = evaluateTemplate(block.value, exposures.lookup);
    if (!outcome.ok) return outcome;
    if (outcome.value !== OMIT) outputs.push({ name: block.name, value: encodeValue(outcome.value, known.key) });
  }
  return settle(outputs, []);
}

/** Whether the plan is about the environment as a whole. */
export function isWhole(document: PlanDocument): boolean {
  const { targets, excludes, refreshOnly } = document.inputs.options;
  return targets.length === 0 && excludes.length === 0 && !refreshOnly;
}
