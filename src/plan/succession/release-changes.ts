import { compareText } from '../../core/address.ts';
import { facetAt, RELEASE_FACETS } from '../../core/document-facets.ts';
import type { Facet, Role } from '../../core/facet.ts';
import { formatPath, type PathSegment } from '../../core/path.ts';
import { isAttributes, isList, type Plain, sameValue } from '../../core/value.ts';
import type { PathChange } from './mask.ts';

type Document = { readonly [name: string]: Plain };

/** How two releases differ. Sorted by path; undefined is no release. */
export function releaseChanges(before: Plain | undefined, after: Plain | undefined): readonly PathChange[] {
  const [left, right] = [normalized(before), normalized(after)];
  const changes: PathChange[] = [];
  for (const section of namesOf(left, right)) {
    const [was, will] = [left[section], right[section]];
    if (!SECTIONS.has(section)) {
      for (const path of differences(was, will, [section])) changes.push(changeAt(path, 'infrastructure', { left, right }));
      continue;
    }
    const [entries, others] = [mapOf(was), mapOf(will)];
    for (const name of namesOf(entries, others)) {
      const role = roleOfEntry(section, name, { left, right });
      const [entry, other] = [entries[name], others[name]];
      if (entry === undefined || other === undefined) {
        const action = entry === undefined ? 'added' : 'removed';
        const mark = section === 'roles' && action === 'added' ? ({ mark: 'release-role' } as const) : {};
        changes.push({ path: pathOf([section, name]), role, facet: 'configuration', action, ...mark });
        continue;
      }
      for (const path of differences(entry, other, [section, name])) changes.push(changeAt(path, role, { left, right }));
    }
  }
  return changes.sort((a, b) => compareText(a.path, b.path));
}

/** The candidate's release with every tuning value that differs as it is in force; undefined where none differs. */
export function withTuningInForce(before: Plain | undefined, after: Plain | undefined): Plain | undefined {
  if (after === undefined || !isDocument(after)) return undefined;
  const roles = mapOf(mapOf(before)['roles']);
  const tuned = releaseChanges(before, after).filter((change) => change.facet === 'tuning' && change.role === 'worker');
  if (tuned.length === 0) return undefined;
  const changed = Object.fromEntries(
    Object.entries(mapOf(after['roles'])).map(([name, role]) => {
      const values = mapOf(role);
      const former = mapOf(roles[name]);
      const kept = Object.entries(values).map(([key, value]) => {
        const isTuned = tuned.some(({ path }) => path === pathOf(['roles', name, key]));
        return [key, isTuned ? (former[key] ?? value) : value] as const;
      });
      return [name, Object.fromEntries(kept)] as const;
    }),
  );
  return { ...after, roles: changed };
}

/** Names of the worker roles that a release adds. */
export function addedRoles(before: Plain | undefined, after: Plain | undefined): ReadonlySet<string> {
  const former = mapOf(mapOf(before)['roles']);
  return new Set(Object.keys(mapOf(mapOf(after)['roles'])).filter((name) => !Object.hasOwn(former, name)));
}

const SECTIONS: ReadonlyMap<string, Role> = new Map([
  ['services', 'service'],
  ['jobs', 'job'],
  ['frontends', 'frontend'],
  ['catalogs', 'catalog'],
  ['runtimes', 'runtime'],
  ['roles', 'worker'],
]);

interface Pair {
  readonly left: Document;
  readonly right: Document;
}

function roleOfEntry(section: string, name: string, { left, right }: Pair): Role {
  if (section === 'services') {
    const entry = mapOf(mapOf(left['services'])[name] ?? mapOf(right['services'])[name]);
    return entry['role'] === 'worker' ? 'worker' : 'service';
  }
  if (section === 'jobs') return catalogJobs(left).has(name) || catalogJobs(right).has(name) ? 'catalog' : 'job';
  return SECTIONS.get(section) ?? 'infrastructure';
}

/** The jobs that a catalog names. */
function catalogJobs(document: Document): ReadonlySet<string> {
  const jobs = Object.values(mapOf(document['catalogs'])).map((catalog) => mapOf(catalog)['job']);
  return new Set(jobs.filter((job) => typeof job === 'string'));
}

function changeAt(segments: readonly PathSegment[], role: Role, pair: Pair): PathChange {
  return { path: pathOf(segments), role, facet: facetOf(segments, pair), action: 'changed' };
}

function facetOf(segments: readonly PathSegment[], { left, right }: Pair): Facet {
  const facet = facetAt(RELEASE_FACETS, segments);
  const own = facet === undefined || facet === 'own' ? 'configuration' : facet;
  if (segments.at(-1) === 'repository' && segments.at(-2) === 'image') {
    const beside = [...segments.slice(0, -1), 'digest'];
    const digest = at(left, beside);
    return digest !== undefined && digest === at(right, beside) ? 'annotation' : own;
  }
  const [section, name, key, ...rest] = segments;
  if (section === 'roles' && own === 'content' && key !== 'tunable' && rest.length === 0) {
    // The range is that of the sealed release: nobody widens it in the commit that needs it wider.
    const range = at(left, ['roles', name ?? '', 'tunable', key ?? '']);
    return isInside(at(right, segments), range) && isInside(at(left, segments), range) ? 'tuning' : own;
  }
  return own;
}

function isInside(value: Plain | undefined, range: Plain | undefined): boolean {
  const { min, max } = mapOf(range);
  return typeof value === 'number' && typeof min === 'number' && typeof max === 'number' && value >= min && value <= max;
}

/** Every spelling of an image made one. */
function normalized(release: Plain | undefined): Document {
  if (release === undefined || !isDocument(release)) return {};
  return Object.fromEntries(
    Object.entries(release).map(([section, entries]) => {
      if (!SECTIONS.has(section) || !isDocument(entries)) return [section, entries];
      return [section, Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, withImage(entry)]))];
    }),
  );
}

function withImage(entry: Plain): Plain {
  const { image } = mapOf(entry);
  if (typeof image !== 'string') return entry;
  const [repository = '', digest = ''] = image.includes('@') ? image.split('@') : ['', image];
  return { ...mapOf(entry), image: { ...(repository === '' ? {} : { repository }), digest } };
}

/** The places at which two values differ: as deep as both are maps. */
export function differences(
  before: Plain | undefined,
  after: Plain | undefined,
  segments: readonly PathSegment[],
): readonly PathSegment[][] {
  const [left, right] = [before ?? null, after ?? null];
  const isDeep = isDocument(left) && isDocument(right);
  // What is there on one side alone is looked into as well, so that each part has its own facet.
  const isHalf = (isDocument(left) && after === undefined) || (isDocument(right) && before === undefined);
  if (isDeep || (isHalf && segments.length > 0)) {
    const [a, b] = [mapOf(left), mapOf(right)];
    const names = namesOf(a, b);
    if (names.length > 0) return names.flatMap((name) => differences(a[name], b[name], [...segments, name]));
  }
  return sameValue(before, after, undefined) ? [] : [[...segments]];
}

function pathOf(segments: readonly PathSegment[]): string {
  return `release.${formatPath(segments)}`;
}

function at(document: Document, segments: readonly PathSegment[]): Plain | undefined {
  let current: Plain | undefined = document;
  for (const segment of segments) current = mapOf(current)[String(segment)];
  return current;
}

function isDocument(value: Plain): value is Document {
  return isAttributes(value) && !isList(value);
}

function mapOf(value: Plain | undefined): Document {
  return value !== undefined && isDocument(value) ? value : {};
}

function namesOf(a: Document, b: Document): readonly string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].sort(compareText);
}
