/** Raw HTTP: requests that `fetch` would normalise, connections that it would hide. */

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { until } from "../support/until.ts";

/** A connection to the server, with what was received over it so far. */
export class RawConnection {
  readonly socket: Socket;
  /** What was received since the last call of `text`. */
  readonly #received: Buffer[] = [];
  #text = "";
  /** How many bytes were received. */
  length = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.#received.push(chunk);
      this.length += chunk.length;
    });
    socket.on("error", () => {}); // A reset is one of the tested outcomes.
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, "connect");
    return new RawConnection(socket);
  }

  /** With TLS; any certificate will do. */
  static async openTls(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const to = { host: hostname, port: Number(port), rejectUnauthorized: false };
    const socket = connectTls(to);
    await once(socket, "secureConnect");
    return new RawConnection(socket);
  }

  get text(): string {
    this.#text += Buffer.concat(this.#received.splice(0)).toString("latin1");
    return this.#text;
  }

  /** Sends a head, with the headers that every request has. */
  send(method: string, target: string, headers: Readonly<Record<string, string>> = {}): void {
    const all = { Host: "localhost", ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    this.socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`);
  }

  /** Resolves when enough was received; fails if it is not. */
  async until(isEnough: (text: string) => boolean): Promise<void> {
    await until(() => isEnough(this.text), "the awaited answer");
  }

  /** Everything received, once the server has closed the connection. */
  async closed(): Promise<string> {
    await until(() => this.socket.closed, "closing the connection");
    return this.text;
  }
}

/** The status of one request, sent unchanged. */
export async function rawStatus(
  url: string,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const connection = await RawConnection.open(url);
  connection.send(method, target, { Connection: "close", ...headers });
  const answer = await connection.closed();
  return Number(answer.split(" ")[1]);
}
