import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { ADDED_FUNCTIONS, addedFunction, FunctionRefusal } from './expression-functions.ts';
import { withinMatchingTime } from './expression-time.ts';
import { type Attributes, type Plain, reveal, type Value } from './value.ts';

/** The longest expression, in characters. */
export const EXPRESSION_LENGTH = 10_000;
/** The largest result: characters of all its texts together, and members. */
export const RESULT_TEXT = 1024 * 1024;
export const RESULT_NODES = 100_000;
/** How many members all comprehensions of one evaluation may visit. */
const ITERATIONS = 200_000;

/** Values in CEL's own types: integers as bigint, maps as Map, so that no member name is special. */
export type CelValue = string | number | bigint | boolean | null | readonly CelValue[] | ReadonlyMap<string, CelValue>;

/** The functions that are bound to the folder of a document. */
export interface FileFunctions {
  file(path: string): string;
  template(path: string, values: Attributes): Value;
}

/** A parsed expression, ready to be evaluated by the library as a whole. */
export interface CelProgram {
  readonly ast: ASTNode;
  /** Throws the library's errors, and `FunctionRefusal`. */
  run(roots: ReadonlyMap<string, CelValue>): Plain;
}

/** Parses expressions with the same added functions. Making one costs about a millisecond, so that one serves a whole document. */
export interface CelLanguage {
  /** Names of functions that are called as `name(…)`, and as `value.name(…)`. */
  readonly functions: ReadonlySet<string>;
  readonly methods: ReadonlySet<string>;
  readonly files: FileFunctions;
  /** Throws the library's ParseError. */
  parse(text: string): CelProgram;
  /** A value for the library, wrappers opened by `convert`; what was converted once is kept. */
  open(value: Value, convert: (value: Value) => CelValue): CelValue;
}

/** Functions that are not for everybody; their values are the library's own. */
export interface InnerFunction {
  /** `name(dyn, dyn): dyn`. */
  readonly signature: string;
  readonly apply: (...values: readonly unknown[]) => unknown;
}

export function celLanguage(files: FileFunctions, inner: readonly InnerFunction[] = []): CelLanguage {
  const environment = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false });
  for (const added of ADDED_FUNCTIONS) {
    environment.registerFunction(`${added.name}(dyn): dyn`, (value: unknown) => toCel(added.apply([fromCel(value)])), { async: false });
  }
  for (let count = 1; count <= 8; count++) {
    const signature = Array.from({ length: count }, () => 'dyn').join(', ');
    environment.registerFunction(`merge(${signature}): dyn`, (...values: readonly unknown[]) => toCel(mergePlain(values.map(fromCel))), {
      async: false,
    });
  }
  environment.registerFunction('file(dyn): dyn', (path: unknown) => files.file(pathText('file', path)), { async: false });
  environment.registerFunction(
    'template(dyn, dyn): dyn',
    (path: unknown, values: unknown) => reveal(files.template(pathText('template', path), mapOf(fromCel(values), 'template'))),
    { async: false },
  );
  for (const { signature, apply } of inner) environment.registerFunction(signature, apply, { async: false });
  registerMixedArithmetic(environment);
  const definitions = environment.getDefinitions().functions;
  const opened = new WeakMap<object, CelValue>();
  return {
    files,
    open: (value, convert) => {
      if (typeof value !== 'object' || value === null) return convert(value);
      const known = opened.get(value) ?? convert(value);
      opened.set(value, known);
      return known;
    },
    functions: new Set(definitions.filter((item) => item.receiverType === null).map((item) => item.name)),
    methods: new Set(definitions.filter((item) => item.receiverType !== null).map((item) => item.name)),
    parse: (text) => program(environment, text),
  };
}

function program(environment: Environment, text: string): CelProgram {
  const parsed = environment.parse(text);
  const budget = { left: 0 };
  boundComprehensions(parsed.ast, budget);
  const hasPatterns = callsMethod(parsed.ast, 'matches');
  return {
    ast: parsed.ast,
    run: (roots) => {
      budget.left = ITERATIONS;
      // The declared type asks for a record; the library takes a Map just as well, and with it no name is special.
      const compute = () => parsed(roots as unknown as Record<string, unknown>);
      return fromCel(hasPatterns ? withinMatchingTime(compute) : compute());
    },
  };
}

function callsMethod(ast: ASTNode, name: string): boolean {
  let found = false;
  visit(ast, (node) => {
    if (node.op === 'rcall' && node.args[0] === name) found = true;
  });
  return found;
}

/** JSON has one kind of number: 2 and 2.5 from the same variable must both work in `x * 2`. */
function registerMixedArithmetic(environment: Environment): void {
  const operators = {
    '+': (a: number, b: number) => a + b,
    '-': (a: number, b: number) => a - b,
    '*': (a: number, b: number) => a * b,
    '/': (a: number, b: number) => a / b,
  };
  for (const [operator, apply] of Object.entries(operators)) {
    const handler = (a: unknown, b: unknown) => apply(Number(a), Number(b));
    environment.registerOperator(`int ${operator} double`, handler);
    environment.registerOperator(`double ${operator} int`, handler);
  }
}

/**
 * Counts every step of every comprehension. The library limits the size of what is parsed, not of what runs, and three nested
 * comprehensions over a list of ten thousand would not end. Quantifiers swallow errors of their steps, so that an exhausted budget also
 * stops each comprehension before its first step.
 */
function boundComprehensions(ast: ASTNode, budget: { left: number }): void {
  const count = () => {
    budget.left -= 1;
    if (budget.left < 0) throw new FunctionRefusal(`The expression visits more than ${ITERATIONS} members.`);
  };
  visit(ast, (node) => {
    if (node.op !== 'rcall' || !MACROS.has(node.args[0])) return;
    const [, range, [, step]] = node.args;
    beforeEvaluation(range, count);
    if (step !== undefined) beforeEvaluation(step, count);
  });
}

/** The library evaluates a node through the node's own `evaluate`, which it replaces on first use: the accessor keeps what it puts there. */
function beforeEvaluation(node: ASTNode, act: () => void): void {
  const evaluated = node as unknown as { evaluate: (...args: readonly unknown[]) => unknown };
  let inner = evaluated.evaluate;
  const counted = (...args: readonly unknown[]): unknown => {
    act();
    return inner.apply(node, args as unknown[]);
  };
  Object.defineProperty(node, 'evaluate', {
    configurable: true,
    get: () => counted,
    set: (replacement: typeof inner) => {
      inner = replacement;
    },
  });
}

/** Receiver macros whose first argument is a variable of their own. */
export const MACROS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** Calls `see` for every node, outer ones first. */
export function visit(node: ASTNode, see: (node: ASTNode) => void): void {
  see(node);
  for (const child of childrenOf(node)) visit(child, see);
}

export function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [node.args[0]];
    case 'call':
      return node.args[1];
    case 'rcall':
      return [node.args[1], ...node.args[2]];
    case 'list':
      return node.args;
    case 'map':
      return node.args.flat();
    case '!_':
    case '-_':
      return [node.args];
    default:
      return node.args;
  }
}

/** Integers become CEL's integers. */
export function toCel(value: Plain): CelValue {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map((item: Plain) => toCel(item));
  if (typeof value === 'object' && value !== null) {
    return new Map(Object.entries(value as { readonly [name: string]: Plain }).map(([name, item]) => [name, toCel(item)]));
  }
  return value as CelValue;
}

/** Brings a result back. Throws `FunctionRefusal` for what is too large or has no form in JSON. */
export function fromCel(value: unknown): Plain {
  const size = { text: 0, nodes: 0 };
  return plain(value, size);
}

function plain(value: unknown, size: { text: number; nodes: number }): Plain {
  size.nodes += 1;
  if (size.nodes > RESULT_NODES) throw new FunctionRefusal(`The result has more than ${RESULT_NODES} members.`);
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') {
    size.text += value.length;
    if (size.text > RESULT_TEXT) throw new FunctionRefusal('The result holds more than 1 MiB of text.');
    if (/\p{Surrogate}/u.test(value)) throw new FunctionRefusal('The result holds text with half of a character.');
    return value;
  }
  if (typeof value === 'bigint') {
    if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER)) {
      throw new FunctionRefusal('The result is an integer beyond 2^53, which cannot be kept exactly. Make it text with string().');
    }
    return Number(value);
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new FunctionRefusal('The result is no finite number.');
    return value === 0 ? 0 : value;
  }
  if (Array.isArray(value) || value instanceof Set) return Array.from(value as Iterable<unknown>, (item) => plain(item, size));
  if (value instanceof Map) return Object.fromEntries(Array.from(value, ([key, item]) => [keyText(key), plain(item, size)]));
  if (typeof value === 'object' && (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, size)]));
  }
  throw new FunctionRefusal(
    'The result is a type, time, duration or bytes, which no value of an environment can be. Make it text with string().',
  );
}

function keyText(key: unknown): string {
  if (typeof key === 'string') return key;
  throw new FunctionRefusal('The result is a map with keys that are not text.');
}

/** The value itself, when it is not too large to be computed with. Throws `FunctionRefusal`. */
export function measured(value: Plain): Plain {
  const size = { text: 0, nodes: 0 };
  measure(value, size);
  return value;
}

function measure(value: Plain, size: { text: number; nodes: number }): void {
  size.nodes += 1;
  if (size.nodes > RESULT_NODES) throw new FunctionRefusal(`The value has more than ${RESULT_NODES} members.`);
  if (typeof value === 'string') {
    size.text += value.length;
    if (size.text > RESULT_TEXT) throw new FunctionRefusal('The value holds more than 1 MiB of text.');
  } else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) measure(item as Plain, size);
}

/** Later maps win. Throws `FunctionRefusal` for anything but maps. */
export function mergePlain(values: readonly Plain[]): Plain {
  return Object.fromEntries(values.flatMap((value) => Object.entries(mapOf(value, 'merge'))));
}

function mapOf(value: Plain, name: string): { readonly [name: string]: Plain } {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as { readonly [name: string]: Plain };
  throw new FunctionRefusal(`${name}() takes ${name === 'merge' ? 'maps' : 'a path and a map'}.`);
}

function pathText(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new FunctionRefusal(`${name}() takes the path of a file as text.`);
}

export function isAdded(name: string): boolean {
  return addedFunction(name) !== undefined || name === 'merge' || name === 'file' || name === 'template';
}
