import type { Diagnostic, Outcome } from '../core/diagnostic.ts';
import { formatPath } from '../core/path.ts';
import { evaluateTemplate, OMIT, type ResourceLookup } from '../core/template.ts';
import { type Attributes, isAttributes } from '../core/value.ts';
import type { Problem, ResourceType, TypeContext } from '../providers/contract.ts';
import { checkAttributes } from '../providers/validate.ts';
import type { ResourceInstance } from '../spec/environment.ts';
import type { ResourceRow } from '../state/model.ts';
import { recordedComputed } from './live.ts';

/** A resource's attributes with all that can be known now filled in. */
export interface Evaluated {
  /** As the YAML has them. */
  readonly written: Attributes;
  readonly normal: Attributes;
  readonly identity: string | undefined;
  /** Computed attributes that are known before the object is. */
  readonly foreseen: Attributes;
}

/** Fills in, checks and normalises. What is still unknown stays so; what is wrong is told with its place in the YAML. `row` is what is recorded. */
export function evaluateInstance(
  instance: ResourceInstance,
  type: ResourceType,
  context: TypeContext,
  resources: ResourceLookup,
  row?: ResourceRow,
): Outcome<Evaluated> {
  const filled = evaluateTemplate(instance.attributes, resources);
  const located = filled.diagnostics.map((diagnostic) => ({
    ...diagnostic,
    address: diagnostic.address ?? instance.address,
    source: diagnostic.source ?? instance.source,
  }));
  if (!filled.ok) return { ok: false, diagnostics: located };
  const written = filled.value === OMIT ? {} : filled.value;
  if (!isAttributes(written)) throw new Error(`${instance.address}: the attributes are not a map`);
  const problems = checkAttributes(type, written, context).map((problem) => problemDiagnostic(problem, instance));
  const diagnostics = [...located, ...problems];
  if (problems.some((problem) => problem.severity === 'error')) return { ok: false, diagnostics };
  const normal = type.normalize(written, context);
  return {
    ok: true,
    value: { written, normal, identity: type.identity(normal, context), foreseen: foreseen(type, normal, context, row) },
    diagnostics,
  };
}

function foreseen(type: ResourceType, normal: Attributes, context: TypeContext, row: ResourceRow | undefined): Attributes {
  return type.foresee?.(normal, context, row === undefined ? undefined : recordedComputed(row)) ?? {};
}

/** Gives a problem of a type its place in the documents. */
export function problemDiagnostic(problem: Problem, instance: ResourceInstance): Diagnostic {
  const at = problem.path ?? [];
  return {
    severity: problem.severity,
    code: problem.code,
    summary: problem.summary,
    detail: problem.detail,
    address: instance.address,
    ...(at.length === 0 ? {} : { path: formatPath(at) }),
    ...(problem.expected === undefined ? {} : { expected: problem.expected }),
    source: at.length === 0 ? instance.source : instance.locate(at),
  };
}
