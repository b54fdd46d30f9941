// Builds dist/ from src/: types are checked and stripped, `.ts` imports become `.js`, and the binary gets its mode.
// Usage: node scripts/build.mjs
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
// Built beside its place and put there whole: a failed build leaves the last good one, and what runs from it finds its files.
const fresh = join(root, `.dist-${process.pid}`);
const binary = join(fresh, relative('dist', manifest.bin.accede));
const SHEBANG = '#!/usr/bin/env node\n';

const started = performance.now();
process.on('exit', () => rmSync(fresh, { recursive: true, force: true }));

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const compiled = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', fresh], { cwd: root, stdio: 'inherit' });
if (compiled.error) throw compiled.error;
if (compiled.status !== 0) {
  console.error('build: the compiler reported errors, so nothing was built.');
  process.exit(1);
}

if (!existsSync(binary)) {
  console.warn(`build: there is no ${manifest.bin.accede}; src/cli/main.ts is missing. The library was built without a binary.`);
} else if (!readFileSync(binary, 'utf8').startsWith(SHEBANG)) {
  console.error(`build: ${manifest.bin.accede} does not start with "${SHEBANG.trim()}". Add that line to src/cli/main.ts.`);
  process.exit(1);
} else {
  chmodSync(binary, 0o755);
}

rmSync(dist, { recursive: true, force: true });
renameSync(fresh, dist);
console.log(`accede ${manifest.version} built in ${((performance.now() - started) / 1000).toFixed(1)} s`);
