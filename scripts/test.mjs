// The whole proof, in one command: every check and every test project, one after another, none hidden by the failure of an earlier one.
// The last line is `N passed, N failed`.
// Usage: node scripts/test.mjs [--only NAME,NAME...]
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installPackages } from './packages.mjs';
import { tally } from './tally.mjs';

const root = join(import.meta.dirname, '..');
const strict = process.env.CI === 'true';
const plain = process.stdout.isTTY !== true;
const reports = mkdtempSync(join(tmpdir(), 'accede-test-'));
let running;

const CHECKS = [
  { name: 'packages', run: async () => verdict(installPackages()) },
  command('format', 'biome', ['ci', '--linter-enabled=false', ...(plain ? ['--colors=off'] : []), '.']),
  command('lint', 'oxlint', ['--type-aware', '--deny-warnings']),
  command('types', 'tsc', ['--noEmit']),
  command('generated', 'tsx', ['scripts/generate.ts', '--check']),
  { name: 'build', run: async () => verdict(await execute(process.execPath, ['scripts/build.mjs'], 5)) },
  project('unit', 10),
  project('conformance', 15),
  project('scenarios', 45),
  project('faults', 60),
];

const selected = selection();
const results = [];
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => abandon(signal));
try {
  for (const check of selected) {
    console.log(`\n── ${check.name} ${'─'.repeat(Math.max(0, 76 - check.name.length))}`);
    const started = performance.now();
    const result = await check.run();
    results.push({ name: check.name, seconds: (performance.now() - started) / 1000, ...result });
  }
} finally {
  rmSync(reports, { recursive: true, force: true });
}
summarize();

function summarize() {
  console.log(`\n── summary ${'─'.repeat(69)}`);
  for (const { name, seconds, passed, failed, reasons } of results) {
    console.log(
      `${failed === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(12)} ${`${passed} passed, ${failed} failed`.padEnd(26)} ${seconds.toFixed(1)} s`,
    );
    for (const reason of reasons) console.log(`         ${reason}`);
  }
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
  console.log(`${passed} passed, ${failed} failed`);
}

/** A check that is a program of node_modules; it counts as one. */
function command(name, program, args) {
  return { name, run: async () => verdict(await execute(join(root, 'node_modules', '.bin', program), args, 10)) };
}

/** A vitest project, run in a process of its own; it counts with each of its tests. */
function project(name, minutes) {
  return {
    name,
    run: async () => {
      const file = join(reports, `${name}.json`);
      const args = ['run', '--project', name, '--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
      const problem = await execute(join(root, 'node_modules', '.bin', 'vitest'), args, minutes);
      const counted = tally(readReport(file), { exitCode: problem === undefined ? 0 : problem.exitCode, strict });
      if (problem?.exitCode === undefined && problem !== undefined) counted.reasons.push(problem.message);
      return counted;
    },
  };
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function verdict(problem) {
  if (problem === undefined) return { passed: 1, failed: 0, reasons: [] };
  return { passed: 0, failed: 1, reasons: [typeof problem === 'string' ? problem : problem.message] };
}

/**
 * Runs a program in a process group of its own and waits for its end. At the deadline the whole group is ended. Returns undefined when it
 * exits with 0, otherwise what happened.
 */
function execute(program, args, minutes) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, env: surroundings(), stdio: ['ignore', 'inherit', 'inherit'], detached: true });
    let late = false;
    const deadline = setTimeout(() => {
      late = true;
      endGroup(child, 'SIGTERM');
      setTimeout(() => endGroup(child, 'SIGKILL'), 20_000).unref();
    }, minutes * 60_000);
    running = child;
    child.on('error', (error) => finish({ message: `could not be started: ${error.message}` }));
    child.on('exit', (code, signal) => {
      if (late) finish({ message: `did not end within ${minutes} minutes` });
      else if (code === 0) finish(undefined);
      else if (code === null) finish({ message: `ended by ${signal}` });
      else finish({ message: `exit code ${code}`, exitCode: code });
    });
    function finish(problem) {
      clearTimeout(deadline);
      running = undefined;
      resolve(problem);
    }
  });
}

/** A log is read as text, whatever the caller's terminal would have liked. */
function surroundings() {
  if (!plain) return process.env;
  const environment = { ...process.env, NO_COLOR: '1' };
  delete environment.FORCE_COLOR;
  return environment;
}

function endGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

function abandon(signal) {
  if (running !== undefined) endGroup(running, 'SIGTERM');
  rmSync(reports, { recursive: true, force: true });
  results.push({ name: 'interrupted', seconds: 0, passed: 0, failed: 1, reasons: [`by ${signal}`] });
  summarize();
  process.exit(130);
}

function selection() {
  const { values } = parseArgs({ options: { only: { type: 'string' } } });
  if (values.only === undefined) return CHECKS;
  const names = values.only.split(',');
  const unknown = names.filter((name) => !CHECKS.some((check) => check.name === name));
  if (unknown.length > 0) {
    console.error(`There is no check ${unknown.join(', ')}. The checks are ${CHECKS.map((check) => check.name).join(', ')}.`);
    process.exit(1);
  }
  return CHECKS.filter((check) => names.includes(check.name));
}
