/** `verbatim serve`: the Durable Streams protocol over HTTP, on this machine, until interrupted. */

import { once } from "node:events";
import { resolve } from "node:path";
import { type CliCommand, type Io, textOption, UsageError, wholeNumber } from "../command.ts";

const PORT_MAX = 65_535;
const TIMEOUT_MS_MAX = 600_000;
const BODY_BYTES_MAX = 1024 * 1024 * 1024;

export const serve: CliCommand = {
  name: "serve",
  summary: "Serve durable streams over HTTP, on this machine, until interrupted",
  options: [
    { flags: "--host <address>", summary: "address of this machine", default: "127.0.0.1" },
    { flags: "--port <number>", summary: "0 takes any that is free", default: "4437" },
    {
      flags: "--data <directory>",
      summary: "where streams are kept; default: $XDG_DATA_HOME/verbatim",
    },
    {
      flags: "--long-poll-timeout <ms>",
      summary: "how long a read waits for new data",
      default: "20000",
    },
    { flags: "--max-body <bytes>", summary: "the largest append", default: "16777216" },
    {
      flags: "--allow-local-webhooks",
      summary: "let subscriptions call programs on this machine",
    },
    {
      flags: "--allow-origin <origins>",
      summary: "web pages that may use it, by comma, besides this machine's; * for all",
    },
  ],
  examples: [
    "verbatim serve",
    "verbatim serve --port 0 --data ./streams",
    "verbatim serve --allow-origin https://app.example.com",
  ],

  async run({ options, io }) {
    const port = wholeNumber("--port", options.port, 0, PORT_MAX);
    const timeout = options.longPollTimeout;
    const longPollTimeoutMs = wholeNumber("--long-poll-timeout", timeout, 1, TIMEOUT_MS_MAX);
    const bodyBytesMax = wholeNumber("--max-body", options.maxBody, 1, BODY_BYTES_MAX);
    const host = textOption("--host", options.host);
    const allowOrigins = originList(textOption("--allow-origin", options.allowOrigin));
    const { dataDirectory } = await import("../../base/node-places.ts");
    const directory = resolve(textOption("--data", options.data) ?? dataDirectory());
    const { startServer } = await import("../../server/start.ts");
    const server = await startServer({
      dataDirectory: directory,
      port,
      longPollTimeoutMs,
      bodyBytesMax,
      allowLocalWebhooks: options.allowLocalWebhooks === true,
      allowOrigins,
      ...(host === undefined ? {} : { host }),
      onFault: (what, cause) => io.err(`fault: ${what}: ${faultText(cause)}`),
    });
    const signal = io.interruption();
    welcome(io, server.url, directory);
    if (!signal.aborted) await once(signal, "abort");
    io.err("stopping: what was accepted is finished first");
    await server.close();
    return 0;
  },
};

function welcome(io: Io, url: string, directory: string): void {
  const stream = `${url}/v1/stream/chat/1`;
  io.out(`verbatim listens on ${url}`);
  io.out(`streams are kept in ${directory}`);
  io.out("try:");
  io.out(`  curl -X PUT ${stream} -H 'Content-Type: application/json'`);
  io.out(`  curl -X POST ${stream} -H 'Content-Type: application/json' -d '{"hello":"world"}'`);
  io.out(`  curl -N '${stream}?offset=-1&live=sse'`);
}

function originList(text: string | undefined): string[] {
  if (text === undefined) return [];
  const origins = text.split(",").map((each) => each.trim());
  for (const origin of origins) {
    if (origin === "*" || /^https?:\/\/[^/\s]+$/.test(origin)) continue;
    throw new UsageError(
      `--allow-origin takes origins such as https://app.example.com, not ${origin}`,
    );
  }
  return origins;
}

function faultText(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
