import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A folder of its own for one test, with an environment in it. */
export class Workspace {
  readonly folder: string;

  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}) {
    this.folder = mkdtempSync(path.join(tmpdir(), 'accede-e2e-'));
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }

  path(name: string): string {
    return path.join(this.folder, name);
  }

  write(name: string, content: string | Uint8Array, mode = 0o644): void {
    const file = this.path(name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content, { mode });
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8');
  }

  /** Every file below the folder with its bytes. */
  files(below = this.folder): ReadonlyMap<string, Buffer> {
    const found = new Map<string, Buffer>();
    for (const entry of readdirSync(below, { withFileTypes: true, recursive: true })) {
      if (!entry.isFile()) continue;
      const file = path.join(entry.parentPath, entry.name);
      found.set(path.relative(this.folder, file), readFileSync(file));
    }
    return found;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
