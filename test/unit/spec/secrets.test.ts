import { chmodSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { evaluateTemplate, OMIT } from '../../../src/core/template.ts';
import { containsSensitive, reveal, Sensitive, Unknown, type Value } from '../../../src/core/value.ts';
import { HEAD, IMAGE, line, load, workbench } from './workbench.ts';

const CANARY = 'c4n4ry\n"\\ü';
const FORMS = [
  CANARY,
  JSON.stringify(CANARY).slice(1, -1),
  Buffer.from(CANARY).toString('base64'),
  Buffer.from(CANARY).toString('hex'),
  encodeURIComponent(CANARY),
  'c4n4ry',
];

const leaks = (text: string) => FORMS.filter((form) => text.includes(form));

const ENVIRONMENT = `${HEAD}secrets:
  env: { env: PW }
  file: { file: pw.txt }
  exec: { exec: [node, -e, "process.stderr.write(process.env.PW); process.stdout.write(process.env.PW + '\\\\n')"] }
  bundle: { exec: [node, -e, "console.log(JSON.stringify({ a: process.env.PW, b: { c: process.env.PW }, n: 5 }))"], format: json }
locals:
  env: { PW: "\${secrets.env}", HOST: db }
  url: "db://\${urlencode(secrets.file)}@host"
  deep: [{ a: [{ b: "\${secrets.exec}" }] }]
providers:
  fake: { password: "\${secrets.env}" }
resources:
  fake.value:
    all: { input: ["\${secrets.env}", "\${secrets.file}", "\${secrets.exec}", "\${secrets.bundle}", "\${secrets.bundle.b.c}"] }
    texts: { input: ["\${json(locals.env)}", "\${yaml(secrets.bundle)}", "\${base64(secrets.env)}", "\${locals.url}", "\${locals.deep}", "\${secrets.env + 'x'}"] }
    later: { input: "\${fake.value.all.output + secrets.env}" }
    file: { input: '\${template("t.tpl", {"p": secrets.env})}' }
  fake.box:
    a: { image: "${IMAGE}", environment: '\${merge(locals.env, {"LOG": "info"})}' }
outputs:
  o: { value: "\${secrets.env}" }
`;

function folderWith(environment: string): string {
  const folder = workbench({ 'environment.yaml': environment, 'pw.txt': `${CANARY}\n`, 't.tpl': 'p=${p}' });
  chmodSync(path.join(folder, 'pw.txt'), 0o600);
  return folder;
}

describe('a secret', () => {
  it('must be in nothing that a loaded environment prints', async () => {
    const outcome = await load(folderWith(ENVIRONMENT), { processEnvironment: { ...process.env, PW: CANARY } });
    if (!outcome.ok) throw new Error(outcome.diagnostics.map(line).join('\n'));
    const environment = outcome.value;
    expect(leaks(JSON.stringify(environment))).toEqual([]);
    expect(leaks(inspect(environment, { depth: 30 }))).toEqual([]);
    expect([...environment.secrets].map(([name, secret]) => [name, secret.isOpen && reveal(secret)])).toEqual([
      ['bundle', { a: CANARY, b: { c: CANARY }, n: 5 }],
      ['env', CANARY],
      ['exec', CANARY],
      ['file', CANARY],
    ]);
    for (const { attributes } of environment.resources) {
      const value = evaluateTemplate(attributes, (type, name) => new Unknown(`${type}.${name}`));
      if (!value.ok || value.value === OMIT) throw new Error('not evaluated');
      expect(containsSensitive(value.value)).toBe(true);
      expect(leaks(JSON.stringify(value.value))).toEqual([]);
    }
    const box = environment.resources.find(({ address }) => address === 'fake.box.a');
    const found = box === undefined ? undefined : evaluateTemplate(box.attributes, () => undefined);
    const env =
      found?.ok === true && found.value !== OMIT
        ? (found.value as { readonly environment: Readonly<Record<string, Value>> }).environment
        : {};
    expect(env['LOG']).toBe('info');
    expect(env['HOST']).toBe('db');
    expect(env['PW'] instanceof Sensitive && env['PW'].names).toEqual(['env']);
  });

  it('must be in no message about a mistake', async () => {
    const mistakes = ENVIRONMENT.replace('input: ["${secrets.env}",', 'nope: ["${secrets.env}",')
      .replace('environment: ', 'restart: "${secrets.env}", replicas: "${secrets.file}", ports: ["${secrets.exec}"], environment: ')
      .replace("+ 'x'}", '+ 1}')
      .replace('o: { value', 'n: { value: "${int(secrets.bundle.a)}" }\n  o: { valu');
    const outcome = await load(folderWith(mistakes), { processEnvironment: { ...process.env, PW: CANARY } });
    expect(outcome.ok).toBe(false);
    expect(leaks(JSON.stringify(outcome.diagnostics))).toEqual([]);
    expect(outcome.diagnostics.map(({ code, path: at }) => `${code} ${at ?? ''}`.trim())).toEqual([
      'UNKNOWN_KEY nope',
      'EXPRESSION_FAILED',
      'BAD_VALUE restart',
      'WRONG_TYPE replicas',
      'BAD_VALUE ports[0]',
      'EXPRESSION_FAILED',
      'UNKNOWN_KEY outputs.o.valu',
    ]);
    expect(outcome.diagnostics.filter(({ path: at }) => at === 'restart' || at === 'replicas').map(({ observed }) => observed)).toEqual([
      'a secret',
      'a secret',
    ]);
  });

  it.each([
    ['a symbolic link', 'pw: { file: link }', 'symbolic link'],
    ['a folder', 'pw: { file: folder }', 'no regular file'],
    ['a file that is not there', 'pw: { file: nope }', 'does not exist'],
    ['a file for the group', 'pw: { file: open.txt }', 'mode 0640'],
    [
      'a program that prints too much',
      'pw: { exec: [node, -e, "process.stdout.write(\'x\'.repeat(3000000))"] }',
      'more than 1048576 bytes',
    ],
    ['a program that is killed', 'pw: { exec: [sh, -c, "kill -9 $$"] }', 'SIGKILL'],
    ['a file that may not be run', 'pw: { exec: [./open.txt] }', 'may not be run'],
  ])('must not be taken from %s', async (_, block, says) => {
    const folder = workbench({ 'environment.yaml': `${HEAD}secrets:\n  ${block}\n`, 'open.txt': 'x', 'folder/x': '' });
    chmodSync(path.join(folder, 'open.txt'), 0o640);
    symlinkSync('open.txt', path.join(folder, 'link'));
    const outcome = await load(folder, { processEnvironment: process.env });
    expect(outcome.diagnostics.map(({ code, source }) => `${code} ${source?.line}`)).toEqual(['SECRET_UNREADABLE 5']);
    expect(outcome.diagnostics[0]?.detail).toContain(says);
    const skipped = await load(folder, { processEnvironment: process.env, secrets: 'skip' });
    expect(skipped.ok && skipped.value.secrets.get('pw')?.isSkipped).toBe(true);
  });

  it('must lose one final newline and no more', async () => {
    const folder = workbench({
      'environment.yaml': `${HEAD}secrets:\n  a: { exec: [printf, 'x\\n\\n'] }\n  b: { file: b }\n  c: { exec: [printf, '  x '] }\n`,
      b: 'y\n\n',
    });
    chmodSync(path.join(folder, 'b'), 0o400);
    const outcome = await load(folder, { processEnvironment: process.env });
    expect(outcome.ok && [...outcome.value.secrets].map(([, secret]) => reveal(secret))).toEqual(['x\n', 'y\n', '  x ']);
  });

  it('must not be read when none is asked for', async () => {
    const outcome = await load(
      workbench({
        'environment.yaml': `${HEAD}secrets: { a: { exec: [accede-no-such-program] } }\nresources: { fake.box: { b: { image: "${IMAGE}", restart: "\${secrets.a}" } } }\n`,
      }),
      { secrets: 'none' },
    );
    expect(outcome.ok && outcome.value.secrets.get('a')?.isSkipped).toBe(true);
  });

  it('must stop being read when the run is interrupted', async () => {
    const controller = new AbortController();
    controller.abort();
    const outcome = await load(workbench({ 'environment.yaml': `${HEAD}secrets: { a: { exec: [sleep, "60"] } }\n` }), {
      processEnvironment: process.env,
      signal: controller.signal,
    });
    expect(outcome.diagnostics[0]?.detail).toContain('was interrupted');
  });
});
