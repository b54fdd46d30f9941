import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The library of the Debian package `faketime` that gives a process another wall clock. */
function library(): string {
  for (const entry of readdirSync('/usr/lib', { withFileTypes: true })) {
    const found = path.join('/usr/lib', entry.name, 'faketime/libfaketimeMT.so.1');
    if (entry.isDirectory() && entry.name.endsWith('-linux-gnu')) return found;
  }
  throw new Error('libfaketime is not installed: npm test installs it');
}

/** A wall clock for processes that are started with `environment`. It can be set while they run, as an operator or a time server would; what counts time goes on. */
export class SetClock {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
    this.set('+0');
  }

  get environment(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: library(),
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** Sets it off the machine's clock: `+1h`, `-1h`, `+0`. */
  set(offset: string): void {
    writeFileSync(`${this.#file}.new`, `${offset}\n`);
    renameSync(`${this.#file}.new`, this.#file);
  }
}
