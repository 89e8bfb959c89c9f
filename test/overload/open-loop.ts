/**
 * An open loop: sends appends at a rate, whether or not earlier ones were answered, as many separate
 * clients do. Each append in flight has its own connection.
 */

import { connect, type Socket } from "node:net";

export interface Outcome {
  readonly n: number;
  readonly status: number;
  readonly hasRetryAfter: boolean;
}

export interface LoopOptions {
  readonly url: string;
  /** The path of the n-th append, and its body. */
  readonly target: (n: number) => string;
  readonly body: (n: number) => Buffer;
  readonly perSecond: number;
  readonly seconds: number;
}

export interface Loop {
  readonly outcomes: readonly Outcome[];
  /** From the last append sent to the last answer. */
  readonly settlingMs: number;
}

const TICK_MS = 10;

/** Resolves when each append was answered or its connection closed (status 0). */
export async function openLoop(options: LoopOptions): Promise<Loop> {
  const { perSecond, seconds } = options;
  const idle: Socket[] = [];
  const sent: Promise<Outcome>[] = [];
  const total = Math.round(perSecond * seconds);
  const startedMs = performance.now();
  while (sent.length < total) {
    const due = Math.min(total, ((performance.now() - startedMs) / 1000) * perSecond);
    while (sent.length < due) sent.push(append(options, sent.length, idle));
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  const sentMs = performance.now();
  const outcomes = await Promise.all(sent);
  for (const socket of idle) socket.destroy();
  return { outcomes, settlingMs: performance.now() - sentMs };
}

function append(options: LoopOptions, n: number, idle: Socket[]): Promise<Outcome> {
  const socket = idle.pop() ?? opened(options.url);
  const body = options.body(n);
  const head =
    `POST ${options.target(n)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n` +
    `Content-Length: ${body.length}\r\n\r\n`;
  return new Promise((resolve) => {
    let text = "";
    const finish = (status: number) => {
      socket.off("data", onData).off("close", onClose);
      resolve({ n, status, hasRetryAfter: /\r\nretry-after: \d/i.test(text) });
    };
    const onClose = () => finish(0);
    const onData = (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < end + 4 + length) return;
      if (!/\r\nconnection: close/i.test(text)) idle.push(socket);
      finish(Number(text.slice(9, 12)));
    };
    socket.on("data", onData).once("close", onClose);
    socket.write(head);
    socket.write(body);
  });
}

function opened(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {}); // Its close event reports it.
  return socket;
}
