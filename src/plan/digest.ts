import { type Digest, digestOf } from '../core/canonical.ts';
import type { PlanDocument } from './model.ts';

/** The digest of a plan: over everything but itself, the times, the commit, the folder and the places in files. */
export function planDigest(document: Omit<PlanDocument, 'digest'>): Digest {
  return digestOf({
    ...document,
    digest: undefined,
    createdAt: undefined,
    expiresAt: undefined,
    inputs: { ...document.inputs, commit: undefined, folder: undefined },
    changes: document.changes.map((change) => ({ ...change, source: undefined })),
    succession: { ...document.succession, refusals: document.succession.refusals.map((refusal) => ({ ...refusal, source: undefined })) },
  });
}
