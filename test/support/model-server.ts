/** Model server: a real HTTP server in the place of a provider; the test says what it answers. */

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface ModelCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: JSON, which the tests read as they know it.
  readonly json: any;
}

export interface ModelReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer | string;
  /** The rest of the body, sent once this resolves. */
  readonly rest?: Promise<Buffer | string>;
  /** The connection breaks after the body. */
  readonly breaks?: true;
}

export interface ModelServer {
  readonly url: string;
  readonly calls: readonly ModelCall[];
  /** How many callers broke off. */
  readonly abandoned: () => number;
}

export async function modelServer(answer: (call: ModelCall) => ModelReply): Promise<ModelServer> {
  const calls: ModelCall[] = [];
  let abandoned = 0;
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece);
    const body = Buffer.concat(pieces);
    const call = { path: incoming.url ?? "", headers: incoming.headers, body, json: parsed(body) };
    calls.push(call);
    const reply = answer(call);
    response.on("close", () => {
      if (!response.writableFinished) abandoned++;
    });
    const type = String(reply.body).startsWith("{") ? "application/json" : "text/event-stream";
    const headers = { "content-type": type, ...reply.headers } as Record<string, string>;
    response.writeHead(reply.status ?? 200, headers);
    response.write(reply.body);
    const rest = await reply.rest;
    if (rest !== undefined) response.write(rest);
    if (reply.breaks) setImmediate(() => response.socket?.destroySoon());
    else response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, calls, abandoned: () => abandoned };
}

// biome-ignore lint/suspicious/noExplicitAny: JSON, which the tests read as they know it.
function parsed(body: Buffer): any {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}

let answers = 0;

/** A message of Anthropic's API. */
export function anthropicJson(text: string, more: object = {}): string {
  return JSON.stringify({
    id: `msg_01${String(++answers).padStart(20, "0")}`,
    type: "message",
    role: "assistant",
    model: "claude-opus-5",
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
    ...more,
  });
}

/** An answer of the Responses API. */
export function responsesJson(text: string): string {
  const id = `resp_${String(++answers).padStart(24, "0")}`;
  const content = [{ type: "output_text", text, annotations: [] }];
  const output = [{ type: "message", id: "m1", role: "assistant", status: "completed", content }];
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  return JSON.stringify({
    id,
    object: "response",
    status: "completed",
    model: "gpt-5.5",
    output,
    usage,
  });
}
