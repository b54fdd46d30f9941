import { describe, expect, it } from 'vitest';
import { localHost } from '../../src/host/local.ts';
import type { Provider } from '../../src/providers/contract.ts';
import { fakeProvider } from '../../src/providers/fake/provider.ts';
import { FakeWorld } from '../../src/providers/fake/world.ts';
import { localProvider } from '../../src/providers/local/provider.ts';
import { createRegistry, defaultRegistry } from '../../src/providers/registry.ts';

describe('the registry', () => {
  it('must find each type with its provider, sorted, and nothing else', () => {
    const fake = fakeProvider(new FakeWorld());
    const registry = createRegistry([localProvider, fake]);
    expect(registry.types.map((type) => type.type)).toEqual([
      'fake.generation',
      'fake.image',
      'fake.publication',
      'fake.route',
      'fake.server',
      'fake.service',
      'fake.store',
      'fake.task',
      'fake.thing',
      'local.certificate',
      'local.directory',
      'local.file',
      'local.keypair',
      'local.ports',
      'local.secret',
      'local.value',
    ]);
    expect(registry.find('fake.thing')?.provider).toBe(fake);
    expect(registry.find('local.file')?.type.type).toBe('local.file');
    expect(registry.find('local.none')).toBeUndefined();
    expect([...registry.providers.keys()]).toEqual(['fake', 'local']);
  });

  it('must refuse doubled providers, doubled types and types of another name', () => {
    expect(() => createRegistry([localProvider, localProvider])).toThrow('two providers are called local');
    const doubled: Provider = { ...localProvider, types: [...localProvider.types, ...localProvider.types] };
    expect(() => createRegistry([doubled])).toThrow('two types are called local.certificate');
    expect(() => createRegistry([{ ...localProvider, name: 'other' }])).toThrow('the provider other has the type local.certificate');
  });

  it('must hold the providers of the build and none that is for tests', () => {
    expect([...defaultRegistry().providers.keys()]).toEqual(['docker', 'local']);
  });

  it('must load no driver', async () => {
    const registry = JSON.stringify(new URL('../../src/providers/registry.ts', import.meta.url).href);
    // The second count shows that the first one would have seen a driver.
    const script = `
      import { createRequire } from 'node:module';
      const { cache } = createRequire(${registry});
      const drivers = () => Object.keys(cache).filter((path) => /node_modules.(?:dockerode|libsql|mysql2|ssh2)/.test(path)).length;
      (await import(${registry})).defaultRegistry();
      const before = drivers();
      await import('dockerode');
      process.stdout.write(JSON.stringify({ before, seen: drivers() > 0 }));`;
    const run = await localHost({ environment: { PATH: process.env['PATH'], HOME: process.env['HOME'] } }).inspect(
      [process.execPath, '--import', 'tsx', '--input-type=module', '--eval', script],
      { signal: new AbortController().signal, timeout: 20_000 },
    );
    expect(run).toEqual({ code: 0, stdout: '{"before":0,"seen":true}', stderr: '' });
  });
});
