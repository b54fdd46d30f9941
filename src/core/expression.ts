import { type ASTNode, ParseError } from '@marcbachmann/cel-js';
import { type Diagnostic, fail, type Outcome, type SourceRange, settle, succeed } from './diagnostic.ts';
import {
  type CelLanguage,
  type CelProgram,
  celLanguage,
  EXPRESSION_LENGTH,
  type FileFunctions,
  isAdded,
  MACROS,
  visit,
} from './expression-cel.ts';
import { type Evaluation, evaluateExpression } from './expression-evaluate.ts';
import { FunctionRefusal } from './expression-functions.ts';
import { type Read, readsOf } from './expression-reads.ts';
import { ExpressionFailure, type Scope } from './expression-scope.ts';
import { pieceMaker } from './expression-whole.ts';
import { nearMiss } from './naming.ts';
import type { Omit } from './template.ts';
import type { Value } from './value.ts';

export interface ExpressionOptions {
  /** The language with its file functions, from `expressionLanguage`. */
  readonly language: CelLanguage;
  /** Names that may stand at the root; any other is an error with its near miss. */
  readonly roots: ReadonlySet<string>;
  /** Names that exist elsewhere, and why they may not stand here. */
  readonly refused?: ReadonlyMap<string, string>;
  /** What an unknown name was meant to be, as a sentence, when the caller can tell. */
  readonly hint?: (name: string, offset: number) => string | undefined;
  /** The place of a character of the expression, for diagnostics. */
  readonly locate?: (offset: number) => SourceRange | undefined;
}

/** An expression that was parsed once and can be evaluated many times, each time in another scope. */
export interface CompiledExpression {
  readonly text: string;
  readonly language: CelLanguage;
  /** What it reads, in the order of the text. */
  readonly reads: readonly Read[];
  /** The place of a character of the expression. */
  readonly locate: (offset: number) => SourceRange | undefined;
  /** Paths that `file` and `template` are called with, as far as they can be told in this scope. */
  filePaths(scope: Scope): readonly string[];
  /** Never throws for what a user can cause. A message about a sensitive value does not hold the value. */
  evaluate(scope: Scope): Outcome<Value | Omit>;
}

/** The expression language for one document: `file` and `template` answer from what was read for it. */
export function expressionLanguage(files: FileFunctions): CelLanguage {
  return celLanguage(files);
}

/** Parses and checks an expression, the text between `${` and `}`. Names, functions and syntax are checked here, values only in `evaluate`. */
export function compileExpression(text: string, options: ExpressionOptions): Outcome<CompiledExpression> {
  const locate = options.locate ?? (() => undefined);
  const at = (offset: number) => {
    const source = locate(offset);
    return source === undefined ? {} : { source };
  };
  if (text.trim() === '') {
    return fail({
      ...ERROR,
      code: 'EMPTY_EXPRESSION',
      summary: 'An expression is empty',
      detail: 'There is nothing between ${ and }. Write $${ for a literal ${.',
      ...at(0),
    });
  }
  if (text.length > EXPRESSION_LENGTH) {
    return fail({
      ...ERROR,
      code: 'EXPRESSION_TOO_LARGE',
      summary: 'An expression is too long',
      detail: `The expression has ${text.length} characters; at most ${EXPRESSION_LENGTH} are allowed. Move parts of it into locals.`,
      ...at(0),
    });
  }
  try {
    return compileParsed(text, options, locate, at);
  } catch (error) {
    // The parser and all that walks its tree call themselves for each level.
    if (error instanceof RangeError) return fail(tooDeep(at(0)));
    throw error;
  }
}

function compileParsed(
  text: string,
  options: ExpressionOptions,
  locate: CompiledExpression['locate'],
  at: Placed,
): Outcome<CompiledExpression> {
  let program: CelProgram;
  try {
    program = options.language.parse(text);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return fail(syntaxError(error, text, at));
  }
  const reads = readsOf(program.ast);
  const diagnostics = [...checkRoots(reads, options, at), ...checkFunctions(program.ast, options.language, at)];
  const calls = fileCalls(program.ast);
  const piece = pieceMaker(program, options.language);
  const compiled: CompiledExpression = {
    text,
    language: options.language,
    reads,
    locate,
    filePaths: (scope) =>
      calls.length === 0 ? [] : calls.flatMap((argument) => pathOf(argument, { language: options.language, scope, piece })),
    evaluate: (scope) => {
      try {
        return succeed(evaluateExpression(program.ast, { language: options.language, scope, piece }));
      } catch (error) {
        return evaluationFailure(error, at);
      }
    },
  };
  return settle(compiled, diagnostics);
}

const ERROR = { severity: 'error' } as const;
type Placed = (offset: number) => { readonly source?: SourceRange };

function syntaxError(error: ParseError, text: string, at: Placed): Diagnostic {
  const offset = error.range?.start ?? 0;
  if (error.code === 'reserved_identifier') {
    return {
      ...ERROR,
      code: 'BAD_EXPRESSION',
      summary: 'An expression uses a reserved word as a name',
      detail: `The word at this place is reserved and cannot be a name. Variables are read as vars.NAME; a member with such a name is read as ["name"].`,
      expected: 'vars, locals, secrets, release, each, metadata, path, provider or an address',
      ...at(offset),
    };
  }
  const isEnd = offset >= text.length || /EOF/.test(error.summary);
  return {
    ...ERROR,
    code: 'BAD_EXPRESSION',
    summary: 'An expression cannot be read',
    detail: isEnd
      ? 'The expression ends too early. Something is missing at its end: a value, a closing bracket or a closing quote.'
      : `The expression is not valid CEL at this place: ${lowerFirst(error.summary)}.`,
    expected: 'a CEL expression',
    ...at(Math.min(offset, Math.max(0, text.length - 1))),
  };
}

function tooDeep(place: { readonly source?: SourceRange }): Diagnostic {
  return {
    ...ERROR,
    code: 'EXPRESSION_TOO_LARGE',
    summary: 'An expression nests too deep',
    detail: 'The expression holds more operators or brackets inside of each other than can be read. Move parts of it into locals.',
    ...place,
  };
}

function checkRoots(reads: readonly Read[], options: ExpressionOptions, at: Placed): readonly Diagnostic[] {
  const seen = new Set<string>();
  const diagnostics: Diagnostic[] = [];
  for (const { root, start } of reads) {
    if (options.roots.has(root) || root === 'omit' || seen.has(root)) continue;
    seen.add(root);
    const reason = options.refused?.get(root);
    const hint = options.hint?.(root, start);
    const near = hint === undefined ? nearMiss(root, options.roots) : undefined;
    diagnostics.push(
      reason === undefined
        ? {
            ...ERROR,
            code: 'UNKNOWN_NAME',
            summary: 'An expression reads a name that does not exist',
            detail: `There is no name "${root}" here.${near === undefined ? '' : ` Did you mean "${near}"?`} ${hint ?? 'Text stands in quotes; variables are read as vars.NAME.'}`,
            expected: `one of ${[...options.roots].sort().join(', ')}`,
            observed: root,
            ...at(start),
          }
        : {
            ...ERROR,
            code: 'NAME_NOT_ALLOWED_HERE',
            summary: 'An expression reads a name that is not allowed at this place',
            detail: reason,
            observed: root,
            ...at(start),
          },
    );
  }
  return diagnostics;
}

function checkFunctions(ast: ASTNode, language: CelLanguage, at: Placed): readonly Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  visit(ast, (node) => {
    if (node.op !== 'call' && node.op !== 'rcall') return;
    const name = node.args[0];
    const known = node.op === 'call' ? language.functions : language.methods;
    if (known.has(name) || (node.op === 'call' ? isAdded(name) : MACROS.has(name))) return;
    const near = nearMiss(name, known);
    const place = node.op === 'call' ? node.start : node.args[1].end;
    diagnostics.push({
      ...ERROR,
      code: 'UNKNOWN_FUNCTION',
      summary: 'An expression calls a function that does not exist',
      detail: `There is no function "${name}".${near === undefined ? '' : ` Did you mean "${near}"?`}`,
      observed: name,
      ...at(place),
    });
  });
  return diagnostics;
}

/** The first arguments of every `file` and `template`. */
function fileCalls(ast: ASTNode): readonly ASTNode[] {
  const found: ASTNode[] = [];
  visit(ast, (node) => {
    if (node.op !== 'call' || (node.args[0] !== 'file' && node.args[0] !== 'template')) return;
    const [path] = node.args[1];
    if (path !== undefined) found.push(path);
  });
  return found;
}

function pathOf(argument: ASTNode, evaluation: Evaluation): readonly string[] {
  try {
    const value = evaluateExpression(argument, evaluation);
    return typeof value === 'string' ? [value] : [];
  } catch (error) {
    // What is wrong with it is said when the whole expression is evaluated.
    if (error instanceof ExpressionFailure || error instanceof FunctionRefusal) return [];
    throw error;
  }
}

/** Turns what was thrown into diagnostics; what nobody can cause by writing an expression is thrown on. */
function evaluationFailure(error: unknown, at: Placed): Outcome<never> {
  if (error instanceof ExpressionFailure)
    return { ok: false, diagnostics: error.diagnostics.map((diagnostic) => placed(diagnostic, error, at)) };
  if (error instanceof FunctionRefusal) return fail(valueError(error.message, at(0)));
  if (error instanceof RangeError) return fail(valueError('The expression needs more room than it may take.', at(0)));
  throw error;
}

function placed(diagnostic: Diagnostic, error: ExpressionFailure, at: Placed): Diagnostic {
  return diagnostic.source === undefined && error.offset !== undefined ? { ...diagnostic, ...at(error.offset) } : diagnostic;
}

function valueError(detail: string, place: { readonly source?: SourceRange }): Diagnostic {
  return { ...ERROR, code: 'EXPRESSION_FAILED', summary: 'An expression cannot be computed', detail, ...place };
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
