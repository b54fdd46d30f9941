import { type ASTNode, TypeError as CelTypeError, EvaluationError } from '@marcbachmann/cel-js';
import { type CelLanguage, type CelProgram, type CelValue, toCel } from './expression-cel.ts';
import { FunctionRefusal } from './expression-functions.ts';
import { EACH_KEY, type Read, readsOf } from './expression-reads.ts';
import { type Branch, failure, isBranch, type Scope, Taint } from './expression-scope.ts';
import { endOfQuoted } from './expression-text.ts';
import { OMIT } from './template.ts';
import { isAttributes, isList, Sensitive, Unknown, type Value } from './value.ts';

/** A part of an expression that the library evaluates as a whole, with what it reads. */
export interface Piece {
  readonly program: CelProgram;
  readonly reads: readonly Read[];
  /** Offset in the whole expression of an offset in the piece. */
  offset(offset: number): number;
}

/**
 * Evaluates a piece with every wrapper opened. The result is sensitive when anything that the piece reads is, and is not computed when
 * anything is unknown. The library's message about a sensitive value is replaced, since it may quote the value.
 */
export function evaluateWhole(piece: Piece, scope: Scope, language: CelLanguage): Value {
  const taint = new Taint();
  const roots = new Map<string, CelValue>();
  for (const read of piece.reads) take(read, piece, scope, { taint, roots, language });
  const barrier = taint.barrier;
  if (barrier !== undefined) return barrier;
  try {
    return taint.wrap(piece.program.run(roots));
  } catch (error) {
    const offset = error instanceof EvaluationError || error instanceof CelTypeError ? (error.range?.start ?? 0) : 0;
    if (!isExpected(error)) throw error;
    const detail = taint.isSensitive
      ? 'The expression cannot be computed from the secrets that it reads. The reason is not shown, since it could show a secret.'
      : error instanceof FunctionRefusal
        ? error.message
        : error instanceof RangeError
          ? 'The expression needs more room than it may take.'
          : `The expression cannot be computed: ${lowerFirst(error.summary)}.`;
    throw failure('EXPRESSION_FAILED', 'An expression cannot be computed', detail, { start: piece.offset(offset) });
  }
}

function isExpected(error: unknown): error is EvaluationError | CelTypeError | FunctionRefusal | RangeError {
  return (
    error instanceof EvaluationError || error instanceof CelTypeError || error instanceof FunctionRefusal || error instanceof RangeError
  );
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

interface Gathering {
  readonly taint: Taint;
  readonly roots: Map<string, CelValue>;
  readonly language: CelLanguage;
}

/** Puts what a chain reads where the library will look for it, and notes what is secret or unknown in exactly that. */
function take(read: Read, piece: Piece, scope: Scope, into: Gathering): void {
  const found = scope.root(read.root);
  if (found === undefined) return;
  if (found === OMIT) {
    throw failure(
      'OMIT_NOT_ALLOWED_HERE',
      'An expression computes with omit',
      'omit leaves a key out; it stands alone, as a value, or behind ? or :.',
      { start: piece.offset(read.start) },
    );
  }
  const path = read.path.map((step) => (step === EACH_KEY ? eachKey(scope) : step));
  let holder = into.roots;
  let name: string = read.root;
  let item: Value | Branch = found;
  let depth = 0;
  while (isBranch(item) && depth < path.length) {
    const step = path[depth];
    const next: Value | Branch | undefined = typeof step === 'string' ? item.member(step) : undefined;
    holder = branchMap(holder, name);
    if (next === undefined || typeof step !== 'string') return;
    name = step;
    item = next;
    depth += 1;
  }
  const value = isBranch(item) ? item.whole() : item;
  note(value, path.slice(depth), into.taint);
  holder.set(name, into.language.open(value, openValue));
}

function branchMap(holder: Map<string, CelValue>, name: string): Map<string, CelValue> {
  const present = holder.get(name);
  // What was put in whole before has this member already; a copy takes the others.
  const map = new Map<string, CelValue>(present instanceof Map ? (present as ReadonlyMap<string, CelValue>) : []);
  holder.set(name, map);
  return map;
}

function eachKey(scope: Scope): string {
  const each = scope.root('each');
  const key = isBranch(each) ? each.member('key') : undefined;
  return typeof key === 'string' ? key : '';
}

/** Follows the literal steps as far as they lead and takes in what is at their end. */
function note(value: Value, path: readonly (string | number)[], taint: Taint): void {
  let at = value;
  for (const step of path) {
    if (at instanceof Sensitive) {
      taint.addWrapper(at);
      if (!at.isOpen) return;
      at = at.reveal();
    }
    let next: Value | undefined;
    if (isList(at) && typeof step === 'number') next = at[step];
    else if (isAttributes(at) && typeof step === 'string' && Object.hasOwn(at, step)) next = at[step];
    // A missing member is the library's to report, or `has` asks for it.
    if (next === undefined) break;
    at = next;
  }
  taint.add(at);
}

/** Values with their wrappers opened, in the library's types. What is unknown or sealed is null: its taint keeps the result from being computed. */
export function openValue(value: Value): CelValue {
  if (value instanceof Sensitive) return value.isOpen ? openValue(value.reveal()) : null;
  if (value instanceof Unknown) return null;
  if (isList(value)) return value.map(openValue);
  if (isAttributes(value)) return new Map(Object.entries(value).map(([name, item]) => [name, openValue(item)]));
  return toCel(value);
}

/** Makes the pieces of an expression on demand, each parsed once. */
export function pieceMaker(program: CelProgram, language: CelLanguage): (node: ASTNode) => Piece {
  const pieces = new Map<ASTNode, Piece>();
  return (node) => {
    const known = pieces.get(node);
    if (known !== undefined) return known;
    const made: Piece = node === program.ast ? { program, reads: readsOf(node), offset: (offset) => offset } : partOf(node, language);
    pieces.set(node, made);
    return made;
  };
}

function partOf(node: ASTNode, language: CelLanguage): Piece {
  const { text, start } = sourceOf(node);
  const part = language.parse(text);
  return { program: part, reads: readsOf(part.ast), offset: (offset) => start + offset };
}

/**
 * The text of a node. Its range leaves out parentheses at its edges (`(a) + b` begins at `a`), so that the missing ones are taken in from
 * both sides. Throws when that does not give the same expression, which would be a bug.
 */
function sourceOf(node: ASTNode): { readonly text: string; readonly start: number } {
  const { input } = node;
  let { start, end } = node;
  let open = 0;
  let missing = 0;
  for (let at = start; at < end; at++) {
    const character = input[at];
    if (character === '"' || character === "'") at = (endOfQuoted(input, at) ?? end) - 1;
    else if (character === '(') open += 1;
    else if (character === ')') {
      if (open === 0) missing += 1;
      else open -= 1;
    }
  }
  for (; missing > 0; missing--) start = input.lastIndexOf('(', start - 1);
  for (; open > 0; open--) end = input.indexOf(')', end) + 1;
  return { text: input.slice(start, end), start };
}
