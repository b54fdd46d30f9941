import type { ASTNode } from '@marcbachmann/cel-js';
import { type CelLanguage, measured, mergePlain } from './expression-cel.ts';
import { addedFunction, FunctionRefusal } from './expression-functions.ts';
import { type Branch, ExpressionFailure, failure, isBranch, type Scope, Taint } from './expression-scope.ts';
import { evaluateWhole, type Piece } from './expression-whole.ts';
import { nearMiss } from './naming.ts';
import { OMIT, type Omit } from './template.ts';
import { isAttributes, isList, reveal, Sensitive, Unknown, type Value } from './value.ts';

export interface Evaluation {
  readonly language: CelLanguage;
  readonly scope: Scope;
  /** The piece for a node, parsed on first use. */
  piece(node: ASTNode): Piece;
}

type Item = Value | Branch | Omit;

/**
 * Evaluates what only moves values about by itself, so that secrets and unknowns stay wrapped member by member; anything else is one piece
 * for the library. Throws `ExpressionFailure`, and what the library and the added functions throw.
 */
export function evaluateExpression(node: ASTNode, evaluation: Evaluation): Value | Omit {
  const item = evaluateItem(node, evaluation);
  return isBranch(item) ? item.whole() : item;
}

function evaluateItem(node: ASTNode, evaluation: Evaluation): Item {
  switch (node.op) {
    case 'value':
      return literal(node, evaluation);
    case 'id': {
      const found = evaluation.scope.root(node.args);
      return found === undefined ? evaluatePiece(node, evaluation) : found;
    }
    case '.':
      return memberOf(valueOrBranch(node.args[0], evaluation), node.args[1], node);
    case '[]':
      return indexed(node.args[0], node.args[1], node, evaluation);
    case 'list':
      return node.args.map((item) => evaluateExpression(item, evaluation)).filter((item) => item !== OMIT);
    case 'map':
      return mapLiteral(node.args, node, evaluation);
    case '?:':
      return conditional(node.args, evaluation);
    case 'call':
      return call(node.args[0], node.args[1], node, evaluation);
    default:
      return evaluatePiece(node, evaluation);
  }
}

function evaluatePiece(node: ASTNode, evaluation: Evaluation): Value {
  return evaluateWhole(evaluation.piece(node), evaluation.scope, evaluation.language);
}

function literal(node: ASTNode & { readonly op: 'value' }, evaluation: Evaluation): Value {
  const value = node.args;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  return evaluatePiece(node, evaluation);
}

function valueOrBranch(node: ASTNode, evaluation: Evaluation): Value | Branch {
  const item = evaluateItem(node, evaluation);
  if (item === OMIT)
    throw failure('OMIT_NOT_ALLOWED_HERE', 'An expression computes with omit', 'omit leaves a key out; nothing can be read of it.', node);
  return item;
}

/** A value, never `omit`. */
function operand(node: ASTNode, evaluation: Evaluation): Value {
  const item = valueOrBranch(node, evaluation);
  return isBranch(item) ? item.whole() : item;
}

function indexed(base: ASTNode, index: ASTNode, node: ASTNode, evaluation: Evaluation): Item {
  const from = valueOrBranch(base, evaluation);
  const key = operand(index, evaluation);
  if (key instanceof Unknown) return tainted(isBranch(from) ? null : from, key);
  if (key instanceof Sensitive) {
    const taint = new Taint();
    taint.add(key);
    const barrier = taint.barrier;
    if (barrier !== undefined) return barrier;
    // Which member is read tells of the key, and so does the message about a missing one.
    try {
      const found = memberOf(from, reveal(key) as Value, node);
      const whole = isBranch(found) ? found.whole() : found;
      taint.add(whole);
      return taint.wrap(whole);
    } catch (error) {
      if (error instanceof ExpressionFailure)
        throw failure(
          'UNKNOWN_REFERENCE',
          'An expression reads a member that does not exist',
          'The member that is chosen by a secret does not exist.',
          node,
        );
      throw error;
    }
  }
  return memberOf(from, key, node);
}

/** An unknown that keeps the mark of a secret which it was read from. */
function tainted(from: Value, unknown: Unknown): Value {
  return from instanceof Sensitive ? Sensitive.open(unknown, from.names) : unknown;
}

/** The member of a value, with the wrappers that were passed on the way. */
function memberOf(from: Value | Branch, key: Value, node: ASTNode): Value | Branch {
  if (isBranch(from)) {
    const found = typeof key === 'string' ? from.member(key) : undefined;
    if (found === undefined) throw missing(key, from.names(), node);
    return found;
  }
  if (from instanceof Unknown) return from;
  if (from instanceof Sensitive) {
    if (from.isSkipped) return Sensitive.skipped(from.names);
    if (!from.isOpen) return Sensitive.open(new Unknown('a recorded secret'), from.names);
    try {
      const found = memberOf(from.reveal(), key, node);
      return Sensitive.open(isBranch(found) ? found.whole() : found, from.names);
    } catch (error) {
      if (error instanceof ExpressionFailure) {
        throw failure(
          'UNKNOWN_REFERENCE',
          'An expression reads a member that does not exist',
          `The secret holds no member ${JSON.stringify(key)}.`,
          node,
        );
      }
      throw error;
    }
  }
  if (isList(from)) {
    const found = typeof key === 'number' ? from[key] : undefined;
    if (found !== undefined) return found;
    const detail =
      typeof key === 'number'
        ? `The list has ${from.length} members; there is none at index ${key}.`
        : 'A list has no members by name; they are read by index, from 0 on.';
    throw failure('UNKNOWN_REFERENCE', 'An expression reads a member that does not exist', detail, node);
  }
  if (isAttributes(from)) {
    if (typeof key === 'string' && Object.hasOwn(from, key)) return from[key] ?? null;
    throw missing(key, Object.keys(from), node);
  }
  const kind = from === null ? 'null' : `a ${typeof from === 'string' ? 'text' : typeof from}`;
  throw failure(
    'UNKNOWN_REFERENCE',
    'An expression reads a member that does not exist',
    `${kind} has no members, so ${JSON.stringify(key)} cannot be read of it.`,
    node,
  );
}

function missing(key: Value, names: readonly string[], node: ASTNode): ExpressionFailure {
  const near = typeof key === 'string' ? nearMiss(key, names) : undefined;
  const base = node.op === '.' || node.op === '[]' ? node.args[0] : node;
  const holder = node.input.slice(base.start, base.end);
  const detail = `There is no ${JSON.stringify(key)} in ${holder}.${near === undefined ? '' : ` Did you mean "${near}"?`}`;
  const start = node.op === '.' ? node.end - node.args[1].length : node.op === '[]' ? node.args[1].start : node.start;
  return failure('UNKNOWN_REFERENCE', 'An expression reads a member that does not exist', detail, { start });
}

function mapLiteral(entries: readonly (readonly [ASTNode, ASTNode])[], node: ASTNode, evaluation: Evaluation): Value {
  const taint = new Taint();
  const members: [string, Value][] = [];
  for (const [keyNode, valueNode] of entries) {
    const key = operand(keyNode, evaluation);
    taint.add(key);
    const value = evaluateExpression(valueNode, evaluation);
    if (taint.barrier !== undefined) return taint.barrier;
    const name = reveal(key);
    if (typeof name !== 'string')
      throw failure('BAD_MAP_KEY', 'A key of a map is no text', 'The keys of a map are text. Use string() for another value.', node);
    if (value !== OMIT) members.push([name, value]);
  }
  return taint.wrap(Object.fromEntries(members));
}

function conditional([condition, yes, no]: readonly [ASTNode, ASTNode, ASTNode], evaluation: Evaluation): Item {
  const chosen = operand(condition, evaluation);
  const taint = new Taint();
  taint.add(chosen);
  const barrier = taint.barrier;
  if (barrier !== undefined) return barrier;
  const plain = reveal(chosen);
  if (typeof plain !== 'boolean')
    throw failure('EXPRESSION_FAILED', 'An expression cannot be computed', 'The condition before ? must be true or false.', condition);
  const item = evaluateItem(plain ? yes : no, evaluation);
  if (!taint.isSensitive) return item;
  if (item === OMIT)
    throw failure(
      'OMIT_NOT_ALLOWED_HERE',
      'A secret decides whether a key exists',
      'Whether a key is left out may not depend on a secret: the keys are shown.',
      condition,
    );
  return taint.wrap(isBranch(item) ? item.whole() : item);
}

function call(name: string, args: readonly ASTNode[], node: ASTNode, evaluation: Evaluation): Item {
  if (name === 'merge') return merge(args, evaluation);
  if (name === 'template' && args.length === 2) return template(args, evaluation);
  const added = addedFunction(name);
  if (added === undefined) return evaluatePiece(node, evaluation);
  if (args.length < added.arity.least || args.length > added.arity.most) {
    throw failure(
      'EXPRESSION_FAILED',
      'An expression cannot be computed',
      `${name}() takes ${added.arity.least === 1 ? 'one value' : `${added.arity.least} values`}, and got ${args.length}.`,
      node,
    );
  }
  const values = args.map((argument) => operand(argument, evaluation));
  const taint = new Taint();
  for (const value of values) taint.add(value);
  return taint.barrier ?? taint.wrap(refusing(node, () => added.apply(values.map((value) => measured(reveal(value))))));
}

function merge(args: readonly ASTNode[], evaluation: Evaluation): Value {
  const values = args.map((argument) => operand(argument, evaluation));
  if (values.every(isAttributes)) return Object.fromEntries(values.flatMap((value) => Object.entries(value)));
  // A map that is wrapped as a whole hides its keys, so that the result is wrapped as a whole too.
  const taint = new Taint();
  for (const value of values) taint.add(value);
  return taint.barrier ?? taint.wrap(mergePlain(values.map(reveal)));
}

function template(args: readonly ASTNode[], evaluation: Evaluation): Value {
  const [path, values] = args.map((argument) => operand(argument, evaluation));
  if (typeof path !== 'string') throw new FunctionRefusal('template() takes the path of a file as text.');
  if (values instanceof Unknown || values instanceof Sensitive) {
    const taint = new Taint();
    taint.add(values);
    const barrier = taint.barrier;
    if (barrier !== undefined) return barrier;
    return taint.wrap(evaluation.language.files.template(path, attributesOf(reveal(values) as Value)));
  }
  return evaluation.language.files.template(path, attributesOf(values));
}

function attributesOf(value: Value | undefined): { readonly [name: string]: Value } {
  if (value !== undefined && isAttributes(value)) return value;
  throw new FunctionRefusal('template() takes a path and a map.');
}

/** Gives a refusal the place of its call. */
function refusing(node: ASTNode, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (error instanceof FunctionRefusal) throw failure('EXPRESSION_FAILED', 'An expression cannot be computed', error.message, node);
    throw error;
  }
}
