/**
 * otel: a live session as OpenTelemetry spans. Kill it at any time and run it again in the same
 * directory: the session continues, and its spans keep their ids.
 *
 *     node examples/otel.mjs [project directory]
 */

import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "verbatim-log";
import { exportLive } from "verbatim-log/otel";

const [, , project = mkdtempSync(join(tmpdir(), "verbatim-otel-"))] = process.argv;

/** Entries that an agent would record. */
const SESSION = [
  { kind: "start", model: "claude-opus-5" },
  { kind: "message", role: "user", parts: [{ type: "text", text: "Is the oven on?" }] },
  { kind: "turn_start" },
  {
    kind: "message",
    role: "assistant",
    model: "claude-opus-5",
    parts: [{ type: "tool_call", callId: "c1", tool: "oven.status", input: {} }],
  },
  {
    kind: "message",
    role: "tool",
    parts: [{ type: "tool_result", callId: "c1", output: "off", error: null, durationMs: 12 }],
  },
  { kind: "turn_end", usage: { inputTokens: 90, outputTokens: 7, totalTokens: 97, spend: 0.001 } },
  { kind: "end", outcome: "completed" },
];

// Replaces your OTLP collector, such as Jaeger: it prints what it receives.
const collector = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const [{ scopeSpans }] = JSON.parse(body).resourceSpans;
  for (const { name, spanId } of scopeSpans[0].spans) print(`${spanId} ${name}`);
  response.end("{}");
}).listen(0, "127.0.0.1");
await once(collector, "listening");

const store = await openStore({ dialect: "rye", root: project, agent: "kitchen" });
const session = store.session("kitchen-1");
let known = 0;
if (await store.has(session.id)) for await (const _ of session.entries()) known++;
print(`${known} entries are there already`);
const rest = SESSION.slice(known);
const [next] = rest.splice(0, 1);
if (next) await session.append(next); // A log to follow.

const stop = new AbortController();
const url = `http://127.0.0.1:${collector.address().port}`;
const exporting = exportLive(session, { url, signal: stop.signal, lingerMs: 20 });
for (const entry of rest) await session.append(entry);
await store.close();

// An agent runs for hours; this one stops here, and the open spans are sent.
stop.abort();
const { spans, deliveredTo } = await exporting;
print(`${spans} spans, up to byte ${deliveredTo}`);
collector.close();
print(`kept in ${project}`);

function print(line) {
  process.stdout.write(`${line}\n`);
}
