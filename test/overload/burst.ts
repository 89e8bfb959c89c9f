/**
 * Bursts: appends that are sent together, whether or not earlier ones were answered, as many separate
 * clients do. Each append in flight has its own connection.
 */

import { connect, type Socket } from "node:net";

export interface Outcome {
  readonly n: number;
  readonly status: number;
  readonly hasRetryAfter: boolean;
}

export class Bursts {
  /** Of the appends that were answered, or whose connection closed (status 0). */
  readonly outcomes: Outcome[] = [];
  readonly #url: string;
  readonly #idle: Socket[] = [];
  #sent = 0;

  constructor(url: string) {
    this.#url = url;
  }

  get sent(): number {
    return this.#sent;
  }

  get unanswered(): number {
    return this.#sent - this.outcomes.length;
  }

  /** `target` and `body`: of the n-th append of all. */
  send(count: number, target: (n: number) => string, body: (n: number) => Buffer): void {
    for (let left = count; left > 0; left--) {
      const n = this.#sent++;
      this.#append(n, target(n), body(n));
    }
  }

  close(): void {
    for (const socket of this.#idle) socket.destroy();
  }

  #append(n: number, target: string, body: Buffer): void {
    const socket = this.#idle.pop() ?? opened(this.#url);
    let text = "";
    const finish = (status: number) => {
      socket.off("data", onData).off("close", onClose);
      this.outcomes.push({ n, status, hasRetryAfter: /\r\nretry-after: \d/i.test(text) });
    };
    const onClose = () => finish(0);
    const onData = (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < end + 4 + length) return;
      if (!/\r\nconnection: close/i.test(text)) this.#idle.push(socket);
      finish(Number(text.slice(9, 12)));
    };
    socket.on("data", onData).once("close", onClose);
    socket.write(
      `POST ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n` +
        `Content-Length: ${body.length}\r\n\r\n`,
    );
    socket.write(body);
  }
}

function opened(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {}); // Its close event reports it.
  return socket;
}
