import type { Environment } from '../spec/environment.ts';
import type { Assessed, Assessment } from './assess.ts';
import type { PlanInputs, World } from './inputs.ts';
import { beginningLineage, lineagesOf, removalOf, type Stray } from './marks.ts';
import type { PlanMessage, Refusal } from './model.ts';

/**
 * Why a state cannot begin: its lineage would be a guess. The marks name several, or none was seen while a block that the documents use could
 * not be looked into.
 */
export function beginningProblem(
  environment: Pick<Environment, 'name' | 'resources'>,
  world: Pick<World, 'marked' | 'unlisted'>,
): Refusal | undefined {
  const lineages = lineagesOf(world.marked);
  if (lineages.length > 1) {
    const counts = lineages.map((lineage) => {
      const objects = world.marked.filter((object) => object.lineage === lineage);
      return `${lineage} (${objects.length === 1 ? '1 object' : `${objects.length} objects`}, one is ${nameOf(objects[0])})`;
    });
    return {
      code: 'LINEAGE_AMBIGUOUS',
      path: environment.name,
      message: `There is no state, and what bears the mark of ${environment.name} was made by several states: ${counts.join('; ')}. Which of them goes on must be said; what another one made then belongs to somebody else and is left alone.`,
      expected: 'one lineage',
      observed: lineages.join(', '),
      next: 'accede state init --lineage LINEAGE',
    };
  }
  const blind = [...world.unlisted.keys()].filter((alias) => environment.resources.some(({ provider }) => provider === alias)).sort();
  if (lineages.length === 1 || blind.length === 0) return undefined;
  const reasons = blind.map((alias) => `${alias} (${world.unlisted.get(alias) ?? ''})`);
  return {
    code: 'LINEAGE_UNSEEN',
    path: environment.name,
    message: `There is no state, and whether there was one cannot be told: nothing can be seen of ${reasons.join('; ')}, where objects may bear its mark. A state that begins with another lineage would never know them again. Make it reachable, or say that there never was a state.`,
    next: 'accede state init --lineage new',
  };
}

/** What forbids that a state begins with this plan. A block whose objects are refused because they cannot be seen needs no second word. */
export function beginningRefusals(inputs: PlanInputs, assessment: Assessment): readonly Refusal[] {
  const { snapshot, environment, world } = inputs;
  const problem = snapshot === undefined ? beginningProblem(environment, world) : undefined;
  if (problem === undefined) return [];
  const isTold = [...assessment.resources.values()].some(
    ({ address, observed }) => assessment.selected.has(address) && observed?.kind === 'cannot-see',
  );
  return problem.code === 'LINEAGE_UNSEEN' && isTold ? [] : [problem];
}

/** What whoever lost a state has to know: that it is taken up again, what stays outside of it, and what was taken on trust. */
export function beginningWarnings(inputs: PlanInputs, assessment: Assessment): readonly PlanMessage[] {
  if (!inputs.beginning) return [];
  const { snapshot, world, environment, options } = inputs;
  const lineage = beginningLineage(snapshot, world.marked);
  const warnings: PlanMessage[] = [];
  if (lineage !== null) {
    const count = world.marked.length === 1 ? '1 object bears' : `${world.marked.length} objects bear`;
    warnings.push({
      code: 'STATE_LOST',
      message: `There is no state, but ${count} the mark of ${environment.name}: the state that made them is lost or was moved away. If a copy of it is left, put that in its place instead. Else an apply begins a new state with the same lineage, ${lineage}, and what stands in the place of an address is recorded there again.`,
    });
  }
  for (const stray of assessment.strays) {
    if (removalOf(inputs, stray) !== undefined || options.destroy) continue;
    warnings.push(strayWarning(stray));
  }
  if (snapshot === undefined || options.destroy) {
    for (const [alias, reason] of [...world.unlisted].sort(([a], [b]) => (a < b ? -1 : 1))) {
      warnings.push({ code: 'MARKS_UNSEEN', message: `What bears our mark behind the provider ${alias} cannot be listed: ${reason}` });
    }
  }
  for (const assessed of assessment.resources.values()) {
    if (!assessment.selected.has(assessed.address) || assessed.recorded !== undefined) continue;
    const warning = options.destroy ? leftWarning(assessed) : trustWarning(assessed);
    if (warning !== undefined) warnings.push(warning);
  }
  return warnings;
}

function strayWarning({ object, madeAs }: Stray): PlanMessage {
  const made = madeAs === undefined ? '' : `, made as ${madeAs}`;
  const address = madeAs === undefined ? {} : { address: madeAs };
  if (object.left === true) {
    return {
      code: 'MARKED_LEFT',
      message: `The ${object.type} ${object.ref} bears our mark${made}, and was left behind by a run that replaced it or broke off. It stays as it is; remove it by hand when nobody needs it.`,
      ...address,
    };
  }
  return {
    code: 'MARKED_UNCLAIMED',
    message: `The ${object.type} ${object.ref} bears our mark${made}, and stands in the place of no address of the documents. It stays as it is, and the state will not know it. Describe it in the documents to keep it, name the address in \`removed:\` to have this plan remove it, or remove it by hand.`,
    ...address,
  };
}

/** Everything is to go, and this does not: nothing says that it is ours. */
function leftWarning({ address, type, observed, decision }: Assessed): PlanMessage | undefined {
  if (observed?.kind !== 'found' || decision.action !== 'noop' || type.data) return undefined;
  const whose = observed.owner === 'other' ? 'bears the mark of somebody else' : 'bears no mark of ours and is not recorded';
  return {
    code: 'LEFT_UNMARKED',
    message: `The ${type.type} ${observed.ref} stands in the place of ${address} and ${whose}. It stays; if it was ours, import it first, or remove it by hand.`,
    address,
  };
}

/** What something was made with and cannot be read back, now that its record is lost. What only says how it is dealt with is not a part of it. */
function trustWarning({ address, type, evaluated, observed, decision }: Assessed): PlanMessage | undefined {
  if (decision.action !== 'adopt' || evaluated === undefined || observed?.kind !== 'found' || observed.id === undefined) return undefined;
  const unread = Object.keys(evaluated.normal).filter((name) => {
    const traits = type.traits.get(name);
    const isOfObject = traits?.immutable === true || traits?.facet === 'credential' || traits?.facet === 'content';
    return traits?.writeOnly === true && isOfObject;
  });
  if (unread.length === 0) return undefined;
  return {
    code: 'ADOPTED_ON_TRUST',
    message: `What it was given as ${unread.sort().join(', ')} cannot be read back, so it is taken to be what the documents say. If that changed since it was made, replace it: --replace '${address}'.`,
    address,
  };
}

function nameOf(object: World['marked'][number] | undefined): string {
  return object?.address ?? object?.ref ?? '';
}
