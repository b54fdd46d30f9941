import { Chalk, type ChalkInstance } from 'chalk';

/** A stream that a view writes to, as far as a view must know it. */
export interface Sink {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): boolean;
}

/** How things look on one stream. Decided once, when the process starts. */
export interface Style {
  readonly width: number;
  readonly interactive: boolean;
  readonly color: ChalkInstance;
}

const NARROWEST = 80;
const WIDEST = 160;
const DEFAULT_WIDTH = 100;
/** A live view needs room: where it does not fit, its library wipes the screen with every frame. */
const LOWEST = 16;

/** The style for a stream under the usual variables: NO_COLOR wins, then FORCE_COLOR, then what the terminal is. */
export function styleFor(
  stream: Sink,
  environment: { readonly [name: string]: string | undefined },
  options: { readonly color: boolean | undefined },
): Style {
  const dumb = environment['TERM'] === 'dumb';
  const terminal = stream.isTTY === true;
  return {
    width: terminal ? Math.min(WIDEST, Math.max(NARROWEST, stream.columns ?? DEFAULT_WIDTH)) : DEFAULT_WIDTH,
    interactive: terminal && !dumb && !isSet(environment['CI']) && (stream.rows ?? LOWEST) >= LOWEST,
    color: new Chalk({ level: colorLevel(terminal && !dumb, environment, options.color) }),
  };
}

function colorLevel(
  terminal: boolean,
  environment: { readonly [name: string]: string | undefined },
  asked: boolean | undefined,
): 0 | 1 | 2 | 3 {
  if (asked === false || (environment['NO_COLOR'] ?? '') !== '') return 0;
  const forced = environment['FORCE_COLOR'];
  if (forced !== undefined) {
    if (forced === '0' || forced === 'false') return 0;
    return forced === '2' ? 2 : forced === '3' ? 3 : 1;
  }
  if (!terminal) return 0;
  return /^(truecolor|24bit)$/.test(environment['COLORTERM'] ?? '') ? 3 : 2;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}
