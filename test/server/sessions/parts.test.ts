/**
 * The other parts of a session: markdown, verdict, usage; and the limits on concurrent requests.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import { VerbatimClient } from "../../../src/doors/client.ts";
import { SessionVerifier } from "../../../src/evidence/verify/session-verifier.ts";
import { Semaphore } from "../../../src/server/http/semaphore.ts";
import { refusal } from "../../support/refusal.ts";
import { turnOf } from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { RawConnection } from "../raw-http.ts";
import { refused } from "../test-server.ts";
import { everyDialect, newUser, ryeLog, type SessionPage, serveSessions } from "./served.ts";

test("markdown is the session's whole document, and reports lines that could not be read", async () => {
  const user = newUser();
  const root = await everyDialect(user);
  const { server } = await serveSessions([root]);
  const client = new VerbatimClient({ url: server.url });
  const { sessions } = await client.sessions.list();
  for (const { id, dialect, session } of sessions) {
    const markdown = await client.sessions.markdown(id);
    assert.match(markdown, new RegExp(`first in ${dialect}: done`));
    if (dialect !== "rye") continue;
    const markdownPath = ryeLog(root, session).replace(".jsonl", ".md");
    assert.equal(
      await client.sessions.markdown(id, { thinking: true }),
      readFileSync(markdownPath, "utf8"),
    );
    appendFileSync(ryeLog(root, session), "bad\n");
    assert.match(
      await client.sessions.markdown(id),
      /\n> 1 line of this session could not be read/,
    );
  }
});

test("the verdict is that of `verbatim verify`, also if it is bad", async () => {
  const user = newUser();
  const root = await everyDialect(user);
  const { server } = await serveSessions([root]);
  const client = new VerbatimClient({ url: server.url });
  const verifier = await SessionVerifier.open(nodeHost, {
    where: { cwd: root, root },
    onWarning: () => {},
  });
  for (const { id, session, dialect } of (await client.sessions.list()).sessions) {
    const target = (await verifier.find([])).find((found) => found.dialect === dialect);
    assert.ok(target);
    const report = await client.sessions.verify(id);
    expect(report).toEqual(JSON.parse(JSON.stringify(await verifier.verify(target))));
    assert.equal(report.verdict, "verified");
    if (dialect !== "rye") continue;
    const path = ryeLog(root, session);
    writeFileSync(path, readFileSync(path, "utf8").replace("first in rye", "worst in rye"));
    assert.equal((await client.sessions.verify(id)).verdict, "tampered");
  }
});

test("usage is what the session has recorded so far", async () => {
  newUser();
  const root = tempDirectory();
  const path = ryeLog(root, "a-1");
  mkdirSync(dirname(path), { recursive: true });
  const step = (tokens: number, spend: number) =>
    `${JSON.stringify({
      ts: "2026-01-01T00:00:00Z",
      type: "step_finish",
      thread_id: "a-1",
      cost: { turns: 1, tokens, spend },
      tokens: { input_tokens: tokens, output_tokens: 1 },
    })}\n`;
  const asked = {
    ts: "2026-01-01T00:00:00Z",
    type: "user_message",
    thread_id: "a-1",
    text: "More",
  };
  writeFileSync(path, step(10, 0.5));
  const { json, server } = await serveSessions([root]);
  const [session] = (await json<SessionPage>("")).sessions;
  const client = new VerbatimClient({ url: server.url });
  const first = await client.sessions.usage(session?.id ?? "");
  appendFileSync(path, `${JSON.stringify(asked)}\n${step(20, 0.25)}`);
  const second = await client.sessions.usage(session?.id ?? "");
  assert.ok(second.turns > first.turns);
  assert.equal(second.isCurrent, true);
  const listed = (await client.sessions.list()).sessions[0];
  for (const field of ["turns", "inputTokens", "outputTokens", "totalTokens", "spend"] as const) {
    assert.equal(second[field], listed?.[field], field);
  }
});

test("HEAD answers as GET does, without a body", async () => {
  const root = await everyDialect(newUser());
  const { url, json } = await serveSessions([root]);
  const [session] = (await json<SessionPage>("")).sessions;
  const parts = ["/entries", "/bytes", "/checkpoints", "/markdown", "/verify", "/usage"];
  for (const path of ["", `/${session?.id}`, ...parts.map((part) => `/${session?.id}${part}`)]) {
    const [get, head] = [await fetch(url(path)), await fetch(url(path), { method: "HEAD" })];
    assert.equal(head.status, 200, path);
    for (const name of ["content-type", "content-length", "session-end"]) {
      assert.equal(head.headers.get(name), get.headers.get(name), `${path} ${name}`);
    }
    assert.equal((await head.arrayBuffer()).byteLength, 0);
    await get.arrayBuffer();
  }
});

test("bytes and checkpoints can begin at any offset of a log, up to its end; past it is 410", async () => {
  const root = await everyDialect(newUser());
  const { url, json } = await serveSessions([root]);
  for (const { id } of (await json<SessionPage>("")).sessions) {
    const { end } = await json<{ end: number }>(`/${id}`);
    for (const part of ["bytes", "checkpoints"]) {
      for (const from of [1, end]) {
        assert.equal((await fetch(url(`/${id}/${part}?from=${from}`))).status, 200, part);
      }
      for (const from of [end + 1, Number.MAX_SAFE_INTEGER]) {
        const response = await fetch(url(`/${id}/${part}?from=${from}`));
        assert.deepEqual(await refused(response), [410, "LOG_REWOUND"], part);
      }
    }
  }
});

test("work past the limit waits in order, and past the queue limit is refused", async () => {
  const semaphore = new Semaphore(2, 3);
  const finish: (() => void)[] = [];
  const order: number[] = [];
  const work = (n: number) =>
    semaphore.run(async () => {
      order.push(n);
      await new Promise<void>((done) => finish.push(done));
      if (n === 1) throw new Error("failed");
    });
  const running = [0, 1, 2, 3, 4].map((n) => work(n).catch(() => "failed"));
  assert.deepEqual(order, [0, 1]);
  await refusal(work(5), "TOO_MANY_READERS");
  for (let n = 0; n < 5; n++) {
    finish[n]?.();
    await running[n];
    await new Promise(setImmediate);
  }
  assert.deepEqual(order, [0, 1, 2, 3, 4]);
  const after = work(6);
  finish.at(-1)?.();
  await after;
});

test("answers that are not read block others past the limit, until they are read", async () => {
  newUser();
  const root = tempDirectory();
  const path = ryeLog(root, "a-1");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `{"type":"user_message","thread_id":"a-1","text":"x"}\n`);
  const bytes = 24 * 2 ** 20; // More than the socket buffers hold.
  const limits = { bytesMax: bytes, answersBytesMax: bytes };
  const { server, url, json } = await serveSessions([root], { limits });
  const id = (await json<SessionPage>("")).sessions[0]?.id;
  appendFileSync(path, `${"x".repeat(bytes)}\n`);
  const slow = await RawConnection.open(server.url);
  slow.send("GET", `/v1/sessions/${id}/bytes`);
  await once(slow.socket, "data");
  slow.socket.pause();
  assert.deepEqual(await refused(await fetch(url(`/${id}/bytes?to=1`))), [429, "TOO_MANY_READERS"]);
  slow.socket.destroy();
  for (;;) {
    const response = await fetch(url(`/${id}/bytes?to=1`));
    await response.arrayBuffer();
    if (response.status === 200) break;
  }
});

test("the client finds a session among others by its own id", async () => {
  const user = newUser();
  const root = await everyDialect(user);
  await user.write({ dialect: "rye" }, turnOf("another"), { root });
  const { server } = await serveSessions([root]);
  const client = new VerbatimClient({ url: server.url });
  const { sessions } = await client.sessions.list();
  for (const one of sessions) {
    for (const other of sessions.filter(({ dialect }) => dialect === one.dialect)) {
      assert.equal(client.sessions.idInSameStore(one.id, other.session), other.id);
    }
  }
});

test("the client reports the server's error code", async () => {
  newUser();
  const { server } = await serveSessions([tempDirectory()]);
  const client = new VerbatimClient({ url: `${server.url}/` });
  const error = await refusal(client.sessions.get("nothing"), "REQUEST_REFUSED");
  const { reason, ...answer } = error.details;
  assert.deepEqual(answer, { status: 404, code: "SESSION_NOT_FOUND" });
  assert.match(reason, /session/);
});

test("the client creates, appends to, reads and follows streams", async () => {
  newUser();
  const { server } = await serveSessions([]);
  const { streams } = new VerbatimClient({ url: server.url });
  await streams.create("/chat/ä 1");
  await streams.append("/chat/ä 1", { n: 1 });
  const next = await streams.append("/chat/ä 1", [2, 3]);
  const read = await streams.readJson("/chat/ä 1");
  assert.deepEqual(read.messages, [{ n: 1 }, [2, 3]]);
  assert.equal(read.next, next);
  assert.equal(read.isAtEnd, true);

  const ended = new AbortController();
  const seen: unknown[] = [];
  for await (const { bytes } of streams.live("/chat/ä 1", { signal: ended.signal })) {
    seen.push(...JSON.parse(new TextDecoder().decode(bytes)));
    if (seen.length === 4) break;
    await streams.append("/chat/ä 1", `after ${seen.length}`);
  }
  ended.abort();
  assert.deepEqual(seen, [{ n: 1 }, [2, 3], "after 2", "after 3"]);

  await streams.create("/raw", "text/plain");
  await streams.appendBytes("/raw", "hello", "text/plain");
  const raw = await streams.read("/raw");
  assert.equal(new TextDecoder().decode(raw.bytes), "hello");
});

test("a session that was deleted or moved has whereabouts", async () => {
  newUser();
  const [one, two] = [tempDirectory(), tempDirectory()];
  const [from, to] = [ryeLog(one, "a-1"), ryeLog(two, "a-1")];
  for (const path of [from, ryeLog(one, "b-1"), ryeLog(two, "b-2")]) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '{"ts":"2026-01-01T00:00:00Z","type":"user_message","text":"a"}\n');
  }
  const { server } = await serveSessions([one, two]);
  const client = new VerbatimClient({ url: server.url });
  const { sessions } = await client.sessions.list();
  const id = sessions.find(({ session }) => session === "a-1")?.id ?? "";
  const whereabouts = () => client.sessions.whereabouts(id);
  expect(await whereabouts()).toMatchObject({ state: "here", id, isPinned: false });
  mkdirSync(dirname(to), { recursive: true });
  renameSync(from, to);
  const moved = await whereabouts();
  assert.equal(moved.state, "moved");
  assert.equal((await client.sessions.get(moved.id ?? "")).root, two);
  rmSync(to);
  expect(await whereabouts()).toMatchObject({ state: "gone", id: null, program: null });
});
