import { readdirSync, statSync } from 'node:fs';

/** What stands at a path, links followed. What the system does not let us see, or a name that can be none, is `none`. */
export function kindOf(path: string): 'file' | 'folder' | 'none' {
  return ifReadable(() => (statSync(path).isDirectory() ? 'folder' : 'file')) ?? 'none';
}

/** Whether it is a folder with a YAML document in it. */
export function holdsDocuments(path: string): boolean {
  return ifReadable(() => readdirSync(path).some((name) => /\.ya?ml$/.test(name))) ?? false;
}

function ifReadable<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
