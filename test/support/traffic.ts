import { readFileSync } from 'node:fs';
import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A small reverse proxy that takes turns among the ports which a file lists as JSON. It tries each request once: what fails there fails here. */
export class TurnProxy {
  readonly #server: Server;
  #turn = 0;

  constructor(file: string) {
    this.#server = createServer((request, response) => {
      const ports = JSON.parse(readFileSync(file, 'utf8')) as readonly number[];
      const port = ports[this.#turn++ % ports.length];
      const asked = get({ host: '127.0.0.1', port, path: request.url, agent: false }, (reply) => {
        response.writeHead(reply.statusCode ?? 502);
        reply.on('error', () => response.destroy());
        reply.pipe(response);
      });
      asked.on('error', (error) => response.headersSent || response.writeHead(502).end(error.message));
    });
  }

  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** What became of the requests of a loop. */
export interface Traffic {
  readonly sent: number;
  readonly failed: readonly string[];
  /** Answers by their text. */
  readonly answers: ReadonlyMap<string, number>;
}

/** Sends requests at a fixed rate until it is stopped, whether or not earlier ones have come back. */
export class RequestLoop {
  readonly #timer: NodeJS.Timeout;
  readonly #failed: string[] = [];
  readonly #answers = new Map<string, number>();
  readonly #open = new Set<Promise<void>>();
  #sent = 0;

  constructor(urls: readonly string[], perSecond: number) {
    const began = performance.now();
    this.#timer = setInterval(() => {
      // A timer that comes late makes up for it: the rate is that of the clock.
      const due = Math.floor(((performance.now() - began) / 1000) * perSecond);
      while (this.#sent < due) this.#send(urls[this.#sent++ % urls.length] ?? '');
    }, 1000 / perSecond);
  }

  /** How many answers with this text have come. */
  seen(text: string): number {
    return this.#answers.get(text) ?? 0;
  }

  /** Ends the loop and waits for what is under way. */
  async stop(): Promise<Traffic> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
    return { sent: this.#sent, failed: this.#failed, answers: this.#answers };
  }

  #send(url: string): void {
    const asked = ask(url).then(
      (text) => void this.#answers.set(text, (this.#answers.get(text) ?? 0) + 1),
      (error: unknown) => void this.#failed.push(String(error)),
    );
    this.#open.add(asked);
    void asked.finally(() => this.#open.delete(asked));
  }
}

function ask(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { agent: false, timeout: 20_000 }, (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('error', reject);
      reply.on('end', () => {
        const text = Buffer.concat(chunks).toString().trim();
        if (reply.statusCode === 200 && reply.complete) resolve(text);
        else reject(new Error(`${reply.statusCode} ${text}`));
      });
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer in 20 s')));
    asked.on('error', reject);
  });
}
