/**
 * Live entries: each once and in order, whichever process writes, however often the connection
 * ends.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "vitest";
import { type SessionEvent, VerbatimClient } from "../../../src/doors/client.ts";
import { ManualTime } from "../../support/manual-time.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { until } from "../../support/until.ts";
import { RawConnection } from "../raw-http.ts";
import { header, refused } from "../test-server.ts";
import { newUser, ryeLog, type ServedOptions, serveSessions } from "./served.ts";

const said = (text: string) =>
  `${JSON.stringify({ ts: "2026-01-01T00:00:00Z", type: "user_message", thread_id: "a-1", text })}\n`;

async function serveLog(text: string, options: ServedOptions = {}) {
  newUser();
  const root = tempDirectory();
  const path = ryeLog(root, "a-1");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const served = await serveSessions([root], options);
  const client = new VerbatimClient({ url: served.server.url });
  const [session] = (await client.sessions.list()).sessions;
  return { ...served, client, path, id: session?.id ?? assert.fail("it is not listed") };
}

/** Follows up to an entry with this text, and returns all that were received. */
async function upTo(
  text: string,
  events: AsyncGenerator<SessionEvent>,
  onEvent: (event: SessionEvent, count: number) => void = () => {},
) {
  const seen: SessionEvent[] = [];
  for await (const event of events) {
    seen.push(event);
    onEvent(event, seen.length);
    if (event.type === "entry" && textOf(event) === text) return seen;
  }
  return assert.fail("it ended before");
}

function textOf(event: SessionEvent): string | null {
  if (event.type !== "entry") return null;
  const [part] = event.entry?.parts ?? [];
  return part?.type === "text" ? part.text : event.fault;
}

test("entries of another process arrive once and in order, over connections that end all the time", async () => {
  // Method: a connection ends after each few events, so dozens of them are resumed while another
  // process writes lines in pieces cut anywhere.
  const time = new ManualTime();
  const eventStreamMs = 10_000;
  const { client, path, id } = await serveLog(said("first"), { eventStreamMs, time });
  const program = `
    import { once } from "node:events";
    import { appendFileSync } from "node:fs";
    for (let n = 0; n < 200; n++) {
      const line = ${said.toString().replace("(text)", "(text)")};
      const whole = line("n" + n);
      const cut = n % whole.length;
      appendFileSync(process.argv[1], whole.slice(0, cut));
      appendFileSync(process.argv[1], whole.slice(cut));
      if (n % 20 === 0) appendFileSync(process.argv[1], "bad\\n");
      // Slowly, so that most connections see lines arrive; nothing depends on it.
      await new Promise((done) => setTimeout(done, 5));
    }
    appendFileSync(process.argv[1], "last bad\\n");
    await once(process.stdin, "data");
    appendFileSync(process.argv[1], (${said.toString()})("last"));
    process.exit();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program, path], {
    stdio: ["pipe", "inherit", "inherit"],
  });
  let [bad, connections] = [0, 0];
  const follow = client.sessions.follow(id, { onConnection: () => connections++ });
  const seen = await upTo("last", follow, (event, count) => {
    if (event.type === "entry" && event.fault !== null && ++bad === 11) child.stdin.write("go\n");
    if (count % 4 === 0) time.pass(eventStreamMs);
  });
  child.kill();
  assert.ok(connections > 12, `${connections} connections`);
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  assert.deepEqual(
    seen.map(textOf),
    lines.map((line) => (line.startsWith("{") ? JSON.parse(line).text : "not JSON")),
  );
  let place = 0;
  for (const event of seen) {
    assert.ok(event.type === "entry");
    assert.equal(event.start, place);
    place = event.end;
  }
});

test("following from the end misses nothing that is appended between two connections", async () => {
  const time = new ManualTime();
  const eventStreamMs = 10_000;
  const { client, path, id } = await serveLog(said("old"), { eventStreamMs, time });
  const ended = new AbortController();
  const heard: boolean[] = [];
  const follow = client.sessions.follow(id, {
    from: "end",
    signal: ended.signal,
    onConnection: (isConnected) => heard.push(isConnected),
  });
  const timers = time.timers;
  const seen = upTo("three", follow);
  for (const [n, text] of ["one", "two", "three"].entries()) {
    await until(() => heard.length > n && time.timers > timers, "following");
    time.pass(eventStreamMs);
    await until(() => time.timers === timers, "the end of the connection");
    appendFileSync(path, said(text));
  }
  assert.deepEqual((await seen).map(textOf), ["one", "two", "three"]);
  ended.abort();
  assert.ok(
    heard.length > 2 && heard.every(Boolean),
    "a connection that ends normally loses nothing",
  );
});

test("reconnecting with the id of any event delivers exactly what follows it", async () => {
  const { url, id, path } = await serveLog(`${said("a")}bad\n${said("b")}${said("c")}`);
  const log = readFileSync(path);
  for (let at = -1; at < log.length; at = log.indexOf(10, at + 1)) {
    const offset = at + 1;
    const left = new AbortController();
    const response = await fetch(url(`/${id}/events?offset=0`), {
      headers: { "Last-Event-ID": String(offset) },
      signal: left.signal,
    });
    assert.equal(header(response, "content-type"), "text/event-stream");
    const reader = response.body?.getReader();
    let text = "";
    const wanted = log.subarray(offset).toString().split("\n").length - 1;
    while ((text.match(/^event: entry$/gm) ?? []).length < wanted) {
      text += Buffer.from((await reader?.read())?.value ?? []).toString();
    }
    const starts = [...text.matchAll(/^data: \{"start":(\d+)/gm)].map(([, start]) => Number(start));
    assert.equal(starts.length, wanted);
    if (wanted > 0) assert.equal(starts[0], offset);
    left.abort();
    if (log.indexOf(10, at + 1) === -1) break;
  }
  const inside = await fetch(url(`/${id}/events`), { headers: { "Last-Event-ID": "3" } });
  assert.deepEqual(await refused(inside), [416, "OUT_OF_RANGE"]);
  const nonsense = await fetch(url(`/${id}/events`), { headers: { "Last-Event-ID": "x" } });
  assert.deepEqual(await refused(nonsense), [400, "BAD_REQUEST"]);
});

test("lines that a writer rolled back are reported as rewound, and their replacement follows", async () => {
  const { client, path, id } = await serveLog(said("kept"));
  const ended = new AbortController();
  const seen: (string | null | number)[] = [];
  for await (const event of client.sessions.follow(id, { signal: ended.signal })) {
    seen.push(event.type === "rewound" ? event.to : textOf(event));
    if (textOf(event) === "kept") appendFileSync(path, said("taken"));
    if (textOf(event) === "taken") {
      truncateSync(path, said("kept").length);
      appendFileSync(path, said("other"));
    }
    if (textOf(event) === "other") break;
  }
  ended.abort();
  assert.deepEqual(seen, ["kept", "taken", said("kept").length, "other"]);
});

test("one reader more than the limit is refused, and accepted after another has disconnected", async () => {
  const { url, id } = await serveLog(said("a"), { limits: { followersMax: 2 } });
  const left = new AbortController();
  const open = () => fetch(url(`/${id}/events`), { signal: left.signal });
  await open();
  await open();
  const third = await fetch(url(`/${id}/events`));
  assert.equal(header(third, "retry-after"), "1");
  assert.deepEqual(await refused(third), [429, "TOO_MANY_READERS"]);
  left.abort();
  const again = new AbortController();
  await until(async () => {
    const response = await fetch(url(`/${id}/events`), { signal: again.signal });
    if (response.status === 200) return true;
    await response.arrayBuffer();
    return false;
  }, "accepting another reader");
  again.abort();
});

test("a reader that reads nothing is disconnected, and the server buffers no more than its limit", async () => {
  // Method: a log with only bad lines, which are sent without waiting for each.
  const bad = "x\n".repeat(100_000);
  let requests = 0;
  const { server, id } = await serveLog(bad + said("a"), {
    readerBufferBytesMax: 64 * 1024,
    onRequest: () => requests++,
  });
  const connection = await RawConnection.open(server.url);
  connection.socket.pause();
  connection.send("GET", `/v1/sessions/${id}/events`);
  await until(() => requests === 2, "disconnecting it"); // The first is the listing.
  connection.socket.resume();
  const received = (await connection.closed()).match(/^event: entry/gm) ?? [];
  assert.ok(received.length < 100_000, `${received.length} came`);
});

test("HEAD of live entries answers at once", async () => {
  const { url, id } = await serveLog(said("a"));
  const response = await fetch(url(`/${id}/events`), { method: "HEAD" });
  assert.equal(response.status, 200);
});

test("a server that stops ends its live readers, and they can reconnect later", async () => {
  const { server, client, id } = await serveLog(said("a"));
  const ended = new AbortController();
  const events = client.sessions.follow(id, { signal: ended.signal });
  assert.equal((await events.next()).done, false);
  await server.running.close();
  ended.abort();
  assert.equal((await events.next()).done, true);
});
