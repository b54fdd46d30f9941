// Writes what is published under specs/ from the code that it describes: JSON Schemas, their TypeScript declarations, a reference page per
// resource type, and the tables of codes and exit codes. With --check it writes nothing and names the files that are out of date.
// Usage: tsx scripts/generate.ts [--check]
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { defaultRegistry } from '../src/providers/registry.ts';
import { classPage } from './generators/class-page.ts';
import { codePages } from './generators/code-pages.ts';
import { schemaFiles } from './generators/schemas.ts';
import { typePages } from './generators/type-pages.ts';

const root = join(import.meta.dirname, '..');
/** Everything in these folders is generated. */
const FOLDERS = ['specs/schema', 'specs/types'];

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const registry = defaultRegistry();
const wanted = new Map([...(await schemaFiles(registry)), ...typePages(registry), ...codePages(), ...classPage()]);

const stale = [...wanted].filter(([path, text]) => readText(path) !== text).map(([path]) => path);
const leftOver = FOLDERS.flatMap(filesOf).filter((path) => !wanted.has(path));

if (values.check) {
  for (const path of stale) console.error(`${path} is ${readText(path) === undefined ? 'missing' : 'out of date'}`);
  for (const path of leftOver) console.error(`${path} describes nothing any more`);
  if (stale.length + leftOver.length > 0) {
    console.error('Run: npm run gen');
    process.exitCode = 1;
  } else {
    console.log(`${wanted.size} generated files are up to date.`);
  }
} else {
  for (const path of stale) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), wanted.get(path) ?? '');
  }
  for (const path of leftOver) rmSync(join(root, path));
  console.log(`${stale.length} of ${wanted.size} generated files written, ${leftOver.length} removed.`);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function filesOf(folder: string): readonly string[] {
  try {
    return readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
