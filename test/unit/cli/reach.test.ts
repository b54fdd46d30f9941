import { describe, expect, it } from 'vitest';
import { parseExecArguments, parseLogsArguments } from '../../../src/cli/arguments/reach.ts';
import { parseRunArguments } from '../../../src/cli/arguments/run.ts';
import { programCode } from '../../../src/cli/exit.ts';
import { LogLines, lineDocument, prefixes } from '../../../src/cli/views/log-lines.ts';
import type { ResourceAddress } from '../../../src/core/address.ts';

const API = 'docker.container.api' as ResourceAddress;

describe('the arguments of run, logs and exec', () => {
  it('must be read with their defaults and their flags', () => {
    expect(parseLogsArguments({ operands: [API, undefined], options: {} })).toMatchObject({
      ok: true,
      value: { address: API, folder: '.', follow: false, tail: undefined, since: undefined, timestamps: false },
    });
    const options = { follow: true, tail: '0', since: '1h30m', timestamps: true };
    expect(parseLogsArguments({ operands: [API, 'env'], options })).toMatchObject({
      value: { folder: 'env', follow: true, tail: 0, since: 5_400_000, timestamps: true },
    });
    expect(parseExecArguments({ operands: [API], options: { interactive: true }, rest: ['ls', '-l'] })).toMatchObject({
      value: { argv: ['ls', '-l'], interactive: true, tty: false },
    });
    expect(parseRunArguments({ operands: [API], options: { request: '-', again: true, lockTimeout: '5s' } })).toMatchObject({
      value: { addresses: [API], requestFile: '-', again: true, lockTimeout: 5000 },
    });
  });

  it('must be refused when they are none', () => {
    expect(parseLogsArguments({ operands: ['api'], options: { tail: '-1', since: 'soon' } })).toMatchObject({
      ok: false,
      diagnostics: [{ code: 'BAD_ADDRESS' }, { code: 'BAD_FLAG_VALUE' }, { code: 'BAD_FLAG_VALUE' }],
    });
    for (const rest of [undefined, []]) {
      const input = { operands: [API], options: {}, ...(rest === undefined ? {} : { rest }) };
      expect(parseExecArguments(input)).toMatchObject({ ok: false, diagnostics: [{ code: 'OPERAND_MISSING' }] });
    }
  });
});

describe('the lines of logs', () => {
  it('must be put together by program and stream, whole characters alone', () => {
    const lines = new LogLines();
    const bytes = Buffer.from('über\r\nrest');
    expect(lines.take(API, { to: 'stdout', bytes: bytes.subarray(0, 1) })).toEqual([]);
    expect(lines.take(API, { to: 'stderr', bytes: Buffer.from('other\n') })).toEqual([{ address: API, to: 'stderr', text: 'other' }]);
    expect(lines.take(API, { to: 'stdout', bytes: bytes.subarray(1) })).toEqual([{ address: API, to: 'stdout', text: 'über' }]);
    expect(lines.end()).toEqual([{ address: API, to: 'stdout', text: 'rest' }]);
  });

  it('must name instances at one width, and hold their time apart in JSON', () => {
    const [a, b] = ['docker.container.w["a"]', 'docker.container.w["long.er"]'] as ResourceAddress[];
    expect([...prefixes([a, b] as ResourceAddress[]).values()]).toEqual(['w["a"]       | ', 'w["long.er"] | ']);
    expect(lineDocument({ address: API, to: 'stdout', text: 'T1 a b' }, true)).toEqual({
      format: 'accede.log/v1',
      address: API,
      stream: 'stdout',
      time: 'T1',
      text: 'a b',
    });
  });
});

describe("a program's exit code", () => {
  it('must be one byte', () => {
    expect([0, 7, 255, 256, -1].map((code) => Number(programCode(code)))).toEqual([0, 7, 255, 0, 255]);
  });
});
