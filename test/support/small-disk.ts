import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const PAGE = 4096;

/**
 * A folder that is a small disk of its own, in a mount namespace that ends with the test. `under` is what a program is run with to see it; the test
 * itself sees it below `inside`.
 */
export class SmallDisk {
  readonly folder: string;
  readonly #holder: ChildProcess;

  private constructor(folder: string, holder: ChildProcess) {
    this.folder = folder;
    this.#holder = holder;
  }

  /** Lays a tmpfs of that size over the folder. */
  static async over(folder: string, size: string): Promise<SmallDisk> {
    const isRoot = process.geteuid?.() === 0;
    const script = `mount -t tmpfs -o size=${size},mode=700 none "$1" && echo ready && exec cat`;
    const holder = spawn('unshare', ['--mount', ...(isRoot ? [] : ['--map-root-user']), 'sh', '-c', script, 'sh', folder], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [said] = (await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit')])) as [unknown];
    if (!String(said).startsWith('ready')) throw new Error(`no small disk could be mounted at ${folder}: ${String(said)}`);
    return new SmallDisk(folder, holder);
  }

  get under(): readonly string[] {
    return ['nsenter', '--target', String(this.#holder.pid), '--mount', '--user', '--preserve-credentials', '--wd=/'].filter(
      (word) => word !== '--user' || process.geteuid?.() !== 0,
    );
  }

  /** A path of the disk as this process sees it. */
  inside(...parts: readonly string[]): string {
    return path.join(`/proc/${this.#holder.pid}/root${this.folder}`, ...parts);
  }

  /** Makes the disk hold what the folder `from` holds, and nothing else. */
  fillFrom(from: string): void {
    rmSync(this.inside('disk'), { recursive: true, force: true });
    rmSync(this.inside('ballast'), { force: true });
    mkdirSync(this.inside('disk'));
    cpSync(from, this.inside('disk'), { recursive: true, preserveTimestamps: true });
  }

  /** Leaves so many pages free. */
  leaveFree(pages: number): void {
    rmSync(this.inside('ballast'), { force: true });
    writeFileSync(this.inside('ballast'), '');
    const { bavail, bsize } = statfsSync(this.inside());
    writeFileSync(this.inside('ballast'), Buffer.alloc(Math.max(0, bavail * bsize - pages * PAGE)));
    const left = statfsSync(this.inside());
    if (left.bavail * left.bsize !== pages * PAGE) throw new Error(`${left.bavail * left.bsize} bytes are free, and not ${pages} pages`);
  }

  makeRoom(): void {
    rmSync(this.inside('ballast'), { force: true });
  }

  /** Lays the disk open for reading only, or for writing again. */
  remount(how: 'ro' | 'rw'): void {
    const [program = '', ...words] = this.under;
    const done = spawnSync(program, [...words, 'mount', '-o', `remount,${how}`, this.folder], { encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`the disk could not be remounted ${how}: ${done.stderr}`);
  }

  async close(): Promise<void> {
    const gone = once(this.#holder, 'exit');
    this.#holder.kill();
    await gone;
  }
}
