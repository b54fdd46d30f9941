import { canonicalText } from '../../core/canonical.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { errorDocument, renderDiagnostics } from './diagnostics.ts';
import { type Masker, noMask } from './masking.ts';
import { type Sink, type Style, styleFor } from './terminal.ts';

/**
 * The one way out. The answer goes to stdout, the conversation to stderr; both pass the mask. Rows are masked before they are laid out,
 * since wrapping could break a secret apart, and the text once more after it.
 */
export class Output {
  readonly #stdout: Sink;
  readonly #stderr: Sink;
  #masker: Masker = noMask;
  /** How things look on stdout. */
  readonly answer: Style;
  /** How things look on stderr. */
  readonly conversation: Style;
  readonly json: boolean;

  constructor(
    streams: { readonly stdout: Sink; readonly stderr: Sink },
    options: {
      readonly environment: { readonly [name: string]: string | undefined };
      readonly json: boolean;
      readonly color: boolean | undefined;
    },
  ) {
    this.#stdout = streams.stdout;
    this.#stderr = streams.stderr;
    this.answer = styleFor(streams.stdout, options.environment, options);
    this.conversation = styleFor(streams.stderr, options.environment, options);
    this.json = options.json;
  }

  /** From now on the secrets that this masker knows are taken out of everything. */
  mask(masker: Masker): void {
    this.#masker = masker;
  }

  /** Rows without any known secret, for a view to lay out. */
  clean<T>(rows: T): T {
    return this.#masker.data(rows);
  }

  /** Text of the answer. */
  print(text: string): void {
    if (text !== '') this.#stdout.write(this.#masker.text(ended(text)));
  }

  /** Text of the conversation. */
  say(text: string): void {
    if (text !== '') this.#stderr.write(this.#masker.text(ended(text)));
  }

  /** A question: no line break after it. */
  ask(text: string): void {
    this.#stderr.write(this.#masker.text(text));
  }

  /** One canonical JSON document, or one line of a stream of them. */
  document(data: unknown): void {
    this.#stdout.write(`${canonicalText(this.clean(plainOf(data)))}\n`);
  }

  /** Says what was found on the way of something that went well: as text on stderr, in JSON mode too. */
  warn(diagnostics: readonly Diagnostic[]): void {
    this.say(renderDiagnostics(this.clean(diagnostics), this.conversation));
  }

  /** Says what was found: as text on stderr, or in JSON mode, when there are errors, as one document on stdout. */
  report(diagnostics: readonly Diagnostic[]): void {
    if (diagnostics.length === 0) return;
    const failed = diagnostics.some((diagnostic) => diagnostic.severity === 'error');
    if (this.json && failed) this.document(errorDocument(diagnostics));
    else this.warn(diagnostics);
  }
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

/** Drops members that are undefined and calls `toJSON`, which canonical JSON does not. */
function plainOf(data: unknown): unknown {
  return JSON.parse(JSON.stringify(data)) as unknown;
}
