import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ask, type DockerServer, startDocker } from '../../scripts/servers/docker.ts';
import type { Attributes } from '../../src/core/value.ts';
import { localHost } from '../../src/host/local.ts';
import { dockerProvider } from '../../src/providers/docker/provider.ts';
import { Driver, type DriverOptions } from '../conformance/driver.ts';

/** A private engine for the cases of one file, with its folder and a way to ask it behind the provider's back. */
export class Bench {
  readonly folder: string;
  readonly engine: DockerServer;

  private constructor(folder: string, engine: DockerServer) {
    this.folder = folder;
    this.engine = engine;
  }

  static async start(args: readonly string[] = []): Promise<Bench> {
    const folder = mkdtempSync('/tmp/accd-');
    try {
      return new Bench(folder, await startDocker(folder, { args }));
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.engine.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A driver of an environment of its own. */
  driver(options: Partial<DriverOptions> & { readonly config?: Attributes } = {}): Driver {
    const { config, ...rest } = options;
    return new Driver({
      provider: dockerProvider,
      host: localHost(),
      folder: join(this.folder, 'documents'),
      environment: 'bench',
      ...rest,
      config: { host: this.engine.host, ...config },
    });
  }

  /** Sends a request by hand. Throws on a refusal. */
  async hand(method: string, path: string, body?: object): Promise<unknown> {
    const text = await this.text(method, path, body);
    return text === '' ? undefined : JSON.parse(text);
  }

  /** The same, for a reply that is not JSON. */
  async text(method: string, path: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<string> {
    const data = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const reply = await ask(this.engine.socket, {
      method,
      path: `/v1.41${path}`,
      ...(data === undefined ? {} : { body: data }),
      ...(headers === undefined ? {} : { headers }),
    });
    const text = reply.body.toString('utf8');
    if (reply.status >= 400) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return text;
  }

  /** Removes every container, volume and network of the engine. */
  async clear(): Promise<void> {
    for (const { Id } of (await this.hand('GET', '/containers/json?all=1')) as { Id: string }[]) {
      await this.hand('DELETE', `/containers/${Id}?force=1&v=1`);
    }
    await this.hand('POST', '/networks/prune');
    const { Volumes } = (await this.hand('GET', '/volumes')) as { Volumes: { Name: string }[] | null };
    for (const { Name } of Volumes ?? []) await this.hand('DELETE', `/volumes/${Name}`);
  }

  /** Removes an image with all its names; nothing when it is not there. */
  async dropImage(id: string): Promise<void> {
    const list = (await this.hand('GET', '/images/json')) as { readonly Id: string }[];
    if (list.some((image) => image.Id === id)) await this.hand('DELETE', `/images/${id}?force=1`);
  }
}
