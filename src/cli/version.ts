import { readFileSync } from 'node:fs';

/** The version that package.json states; it lies two folders above this file, in the sources as in the build. */
export function readVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { readonly version: string };
  return manifest.version;
}
