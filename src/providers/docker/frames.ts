import type { Written } from '../contract.ts';

const HEADER = 8;

/** Takes the engine's stream apart, in which standard output and standard error come in frames. A program with a terminal writes one stream without frames. */
export class Frames {
  readonly #isRaw: boolean;
  #open = Buffer.alloc(0);
  /** Bytes of the present frame that have not come yet, and where they belong. */
  #left = 0;
  #to: Written['to'] = 'stdout';

  constructor(isRaw: boolean) {
    this.#isRaw = isRaw;
  }

  /** The pieces that one more chunk completes. A long frame comes in several of them. */
  take(chunk: Buffer): readonly Written[] {
    if (this.#isRaw) return chunk.length === 0 ? [] : [{ to: 'stdout', bytes: chunk }];
    const pieces: Written[] = [];
    let rest = this.#open.length === 0 ? chunk : Buffer.concat([this.#open, chunk]);
    for (;;) {
      if (this.#left > 0 && rest.length > 0) {
        const bytes = rest.subarray(0, this.#left);
        pieces.push({ to: this.#to, bytes });
        this.#left -= bytes.length;
        rest = rest.subarray(bytes.length);
      }
      if (this.#left > 0 || rest.length < HEADER) break;
      this.#to = rest[0] === 2 ? 'stderr' : 'stdout';
      this.#left = rest.readUInt32BE(4);
      rest = rest.subarray(HEADER);
    }
    this.#open = Buffer.from(rest);
    return pieces;
  }
}
