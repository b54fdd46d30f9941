import { StringDecoder } from 'node:string_decoder';
import type { ResourceAddress } from '../../core/address.ts';
import type { Written } from '../../providers/contract.ts';

/** One line that a program wrote, without its end. */
export interface LogLine {
  readonly address: ResourceAddress;
  readonly to: Written['to'];
  readonly text: string;
}

/** The longest line that is put together; a longer one comes in pieces. */
const LONGEST = 1024 * 1024;

/** Puts what several programs wrote together to lines, each program and stream by itself. */
export class LogLines {
  readonly #open = new Map<
    string,
    { readonly decoder: StringDecoder; text: string; readonly address: ResourceAddress; readonly to: Written['to'] }
  >();

  /** The lines that one more piece completes. */
  take(address: ResourceAddress, { to, bytes }: Written): readonly LogLine[] {
    const key = `${address} ${to}`;
    const stream = this.#open.get(key) ?? { decoder: new StringDecoder('utf8'), text: '', address, to };
    this.#open.set(key, stream);
    const lines = (stream.text + stream.decoder.write(Buffer.from(bytes))).split('\n');
    stream.text = lines.pop() ?? '';
    if (stream.text.length > LONGEST) {
      lines.push(stream.text);
      stream.text = '';
    }
    return lines.map((text) => ({ address, to, text: text.replace(/\r$/, '') }));
  }

  /** What stands behind the last line breaks. */
  end(): readonly LogLine[] {
    return [...this.#open.values()].filter(({ text }) => text !== '').map(({ address, to, text }) => ({ address, to, text }));
  }
}

/** `worker["bulk"] | line`, the names of all instances at one width. */
export function prefixes(addresses: readonly ResourceAddress[]): ReadonlyMap<ResourceAddress, string> {
  const names = addresses.map((address) => [address, address.split('.').slice(2).join('.')] as const);
  const width = Math.max(0, ...names.map(([, name]) => name.length));
  return new Map(names.map(([address, name]) => [address, `${name.padEnd(width)} | `]));
}

/** The line of the JSON output. With timestamps the time stands apart from the text. */
export function lineDocument({ address, to, text }: LogLine, hasTime: boolean): object {
  const [time, ...words] = text.split(' ');
  return { format: 'accede.log/v1', address, stream: to, ...(hasTime ? { time, text: words.join(' ') } : { text }) };
}
