/**
 * A proxy in front of PostgreSQL that breaks connections: all of them, or the one that writes, at
 * any byte of one exchange, or falls silent. Its target may change, as an address does when a standby takes over.
 */

import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";

/** The name of the statement that writes, which its requests contain (group-committer.ts). */
const WRITES = "commit_group";

export class PostgresProxy {
  /** The directory with the socket of the server; null refuses connections. */
  target: string | null;
  /** Where to cut the next exchange of a group: after so many bytes; null does not cut. */
  cutAt: number | null = null;
  /** Called when a group is on its way, which waits until it resolves. */
  beforeGroup: (() => Promise<unknown>) | null = null;
  /** New connections are accepted, and get no answer. */
  isSilent = false;
  /** What the server sent since it was set to an empty list; null keeps nothing. */
  sent: Buffer[] | null = null;
  /** Bytes of the last exchange of a group, in both directions. */
  exchanged = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: string) {
    this.target = target;
    this.#server = createServer((client) => this.#pass(client));
  }

  static async open(target: string): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    const { port } = this.#server.address() as { port: number };
    return `postgres://postgres@127.0.0.1:${port}/postgres`;
  }

  /** Nothing arrives over the connections that exist, as if a machine had vanished. */
  silenceAll(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  /** What was held arrives. */
  resumeAll(): void {
    this.isSilent = false;
    for (const socket of this.#sockets) socket.resume();
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cutAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(client: Socket): void {
    if (this.target === null) return void client.destroy();
    if (this.isSilent) {
      this.#sockets.add(client);
      client.on("error", () => {});
      client.on("close", () => this.#sockets.delete(client));
      return;
    }
    const server = connect(join(this.target, ".s.PGSQL.5432"));
    const both = [client, server];
    const cut = () => {
      for (const socket of both) socket.destroy();
    };
    /** Counts from the request of a group on. */
    let isWriting = false;
    const forward = (bytes: Buffer, to: Socket) => {
      const room = this.cutAt === null ? bytes.length : this.cutAt - this.exchanged;
      const isCut = isWriting && room <= bytes.length && this.cutAt !== null;
      if (isWriting) this.exchanged += bytes.length;
      if (!isCut) return void to.write(bytes);
      this.cutAt = null;
      isWriting = false;
      to.write(bytes.subarray(0, room), cut);
    };
    client.on("data", (bytes) => {
      if (bytes.includes(WRITES)) {
        isWriting = true;
        this.exchanged = 0;
        if (this.beforeGroup !== null) {
          client.pause();
          return void this.beforeGroup().then(() => {
            forward(bytes, server);
            client.resume();
          }, cut);
        }
      }
      forward(bytes, server);
    });
    server.on("data", (bytes) => {
      this.sent?.push(bytes);
      forward(bytes, client);
    });
    for (const socket of both) {
      this.#sockets.add(socket);
      socket.on("error", cut);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        cut();
      });
    }
  }
}
