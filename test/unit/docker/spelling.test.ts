import { describe, expect, it } from 'vitest';
import { parseEnvFile } from '../../../src/providers/docker/container/env-file.ts';
import { parseHost } from '../../../src/providers/docker/host-address.ts';
import { defaultName, fitName } from '../../../src/providers/docker/naming.ts';
import { parseImageReference } from '../../../src/providers/docker/reference.ts';
import {
  canonicalCapability,
  canonicalCpus,
  canonicalIp,
  canonicalSecurityOption,
  canonicalSignal,
  parseBytes,
  parseDuration,
  splitWords,
} from '../../../src/providers/docker/spelling.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

describe('amounts', () => {
  it.each([
    ['1h30m', 5_400_000],
    ['1.5s', 1500],
    ['250ms', 250],
    ['500us', 1],
    ['90', undefined],
    ['soon', undefined],
    ['', undefined],
  ])('must read the duration %s as %s', (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
  });

  it.each([
    ['1g', 1024 ** 3],
    ['1.5G', 1.5 * 1024 ** 3],
    ['512mb', 512 * 1024 ** 2],
    ['100', 100],
    ['10b', 10],
    ['1x', undefined],
    ['-1', undefined],
  ])('must read the amount %s as %s', (text, expected) => {
    expect(parseBytes(text)).toBe(expected);
  });
});

describe('words', () => {
  it.each([
    ['serve --port 80', ['serve', '--port', '80']],
    [`sh -c 'a "b"'`, ['sh', '-c', 'a "b"']],
    ['say "a \\"b\\" $c"', ['say', 'a "b" $c']],
    ['a\\ b ""', ['a b', '']],
    ["open 'quote", undefined],
    ['trailing \\', undefined],
  ])('must split %s as a shell does', (text, expected) => {
    expect(splitWords(text)).toEqual(expected);
  });
});

describe('one spelling', () => {
  it('must be found for addresses, CPUs, capabilities, signals and security options', () => {
    expect(canonicalIp('2001:DB8:0:0::1')).toBe('2001:db8::1');
    expect(canonicalIp('host-gateway')).toBe('host-gateway');
    expect(canonicalCpus('3,0-1,1')).toBe('0-1,3');
    expect(canonicalCapability('cap_net_admin')).toBe('NET_ADMIN');
    expect([canonicalSignal('int'), canonicalSignal('SIGINT'), canonicalSignal('9')]).toEqual(['SIGINT', 'SIGINT', '9']);
    expect(canonicalSecurityOption('no-new-privileges:true')).toBe('no-new-privileges');
    expect(canonicalSecurityOption('label:disable')).toBe('label=disable');
  });
});

describe('image references', () => {
  it('must be read in every form, the tag beside a digest saying nothing', () => {
    expect(parseImageReference(`reg:5000/a/b:1@${DIGEST}`)).toEqual({ kind: 'digest', repository: 'reg:5000/a/b', digest: DIGEST });
    expect(parseImageReference('reg:5000/a')).toEqual({ kind: 'tag', repository: 'reg:5000/a', tag: 'latest' });
    expect(parseImageReference('docker.io/library/nginx:1')).toEqual({ kind: 'tag', repository: 'nginx', tag: '1' });
    expect(parseImageReference('index.docker.io/me/app')).toEqual({ kind: 'tag', repository: 'me/app', tag: 'latest' });
    expect(parseImageReference(DIGEST)).toEqual({ kind: 'id', id: DIGEST });
    expect(parseImageReference('localhost/a/b')).toEqual({ kind: 'tag', repository: 'localhost/a/b', tag: 'latest' });
    expect(parseImageReference('[::1]:5000/a:2')).toEqual({ kind: 'tag', repository: '[::1]:5000/a', tag: '2' });
    expect(parseImageReference(`library/nginx:1@${DIGEST}`)).toEqual({ kind: 'digest', repository: 'nginx', digest: DIGEST });
    const hosts = [
      'Reg.example/a',
      'reg.example:0/a',
      'reg.example:70000/a',
      'reg_x.example/a',
      '-reg.example/a',
      'reg.example/',
      'reg:x/a',
    ];
    const paths = ['Shop/web', 'shop/Web', 'a//b', 'a/-b', 'a___b', 'a..b', '/a', 'a/', 'f'.repeat(64), `${'a'.repeat(256)}`];
    const ends = ['a:.x', `a:${'x'.repeat(129)}`, `a@${DIGEST.toUpperCase()}`, 'a@', `@${DIGEST}`, 'a:1:2', 'http://reg.example/a', 'a\nb'];
    for (const wrong of [...hosts, ...paths, ...ends]) expect(parseImageReference(wrong), wrong).toBeUndefined();
    for (const wrong of ['a@sha256:short', `a@${DIGEST}@x`, 'UPPER/Case:1', 'a b', '', 'a:'])
      expect(parseImageReference(wrong), wrong).toBeUndefined();
  });
});

describe('names', () => {
  it('must hold environment, name and key, in what the engine takes, and stay different when cut', () => {
    const context = { environment: 'staging', address: 'x' as never, folder: '/', config: {} };
    expect(defaultName({ ...context, name: 'api', key: 'eu' })).toBe('staging-api-eu');
    expect(fitName('_a b/c')).toBe('a-b-c');
    const [one, two] = ['1', '2'].map((end) => fitName(`${'long-'.repeat(20)}${end}`));
    expect(one).toHaveLength(63);
    expect(one).not.toBe(two);
  });
});

describe('the address of an engine', () => {
  it('must be read where it is available, and nowhere else', () => {
    expect(parseHost('unix:///run/docker.sock')).toEqual({ kind: 'unix', path: '/run/docker.sock' });
    expect(parseHost('tcp://[::1]:2375')).toEqual({ kind: 'tcp', host: '::1', port: 2375 });
    expect(parseHost('tcp://engine')).toEqual({ kind: 'tcp', host: 'engine', port: undefined });
    expect(parseHost('ssh://deploy@10.0.0.5:2222')).toEqual({ kind: 'ssh', user: 'deploy', host: '10.0.0.5', port: 2222 });
    expect(parseHost('context://far')).toEqual({ kind: 'context', name: 'far' });
    const wrong = ['ssh://-oProxyCommand=x', 'ssh://-x@host', 'ssh://a b@host', 'context://../x', 'npipe://x', 'https://x'];
    for (const text of [...wrong, 'unix://relative', '/run/docker.sock', 'tcp://']) expect(parseHost(text), text).toBeUndefined();
  });
});

describe('environment files', () => {
  it('must be read line by line, with quotes and comments, and tell the lines that are none', () => {
    const text = '\uFEFF# first\nA=1\nexport B = two words # not a part\nC="x\\ny" \nD=\'a # b\'\nE=\n\nbroken line\nF="open\r\nA=last\n';
    const { variables, badLines } = parseEnvFile(text);
    expect(Object.fromEntries(variables)).toEqual({ A: 'last', B: 'two words', C: 'x\ny', D: 'a # b', E: '' });
    expect(badLines).toEqual([8, 9]);
  });
});
