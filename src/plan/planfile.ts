import type { Digest } from '../core/canonical.ts';
import { type Diagnostic, fail, type Outcome, succeed } from '../core/diagnostic.ts';
import { formatPath, type PathSegment } from '../core/path.ts';
import { planDigest } from './digest.ts';
import type { PlanDocument } from './model.ts';
import { planSchema } from './schema.ts';

/**
 * Reads the bytes of a saved plan. What comes back has the shape of the format and the digest that it states: a plan that was edited, cut or
 * made by another format's version is refused, each with its own code.
 */
export function parsePlanFile(bytes: Uint8Array, name: string): Outcome<PlanDocument> {
  const data = parseJson(bytes);
  if (data === undefined) return fail(damaged(name, 'It is no JSON document in UTF-8.'));
  const format = typeof data === 'object' && data !== null && 'format' in data ? data.format : undefined;
  if (format !== 'accede.plan/v1') return fail(otherFormat(name, format));
  const parsed = planSchema.safeParse(data);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const path = formatPath((issue?.path ?? []).filter((segment): segment is PathSegment => typeof segment !== 'symbol'));
    return fail(damaged(name, `At ${path === '' ? 'its top' : path} it does not have the form of the format.`));
  }
  const { digest, ...content } = parsed.data;
  const computed = computedDigest(content);
  if (computed === undefined) return fail(damaged(name, 'It holds a number or a text that has no canonical form, or nests too deep.'));
  if (digest !== computed) {
    return fail({ ...damaged(name, 'Its content does not have the digest that it states.'), expected: digest, observed: computed });
  }
  return succeed(parsed.data);
}

/** Undefined where a value can be written in JSON but not in canonical JSON, as half of a surrogate pair, or nests too deep. */
function computedDigest(content: Omit<PlanDocument, 'digest'>): Digest | undefined {
  try {
    return planDigest(content);
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

function damaged(name: string, why: string): Diagnostic {
  return {
    severity: 'error',
    code: 'PLAN_DAMAGED',
    summary: 'The plan file is damaged',
    detail: `${name} can not be used. ${why} Make the plan again; a plan file is not for editing.`,
    next: 'accede plan --out plan.json',
  };
}

function otherFormat(name: string, format: unknown): Diagnostic {
  const isOther = typeof format === 'string' && format.startsWith('accede.plan/');
  return {
    severity: 'error',
    code: isOther ? 'PLAN_FORMAT' : 'PLAN_NOT_A_PLAN',
    summary: isOther ? 'The plan has a format that this version does not know' : 'The file is no plan',
    detail: isOther
      ? `${name} was made by another version of Accede. Make the plan again with this one.`
      : `${name} is JSON, but no plan that accede plan --out writes.`,
    expected: 'format: accede.plan/v1',
    ...(typeof format === 'string' ? { observed: `format: ${format}` } : {}),
  };
}
