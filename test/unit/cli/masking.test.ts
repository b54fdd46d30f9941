import { describe, expect, it } from 'vitest';
import { maskerFor } from '../../../src/cli/views/masking.ts';
import { Output } from '../../../src/cli/views/output.ts';
import { Sensitive } from '../../../src/core/value.ts';

const SECRET = 'c4n4ry "quoted"\\é';
const masker = maskerFor([
  Sensitive.open(SECRET, ['one']),
  Sensitive.open({ inner: ['bundle-value', 12345678] }),
  Sensitive.open('abc'),
  Sensitive.sealed(undefined),
]);

describe('masking', () => {
  it.each([
    ['raw', SECRET],
    ['JSON-escaped', JSON.stringify({ a: SECRET })],
    ['escaped twice', JSON.stringify({ a: JSON.stringify({ b: SECRET }) })],
    ['base64', Buffer.from(SECRET).toString('base64')],
    ['base64url', Buffer.from(SECRET).toString('base64url')],
    ['hex', Buffer.from(SECRET).toString('hex')],
    ['upper-case hex', Buffer.from(SECRET).toString('hex').toUpperCase()],
    ['in a URL', `mysql://user:${encodeURIComponent(SECRET)}@host/`],
    ['a member of a bundle', 'said bundle-value there'],
    ['a number of a bundle', 'port 12345678'],
  ])('must take a secret out of text: %s', (_name, text) => {
    const masked = masker.text(`before ${text} after`);
    expect(masked).toContain('(sensitive)');
    for (const part of ['c4n4ry', Buffer.from(SECRET).toString('base64'), 'bundle-value', '12345678']) expect(masked).not.toContain(part);
    expect(masked).toMatch(/^before .* after$/s);
  });

  it('must leave values shorter than four characters, which are no secrets worth the name', () => {
    expect(masker.text('abc')).toBe('abc');
  });

  it('must hide the lines of a secret one by one, since views wrap and indent', () => {
    const key = '-----BEGIN KEY-----\nMIIBVgIBADANBg\nshort\n-----END KEY-----';
    expect(maskerFor([Sensitive.open(key)]).text('  MIIBVgIBADANBg  ')).toBe('  (sensitive)  ');
  });

  it('must keep JSON valid and digests whole', () => {
    const short = maskerFor([Sensitive.open('true'), Sensitive.open('dead')]);
    const digest = `sha256:${'dead'.repeat(16)}`;
    expect(short.data({ ok: true, text: 'true', digest, list: ['a dead end'] })).toEqual({
      ok: true,
      text: '(sensitive)',
      digest,
      list: ['a (sensitive) end'],
    });
  });

  it('must stand before everything that goes out', () => {
    const written: string[] = [];
    const sink = { write: (text: string) => written.push(text) > 0 };
    const output = new Output({ stdout: sink, stderr: sink }, { environment: {}, json: true, color: false });
    output.mask(masker);
    output.print(SECRET);
    output.say(SECRET);
    output.ask(SECRET);
    output.document({ a: SECRET, b: Sensitive.open('another') });
    output.report([{ severity: 'error', code: 'X', summary: 's', detail: SECRET }]);
    output.warn([{ severity: 'warning', code: 'X', summary: 's', detail: `${'word '.repeat(18)}${SECRET} ${'word '.repeat(18)}` }]);
    expect(written).toHaveLength(6);
    expect(written.join('')).not.toContain('c4n4ry');
    expect(written.join('')).not.toContain('another');
    expect(JSON.parse(written[3] ?? '')).toEqual({ a: '(sensitive)', b: '(sensitive)' });
  });
});
