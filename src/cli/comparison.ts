import { compareText } from '../core/address.ts';
import { type Bundle, decodeText } from '../core/bundle.ts';
import { evaluateTemplate, OMIT } from '../core/template.ts';
import { encodeValue, isAttributes, type Plain, Unknown } from '../core/value.ts';
import type { PlanDocument } from '../plan/model.ts';
import type { Environment } from '../spec/environment.ts';
import type { ResourceRow, StoredOutput } from '../state/model.ts';
import { diffStructure } from './views/text-difference.ts';

type Attributes = { readonly [name: string]: Plain };

/** What a side says of one resource. */
interface Entry {
  /** Null where a plan leaves them as they are and does not tell them. */
  readonly attributes: Attributes | null;
  /** What a plan says they are now. */
  readonly before?: Attributes | null;
  /** What a plan does with it. */
  readonly action?: string;
}

/** What is compared with something of its own kind. Undefined is what is not known on that side. */
export interface Side {
  readonly name: string;
  readonly resources: ReadonlyMap<string, Entry>;
  readonly outputs: ReadonlyMap<string, Plain> | undefined;
  readonly variables: Attributes | undefined;
  /** Undefined content is no text. */
  readonly files: ReadonlyMap<string, { readonly digest: string; readonly text: string | undefined }> | undefined;
}

/** One place at which two sides differ; undefined is absent. */
export interface Difference {
  readonly path: string;
  readonly before: Plain | undefined;
  readonly after: Plain | undefined;
}

export interface ResourceDifference {
  readonly address: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly paths: readonly Difference[];
  /** What two plans do with it, where that differs. */
  readonly actions: { readonly before: string; readonly after: string } | null;
}

export interface FileDifference {
  readonly path: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** Null where it is no text. */
  readonly before: string | null;
  readonly after: string | null;
}

/** What `diff` tells, as `--json` prints it. */
export interface Comparison {
  readonly format: 'accede.diff/v1';
  readonly before: string;
  readonly after: string;
  readonly resources: readonly ResourceDifference[];
  readonly outputs: readonly Difference[];
  readonly variables: readonly Difference[];
  /** Null when the documents of a side are not kept, or it is a plan. */
  readonly files: readonly FileDifference[] | null;
}

export function isEqual(comparison: Comparison): boolean {
  const { resources, outputs, variables, files } = comparison;
  return resources.length + outputs.length + variables.length + (files?.length ?? 0) === 0;
}

/** Everything in which two sides differ, sorted. */
export function compareSides(a: Side, b: Side): Comparison {
  const sides = <T>(of: (side: Side) => T | undefined): readonly [T, T] | undefined => {
    const [left, right] = [of(a), of(b)];
    return left === undefined || right === undefined ? undefined : [left, right];
  };
  const outputs = sides((side) => side.outputs && Object.fromEntries(side.outputs));
  const variables = sides((side) => side.variables);
  const files = sides((side) => side.files);
  return {
    format: 'accede.diff/v1',
    before: a.name,
    after: b.name,
    resources: namesOf(a.resources, b.resources).flatMap((address) =>
      resourceDifference(address, a.resources.get(address), b.resources.get(address)),
    ),
    outputs: outputs === undefined ? [] : membersThatDiffer(...outputs),
    variables: variables === undefined ? [] : membersThatDiffer(...variables),
    files: files === undefined ? null : namesOf(...files).flatMap((path) => fileDifference(path, files[0].get(path), files[1].get(path))),
  };
}

function namesOf(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): readonly string[] {
  return [...new Set([...a.keys(), ...b.keys()])].sort(compareText);
}

function membersThatDiffer(a: Attributes, b: Attributes): readonly Difference[] {
  return diffStructure(a, b).toSorted((left, right) => compareText(left.path, right.path));
}

function resourceDifference(address: string, a: Entry | undefined, b: Entry | undefined): readonly ResourceDifference[] {
  if (a === undefined || b === undefined) {
    const paths = membersThatDiffer(a?.attributes ?? {}, b?.attributes ?? {});
    return [{ address, change: a === undefined ? 'added' : 'removed', paths, actions: null }];
  }
  // One of two plans that changes something tells what it is now, and so what it is in the other one.
  const [left, right] = [a.attributes ?? b.before, b.attributes ?? a.before];
  const paths = isMap(left) && isMap(right) ? membersThatDiffer(left, right) : [];
  const isOther = a.action !== undefined && b.action !== undefined && a.action !== b.action;
  const actions = isOther ? { before: a.action ?? '', after: b.action ?? '' } : null;
  return paths.length === 0 && actions === null ? [] : [{ address, change: 'changed', paths, actions }];
}

function isMap(attributes: Attributes | null | undefined): attributes is Attributes {
  return attributes !== null && attributes !== undefined;
}

type FileEntry = { readonly digest: string; readonly text: string | undefined } | undefined;

function fileDifference(path: string, a: FileEntry, b: FileEntry): readonly FileDifference[] {
  if (a?.digest === b?.digest) return [];
  const change = a === undefined ? 'added' : b === undefined ? 'removed' : 'changed';
  return [{ path, change, before: a?.text ?? null, after: b?.text ?? null }];
}

/** An environment as an operation left it, with the files and variables that were in force then where these are kept. */
export function recordedSide(
  name: string,
  recorded: { readonly resources: ReadonlyMap<string, ResourceRow>; readonly outputs: readonly StoredOutput[] },
  bundle: Bundle | undefined,
): Side {
  return {
    name,
    resources: new Map([...recorded.resources].map(([address, { attributes }]) => [address, { attributes }])),
    outputs: new Map(recorded.outputs.map((output) => [output.name, output.value])),
    variables: bundle?.manifest.variables,
    files: bundle && filesOf(bundle),
  };
}

/** What a plan would leave behind. */
export function plannedSide(name: string, plan: PlanDocument): Side {
  const staying = plan.changes.filter(({ action }) => action !== 'delete' && action !== 'forget');
  return {
    name,
    resources: new Map(staying.map(({ address, before, after, action }) => [address, { attributes: after, before, action }])),
    outputs: new Map(plan.outputs.flatMap((output) => (output.after === null ? [] : [[output.name, output.after] as const]))),
    variables: plan.inputs.variables,
    files: undefined,
  };
}

/** What documents ask for: attributes as they are written, with what only an apply knows left open. */
export function desiredSide(name: string, environment: Environment): Side {
  const bundle = environment.bundle?.();
  return {
    name,
    resources: new Map(environment.resources.map(({ address, attributes }) => [address, { attributes: written(attributes) }])),
    outputs: new Map(environment.outputs.map((output) => [output.name, plain(output.value)])),
    variables: bundle?.manifest.variables,
    files: bundle && filesOf(bundle),
  };
}

function written(template: Parameters<typeof evaluateTemplate>[0]): Attributes {
  const value = plain(template);
  return isAttributes(value) ? (value as Attributes) : {};
}

function plain(template: Parameters<typeof evaluateTemplate>[0]): Plain {
  const outcome = evaluateTemplate(template, (type, resource) => new Unknown(`${type}.${resource}`));
  return outcome.ok && outcome.value !== OMIT ? encodeValue(outcome.value, undefined) : null;
}

function filesOf({ manifest, contents }: Bundle): NonNullable<Side['files']> {
  return new Map(
    manifest.files.flatMap((file) => {
      if (file.kind !== 'kept') return [];
      const bytes = contents.get(file.digest);
      return [
        [file.path, { digest: file.digest, text: bytes === undefined || bytes.includes(0) ? undefined : decodeText(bytes) }] as const,
      ];
    }),
  );
}
