import { z } from 'zod';
import { nearMiss } from '../core/naming.ts';
import { formatPath, type PathSegment } from '../core/path.ts';
import { type Attributes, isAttributes, isList, Sensitive, Unknown, type Value } from '../core/value.ts';
import type { Problem, ResourceType, TypeContext } from './contract.ts';

/**
 * Checks attributes of the YAML against their type: schema, computed attributes, then the type's own check when the schema holds. Leaves may
 * be unknown or sensitive. What is unknown is not judged; a secret whose value is here is judged, and no problem ever quotes it.
 */
export function checkAttributes(type: ResourceType, attributes: Attributes, context: TypeContext): readonly Problem[] {
  const problems = checkValue(type.schema, withFileNames(type, attributes)).map((problem) => {
    const [name] = problem.path ?? [];
    const isComputed =
      problem.code === 'UNKNOWN_KEY' && problem.path?.length === 1 && type.traits.get(formatPath([String(name)]))?.computed === true;
    return isComputed
      ? {
          ...problem,
          code: 'COMPUTED_ATTRIBUTE',
          summary: 'An attribute is set that the provider computes',
          detail: `${String(name)} is computed by the provider and can only be read. Remove it.`,
        }
      : problem;
  });
  if (problems.length > 0) return problems;
  return type.check?.(attributes, context) ?? [];
}

/** A problem found in a value; the path always leads into the value. */
export interface ValueProblem extends Problem {
  readonly path: readonly PathSegment[];
  readonly observed?: string;
}

/** Checks a value with unknown and sensitive places in it against a schema. Problems come in the order of the schema. */
export function checkValue(schema: z.ZodType, value: Value): readonly ValueProblem[] {
  const veiled: Veiled[] = [];
  const plain = substitute(value, [], veiled);
  const result = schema.safeParse(plain);
  if (result.success) return [];
  const judge: Judge = { schema, plain, veiled };
  return withoutSlips(
    result.error.issues
      .flatMap((issue) => judgeIssue(issue, [], judge))
      .sort((a, b) => Number(b.code === 'UNKNOWN_KEY') - Number(a.code === 'UNKNOWN_KEY')),
  );
}

/** A key that is written wrong is not missing as well. */
function withoutSlips(problems: readonly ValueProblem[]): readonly ValueProblem[] {
  const parent = (problem: ValueProblem) => formatPath(problem.path.slice(0, -1));
  const isSlip = (missed: ValueProblem) =>
    problems.some(
      (other) =>
        other.code === 'UNKNOWN_KEY' && parent(other) === parent(missed) && nearMiss(name(other.path), [name(missed.path)]) !== undefined,
    );
  return problems.filter((problem) => problem.code !== 'MISSING_KEY' || !isSlip(problem));
}

/** A place whose value is not judged (`open` false) or whose value is not told (`open` true). */
interface Veiled {
  readonly path: readonly PathSegment[];
  readonly isOpen: boolean;
}

interface Judge {
  readonly schema: z.ZodType;
  readonly plain: unknown;
  readonly veiled: readonly Veiled[];
}

type Issue = z.core.$ZodIssue;

/** No schema accepts it by accident, and every complaint about it is at its own path. */
const HOLE = Symbol('unknown');

function substitute(value: Value, path: readonly PathSegment[], veiled: Veiled[]): unknown {
  if (value instanceof Unknown || (value instanceof Sensitive && !value.isOpen)) {
    veiled.push({ path, isOpen: false });
    return HOLE;
  }
  if (value instanceof Sensitive) {
    veiled.push({ path, isOpen: true });
    return substitute(value.reveal(), path, veiled);
  }
  if (isList(value)) return value.map((item, index) => substitute(item, [...path, index], veiled));
  if (isAttributes(value))
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, substitute(item, [...path, name], veiled)]));
  return value;
}

/** The loader has put what it read in place of a file's name; the schema speaks of the name. */
function withFileNames(type: ResourceType, attributes: Attributes): Attributes {
  const names = Object.keys(attributes).filter((name) => type.traits.get(formatPath([name]))?.reads === true);
  if (names.length === 0) return attributes;
  return { ...attributes, ...Object.fromEntries(names.map((name) => [name, fileName(attributes[name] ?? null)])) };
}

function fileName(value: Value): Value {
  if (isList(value)) return value.map(fileName);
  if (isAttributes(value) && typeof value['sha256'] === 'string' && value['path'] !== undefined) return value['path'];
  return value;
}

function judgeIssue(issue: Issue, prefix: readonly PathSegment[], judge: Judge): readonly ValueProblem[] {
  const path = [...prefix, ...(issue.path as readonly PathSegment[])];
  // At or through an unknown place: nothing can be said yet.
  if (
    judge.veiled.some(
      (place) => !place.isOpen && place.path.length <= path.length && place.path.every((step, index) => step === path[index]),
    )
  )
    return [];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey([...path, key], judge));
    case 'invalid_union':
      return judgeUnion(issue, path, judge);
    case 'invalid_key':
    case 'invalid_element': {
      const reason = issue.issues.map((inner) => ownMessage(inner)).find((message) => message !== undefined);
      return [
        {
          ...ERROR,
          code: 'BAD_KEY',
          summary: 'A key has a form that is not allowed',
          detail: `The key ${name(path)} is not allowed here${reason === undefined ? '' : `: ${reason}`}.`,
          path,
          ...(reason === undefined ? {} : { expected: reason }),
        },
      ];
    }
    default:
      return [judgeLeaf(issue, path, judge)];
  }
}

const ERROR = { severity: 'error' } as const;

/** A union is wrong only when each of its branches is; the nearest branch says what is wrong. */
function judgeUnion(
  issue: Issue & { readonly code: 'invalid_union' },
  path: readonly PathSegment[],
  judge: Judge,
): readonly ValueProblem[] {
  if (issue.errors.length === 0) {
    const discriminator = 'discriminator' in issue ? issue : undefined;
    return [
      judgeLeaf(
        { code: 'invalid_value', values: optionsOf(discriminator), path: issue.path, message: 'Invalid' } as unknown as Issue,
        path,
        judge,
      ),
    ];
  }
  const branches = issue.errors.map((errors) => errors.flatMap((inner) => judgeIssue(inner, path, judge)));
  if (branches.some((branch) => branch.length === 0)) return [];
  const value = valueAt(judge.plain, path);
  if (value === undefined) return [missing(path, judge)];
  // The branches for the right kind of value complain inside of it or about its content, the others about its kind.
  const near = branches.filter((branch) => !branch.some((problem) => problem.code === 'WRONG_TYPE' && problem.path.length === path.length));
  const [best, second] = [...near].sort((a, b) => a.length - b.length);
  const isClear = best !== undefined && (second === undefined || best.length < second.length);
  if (isClear && best.some((problem) => near.length === 1 || problem.path.length > path.length)) return best;
  const described = describe(schemaAt(judge.schema, path));
  if (near.length > 1 && described !== undefined) return [wrong('BAD_VALUE', path, described, judge, nearWord(path, judge))];
  const expected = [
    ...new Set(branches.flatMap((branch) => branch.flatMap((problem) => (problem.expected === undefined ? [] : [problem.expected])))),
  ];
  return [wrong(near.length > 0 ? 'BAD_VALUE' : 'WRONG_TYPE', path, expected.join(', or '), judge, nearWord(path, judge))];
}

/** The one of the words that the schema knows here that was most likely meant; a secret is never compared with them. */
function nearWord(path: readonly PathSegment[], judge: Judge): string | undefined {
  const value = valueAt(judge.plain, path);
  const schema = schemaAt(judge.schema, path);
  if (typeof value !== 'string' || schema === undefined || isVeiled(path, judge)) return undefined;
  return nearMiss(value, wordsOf(schema));
}

function wordsOf(schema: z.ZodType): readonly string[] {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((option) => wordsOf(option as z.ZodType));
  if (inner instanceof z.ZodEnum) return inner.options.map(String);
  return inner instanceof z.ZodLiteral ? [...inner.values].filter((value) => typeof value === 'string') : [];
}

function optionsOf(issue: unknown): readonly unknown[] {
  const options = typeof issue === 'object' && issue !== null && 'options' in issue ? issue.options : [];
  return Array.isArray(options) ? options : [];
}

function judgeLeaf(issue: Issue, path: readonly PathSegment[], judge: Judge): ValueProblem {
  const value = valueAt(judge.plain, path);
  if (value === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value')) return missing(path, judge);
  const message = ownMessage(issue);
  switch (issue.code) {
    case 'invalid_type':
      return wrong('WRONG_TYPE', path, message ?? describe(schemaAt(judge.schema, path)) ?? kindWord(issue.expected), judge);
    case 'invalid_value': {
      const values = issue.values.map((item) => JSON.stringify(item));
      const expected = message ?? (values.length === 1 ? (values[0] ?? '') : `one of ${values.join(', ')}`);
      return wrong(typeof value === typeof issue.values[0] ? 'BAD_VALUE' : 'WRONG_TYPE', path, expected, judge, nearWord(path, judge));
    }
    case 'too_small':
    case 'too_big':
      return wrong('BAD_VALUE', path, message ?? bound(issue), judge);
    default:
      return wrong(
        'BAD_VALUE',
        path,
        message ?? describe(schemaAt(judge.schema, path)) ?? 'a value of the right form',
        judge,
        nearWord(path, judge),
      );
  }
}

function wrong(code: string, path: readonly PathSegment[], expected: string, judge: Judge, near?: string): ValueProblem {
  const observed = isVeiled(path, judge) ? 'a secret' : observedWord(valueAt(judge.plain, path));
  return {
    ...ERROR,
    code,
    summary: code === 'WRONG_TYPE' ? 'A value has the wrong type' : 'A value is not allowed',
    detail: `${subject(path)} must be ${expected}, and is ${observed}.${near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`}`,
    path,
    expected,
    observed,
  };
}

function missing(path: readonly PathSegment[], judge: Judge): ValueProblem {
  const expected = describe(schemaAt(judge.schema, path));
  return {
    ...ERROR,
    code: 'MISSING_KEY',
    summary: 'A required key is missing',
    detail: `The key ${name(path)} is required${path.length > 1 ? ` in ${formatPath(path.slice(0, -1))}` : ''} and is missing.`,
    path,
    ...(expected === undefined ? {} : { expected }),
  };
}

function unknownKey(path: readonly PathSegment[], judge: Judge): ValueProblem {
  const known = keysAt(schemaAt(judge.schema, path.slice(0, -1)));
  const near = nearMiss(name(path), known);
  const expected = known.length === 0 || known.length > 40 ? undefined : `one of ${known.join(', ')}`;
  return {
    ...ERROR,
    code: 'UNKNOWN_KEY',
    summary: 'A key is not known here',
    detail: `There is no key ${name(path)} here.${near === undefined ? '' : ` Did you mean ${near}?`}`,
    path,
    ...(expected === undefined ? {} : { expected }),
    observed: name(path),
  };
}

function isVeiled(path: readonly PathSegment[], judge: Judge): boolean {
  return judge.veiled.some((place) =>
    place.path.length <= path.length
      ? place.path.every((step, index) => step === path[index])
      : path.every((step, index) => step === place.path[index]),
  );
}

function name(path: readonly PathSegment[]): string {
  return String(path.at(-1) ?? '');
}

function subject(path: readonly PathSegment[]): string {
  return path.length === 0 ? 'The value' : formatPath(path);
}

function valueAt(value: unknown, path: readonly PathSegment[]): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as { readonly [name: string]: unknown })[step];
  }
  return at;
}

function observedWord(value: unknown): string {
  if (typeof value === 'string') return value.length > 60 ? 'a long text' : `the text ${JSON.stringify(value)}`;
  if (typeof value === 'number' || typeof value === 'boolean') return `${value}`;
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  return typeof value === 'symbol' ? 'unknown' : 'a map';
}

/** A message that the schema's author wrote; the library's own all begin with one of these words. */
function ownMessage(issue: { readonly message?: string }): string | undefined {
  const { message } = issue;
  return message === undefined || /^(?:Invalid|Too |Unrecognized)/.test(message) ? undefined : message.replace(/\.$/, '');
}

function bound(issue: Issue & { readonly code: 'too_small' | 'too_big' }): string {
  const limit = issue.code === 'too_small' ? issue.minimum : issue.maximum;
  const least = issue.code === 'too_small' ? 'at least' : 'at most';
  switch (issue.origin) {
    case 'string':
      return `text of ${least} ${limit} characters`;
    case 'array':
      return `a list of ${least} ${limit} members`;
    case 'object':
      return `a map of ${least} ${limit} members`;
    default:
      return issue.inclusive === false
        ? `a number ${issue.code === 'too_small' ? 'above' : 'below'} ${limit}`
        : `a number of ${least} ${limit}`;
  }
}

function kindWord(kind: string): string {
  const words: Readonly<Record<string, string>> = {
    string: 'text',
    number: 'a number',
    int: 'an integer',
    boolean: 'true or false',
    array: 'a list',
    tuple: 'a list',
    object: 'a map',
    record: 'a map',
    null: 'null',
  };
  return words[kind] ?? kind;
}

/** What a schema wants, in words. */
function describe(schema: z.ZodType | undefined): string | undefined {
  const inner = schema === undefined ? undefined : unwrap(schema);
  if (inner === undefined) return undefined;
  if (inner instanceof z.ZodUnion) return [...new Set(inner.options.map((option) => describe(option as z.ZodType)))].join(', or ');
  if (inner instanceof z.ZodEnum) return `one of ${inner.options.map((option) => JSON.stringify(option)).join(', ')}`;
  if (inner instanceof z.ZodLiteral) return [...inner.values].map((value) => JSON.stringify(value)).join(' or ');
  if (inner instanceof z.ZodNumber) return inner.format?.includes('int') === true ? 'an integer' : 'a number';
  if (inner instanceof z.ZodObject) {
    const required = Object.entries(inner.shape).filter(([, member]) => !(member as z.ZodType).safeParse(undefined).success);
    return required.length === 0 ? 'a map' : `a map with ${required.map(([key]) => key).join(', ')}`;
  }
  return kindWord(inner.def.type);
}

function unwrap(schema: z.ZodType): z.ZodType {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly ||
    schema instanceof z.ZodLazy
  ) {
    return unwrap(schema.unwrap() as z.ZodType);
  }
  return schema instanceof z.ZodPipe ? unwrap(schema.in as z.ZodType) : schema;
}

/** The schema at a path; of a union's branches all that have it. */
function schemaAt(schema: z.ZodType, path: readonly PathSegment[]): z.ZodType | undefined {
  let at: readonly z.ZodType[] = branches(schema);
  for (const step of path) {
    at = at.flatMap((candidate) => {
      const member = memberSchema(candidate, step);
      return member === undefined ? [] : branches(member);
    });
  }
  const [first, second] = at;
  return second === undefined ? first : z.union(at as [z.ZodType, z.ZodType]);
}

function branches(schema: z.ZodType): readonly z.ZodType[] {
  const inner = unwrap(schema);
  return inner instanceof z.ZodUnion ? inner.options.flatMap((option) => branches(option as z.ZodType)) : [inner];
}

function memberSchema(schema: z.ZodType, step: PathSegment): z.ZodType | undefined {
  if (schema instanceof z.ZodObject) return schema.shape[step] as z.ZodType | undefined;
  if (schema instanceof z.ZodRecord) return schema.valueType as z.ZodType;
  if (schema instanceof z.ZodArray) return schema.element as z.ZodType;
  return undefined;
}

function keysAt(schema: z.ZodType | undefined): readonly string[] {
  if (schema === undefined) return [];
  return [...new Set(branches(schema).flatMap((branch) => (branch instanceof z.ZodObject ? Object.keys(branch.shape) : [])))];
}
