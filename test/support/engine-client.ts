import { ask } from '../../scripts/servers/docker.ts';

/** What a test looks at and does by hand on an engine, apart from the provider that is tested. */
export class EngineClient {
  readonly #socket: string;

  constructor(host: string) {
    this.#socket = host.replace(/^unix:\/\//, '');
  }

  async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const sent = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) };
    const reply = await ask(this.#socket, { method, path, ...sent });
    const text = reply.body.toString('utf8');
    if (reply.status >= 400) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  /** All containers, running or not: id, name, state, start time. */
  async containers(): Promise<
    readonly { readonly id: string; readonly name: string; readonly state: string; readonly labels: Readonly<Record<string, string>> }[]
  > {
    const list = (await this.call('GET', '/containers/json?all=1')) as readonly {
      readonly Id: string;
      readonly Names: readonly string[];
      readonly State: string;
      readonly Labels: Readonly<Record<string, string>>;
    }[];
    return list
      .map((item) => ({ id: item.Id, name: (item.Names[0] ?? '').slice(1), state: item.State, labels: item.Labels }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async container(
    name: string,
  ): Promise<{ readonly id: string; readonly startedAt: string; readonly running: boolean; readonly env: readonly string[] }> {
    const seen = (await this.call('GET', `/containers/${name}/json`)) as {
      readonly Id: string;
      readonly State: { readonly StartedAt: string; readonly Running: boolean };
      readonly Config: { readonly Env: readonly string[] };
    };
    return { id: seen.Id, startedAt: seen.State.StartedAt, running: seen.State.Running, env: seen.Config.Env };
  }

  /** What happened to containers since then, in seconds since 1970. `mark` is our id of the container. */
  async events(
    since: number,
  ): Promise<readonly { readonly action: string; readonly id: string; readonly name: string; readonly mark: string }[]> {
    const until = Math.floor(Date.now() / 1000) + 1;
    const filters = encodeURIComponent(JSON.stringify({ type: ['container'] }));
    const reply = await ask(this.#socket, { method: 'GET', path: `/events?since=${since}&until=${until}&filters=${filters}` });
    const lines = reply.body.toString('utf8').split('\n').filter(Boolean);
    return lines.map((line) => {
      const { Action, Actor } = JSON.parse(line) as {
        readonly Action: string;
        readonly Actor: { readonly ID: string; readonly Attributes: Readonly<Record<string, string>> };
      };
      const { name = '', 'io.accede.id': mark = '' } = Actor.Attributes;
      return { action: Action, id: Actor.ID, name, mark };
    });
  }

  async remove(name: string): Promise<void> {
    await this.call('DELETE', `/containers/${name}?force=1`);
  }

  async stop(name: string): Promise<void> {
    await this.call('POST', `/containers/${name}/stop?t=0`);
  }

  async restart(name: string): Promise<void> {
    await this.call('POST', `/containers/${name}/restart?t=0`);
  }

  /** Makes and starts a container that bears no mark. */
  async run(name: string, image: string, command: readonly string[]): Promise<string> {
    const made = (await this.call('POST', `/containers/create?name=${name}`, { Image: image, Cmd: command })) as { readonly Id: string };
    await this.call('POST', `/containers/${made.Id}/start`);
    return made.Id;
  }

  /** What bears our mark: containers, networks and volumes by name. */
  async marked(environment: string): Promise<readonly string[]> {
    const filter = encodeURIComponent(JSON.stringify({ label: [`io.accede.environment=${environment}`] }));
    const containers = (await this.call('GET', `/containers/json?all=1&filters=${filter}`)) as readonly {
      readonly Names: readonly string[];
    }[];
    const networks = (await this.call('GET', `/networks?filters=${filter}`)) as readonly { readonly Name: string }[];
    const volumes = (await this.call('GET', `/volumes?filters=${filter}`)) as {
      readonly Volumes: readonly { readonly Name: string }[] | null;
    };
    return [
      ...containers.map((item) => `container ${(item.Names[0] ?? '').slice(1)}`),
      ...networks.map((item) => `network ${item.Name}`),
      ...(volumes.Volumes ?? []).map((item) => `volume ${item.Name}`),
    ].sort();
  }
}

/** Asks again until the answer is true, at most 30 seconds. */
export async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`did not come true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
