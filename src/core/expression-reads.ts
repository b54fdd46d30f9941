import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, MACROS } from './expression-cel.ts';

/** `[each.key]`: a step that is literal as soon as the instance is known. */
export const EACH_KEY: unique symbol = Symbol('each.key');
export type Step = string | number | typeof EACH_KEY;

/** One chain of member accesses from a name on, as far as its steps are literal. */
export interface Read {
  readonly root: string;
  readonly path: readonly Step[];
  /** Offsets of the steps in the expression. */
  readonly offsets: readonly number[];
  /** Whether the chain goes on with a step that is computed. */
  readonly isOpen: boolean;
  /** Offsets in the expression of the whole chain. */
  readonly start: number;
  readonly end: number;
}

/** Every longest chain that an expression reads; the variables of its own comprehensions are not among them. */
export function readsOf(ast: ASTNode): readonly Read[] {
  const reads: Read[] = [];
  collect(ast, new Set(), reads);
  return reads;
}

function collect(node: ASTNode, bound: ReadonlySet<string>, into: Read[]): void {
  const chain = chainOf(node);
  if (chain !== undefined) {
    if (!bound.has(chain.root)) into.push(chain);
    for (const index of chain.computed) collect(index, bound, into);
    return;
  }
  if (node.op === 'rcall' && MACROS.has(node.args[0])) {
    const [, range, [variable, ...steps]] = node.args;
    collect(range, bound, into);
    const inner = variable?.op === 'id' ? new Set([...bound, variable.args]) : bound;
    for (const step of steps) collect(step, inner, into);
    return;
  }
  if (node.op === 'rcall' && node.args[0] === 'bind' && node.args[1].op === 'id' && node.args[1].args === 'cel') {
    const [variable, value, body] = node.args[2];
    if (value !== undefined) collect(value, bound, into);
    if (body !== undefined) collect(body, variable?.op === 'id' ? new Set([...bound, variable.args]) : bound, into);
    return;
  }
  for (const child of childrenOf(node)) collect(child, bound, into);
}

/** The chain that ends in this node; undefined when it does not begin with a name. `computed` are the index expressions that are no literals. */
function chainOf(node: ASTNode): (Read & { readonly computed: readonly ASTNode[] }) | undefined {
  if (node.op === 'id') {
    return TYPE_NAMES.has(node.args)
      ? undefined
      : { root: node.args, path: [], offsets: [], isOpen: false, start: node.start, end: node.end, computed: [] };
  }
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const base = chainOf(node.args[0]);
  if (base === undefined) return undefined;
  const step = node.op === '.' ? node.args[1] : literalStep(node.args[1]);
  if (step === undefined && node.op === '[]') return { ...base, isOpen: true, end: node.end, computed: [...base.computed, node.args[1]] };
  // The own key is literal for the chain, and read all the same.
  const computed = step === EACH_KEY && node.op === '[]' ? [...base.computed, node.args[1]] : base.computed;
  if (base.isOpen || step === undefined) return { ...base, computed, end: node.end };
  const offset = node.op === '.' ? node.end - node.args[1].length : node.args[1].start;
  return { ...base, computed, path: [...base.path, step], offsets: [...base.offsets, offset], end: node.end };
}

/** CEL's own constants: the names of its types. */
const TYPE_NAMES: ReadonlySet<string> = new Set([
  'string',
  'bool',
  'int',
  'uint',
  'double',
  'map',
  'list',
  'bytes',
  'null_type',
  'type',
  'google',
  'cel',
  'optional',
]);

function literalStep(index: ASTNode): Step | undefined {
  if (index.op === 'value') {
    if (typeof index.args === 'string') return index.args;
    if (typeof index.args === 'bigint') return Number(index.args);
    return undefined;
  }
  const isEachKey = index.op === '.' && index.args[1] === 'key' && index.args[0].op === 'id' && index.args[0].args === 'each';
  return isEachKey ? EACH_KEY : undefined;
}
