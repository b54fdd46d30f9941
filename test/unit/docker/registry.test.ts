import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../src/providers/contract.ts';
import { registryFailure } from '../../../src/providers/docker/pull.ts';
import { pinnedTag } from '../../../src/providers/docker/reference.ts';
import { canonicalRegistry, credentialKey, entriesFor, registryOf } from '../../../src/providers/docker/registry-host.ts';

const DIGEST = `sha256:${'4'.repeat(64)}`;

describe('the address of a registry', () => {
  it('must be one for every spelling', () => {
    for (const text of [
      'https://index.docker.io/v1/',
      'index.docker.io',
      'docker.io',
      'https://docker.io',
      'Registry-1.docker.io',
      'docker.io/',
    ])
      expect(canonicalRegistry(text), text).toBe('docker.io');
    for (const text of ['reg.example:5000', 'https://reg.example:5000', 'http://REG.example:5000/v2/', 'reg.example:5000/team'])
      expect(canonicalRegistry(text), text).toBe('reg.example:5000');
    expect(canonicalRegistry('reg.example')).not.toBe(canonicalRegistry('reg.example:5000'));
  });

  it('must be told from the first folder of a repository', () => {
    expect(['nginx', 'me/app', 'docker.io/me/app'].map(registryOf)).toEqual(['docker.io', 'docker.io', 'docker.io']);
    expect(['localhost/a', 'reg:5000/a', 'reg.example/a/b'].map(registryOf)).toEqual(['localhost', 'reg:5000', 'reg.example']);
    expect(credentialKey('docker.io')).toBe('https://index.docker.io/v1/');
  });

  it('must find its entries, the one of docker login first, and never those of another', () => {
    const map = {
      'https://reg:5000/v2/': 1,
      'reg:5000': 2,
      reg: 3,
      'reg:5000.evil.example': 4,
      'evil.example/reg:5000': 5,
      'http://reg:5000': 6,
    };
    expect(entriesFor(map, 'reg:5000').map(([, value]) => value)).toEqual([2, 6, 1]);
  });
});

describe('a failure of a registry', () => {
  const about = { image: `reg:5000/a@${DIGEST}`, repository: 'reg:5000/a', isLoggedIn: true };
  it.each([
    ['manifest for reg:5000/a@x not found: manifest unknown: manifest unknown', 'NOT_FOUND'],
    ['Get "http://reg:5000/v2/": dial tcp 127.0.0.1:5000: connect: connection refused', 'UNREACHABLE'],
    ['Get "https://reg:5000/v2/": dial tcp: lookup reg: no such host', 'UNREACHABLE'],
    ['Get "https://reg:5000/v2/": x509: certificate signed by unknown authority', 'UNREACHABLE'],
    ['Get "https://reg:5000/v2/": http: server gave HTTP response to HTTPS client', 'UNREACHABLE'],
    ['Head "https://reg:5000/v2/a/manifests/x": unauthorized: incorrect username or password', 'FORBIDDEN'],
    ['Get "http://reg:5000/v2/a/manifests/x": no basic auth credentials', 'FORBIDDEN'],
    [
      "pull access denied for a, repository does not exist or may require 'docker login': denied: requested access to the resource is denied",
      'FORBIDDEN',
    ],
    ['no matching manifest for linux/s390x in the manifest list entries', 'INVALID'],
    ['failed to register layer: archive/tar: invalid tar header', 'OTHER'],
  ])('must be told apart by the words of the engine: %s', (words, code) => {
    const told = registryFailure(new ProviderError('OTHER', words), about);
    expect(told).toMatchObject({ code, message: expect.stringContaining(about.image) });
    expect(told).toMatchObject({ message: expect.stringMatching(/[^.]\.$/) });
    const refused = new ProviderError('OTHER', 'The engine could not.', {
      cause: Object.assign(new Error('x'), { statusCode: 500, json: { message: words } }),
    });
    expect(registryFailure(refused, about)).toMatchObject({ code });
  });

  it('must stay what it is when the registry has no part in it', () => {
    const lost = new ProviderError('UNREACHABLE', 'ours', {
      cause: Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' }),
    });
    expect(registryFailure(lost, about)).toBe(lost);
    const bug = new TypeError('x');
    expect(registryFailure(bug, about)).toBe(bug);
  });
});

describe('a tag beside a digest', () => {
  it('must be kept of what a container was made from', () => {
    expect(pinnedTag(`reg:5000/a:1@${DIGEST}`)).toBe('reg:5000/a:1');
    expect(pinnedTag(`docker.io/library/nginx:1@${DIGEST}`)).toBe('nginx:1');
    for (const text of [`reg:5000/a@${DIGEST}`, 'reg:5000/a:1', DIGEST]) expect(pinnedTag(text), text).toBeUndefined();
  });
});
