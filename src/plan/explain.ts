import { compareText, type ResourceAddress } from '../core/address.ts';
import type { SourceRange } from '../core/diagnostic.ts';
import { formatPath, isBelow, type PathSegment, parsePath } from '../core/path.ts';
import type { Expression, ResourceReference, Template } from '../core/template.ts';
import type { ResourceInstance } from '../spec/environment.ts';
import type { InstanceIndex } from './instances.ts';
import type { PlanDocument, PlannedChange, PlannedStep } from './model.ts';

/** One place of the documents for which a resource needs another. */
export interface Edge {
  readonly from: ResourceAddress;
  readonly to: ResourceAddress;
  readonly kind: 'reference' | 'precondition' | 'depends_on' | 'replace_triggered_by';
  /** The attribute, or null where the key itself says it. */
  readonly path: string | null;
  /** The expression without `${` and `}`. */
  readonly text: string | null;
  readonly source: SourceRange | null;
}

/** Why a step waits for another. */
export interface Wait {
  readonly step: string;
  readonly kind: 'order' | 'needs' | 'needed-by' | 'turn' | 'earlier';
  /** A whole sentence. */
  readonly why: string;
  /** The places of the documents, link by link where others stand between the two. */
  readonly edges: readonly Edge[];
}

/** One link of the way back from a change to what changed first. */
export interface CauseLink {
  readonly address: ResourceAddress;
  readonly action: PlannedChange['action'];
  readonly kind: 'self' | 'follows' | 'drift' | 'requested' | null;
  readonly reason: string;
  /** What differs, and where it is written. */
  readonly places: readonly { readonly path: string; readonly source: SourceRange | null }[];
  /** The dependency through which the next link pulled it in. */
  readonly through: readonly Edge[];
}

/** The places for which `from` needs `to`; none where it does not, or where the documents are not there any more. */
export function edgesBetween(index: InstanceIndex, from: ResourceAddress, to: ResourceAddress): readonly Edge[] {
  const instance = index.byAddress.get(from);
  if (instance === undefined) return [];
  const reads = (references: readonly ResourceReference[]) =>
    references.some((reference) => index.referenced(reference).some((needed) => needed.address === to));
  const at = (kind: Edge['kind'], more: Partial<Pick<Edge, 'path' | 'text'>>, source: SourceRange | undefined): Edge => ({
    from,
    to,
    kind,
    path: more.path ?? null,
    text: more.text ?? null,
    source: source ?? null,
  });
  const { lifecycle } = instance;
  return [
    ...readsOf(instance.attributes, []).flatMap(({ expression, path, source }) =>
      reads(expression.references)
        ? [at('reference', { path: formatPath(path), text: expression.text }, expression.source ?? source ?? instance.locate(path))]
        : [],
    ),
    ...lifecycle.preconditions.flatMap(({ that }) =>
      reads(that.references) ? [at('precondition', { text: that.text }, that.source ?? instance.locate(['lifecycle']))] : [],
    ),
    ...instance.dependsOn.flatMap((dependency) =>
      index.named(dependency.address).some((needed) => needed.address === to)
        ? [at('depends_on', { text: dependency.address }, instance.locate(['depends_on']))]
        : [],
    ),
    ...(reads(lifecycle.replaceTriggeredBy)
      ? [at('replace_triggered_by', {}, instance.locate(['lifecycle', 'replace_triggered_by']))]
      : []),
  ];
}

interface Read {
  readonly expression: Expression;
  readonly path: readonly PathSegment[];
  readonly source: SourceRange | undefined;
}

function readsOf(template: Template, path: readonly PathSegment[]): readonly Read[] {
  switch (template.kind) {
    case 'literal':
      return [];
    case 'expression':
      return [{ expression: template.expression, path, source: template.source }];
    case 'text':
      return template.parts.flatMap((part) => (typeof part === 'string' ? [] : [{ expression: part, path, source: template.source }]));
    case 'list':
      return template.items.flatMap((item, position) => readsOf(item, [...path, position]));
    case 'map':
      return template.entries.flatMap(([name, item]) => readsOf(item, [...path, name]));
  }
  return template satisfies never;
}

/** The shortest way from a resource to one that it needs, others between; undefined when there is none. */
export function wayBetween(index: InstanceIndex, from: ResourceAddress, to: ResourceAddress): readonly ResourceAddress[] | undefined {
  const previous = new Map<ResourceAddress, ResourceAddress | undefined>([[from, undefined]]);
  for (const address of previous.keys()) {
    if (address === to) break;
    const instance = index.byAddress.get(address);
    for (const needed of instance === undefined ? [] : index.needs(instance)) if (!previous.has(needed)) previous.set(needed, address);
  }
  if (!previous.has(to)) return undefined;
  const way: ResourceAddress[] = [];
  for (let at: ResourceAddress | undefined = to; at !== undefined; at = previous.get(at)) way.unshift(at);
  return way;
}

/** What a step waits for, and why. */
export function waitsOf(plan: PlanDocument, step: PlannedStep, index: InstanceIndex): readonly Wait[] {
  const byId = new Map(plan.steps.map((other) => [other.id, other]));
  return step.after.map((id) => {
    const other = byId.get(id);
    return other === undefined ? { step: id, kind: 'earlier', why: 'It comes earlier.', edges: [] } : waitFor(plan, step, other, index);
  });
}

function waitFor(plan: PlanDocument, step: PlannedStep, other: PlannedStep, index: InstanceIndex): Wait {
  const { address } = step;
  const wait = (kind: Wait['kind'], why: string, way: readonly ResourceAddress[] = []): Wait => ({
    step: other.id,
    kind,
    why,
    edges: way.slice(1).flatMap((to, position) => edgesBetween(index, way[position] ?? to, to)),
  });
  if (other.address === address)
    return wait('order', `The effects of one change run in their order: ${other.effect} comes before ${step.effect}.`);
  const needs = wayBetween(index, address, other.address);
  if (needs !== undefined) return wait('needs', `${address} needs ${needs.slice(1).join(', which needs ')}.`, needs);
  const needed = wayBetween(index, other.address, address);
  if (needed !== undefined) {
    return wait(
      'needed-by',
      `${other.address} needs ${needed.slice(1).join(', which needs ')}, so that it has to be through before.`,
      needed,
    );
  }
  const rolling = plan.rolling.find(({ batches }) => {
    const all = batches.flatMap(({ addresses }) => addresses);
    return all.includes(address) && all.includes(other.address);
  });
  if (rolling !== undefined)
    return wait('turn', `The instances of ${rolling.resource} take turns, and ${other.address} is of an earlier batch.`);
  const commits = index.byAddress.get(address)?.commitAfter ?? [];
  if (commits.some((name) => other.address === name || other.address.startsWith(`${name}[`))) {
    return wait('needed-by', `${address} says commit_after: ${other.address}.`);
  }
  return wait('needed-by', `${other.address} depended on ${address} when it was applied last, so that it has to be through before.`);
}

/** The way from a change back to what changed first, link by link. */
export function causesOf(plan: PlanDocument, address: ResourceAddress, index: InstanceIndex): readonly CauseLink[] {
  const links: CauseLink[] = [];
  const seen = new Set<string>();
  let at = plan.changes.find((change) => change.address === address);
  while (at !== undefined && !seen.has(at.address)) {
    seen.add(at.address);
    const change = at;
    const next = sourceOf(plan, change, index);
    const through = next === undefined ? [] : edgesAlong(index, change, next.address);
    links.push({ ...linkOf(change, index.byAddress.get(change.address)), through });
    at = next;
  }
  return links;
}

/** The change that brought a change about: the one that it follows, else one whose value an attribute reads that differs. */
function sourceOf(plan: PlanDocument, change: PlannedChange, index: InstanceIndex): PlannedChange | undefined {
  const { cause, address } = change;
  if (cause?.kind === 'follows') return plan.changes.find((other) => other.address === cause.of);
  const instance = index.byAddress.get(address);
  if (cause?.kind !== 'self' || instance === undefined) return undefined;
  return plan.changes.find(
    (other) =>
      other.address !== address &&
      other.action !== 'noop' &&
      other.action !== 'read' &&
      edgesBetween(index, address, other.address).some((edge) => isOfChange(change, edge)),
  );
}

/** Whether what an edge says stands at something that differs. */
function isOfChange({ paths }: PlannedChange, { path: written }: Edge): boolean {
  return written !== null && paths.some(({ path }) => isBelow(path, written) || isBelow(written, path));
}

function edgesAlong(index: InstanceIndex, change: PlannedChange, to: ResourceAddress): readonly Edge[] {
  const from = change.address;
  const direct = edgesBetween(index, from, to);
  const telling = direct.filter((edge) => isOfChange(change, edge));
  if (direct.length > 0) return telling.length > 0 ? telling : direct;
  const way = wayBetween(index, from, to) ?? [];
  return way.slice(1).flatMap((needed, position) => edgesBetween(index, way[position] ?? needed, needed));
}

function linkOf(change: PlannedChange, instance: ResourceInstance | undefined): Omit<CauseLink, 'through'> {
  const paths = change.paths.map(({ path }) => path);
  const places = paths.map((path) => ({ path, source: instance?.locate(parsePath(path) ?? []) ?? change.source }));
  return {
    address: change.address,
    action: change.action,
    kind: change.cause?.kind ?? null,
    reason: change.reason,
    places: places.length > 0 ? places : [{ path: '', source: instance?.source ?? change.source }],
  };
}

/** What an instance needs and what needs it, by the documents; sorted. */
export function neighbours(
  index: InstanceIndex,
  address: ResourceAddress,
): { readonly needs: readonly ResourceAddress[]; readonly neededBy: readonly ResourceAddress[] } {
  const instance = index.byAddress.get(address);
  const neededBy = [...index.byAddress.values()].filter((other) => index.needs(other).includes(address)).map((other) => other.address);
  return { needs: instance === undefined ? [] : index.needs(instance), neededBy: neededBy.sort(compareText) };
}
