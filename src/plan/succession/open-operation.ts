import type { ClassName, OpenClassName } from '../../core/successor-class.ts';
import { admits, changed, type Mask, type PathChange, WORKING } from './mask.ts';

/** What the journal of an operation that has not ended says of it. */
export interface OpenOperation {
  /** `op-12`. */
  readonly id: string;
  readonly kind: string;
  readonly class: string | null;
  /** Of the documents that it puts in force; null when it was not told. */
  readonly sourceDigest: string | null;
  /** Whether a point of no return was crossed: something is done that nothing takes back. */
  readonly crossed: boolean;
  /** Whether everything that is done can be taken back, step by step. */
  readonly compensable: boolean;
  /** The durable operation of a catalog, where one was begun. */
  readonly catalog: { readonly kind: 'PREPARE' | 'UPGRADE'; readonly published: boolean } | null;
  /** Whether families of workers were claimed. */
  readonly claims: boolean;
}

/** The candidate beside it. */
export interface OpenCandidate {
  readonly sourceDigest: string;
  /** Of what is in force; null when nothing is. */
  readonly sealedDigest: string | null;
  /** How it differs from what the open operation puts in force, where that is known. */
  readonly fromOperation: readonly PathChange[] | null;
  /** The class that it would have after what is in force, and whether policy allows that one. */
  readonly class: ClassName;
  readonly allowed: boolean;
}

/** What a plan over an open operation is. */
export interface OpenMatch {
  readonly class: OpenClassName | 'refuse';
  /** What runs once the open operation is backed out. */
  readonly then: ClassName | null;
  readonly rule: string;
}

const CATALOG_JOB: Mask = [changed(['catalog'], ['implementation'])];
const WORKERS: Mask = [changed(['service', 'worker'], WORKING)];

/** The class of a plan over an operation that has not ended and that nobody carries out. Pure. */
export function matchOpen(open: OpenOperation, candidate: OpenCandidate): OpenMatch {
  const only = (name: OpenClassName, rule: string): OpenMatch => ({ class: name, then: null, rule });
  if (open.sourceDigest === candidate.sourceDigest) return only('resume', `${open.id} has not ended, and the documents are its own`);
  if (candidate.sourceDigest === candidate.sealedDigest && !open.crossed)
    return only('revert', `${open.id} has not ended, and the documents are those in force`);
  const isUnpublished = open.catalog !== null && !open.catalog.published;
  if (isUnpublished && differsOnly(candidate.fromOperation, CATALOG_JOB))
    return only('catalog-retry', `${open.id} began a catalog operation, and only the job that publishes differs`);
  if (open.class === 'catalog-upgrade' && open.catalog === null)
    return only('catalog-supersede', `${open.id} upgrades a catalog and has begun no catalog operation yet`);
  if (isUnpublished && open.catalog?.kind === 'UPGRADE' && candidate.class === 'catalog-upgrade')
    return only('catalog-abandon', `${open.id} began an upgrade of a catalog that is not published, and the documents want another`);
  if (open.claims && differsOnly(candidate.fromOperation, WORKERS))
    return only('worker-supersede', `${open.id} has claimed families, and only services and workers differ`);
  if (!open.crossed && open.compensable && candidate.class !== 'refuse' && candidate.allowed) {
    const rule = `${open.id} has not ended; it is backed out, and then the documents are applied as ${candidate.class}`;
    return { class: 'supersede', then: candidate.class, rule };
  }
  return { class: 'refuse', then: null, rule: whyRefused(open, candidate) };
}

function differsOnly(changes: readonly PathChange[] | null, mask: Mask): boolean {
  if (changes === null) return false;
  const own = changes.filter(({ facet }) => facet !== 'annotation');
  return own.length > 0 && own.every((change) => change.facet !== 'governance' && admits(mask, change));
}

function whyRefused(open: OpenOperation, candidate: OpenCandidate): string {
  const what = `${open.id} (${open.kind}) has not ended, and the documents are neither its own nor those in force`;
  if (open.crossed || !open.compensable) return `${what}; what it did cannot all be taken back`;
  return candidate.class === 'refuse' ? `${what}; after what is in force they are refused` : `${what}; ${candidate.class} is not allowed`;
}
