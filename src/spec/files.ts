import path from 'node:path';
import { compareText } from '../core/address.ts';
import { type Digest, digestBytes } from '../core/canonical.ts';
import { compileExpression, expressionLanguage } from '../core/expression.ts';
import type { CelLanguage, FileFunctions } from '../core/expression-cel.ts';
import { FunctionRefusal } from '../core/expression-functions.ts';
import { ExpressionFailure, scopeOf } from '../core/expression-scope.ts';
import { joinText, splitInterpolation } from '../core/expression-text.ts';
import { OMIT } from '../core/template.ts';
import type { Attributes, Plain, Value } from '../core/value.ts';
import { rangeOf, type SourceFile, sourceFile } from './source.ts';
import { decodeUtf8, displayName, READ_BYTES, type Workspace } from './workspace.ts';

/** How deep templates may use templates. */
const TEMPLATE_DEPTH = 10;

interface Content {
  readonly digest: Digest;
  readonly bytes: Uint8Array;
  /** Undefined when it is not UTF-8. */
  readonly text: string | undefined;
}

/**
 * The files that expressions and attributes read. They are read while the environment is loaded; after `close`, evaluation answers from what
 * was read and does no I/O.
 */
export class FileStore {
  readonly #workspace: Workspace;
  readonly #contents = new Map<string, Content>();
  readonly #languages = new Map<string, CelLanguage>();
  /** What was read under which written name: part of the source digest. */
  readonly #read = new Map<string, Plain>();
  #isClosed = false;
  #depth = 0;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Lets files be read again. */
  open(): void {
    this.#isClosed = false;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Names as they are written, with content digests; in text order. */
  digests(): readonly Plain[] {
    return [...this.#read].sort(([a], [b]) => compareText(a, b)).map(([, entry]) => entry);
  }

  /** Absolute paths of everything that was read. */
  paths(): readonly string[] {
    return [...this.#contents.keys()];
  }

  /** The expression language whose file functions are relative to a folder. */
  languageFor(folder: string): CelLanguage {
    const known = this.#languages.get(folder);
    if (known !== undefined) return known;
    const functions: FileFunctions = {
      file: (name) => this.#text(folder, name),
      template: (name, values) => this.#template(folder, name, values),
    };
    const language = expressionLanguage(functions);
    this.#languages.set(folder, language);
    return language;
  }

  /** What an attribute gets in place of a file's name. Throws `FunctionRefusal`. */
  attribute(folder: string, name: string): Attributes {
    const { digest, text, bytes } = this.#content(folder, name);
    return {
      path: name,
      sha256: digest.slice('sha256:'.length),
      ...(text === undefined ? { base64: Buffer.from(bytes).toString('base64') } : { text }),
    };
  }

  #content(folder: string, name: string): Content {
    if (name === '') throw new FunctionRefusal('The path of a file is empty.');
    const absolute = path.resolve(folder, name);
    const known = this.#contents.get(absolute);
    const content = known ?? this.#readNow(absolute, name);
    const written = path.relative(folder, absolute).split(path.sep).join('/');
    this.#read.set(`${written} ${content.digest}`, [written, content.digest]);
    return content;
  }

  #readNow(absolute: string, name: string): Content {
    if (this.#isClosed)
      throw new FunctionRefusal(
        `The file ${name} was not read when the environment was loaded: its path must be known without any resource.`,
      );
    const read = this.#workspace.files.read(this.#workspace, absolute, READ_BYTES);
    if (!read.ok) throw new FunctionRefusal(`The file ${name} cannot be read. ${read.reason}`);
    const decoded = decodeUtf8(read.bytes);
    // A byte order mark is taken off the text, so that it would not come back as it was.
    const isText = 'text' in decoded && !(read.bytes[0] === 0xef && read.bytes[1] === 0xbb);
    const content: Content = { digest: digestBytes(read.bytes), bytes: read.bytes, text: isText ? decoded.text : undefined };
    this.#contents.set(absolute, content);
    return content;
  }

  #text(folder: string, name: string): string {
    const { text } = this.#content(folder, name);
    if (text === undefined) throw new FunctionRefusal(`The file ${name} is not UTF-8 text, which file() and template() need.`);
    return text;
  }

  #template(folder: string, name: string, values: Attributes): Value {
    if (this.#depth >= TEMPLATE_DEPTH) throw new FunctionRefusal(`Templates use each other more than ${TEMPLATE_DEPTH} deep.`);
    const text = this.#text(folder, name);
    const absolute = path.resolve(folder, name);
    const source = sourceFile(displayName(this.#workspace, absolute), absolute, folder, text);
    this.#depth += 1;
    try {
      return this.#fill(source, values);
    } finally {
      this.#depth -= 1;
    }
  }

  #fill(source: SourceFile, values: Attributes): Value {
    const split = splitInterpolation(source.text);
    if ('unclosed' in split) {
      throw new ExpressionFailure([
        {
          severity: 'error',
          code: 'UNCLOSED_EXPRESSION',
          summary: 'An expression is not closed',
          detail: 'The ${ at this place of the template has no } that ends it. Write $${ for a literal ${.',
          source: rangeOf(source, split.unclosed, split.unclosed + 2),
        },
      ]);
    }
    const scope = scopeOf(new Map(Object.entries(values)));
    const parts = split.parts.map((part) => {
      if (part.kind === 'text') return part.text;
      const locate = (offset: number) => rangeOf(source, part.offset + offset, part.offset + offset + 1);
      const compiled = compileExpression(part.text, { language: this.languageFor(source.folder), roots: new Set(scope.names()), locate });
      const value = compiled.ok ? compiled.value.evaluate(scope) : compiled;
      if (!value.ok) throw new ExpressionFailure(value.diagnostics);
      return value.value === OMIT ? null : value.value;
    });
    const joined = joinText(parts, rangeOf(source, 0, 0));
    if (!joined.ok) throw new ExpressionFailure(joined.diagnostics);
    return joined.value;
  }
}
