/**
 * Replay server: a real HTTP server that sends a recorded stream to any client, as a provider would,
 * and can break off in the middle.
 */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { onTestFinished } from "vitest";

export interface Replay {
  readonly body: Buffer;
  /** How many bytes are written at a time. Default: all. */
  readonly chunkBytes?: number;
  /**
   * What happens after the last byte: the answer ends, its socket breaks, or nothing more is sent.
   */
  readonly after?: "end" | "break" | "hang";
  readonly status?: number;
}

export interface ReplayServer {
  readonly url: string;
  /** Resolves when a client has disconnected before its answer ended. */
  readonly abandoned: Promise<void>;
}

export async function replayServer(replay: Replay): Promise<ReplayServer> {
  let onAbandoned = () => {};
  const abandoned = new Promise<void>((resolve) => {
    onAbandoned = resolve;
  });
  const server = createServer((request, response) => {
    request.resume();
    response.on("close", () => {
      if (!response.writableEnded) onAbandoned();
    });
    void send(request, response, replay);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, abandoned };
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  replay: Replay,
): Promise<void> {
  const { body, chunkBytes = body.length || 1, after = "end", status = 200 } = replay;
  response.writeHead(status, { "content-type": "text/event-stream" });
  response.flushHeaders();
  for (let from = 0; from < body.length; from += chunkBytes) {
    const isTaken = response.write(body.subarray(from, from + chunkBytes));
    if (isTaken) await turn();
    else await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
    if (response.destroyed) return;
  }
  if (after === "end") response.end();
  if (after !== "break") return;
  // Not before everything was sent, and received: a reset would discard it.
  if (!request.complete) await once(request, "end");
  response.socket?.destroySoon();
}
