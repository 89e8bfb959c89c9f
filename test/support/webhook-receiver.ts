/**
 * A webhook receiver: a real server on this machine that keeps the requests it gets and answers
 * them.
 */

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { SelfSigned } from "./self-signed.ts";

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: ReceivedWake;
}

/** A wake as it is sent. */
export interface ReceivedWake {
  readonly subscription_id: string;
  readonly wake_id: string;
  readonly generation: number;
  readonly streams: readonly {
    readonly path: string;
    readonly link_type: string;
    readonly acked_offset: string;
    readonly tail_offset: string;
    readonly has_pending: boolean;
  }[];
  readonly callback_url: string;
  readonly callback_token: string;
}

export type Respond = (response: ServerResponse, received: Received) => void;

export class WebhookReceiver {
  readonly received: Received[] = [];
  readonly port: number;
  /** How the next requests are answered. */
  respond: Respond;
  #taken = 0;
  #wake: () => void = () => {};

  private constructor(port: number, respond: Respond) {
    this.port = port;
    this.respond = respond;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** How many requests have arrived, taken or not. */
  get count(): number {
    return this.received.length;
  }

  static async start(
    respond: Respond = answerWith({}),
    tls?: SelfSigned,
  ): Promise<WebhookReceiver> {
    const server = tls === undefined ? createServer() : createTlsServer(tls);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const receiver = new WebhookReceiver((server.address() as AddressInfo).port, respond);
    server.on("request", (request, response) => {
      const pieces: Uint8Array[] = [];
      request.on("data", (piece: Uint8Array) => pieces.push(piece));
      request.on("end", () => {
        const text = Buffer.concat(pieces).toString();
        const received = { headers: request.headers, text, body: JSON.parse(text) };
        receiver.received.push(received);
        receiver.#wake();
        receiver.respond(response, received);
      });
    });
    onTestFinished(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    });
    return receiver;
  }

  /** The next request that was not taken yet. */
  async next(): Promise<Received> {
    for (;;) {
      const received = this.received[this.#taken];
      if (received !== undefined) {
        this.#taken++;
        return received;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** Answers with JSON. */
export function answerWith(value: unknown, status = 200): Respond {
  return (response) => {
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify(value));
  };
}
