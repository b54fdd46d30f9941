import { describe, expect, it } from 'vitest';
import { isEmptyPlan, renderPlan, tallyLine } from '../../../src/cli/views/plan.ts';
import { styleFor } from '../../../src/cli/views/terminal.ts';
import type { ResourceAddress } from '../../../src/core/address.ts';
import { change, digest, path, plan } from './documents.ts';

const style = styleFor({ write: () => true }, {}, { color: false });
const SECRET = { $accede: 'sensitive', fingerprint: `hmac-sha256:${'1'.repeat(64)}`, names: ['db_password'] };
const OTHER_SECRET = { $accede: 'sensitive', fingerprint: `hmac-sha256:${'2'.repeat(64)}`, names: ['db_password'] };

describe('the text of a plan', () => {
  it('must list what a first plan creates, with its values', () => {
    const document = plan(
      [
        change('docker.network.app', 'create', { reason: 'not there yet', after: { driver: 'bridge', name: 'staging-app' } }),
        change('docker.container.api', 'create', {
          reason: 'not there yet',
          after: {
            image: `crm/api@${digest('one')}`,
            environment: { LOG_LEVEL: 'info', PASSWORD: SECRET },
            networks: [{ $accede: 'unknown', of: 'docker.network.app.id' }],
            banner: 'first line\nsecond line\n',
            empty: '',
            retries: 3,
          },
        }),
      ],
      {
        state: { lineage: null, epoch: null, serial: 0, digest: digest(''), begins: null },
        succession: { ...plan([]).succession, class: 'initial', rule: 'nothing was applied yet', stages: ['publish', 'start'] },
      },
    );
    expect(renderPlan(document, style, { next: 'accede apply plan.json' })).toMatchInlineSnapshot(`
      "staging        plan sha256:1de1a44a…3508 · no state yet · 2026-11-30 14:02 UTC

      Successor: initial        outage: none        failure: forward: what was done stays recorded
        rule      nothing was applied yet
        guards    1 of 1 hold

      +   docker.network.app                        create
            because        not there yet
            driver         bridge
            name           staging-app
      +   docker.container.api                      create
            because        not there yet
            banner                2 lines: first line
            empty                 ""
            environment.LOG_LEVEL info
            environment.PASSWORD  (sensitive)
            image                 crm/api@sha256:7692…
            networks              [(known after apply)]
            retries               3

      Stages  publish → start
      2 to create, 0 to destroy, 0 unchanged.        accede apply plan.json
      Legend: + create
      "
    `);
  });

  it('must show a replacement with old and new values, its cause and its drift apart', () => {
    const document = plan(
      [
        change('docker.container.api', 'replace', {
          reason: 'image differs',
          cause: { kind: 'self' },
          facets: ['implementation'],
          paths: [path('image', 'implementation')],
          before: { image: `crm/api@${digest('one')}` },
          after: { image: `crm/api@${digest('two')}` },
        }),
        change('docker.container.mcp', 'start', { reason: 'exited with code 1', cause: { kind: 'drift' } }),
        change('docker.container.proxy', 'replace', {
          replaceOrder: 'create-first',
          reason: 'a new object',
          cause: { kind: 'follows', of: 'docker.network.app' },
          facets: ['placement'],
          paths: [path('networks', 'placement')],
          before: { networks: ['app'] },
          after: { networks: [{ $accede: 'unknown', of: 'docker.network.app.name' }] },
        }),
        change('docker.volume.data', 'noop'),
      ],
      {
        affected: ['docker.container.app'] as ResourceAddress[],
        drift: [
          {
            address: 'docker.container.mcp' as ResourceAddress,
            kind: 'stopped',
            paths: [{ path: 'memory', recorded: '512m', live: '1g' }],
            answer: 'will start',
            reason: 'exited with code 1',
          },
        ],
        outputs: [
          { name: 'url', before: 'http://a/', after: 'http://b/', changed: true, unknown: false, sensitive: false },
          { name: 'same', before: 1, after: 1, changed: false, unknown: false, sensitive: false },
        ],
        secretsChanged: [{ name: 'db_password', addresses: ['docker.container.api'] as ResourceAddress[] }],
        warnings: [{ code: 'OPERATION_OPEN', message: 'op-11 (apply) has not ended.' }],
        succession: {
          ...plan([]).succession,
          rejected: [{ class: 'drift-repair', uncovered: ['docker.container.api.image'], reason: 'the documents differ' }],
          stages: ['start', 'verify'],
        },
      },
    );
    expect(renderPlan(document, style)).toMatchInlineSnapshot(`
      "staging        plan sha256:ee90a306…27bd · state #12 · 2026-11-30 14:02 UTC

      Successor: composite        outage: none        affected: docker.container.app
        failure   forward: what was done stays recorded
        rule      no narrower class covers every change
        not       drift-repair uncovered: docker.container.api.image
        guards    1 of 1 hold

      -/+ docker.container.api                      replace   implementation
            because        image differs
            image          crm/api@sha256:7692… → sha256:3fc4…
      >   docker.container.mcp                      start
            because        exited with code 1
      +/- docker.container.proxy                    replace   placement
            because        a new object; it follows docker.network.app
            networks       [app] → [(known after apply)]

      Drift (outside of this plan's change)
        ! docker.container.mcp                      stopped     will start
            because        exited with code 1
            memory         512m → 1g

      Outputs
        url            http://a/ → http://b/

      Secrets changed
        db_password    reaches docker.container.api

      Warnings
        OPERATION_OPEN
            op-11 (apply) has not ended.

      Stages  start → verify
      2 to replace, 1 to start, 0 to destroy, 1 unchanged.
      Legend: ! drift · +/- replace, create first · -/+ replace, destroy first · > start
      "
    `);
  });

  it('must say what is refused and what to do, and that the plan can not be applied', () => {
    const document = plan([change('docker.container.web', 'refuse', { reason: 'the name belongs to a container that is not ours' })], {
      applicable: false,
      succession: {
        ...plan([]).succession,
        class: 'refuse',
        rule: 'something is refused',
        stages: [],
        guards: [{ name: 'owner', expected: 'ours', observed: 'nobody', ok: false }],
        refusals: [
          {
            code: 'CONTAINER_FOREIGN',
            path: 'docker.container.web',
            message: 'A container of the name staging-web is there and bears no mark of ours.',
            expected: 'no container of that name',
            observed: 'container 3f0c9a',
            next: 'accede import docker.container.web staging-web',
            source: { file: 'environment.yaml', line: 7, column: 5, endLine: 7, endColumn: 8 },
          },
        ],
      },
    });
    expect(renderPlan(document, style)).toMatchInlineSnapshot(`
      "staging        plan sha256:45ee939b…e995 · state #12 · 2026-11-30 14:02 UTC

      Successor: refuse        outage: none        failure: forward: what was done stays recorded
        rule      something is refused
        guards    0 of 1 hold
          x owner: expected ours, observed nobody

      Refused
        x docker.container.web   CONTAINER_FOREIGN
            A container of the name staging-web is there and bears no mark of ours.
            at environment.yaml:7:5
            expected  no container of that name
            observed  container 3f0c9a
              accede import docker.container.web staging-web

      x   docker.container.web                      refused
            because        the name belongs to a container that is not ours

      0 to destroy, 1 refused, 0 unchanged.
      This plan can not be applied.
      Legend: x refused
      "
    `);
  });

  it('must never show a secret or its fingerprint', () => {
    const document = plan([
      change('docker.container.api', 'update', {
        reason: 'a secret differs',
        facets: ['credential'],
        paths: [path('environment.PASSWORD', 'credential'), path('environment.NEW', 'credential'), path('environment.OLD', 'credential')],
        before: { environment: { PASSWORD: SECRET, OLD: SECRET } },
        after: { environment: { PASSWORD: OTHER_SECRET, NEW: SECRET } },
      }),
    ]);
    const text = renderPlan(document, style);
    expect(text).not.toContain('hmac-sha256');
    expect(text).toContain('environment.PASSWORD (sensitive, changed)');
    expect(text).toContain('environment.NEW      (sensitive, new)');
    expect(text).toContain('environment.OLD      (sensitive, removed)');
  });

  it('must compare text line by line and structures by member', () => {
    const document = plan([
      change('local.file.conf', 'update', {
        reason: 'content differs',
        paths: [path('content', 'content'), path('json', 'content'), path('yaml', 'content')],
        before: {
          content: 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n',
          json: '{"a":1,"b":[1,2],"c":{"d":true}}',
          yaml: 'level: info\nitems:\n  - a\n  - b\n',
        },
        after: {
          content: 'one\ntwo\nTHREE\nfour\nfive\nsix\nseven\n',
          json: '{"a":2,"b":[1,3],"c":{"d":true},"e":null}',
          yaml: 'level: debug\nitems:\n  - a\n  - b\n',
        },
      }),
    ]);
    expect(detail(renderPlan(document, style))).toMatchInlineSnapshot(`
      "~   local.file.conf                           update
            because        content differs
            content
              @@ -1,5 +1,5 @@
                one
                two
              - three
              + THREE
                four
                five
            json
              a              1 → 2
              b[1]           2 → 3
              e              (none) → null
            yaml
              level          info → debug
      "
    `);
  });

  it('must show which members of two long values differ, and short values as they are', () => {
    const port = (published: number, target = 80) => ({ host_ip: '127.0.0.1', protocol: 'tcp', published, target });
    const document = plan([
      change('docker.container.web', 'replace', {
        replaceOrder: 'destroy-first',
        paths: [path('aliases'), path('hidden'), path('more'), path('ports')],
        before: { aliases: ['a'], hidden: [SECRET, SECRET], more: [port(1), port(2)], ports: [port(8080)] },
        after: { aliases: ['b', 'c'], hidden: [SECRET, OTHER_SECRET], more: [port(2)], ports: [port(8090)] },
      }),
    ]);
    const text = renderPlan(document, style);
    expect(text.slice(text.indexOf('-/+ '), text.indexOf('0 to destroy'))).toMatchInlineSnapshot(`
      "-/+ docker.container.web                      replace
            aliases            [a] → [b, c]
            hidden[1]          (sensitive, changed)
            more[0]            { host_ip: "127.0.0.1", protocol: tcp, published: 1, target: 80 } → (none)
            ports[0].published 8080 → 8090

      Stages  preflight → start → verify
      1 to replace, "
    `);
  });

  it('must say which part of the environment a plan is about', () => {
    const options = { ...plan([]).inputs.options, targets: ['a.b.c'], excludes: ['a.b.d', 'a.b.e'] };
    const partial = (destroy: boolean) =>
      renderPlan(plan([], { inputs: { ...plan([]).inputs, options: { ...options, destroy } } }), { ...style, width: 200 });
    expect(partial(false)).toContain('part      only a.b.c and all that it needs; without a.b.d, a.b.e and all that needs them\n');
    expect(partial(true)).toContain('part      only a.b.c and all that needs it; without a.b.d, a.b.e and all that they need\n');
    expect(renderPlan(plan([]), style)).not.toContain('  part  ');
  });

  it('must give up on texts that differ in thousands of lines and say so', () => {
    const lines = (word: string) => Array.from({ length: 20_000 }, (_, index) => `${word} ${index}`).join('\n');
    const document = plan([
      change('local.file.big', 'update', { paths: [path('content')], before: { content: lines('a') }, after: { content: lines('b') } }),
    ]);
    const started = performance.now();
    expect(renderPlan(document, style)).toContain('differs, 20,000 lines, not shown');
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('must cut long values and say where the whole stands', () => {
    const document = plan([
      change('local.value.long', 'update', {
        paths: [path('input')],
        before: { input: 'a'.repeat(300) },
        after: { input: 'b'.repeat(300) },
      }),
    ]);
    const text = renderPlan(document, style);
    for (const line of text.split('\n')) expect([...line].length).toBeLessThanOrEqual(style.width);
    expect(text).toContain('…');
    expect(text).toContain('--format json shows everything');
  });

  it('must not let a value steer the terminal', () => {
    const evil = '\u001b]0;owned\u0007\u202ereversed\r\nsecond';
    const document = plan([change('local.value.evil', 'create', { after: { input: evil }, reason: evil })]);
    expect(renderPlan(document, style)).not.toMatch(/[\u001b\u0007\r\u202e]/);
  });

  it('must say "No changes." when there are none', () => {
    const document = plan([change('local.value.a', 'noop'), change('local.value.b', 'noop')], {
      succession: { ...plan([]).succession, class: 'no-op', rule: 'nothing differs' },
    });
    expect(isEmptyPlan(document)).toBe(true);
    expect(renderPlan(document, style)).toContain('No changes. 2 resources are as the documents say.');
  });

  it('must count a changed output, a drift and a refusal as something', () => {
    const output = { name: 'a', before: 1, after: 2, changed: true, unknown: false, sensitive: false };
    const drift = { address: 'local.value.a' as ResourceAddress, kind: 'changed' as const, paths: [], answer: '', reason: '' };
    const refusals = [{ code: 'X', path: 'local.value.a', message: 'no' }];
    expect(isEmptyPlan(plan([], { outputs: [output] }))).toBe(false);
    expect(isEmptyPlan(plan([], { drift: [drift] }))).toBe(false);
    expect(isEmptyPlan(plan([], { succession: { ...plan([]).succession, refusals } }))).toBe(false);
  });

  it('must stay readable with 5,000 changes: the tally first, then groups', () => {
    const changes = Array.from({ length: 5_000 }, (_, index) =>
      change(`local.value.v["${String(index).padStart(4, '0')}"]`, index % 5 === 0 ? 'update' : 'create', {
        reason: 'not there yet',
        after: { input: index },
      }),
    );
    const started = performance.now();
    const text = renderPlan(plan(changes), style);
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(text.split('\n').length).toBeLessThan(40);
    expect(text).toMatchInlineSnapshot(`
      "staging        plan sha256:93994dbf…bf79 · state #12 · 2026-11-30 14:02 UTC

      Successor: composite        outage: none        failure: forward: what was done stays recorded
        rule      no narrower class covers every change
        guards    1 of 1 hold

      4,000 to create, 1,000 to update, 0 to destroy, 0 unchanged.

      local.value
        +   4,000 to create       v["0001"], v["0002"], v["0003"], v["0004"], v["0006"], … 3,995 more
        ~   1,000 to update       v["0000"], v["0005"], v["0010"], v["0015"], v["0020"], … 995 more

      Stages  preflight → start → verify
      4,000 to create, 1,000 to update, 0 to destroy, 0 unchanged.
      Legend: + create · ~ update in place
      Cut where it says …; --format json shows everything.
      "
    `);
  });

  it('must show who takes turns, what passes between them, and how long the old ones go on', () => {
    const web = (key: string) => `docker.container.web["${key}"]` as ResourceAddress;
    const keys = Array.from({ length: 12 }, (_, index) => String(index).padStart(2, '0'));
    const step = { effect: 'drain', stage: 'retire', phase: 2, after: [], direction: 'back', seconds: 90 } as const;
    const text = renderPlan(
      plan([], {
        rolling: [
          {
            resource: 'docker.container.web',
            batches: [
              { addresses: [web('a')], pause: 5 },
              { addresses: [web('b'), web('c')], pause: 0 },
            ],
          },
          {
            resource: 'docker.job.seed',
            batches: keys.map((key) => ({ addresses: [`docker.job.seed["${key}"]` as ResourceAddress], pause: 0 })),
          },
        ],
        steps: [{ ...step, id: `${web('a')}:drain`, address: web('a') }],
      }),
      style,
    );
    expect(text.slice(text.indexOf('Rolling'), text.indexOf('Stages'))).toMatchInlineSnapshot(`
      "Rolling
        docker.container.web
            in turn: a → 5s → b, c
            the old goes 1m30s after everything has gone over to the new
        docker.job.seed
            in turn: 00 → 01 → 02 → 03 → 04 → 05 → 06 → 07 → … 4 more batches

      0 to destroy, 0 unchanged.
      Cut where it says …; --format json shows everything."
    `);
    expect(text).toContain('Cut where it says …');
  });

  it('must name destroyed and unchanged resources in every tally, others only when there are any', () => {
    expect(tallyLine(plan([]))).toBe('0 to destroy, 0 unchanged.');
    expect(tallyLine(plan([change('local.value.a', 'delete'), change('local.value.b', 'adopt')]))).toBe(
      '1 to adopt, 1 to destroy, 0 unchanged.',
    );
  });
});

/** The lines of the changes alone. */
function detail(text: string): string {
  return text.slice(text.indexOf('\n~ ') + 1, text.indexOf('\nStages'));
}
