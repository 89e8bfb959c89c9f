/**
 * Serve: the MCP server on this process's stdin and stdout, until the client closes them.
 *
 * Loaded only to serve: it loads the protocol's package.
 */

import type { Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { McpParts } from "./parts.ts";
import { mcpServer } from "./server.ts";

/** The longest accepted message. */
const MESSAGE_BYTES_MAX = 1_048_576;

export interface Streams {
  readonly input: Readable;
  readonly output: Writable;
  /** Stops serving. */
  readonly signal: AbortSignal;
}

/**
 * Resolves when the input has ended, on the signal, or when a message was too long to continue.
 * Calls in progress are then not answered.
 */
export async function serveMcp(parts: McpParts, { input, output, signal }: Streams): Promise<void> {
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MESSAGE_BYTES_MAX });
  const serving = serveStdio(() => mcpServer(parts), {
    transport,
    onerror: (error) => parts.onWarning(error.message),
  });
  await new Promise<void>((resolve) => {
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
    input.once("end", resolve).once("close", resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  await serving.close();
  input.destroy();
}
