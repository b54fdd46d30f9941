import { digestOf } from '../core/canonical.ts';
import type { PlanInputs } from './inputs.ts';
import type { PlanDocument, Succession } from './model.ts';

/**
 * The facts that the plan rests on. Apply evaluates them again under the lock, before any effect; one that moved makes the plan stale. They
 * hold by construction when the plan is made.
 */
export function planGuards(inputs: PlanInputs, document: Pick<PlanDocument, 'state' | 'inputs' | 'fingerprints'>): Succession['guards'] {
  const { lineage, epoch, begins } = document.state;
  const which = lineage === null ? (begins === null ? 'none' : `none, begins as ${begins}`) : `${lineage} epoch ${epoch}`;
  const guards: [string, string][] = [
    ['documents', document.inputs.sourceDigest],
    ['live objects', digestOf(document.fingerprints)],
    ['state', `${which} #${document.state.serial} ${document.state.digest}`],
  ];
  if (document.inputs.releaseDigest !== null) guards.push(['release', document.inputs.releaseDigest]);
  for (const alias of [...inputs.world.versions.keys()].sort()) {
    const versions = document.inputs.providers[alias] ?? {};
    const text = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
    if (text.length > 0) guards.push([`provider ${alias}`, text.join(', ')]);
  }
  return guards.map(([name, value]) => ({ name, expected: value, observed: value, ok: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
