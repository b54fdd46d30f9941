import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { FakeWorld, type WorldEntry, type WorldJournal } from './world.ts';

/**
 * A world in a file of JSON lines, one per effect, each made durable before the effect is answered, so that what a process did before it was
 * killed can be seen afterwards. A last line without an end was never answered and does not count. Secrets stand in it in clear.
 */
export function fileWorld(path: string): FakeWorld {
  return new FakeWorld(new FileJournal(path));
}

class FileJournal implements WorldJournal {
  readonly #path: string;
  #offset = 0;

  constructor(path: string) {
    this.#path = path;
  }

  append(entry: WorldEntry): void {
    const file = openSync(this.#path, constants.O_CREAT | constants.O_RDWR | constants.O_APPEND, 0o600);
    try {
      // A torn line of a killed process is closed, so that ours stands on its own.
      const torn = this.#endsTorn(file);
      const line = Buffer.from(`${torn ? '\n' : ''}${JSON.stringify(entry)}\n`);
      if (writeSync(file, line) !== line.length) throw new Error(`${this.#path} took a part of a line`);
      fsyncSync(file);
      this.#offset = fstatSync(file).size;
    } finally {
      closeSync(file);
    }
  }

  readNew(): readonly WorldEntry[] {
    const file = openSync(this.#path, constants.O_CREAT | constants.O_RDONLY, 0o600);
    try {
      const size = fstatSync(file).size;
      if (size === this.#offset) return [];
      const bytes = Buffer.alloc(size - this.#offset);
      readSync(file, bytes, 0, bytes.length, this.#offset);
      const end = bytes.lastIndexOf(10) + 1;
      this.#offset += end;
      const lines = bytes.subarray(0, end).toString('utf8').split('\n');
      return lines.flatMap((line) => parseLine(line) ?? []);
    } finally {
      closeSync(file);
    }
  }

  #endsTorn(file: number): boolean {
    const size = fstatSync(file).size;
    if (size === 0) return false;
    const last = Buffer.alloc(1);
    readSync(file, last, 0, 1, size - 1);
    return last[0] !== 10;
  }
}

function parseLine(line: string): WorldEntry | undefined {
  if (line === '') return undefined;
  try {
    return JSON.parse(line) as WorldEntry;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
