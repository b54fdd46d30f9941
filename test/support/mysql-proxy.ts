import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * What becomes of a commit: its `reply` is lost after the server did it, the `request` is lost before the server saw it, or the connection is
 * `cut` while the server may be in the middle of it.
 */
export type Loss = 'reply' | 'request' | 'cut';

const COMMIT = Buffer.from('\u0003COMMIT');

/** A TCP port between a client and a server of the MySQL protocol, whose connections can be broken at a chosen moment. */
export class MysqlProxy {
  /** Of the next commit. */
  loses: Loss | undefined;
  /** Commits that go through before the one that `loses` is about. */
  spares = 0;
  /** Commits that clients asked for. */
  commits = 0;
  /** How many losses there were. */
  lost = 0;
  /** Breaks the connection instead of handing on the packet of the client before which so many went through. */
  breaksAfter: number | undefined;
  /** New connections are broken off at once. */
  isAway = false;
  /** Packets that clients have sent. */
  passed = 0;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#serve(client));
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy is not open');
    return address.port;
  }

  async open(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #serve(client: Socket): void {
    if (this.isAway) {
      client.destroy();
      return;
    }
    const server = connect(this.#target, '127.0.0.1');
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      // A broken connection is what this is for.
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    }
    client.on('data', (chunk) => this.#hand(chunk, client, server));
    server.on('data', (chunk) => client.write(chunk));
    client.on('close', () => server.end());
    server.on('close', () => client.destroy());
  }

  #hand(chunk: Buffer, client: Socket, server: Socket): void {
    if (this.breaksAfter === this.passed) {
      this.breaksAfter = undefined;
      this.lost += 1;
      client.destroy();
      return;
    }
    this.passed += 1;
    const isCommit = chunk.includes(COMMIT);
    if (isCommit) this.commits += 1;
    const isSpared = isCommit && this.loses !== undefined && this.spares > 0;
    if (isSpared) this.spares -= 1;
    const loss = isCommit && !isSpared ? this.loses : undefined;
    if (loss === undefined) {
      server.write(chunk);
      return;
    }
    this.loses = undefined;
    this.lost += 1;
    switch (loss) {
      case 'request':
        client.destroy();
        return;
      case 'cut':
        server.write(chunk, () => client.destroy());
        return;
      case 'reply':
        server.removeAllListeners('data');
        server.once('data', () => client.destroy());
        server.write(chunk);
        return;
    }
    loss satisfies never;
  }
}
