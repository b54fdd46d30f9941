// From a fresh clone to a second plan that finds nothing to do: installs, builds, and runs examples/environments/quickstart.
// Needs Node and npm alone; imports nothing that npm installs.
// Usage: node scripts/quickstart.mjs
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const environment = join(root, 'examples', 'environments', 'quickstart');
const binary = join(root, 'dist', 'cli', 'main.js');

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) fail(`Accede needs Node 20.19 or newer; this is ${process.versions.node}.`);

if (newest(join(root, 'node_modules', '.package-lock.json')) < newest(join(root, 'package-lock.json'))) {
  run('npm', ['ci', '--ignore-scripts', '--no-progress'], root);
}
const sources = ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json'].map((name) => newest(join(root, name)));
if (newest(binary) < Math.max(...sources)) run('npm', ['run', '--silent', 'build'], root);

accede('plan');
accede('apply', '--auto-approve');
if (!answerOf('plan', '--detailed-exitcode').includes('No changes.')) fail('The second plan does not say "No changes."');

console.log(
  `\nThat was the whole cycle. Change a line of ${relative(process.cwd(), join(environment, 'environment.yaml'))} and plan again:`,
);
console.log(`  cd ${relative(process.cwd(), environment) || '.'} && ${relative(environment, binary)} plan`);

/** Runs the built binary in the example's folder, on the user's terminal. */
function accede(...args) {
  execute(args, 'inherit');
}

/** The same, with its answer returned as well as shown. */
function answerOf(...args) {
  const { stdout } = execute(args, 'pipe');
  process.stdout.write(stdout);
  return stdout;
}

function execute(args, stdout) {
  console.log(`\n$ accede ${args.join(' ')}`);
  const done = spawnSync(process.execPath, [binary, ...args], { cwd: environment, encoding: 'utf8', stdio: ['ignore', stdout, 'inherit'] });
  if (done.error) throw done.error;
  if (done.status !== 0) fail(`accede ${args.join(' ')} ended with exit code ${done.status}.`);
  return done;
}

function run(program, args, cwd) {
  console.log(`$ ${program} ${args.join(' ')}`);
  const done = spawnSync(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  if (done.error) throw done.error;
  if (done.status !== 0) fail(`${program} ${args.join(' ')} ended with exit code ${done.status}.`);
}

/** The time of the newest file at or below a path; 0 where nothing is. */
function newest(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return readdirSync(path).reduce((latest, name) => Math.max(latest, newest(join(path, name))), 0);
}

function fail(message) {
  console.error(`\nquickstart: ${message}`);
  process.exit(1);
}
