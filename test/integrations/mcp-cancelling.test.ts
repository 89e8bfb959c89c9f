/**
 * Calls that a client of `verbatim mcp` cancels: the work stops, not just its answer.
 *
 * Method: the server in this process, on a disk that blocks a read until the call has been cancelled.
 * Reads of logs after that are counted.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { serveMcp } from "../../src/integrations/mcp/server.ts";
import {
  listTool,
  type McpParts,
  searchTool,
  verifyTool,
} from "../../src/integrations/mcp/tools.ts";
import { findSessionById } from "../../src/sessions/list/find-session.ts";
import { event, putThread } from "../cli/stores.ts";
import { Gate } from "../support/gate.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { WatchedFiles } from "../support/watched-files.ts";

const LOG = "transcript.jsonl";
const SESSIONS = 60;
const LONG_BYTES = 8 * 2 ** 20;
/** Where the disk blocks: this many bytes into a log, or at this many logs. */
const HELD_AT_BYTES = 2 ** 20;
const HELD_AT_LOGS = 10;
/** Chunks read ahead, or sessions being read. */
const AHEAD_BYTES = 2 ** 20;
const AHEAD_LOGS = 8;

let root = "";
let files: WatchedFiles;
let parts: McpParts;

beforeEach(() => {
  const home = tempDirectory();
  for (const name of ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"]) {
    const before = process.env[name];
    process.env[name] = join(home, name);
    onTestFinished(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
  root = join(home, "project");
  files = new WatchedFiles();
  parts = {
    host: files.host,
    where: { cwd: root, root },
    nowMs: Date.now,
    onWarning: (warning) => assert.fail(warning),
  };
});

function putMany(): void {
  for (let n = 0; n < SESSIONS; n++) {
    putThread(root, `many-${n}`, [event("user_message", { text: `zebra ${n}` })]);
  }
}

function putLong(): void {
  const line = event("assistant_text", { text: "x".repeat(8_000) });
  putThread(root, "long-1", Array(Math.ceil(LONG_BYTES / 8_000)).fill(line));
}

/** Blocks the reads after a limit. */
function held(isLate: () => boolean): Gate {
  const gate = new Gate();
  files.before = ({ call, name }) => {
    return call === "read" && name === LOG && isLate() ? gate.pass() : undefined;
  };
  return gate;
}

const logsRead = () => files.made("open", LOG).length - files.made("close", LOG).length;
const logsOpened = () => files.made("open", LOG).length;
const readUpTo = () => Math.max(...files.made("read", LOG).map(({ at }) => at));

/** Runs a tool until the disk blocks, cancels it, and unblocks the disk. */
async function cancelled(gate: Gate, run: (signal: AbortSignal) => Promise<object>) {
  const stop = new AbortController();
  const running = run(stop.signal);
  await gate.reached;
  stop.abort("enough"); // Protocols give any reason, or none.
  gate.open();
  await assert.rejects(running, (reason) => reason === "enough");
}

test("a cancelled verification stops reading the log, and returns no verdict", async () => {
  putLong();
  const found = await findSessionById(files.host, "long-1", parts.where);
  const options = { where: parts.where, isDeep: true, onWarning: parts.onWarning };
  const verify = (signal: AbortSignal) => verifyTool(files.host, found, { ...options, signal });
  await cancelled(
    held(() => readUpTo() >= HELD_AT_BYTES),
    verify,
  );
  expect(readUpTo()).toBeLessThan(HELD_AT_BYTES + AHEAD_BYTES);
  expect(logsRead()).toBe(0);
  files.before = () => undefined;
  expect(await verify(new AbortController().signal)).toMatchObject({ verdict: "unsigned" });
  expect(readUpTo()).toBeGreaterThan(LONG_BYTES - AHEAD_BYTES);
});

test("a cancelled search reads no more sessions, and the next one continues from there", async () => {
  putMany();
  const search = (signal: AbortSignal) => searchTool(parts, { query: "zebra", limit: 100 }, signal);
  await cancelled(
    held(() => logsOpened() >= HELD_AT_LOGS),
    search,
  );
  const opened = logsOpened();
  expect(opened).toBeLessThanOrEqual(HELD_AT_LOGS + AHEAD_LOGS);
  expect(logsRead()).toBe(0);
  files.before = () => undefined;
  const page = await search(new AbortController().signal);
  expect(page).toMatchObject({ isComplete: true, next: null });
  expect((page as { hits: object[] }).hits.length).toBe(SESSIONS);
  // Each hit is read to be shown; of the sessions only those that the first search left.
  expect(logsOpened() - opened).toBeLessThanOrEqual(SESSIONS + (SESSIONS - HELD_AT_LOGS + 1));
});

test("a cancelled listing reads no more sessions, and keeps what it read", async () => {
  putMany();
  const list = (signal: AbortSignal) => listTool(parts, { limit: 100 }, signal);
  await cancelled(
    held(() => logsOpened() >= HELD_AT_LOGS),
    list,
  );
  const opened = logsOpened();
  expect(opened).toBeLessThanOrEqual(HELD_AT_LOGS + AHEAD_LOGS);
  expect(logsRead()).toBe(0);
  files.before = () => undefined;
  const { sessions } = (await list(new AbortController().signal)) as { sessions: object[] };
  expect(sessions.length).toBe(SESSIONS);
  expect(logsOpened() - opened).toBe(SESSIONS - opened);
});

test("a client's cancellation reaches the work, which has no answer; the server continues", async () => {
  putLong();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const done = new AbortController();
  const serving = serveMcp(parts, { input, output, signal: done.signal });
  const lines = createInterface(output)[Symbol.asyncIterator]();
  const say = (message: object) =>
    input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const answer = async () => JSON.parse((await lines.next()).value ?? "null");
  const clientInfo = { name: "raw", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  say({ id: 1, method: "initialize", params });
  expect((await answer()).id).toBe(1);
  say({ method: "notifications/initialized" });

  const gate = held(() => readUpTo() >= HELD_AT_BYTES);
  const verify = { name: "verify_session", arguments: { session: "long-1" } };
  say({ id: 2, method: "tools/call", params: verify });
  await gate.reached;
  say({ method: "notifications/cancelled", params: { requestId: 2, reason: "enough" } });
  say({ id: 3, method: "ping" });
  expect((await answer()).id).toBe(3); // Messages sent before it have been received.
  const closed = files.next(({ call, name }) => call === "close" && name === LOG);
  gate.open();
  await closed;
  expect(readUpTo()).toBeLessThan(HELD_AT_BYTES + AHEAD_BYTES);
  say({ id: 4, method: "tools/call", params: verify });
  const verdict = await answer(); // No answer to the first call comes before it.
  expect(verdict.id).toBe(4);
  expect(JSON.parse(verdict.result.content[0].text)).toMatchObject({ verdict: "unsigned" });
  done.abort();
  await serving;
});
