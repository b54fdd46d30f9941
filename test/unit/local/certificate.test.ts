import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { connect, createServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { preparePlan } from '../../../src/apply/prepare.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { DEFAULT_OPTIONS } from '../../../src/plan/inputs.ts';
import { certificateType } from '../../../src/providers/local/certificate-type.ts';
import { plainName } from '../../../src/providers/local/x509.ts';
import type { Mutation } from '../../../src/state/contract.ts';
import { type Desired, desired, Reference } from '../../support/desired.ts';
import { EngineBench, outline } from '../../support/engine.ts';

let bench: EngineBench;
beforeEach(() => {
  bench = new EngineBench();
});
afterEach(async () => {
  await bench.close();
});

const folder = () => path.join(bench.folder, 'tls');
const read = (name: string) => readFileSync(path.join(folder(), name), 'utf8');
const certificate = (more: Desired = {}) =>
  desired('local.certificate.web', { names: ['app.example', '127.0.0.1'], path: folder(), ...more });
const user = (attribute: string) => desired('fake.service.user', { needs: new Reference('local.certificate.web', attribute) });
const afterEffect = (mutation: Mutation) => mutation.kind === 'step' && mutation.step.status === 'done';
const both = () => [read('certificate.pem'), read('key.pem')];

describe('a certificate that Accede makes', () => {
  it('must serve TLS under its names, with a key that nobody else can read', async () => {
    await bench.converge([certificate()]);
    const made = new X509Certificate(read('certificate.pem'));
    expect(made.subjectAltName).toBe('DNS:app.example, IP Address:127.0.0.1');
    expect(Math.round((Date.parse(made.validTo) - Date.parse(made.validFrom)) / 86_400_000)).toBe(365);
    expect(statSync(path.join(folder(), 'key.pem')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder()).sort()).toEqual(['certificate.pem', 'key.pem']);
    const server = createServer({ cert: read('certificate.pem'), key: read('key.pem') }, (socket) => socket.end('hello'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    for (const servername of ['app.example', undefined]) {
      const { port } = server.address() as AddressInfo;
      const socket = connect({ port, host: '127.0.0.1', ca: read('certificate.pem'), ...(servername === undefined ? {} : { servername }) });
      const [data] = (await once(socket, 'data')) as [Buffer];
      expect(data.toString()).toBe('hello');
      expect(socket.authorized).toBe(true);
      socket.destroy();
    }
    server.close();
    expect(outline((await bench.prepare([certificate()])).document)).toBe('no-op');
  });

  it('must restart what refers to its digest when it is made anew, and not what refers to its paths', async () => {
    const at = (generation: number) => [
      certificate({ generation }),
      user('digest'),
      desired('fake.service.reader', { needs: new Reference('local.certificate.web', 'paths', 'key') }),
    ];
    await bench.converge(at(1));
    const before = both();
    const { document } = await bench.prepare(at(2));
    expect(outline(document)).toMatchInlineSnapshot(`
      "configuration
      update fake.service.user: needs differs
      update local.certificate.web: generation differs
        fake.service.user:ready < fake.service.user:start
        fake.service.user:start < fake.service.user:update
        fake.service.user:update < local.certificate.web:update
        local.certificate.web:update"
    `);
    await bench.apply(document, at(2));
    expect(both()[0]).not.toBe(before[0]);
    expect(both()[1]).not.toBe(before[1]);
    expect(new X509Certificate(read('certificate.pem')).serialNumber).not.toBe(new X509Certificate(before[0] ?? '').serialNumber);
    expect(outline((await bench.prepare(at(2))).document)).toBe('no-op');
  });

  it('must stay when only the access to it changes', async () => {
    await bench.converge([certificate(), user('digest')]);
    const before = both();
    const { document } = await bench.prepare([certificate({ mode: '0640' }), user('digest')]);
    expect(outline(document)).toMatchInlineSnapshot(`
      "configuration
      update local.certificate.web: mode differs
        local.certificate.web:update"
    `);
    await bench.apply(document, [certificate({ mode: '0640' }), user('digest')]);
    expect(both()).toEqual(before);
    expect(statSync(path.join(folder(), 'key.pem')).mode & 0o777).toBe(0o640);
  });

  it('must be put right when a file of it was removed, exchanged, damaged or opened to others', async () => {
    await bench.converge([certificate()]);
    const other = new EngineBench();
    await other.converge([desired('local.certificate.web', { names: ['app.example', '127.0.0.1'], path: path.join(other.folder, 'tls') })]);
    const theirs = (name: string) => readFileSync(path.join(other.folder, 'tls', name));
    const meddling: readonly (readonly [string, () => void])[] = [
      ['pair', () => unlinkSync(path.join(folder(), 'key.pem'))],
      ['pair', () => unlinkSync(path.join(folder(), 'certificate.pem'))],
      ['pair', () => writeFileSync(path.join(folder(), 'key.pem'), theirs('key.pem'))],
      ['pair', () => writeFileSync(path.join(folder(), 'certificate.pem'), 'no certificate')],
      [
        'pair',
        () => {
          writeFileSync(path.join(folder(), 'key.pem'), theirs('key.pem'));
          writeFileSync(path.join(folder(), 'certificate.pem'), theirs('certificate.pem'));
        },
      ],
      ['mode', () => chmodSync(path.join(folder(), 'key.pem'), 0o644)],
    ];
    for (const [at, meddle] of meddling) {
      meddle();
      const { document } = await bench.prepare([certificate()]);
      expect(document.drift.flatMap(({ paths }) => paths.map((one) => one.path))).toEqual([at]);
      await bench.converge([certificate()]);
      expect(outline((await bench.prepare([certificate()])).document)).toBe('no-op');
    }
    await other.close();
  });

  it('must be warned of from 30 days before its end, and again when it has ended', async () => {
    await bench.converge([certificate({ validity_days: 60 })]);
    const warnings = async (days: number) => {
      const clock: Clock = { ...systemClock, now: () => Date.now() + days * 86_400_000 };
      const context = { ...(await bench.context([certificate({ validity_days: 60 })])), clock };
      const outcome = await preparePlan(context, DEFAULT_OPTIONS, { commit: null, folder: '.' });
      if (!outcome.ok) throw new Error('no plan');
      return outcome.value.document.warnings.map(({ code, message }) => `${code} ${/ (ends|ended) at/.exec(message)?.[1] ?? ''}`);
    };
    expect(await warnings(29)).toEqual([]);
    expect(await warnings(31)).toEqual(['CERTIFICATE_ENDS ends']);
    expect(await warnings(61)).toEqual(['CERTIFICATE_ENDS ended']);
  });

  it('must be known as ours when its run was lost before it could say so, and not be made again', async () => {
    const { document } = await bench.prepare([certificate()]);
    await bench.applyUntil(document, [certificate()], afterEffect);
    const before = both();
    await bench.converge([certificate()]);
    expect(both()).toEqual(before);
    expect(outline((await bench.prepare([certificate()])).document)).toBe('no-op');
  });

  it('must not be taken for ours when somebody else stands in its place', async () => {
    mkdirSync(folder());
    const { document } = await bench.prepare([certificate()]);
    expect(document.succession.refusals.map(({ code }) => code)).toEqual(['CERTIFICATE_FOREIGN']);
  });

  it('must come back as it was when its renewal or its removal is taken back', async () => {
    await bench.converge([certificate()]);
    const before = both();
    const failing = [certificate({ generation: 2 }), desired('fake.thing.new', {}, { dependsOn: ['local.certificate.web'] })];
    bench.world.failOn('fake.thing.new:create', 'CONFLICT');
    expect(await bench.apply((await bench.prepare(failing)).document, failing)).toMatchObject({ exitCode: 5 });
    expect(both()).toEqual(before);
    const moved = [
      certificate({ path: path.join(bench.folder, 'elsewhere') }),
      desired('fake.thing.new', {}, { dependsOn: ['local.certificate.web'] }),
    ];
    bench.world.failOn('fake.thing.new:create', 'CONFLICT');
    expect(await bench.apply((await bench.prepare(moved)).document, moved)).toMatchObject({ exitCode: 5 });
    expect(both()).toEqual(before);
    expect(existsSync(path.join(bench.folder, 'elsewhere'))).toBe(false);
    expect(outline((await bench.prepare([certificate()])).document)).toBe('no-op');
  });

  it('must go again, and nothing that is not ours with it, when its making is taken back from the journal', async () => {
    const all = [certificate(), desired('fake.thing.new', {}, { dependsOn: ['local.certificate.web'] })];
    await bench.converge([desired('local.value.first', { input: 1 })]);
    for (const stopped of ['local.certificate.web:create', 'fake.thing.new:create']) {
      const { document } = await bench.prepare([desired('local.value.first', { input: 1 }), ...all]);
      await bench.applyUntil(
        document,
        [desired('local.value.first', { input: 1 }), ...all],
        (mutation) =>
          mutation.kind === 'step' && mutation.step.step === stopped && (stopped.startsWith('fake') || mutation.step.status === 'done'),
      );
      expect(existsSync(folder())).toBe(true);
      expect(await bench.recoverBack(all)).toMatchObject({ exitCode: 0 });
      expect(existsSync(folder())).toBe(false);
    }
  });

  it('must have a place of its own where the documents name none', () => {
    const context = { environment: 'e', address: certificate().address, name: 'web', folder: '/srv/env', config: {} };
    const normal = certificateType.normalize({ names: ['APP.example', '0:0::1'] }, context);
    expect(normal).toMatchObject({ names: ['app.example', '::1'], path: '.accede/certificates/web' });
    expect(certificateType.normalize({ names: ['x'] }, { ...context, key: 'a' })).toMatchObject({ path: '.accede/certificates/web-a' });
    expect(certificateType.identity(normal, context)).toBe('/srv/env/.accede/certificates/web');
    expect(plainName('FE80::0:1')).toBe('fe80::1');
  });

  it('must leave what somebody put beside its files', async () => {
    await bench.converge([certificate(), desired('local.value.other', { input: 1 })]);
    writeFileSync(path.join(folder(), 'theirs'), 'x');
    await bench.converge([desired('local.value.other', { input: 1 })]);
    expect(readdirSync(folder())).toEqual(['theirs']);
    rmSync(folder(), { recursive: true });
  });

  it('must refuse names that no certificate may bear', () => {
    for (const names of [[], [''], ['a b'], ['https://x'], ['-x.example'], ['x..y'], ['*'], ['a.*.b']]) {
      expect(certificateType.schema.safeParse({ names }).success, JSON.stringify(names)).toBe(false);
    }
    for (const mode of ['0644', '0601', '4600', '777'])
      expect(certificateType.schema.safeParse({ names: ['x'], mode }).success, mode).toBe(false);
  });
});
