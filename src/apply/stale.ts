import type { Diagnostic } from '../core/diagnostic.ts';
import type { PlanDocument } from '../plan/model.ts';

/**
 * Whether a plan made again under the lock is the plan that was given. Where it is not, the diagnostic names what moved: whoever reads it has
 * to decide whether to plan again or to look who else is at work.
 */
export function staleDiagnostic(given: PlanDocument, again: PlanDocument): Diagnostic | undefined {
  if (given.digest === again.digest) return undefined;
  const moved = movedInputs(given, again);
  return {
    severity: 'error',
    code: 'PLAN_STALE',
    summary: 'The plan is stale',
    detail: `Since it was made, ${moved.join('; ')}. Nothing was changed. Plan again and look at the difference.`,
    expected: given.digest,
    observed: again.digest,
    next: 'accede plan',
  };
}

function movedInputs(given: PlanDocument, again: PlanDocument): readonly string[] {
  const moved: string[] = [];
  if (given.engine.version !== again.engine.version) moved.push(`Accede changed from ${given.engine.version} to ${again.engine.version}`);
  if (given.inputs.sourceDigest !== again.inputs.sourceDigest) moved.push('the documents changed');
  if (given.inputs.releaseDigest !== again.inputs.releaseDigest) moved.push('the release changed');
  if (JSON.stringify(given.inputs.variables) !== JSON.stringify(again.inputs.variables)) moved.push('the variables changed');
  const [was, is] = [given.state, again.state];
  if (was.lineage !== is.lineage) moved.push('the state is another one');
  else if (was.begins !== is.begins) moved.push('the marks of a lost state came, went, or are those of another one');
  else if (was.epoch !== is.epoch) moved.push('the state was put back from a backup or moved to another store');
  else if (was.serial !== is.serial) moved.push(`the state went from #${was.serial} to #${is.serial}`);
  else if (was.digest !== is.digest) moved.push('the state changed');
  if (JSON.stringify(given.inputs.providers) !== JSON.stringify(again.inputs.providers))
    moved.push('a provider speaks to another version or cannot be reached');
  const objects = Object.keys({ ...given.fingerprints, ...again.fingerprints })
    .filter((address) => given.fingerprints[address] !== again.fingerprints[address])
    .sort();
  if (objects.length > 0) {
    const shown = objects.slice(0, 5).join(', ');
    moved.push(`live objects changed: ${shown}${objects.length > 5 ? ` and ${objects.length - 5} more` : ''}`);
  }
  return moved.length > 0 ? moved : ['what the plan decides came out differently (a secret or a condition changed)'];
}
