// How plan and apply grow: `local.value` resources through one `for_each`, with the built binary, each run a process of its own.
// Usage: npx tsx test/bench/scale.ts [1000 2000 5000 10000]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const binary = path.resolve(import.meta.dirname, '../../dist/cli/main.js');
const sizes = process.argv.slice(2).map(Number);

for (const size of sizes.length > 0 ? sizes : [1000, 2000, 5000, 10_000]) {
  const folder = mkdtempSync(path.join(tmpdir(), 'accede-bench-'));
  const keys = Array.from({ length: size }, (_, index) => `k${index}`);
  writeFileSync(
    path.join(folder, 'environment.yaml'),
    `apiVersion: accede/v1
kind: Environment
metadata: { name: scale }
variables:
  round: { default: one }
locals:
  keys: ${JSON.stringify(keys)}
resources:
  local.value:
    v:
      for_each: \${locals.keys}
      input: { key: "\${each.key}", round: "\${vars.round}" }
`,
  );
  const row = {
    size,
    'plan, new': timed(['plan', folder]),
    'apply, new': timed(['apply', '--auto-approve', folder]),
    'plan, no change': timed(['plan', folder]),
    'plan, all change': timed(['plan', '--var', 'round=two', folder]),
    'apply, all change': timed(['apply', '--auto-approve', '--var', 'round=two', folder]),
    destroy: timed(['destroy', '--auto-approve', '--var', 'round=two', folder]),
  };
  console.log(
    Object.entries(row)
      .map(([name, value]) => `${name} ${typeof value === 'number' ? value : `${value.seconds.toFixed(2)} s`}`)
      .join(' · '),
  );
  rmSync(folder, { recursive: true });
}

function timed(argv: readonly string[]): { readonly seconds: number } {
  const begun = performance.now();
  const ran = spawnSync(process.execPath, [binary, ...argv], { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (ran.status !== 0)
    throw new Error(`accede ${argv.join(' ')} ended with ${ran.status}: ${ran.stdout.slice(-500)}${ran.stderr.slice(-2000)}`);
  return { seconds: (performance.now() - begun) / 1000 };
}
