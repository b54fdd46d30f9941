import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';

/** A socket between the provider and an engine, which writes down what passes and can be cut. */
export class EngineProxy {
  readonly path: string;
  /** `POST /containers/create`, without version and query. */
  readonly passed: string[] = [];
  /** Of the next request whose line begins so the reply is lost: the engine does it, and the connection breaks. */
  loses: string | undefined;
  /** Of the mutating request before which so many went through the reply is lost. */
  losesAt: number | undefined;
  /** Requests whose line begins so are refused in this way, as often as it says, and never reach the engine. */
  readonly refuses = new Map<string, { readonly status: number; readonly message: string; times: number }>();
  readonly #target: string;
  /** The most connections that stood at one moment. */
  mostConnections = 0;
  /** Those that stand now. */
  connections = 0;
  #server: Server | undefined;

  constructor(path: string, target: string) {
    this.path = path;
    this.#target = target;
  }

  get host(): string {
    return `unix://${this.path}`;
  }

  /** The requests that may change something. */
  get mutations(): readonly string[] {
    return this.passed.filter((line) => !line.startsWith('GET '));
  }

  async open(): Promise<void> {
    const server = createServer((incoming, outgoing) => {
      const line = `${incoming.method} ${incoming.url?.split('?')[0]?.replace(/^\/v[\d.]+/, '')}`;
      this.passed.push(line);
      const refusal = [...this.refuses].find(([start, { times }]) => line.startsWith(start) && times > 0)?.[1];
      if (refusal !== undefined) {
        refusal.times -= 1;
        incoming.resume();
        outgoing.writeHead(refusal.status, { 'content-type': 'application/json' }).end(JSON.stringify({ message: refusal.message }));
        return;
      }
      const isNth = !line.startsWith('GET ') && this.losesAt === this.mutations.length - 1;
      const isLost = isNth || (this.loses !== undefined && line.startsWith(this.loses));
      if (isLost) this.loses = undefined;
      if (isNth) this.losesAt = undefined;
      const onward = request(
        { socketPath: this.#target, method: incoming.method, path: incoming.url, headers: incoming.headers },
        (reply) => {
          if (isLost) {
            reply.resume();
            reply.on('end', () => outgoing.destroy());
            return;
          }
          outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
          reply.pipe(outgoing);
        },
      );
      onward.on('error', () => outgoing.destroy());
      incoming.on('error', () => onward.destroy());
      outgoing.on('close', () => onward.destroy());
      incoming.pipe(onward);
    });
    server.on('connection', (socket) => {
      this.connections += 1;
      this.mostConnections = Math.max(this.mostConnections, this.connections);
      socket.on('close', () => {
        this.connections -= 1;
      });
    });
    server.listen(this.path);
    await once(server, 'listening');
    this.#server = server;
  }

  /** Ends every connection; nobody listens any more. */
  async cut(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
    rmSync(this.path, { force: true });
  }
}
