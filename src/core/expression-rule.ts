import { type ASTNode, TypeError as CelTypeError, EvaluationError, ParseError } from '@marcbachmann/cel-js';
import { type Diagnostic, type Outcome, type SourceRange, succeed } from './diagnostic.ts';
import { compileExpression } from './expression.ts';
import { type CelProgram, type CelValue, celLanguage, type FileFunctions, type InnerFunction, toCel } from './expression-cel.ts';
import { FunctionRefusal } from './expression-functions.ts';
import type { Plain } from './value.ts';

/** The names that a rule may read. */
export const RULE_ROOTS: ReadonlySet<string> = new Set(['plan']);

/** A rule over a plan, parsed once. */
export interface RuleExpression {
  readonly text: string;
  /** What it says of a plan; a sentence where it can't be computed. Never throws for what a user can cause. */
  ask(plan: RulePlan): { readonly answer: boolean } | { readonly problem: string };
}

/** A plan in the library's own values, made once for all rules. */
export type RulePlan = CelValue;

export function rulePlan(plan: Plain): RulePlan {
  return toCel(plan);
}

const MEMBER = '__member';

/** Reads a member as null where it, or what it would be a member of, is not there. */
const INNER: readonly InnerFunction[] = [
  {
    signature: `${MEMBER}(dyn, dyn): dyn`,
    apply: (from, key) => {
      if (from instanceof Map) return (from as ReadonlyMap<unknown, unknown>).get(key) ?? null;
      if (Array.isArray(from)) return (from as readonly unknown[])[Number(key)] ?? null;
      return null;
    },
  },
];

const NO_FILES: FileFunctions = {
  file: () => refuseFile(),
  template: () => refuseFile(),
};

function refuseFile(): never {
  throw new FunctionRefusal('A rule reads the plan alone, no file.');
}

/**
 * Parses and checks the expression of a rule, the text between `${` and `}`: names, functions and syntax. In a rule a field that is absent reads
 * as null, and so does every field of what is null.
 */
export function compileRule(text: string, locate?: (offset: number) => SourceRange | undefined): Outcome<RuleExpression> {
  const checked = compileExpression(text, {
    language: celLanguage(NO_FILES),
    roots: RULE_ROOTS,
    hint: () => 'A rule reads plan alone.',
    ...(locate === undefined ? {} : { locate }),
  });
  if (!checked.ok) return checked;
  const language = celLanguage(NO_FILES, INNER);
  let program: CelProgram;
  try {
    program = language.parse(lenient(language.parse(text).ast));
  } catch (error) {
    // Every access to a member became a call, so that what was just within the limits of the language may be beyond them.
    if (!(error instanceof RangeError || error instanceof ParseError)) throw error;
    return { ok: false, diagnostics: [tooLarge(locate?.(0))] };
  }
  return succeed({ text, ask: (plan) => ask(program, plan) }, checked.diagnostics);
}

function ask(program: CelProgram, plan: RulePlan): ReturnType<RuleExpression['ask']> {
  try {
    const answer = program.run(new Map([['plan', plan]]));
    return typeof answer === 'boolean' ? { answer } : { problem: 'It answers neither true nor false.' };
  } catch (error) {
    if (error instanceof FunctionRefusal) return { problem: error.message };
    if (error instanceof RangeError) return { problem: 'It needs more room than it may take.' };
    if (error instanceof EvaluationError || error instanceof CelTypeError) return { problem: `It cannot be computed: ${error.summary}.` };
    throw error;
  }
}

function tooLarge(source: SourceRange | undefined): Diagnostic {
  return {
    severity: 'error',
    code: 'EXPRESSION_TOO_LARGE',
    summary: 'An expression nests too deep',
    detail: 'The rule holds more operators or brackets inside of each other than can be read. Write several rules.',
    ...(source === undefined ? {} : { source }),
  };
}

/** The expression as text in which every access to a member is a call that answers null for what is absent. */
function lenient(node: ASTNode): string {
  switch (node.op) {
    case 'value':
      return literal(node.args);
    case 'id':
      return node.args;
    case '.':
      return `${MEMBER}(${lenient(node.args[0])}, ${JSON.stringify(node.args[1])})`;
    case '[]':
      return `${MEMBER}(${lenient(node.args[0])}, ${lenient(node.args[1])})`;
    case '.?':
      return `(${lenient(node.args[0])}).?${node.args[1]}`;
    case '[?]':
      return `(${lenient(node.args[0])})[?${lenient(node.args[1])}]`;
    case 'call':
      return node.args[0] === 'has' ? `(${node.args[1].map(lenient).join('')} != null)` : called(node.args[0], node.args[1]);
    case 'rcall':
      return `(${lenient(node.args[1])}).${called(node.args[0], node.args[2])}`;
    case 'list':
      return `[${node.args.map(lenient).join(', ')}]`;
    case 'map':
      return `{${node.args.map(([key, value]) => `${lenient(key)}: ${lenient(value)}`).join(', ')}}`;
    case '!_':
      return `!(${lenient(node.args)})`;
    case '-_':
      return `-(${lenient(node.args)})`;
    case '?:': {
      const [condition, yes, no] = node.args;
      return `((${lenient(condition)}) ? (${lenient(yes)}) : (${lenient(no)}))`;
    }
    default:
      return `(${lenient(node.args[0])} ${node.op} ${lenient(node.args[1])})`;
  }
}

function called(name: string, args: readonly ASTNode[]): string {
  return `${name}(${args.map(lenient).join(', ')})`;
}

function literal(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint' || typeof value === 'boolean' || value === null) return String(value);
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 1e21 ? `${value}.0` : String(value);
  if (value instanceof Uint8Array) return `b"${[...value].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}"`;
  if (typeof value === 'object' && 'value' in value) return `${String(value.value)}u`;
  throw new Error('a literal of a kind that the language does not have');
}
