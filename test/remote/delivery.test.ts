import assert from "node:assert/strict";
import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { remoteOf } from "../../src/guard/remote/remote-url.ts";
import { startTestServer } from "../server/test-server.ts";
import { thrownRefusal } from "../support/refusal.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until as settled } from "../support/until.ts";
import { FOLDER, SendingUser } from "./sending-user.ts";

test("a log and its sidecar arrive byte for byte, and only whole lines of them", async () => {
  const { url } = await startTestServer();
  const user = new SendingUser();
  user.append("one", "two ü", "x".repeat(3 * 1024 * 1024));
  const whole = user.bytes;
  writeFileSync(user.path, '{"torn', { flag: "a" });
  user.appendSidecar('{"a":1}\n{"b"');
  await user.send(url);
  assert.deepEqual(await user.sent(url), whole);
  assert.equal(String(await user.sent(url, `${user.stream}.checkpoints`)), '{"a":1}\n');
});

test("of a guard's copy of rows only whole lines are sent, and of one of bytes all", async () => {
  const { url } = await startTestServer();
  for (const [isRows, ending] of [
    [true, ""],
    [false, '{"torn'],
  ] as const) {
    const user = new SendingUser();
    user.append("one");
    const whole = String(user.bytes);
    writeFileSync(user.path, '{"torn', { flag: "a" });
    const sender = await user.sender(url);
    const { left } = await sender.send([{ ...user.session, generation: 1, isRows }]);
    assert.deepEqual(left, []);
    const place = isRows ? "homeagent@1.rows" : "homeagent@1";
    const stream = user.stream.replace("/homeagent/", `/${place}/`);
    assert.equal(String(await user.sent(url, stream)), whole + ending);
  }
});

test("the next process sends what follows, and asks for nothing that was sent", async () => {
  const { url } = await startTestServer();
  const user = new SendingUser();
  user.append("one");
  await user.send(url);
  user.append("two");
  const requests: string[] = [];
  await user.send(url, { fetch: noting(requests) });
  assert.deepEqual(await user.sent(url), user.bytes);
  assert.deepEqual(requests, ["HEAD", "POST"]);
});

test("a machine that has another name later sends to the same streams", async () => {
  const { url } = await startTestServer();
  const user = new SendingUser();
  user.append("one");
  await user.send(url);
  user.append("two");
  await user.send(url, { remote: remoteOf(`${url}/${FOLDER}`, "remote") });
  assert.deepEqual(await user.sent(url), user.bytes);
  const remote = remoteOf({ url: `${url}/${FOLDER}`, sender: "bob@desk" }, "remote");
  const other = /is bob@desk, but ada@desk has sent sessions to laptop; use that, or remove .*json/;
  await assert.rejects(user.sender(url, { remote }), { code: "BAD_SETTING", message: other });
});

test("a sender is a user and a machine", () => {
  for (const sender of ["ada", "@desk", "ada@", "ada@desk@home", "a/b@desk", "ada@..", "ada@a b"]) {
    thrownRefusal(() => remoteOf({ url: "http://127.0.0.1/x", sender }, "remote"), "BAD_SETTING");
  }
});

test("a delivery whose record was lost is read back, not repeated", async () => {
  const { url } = await startTestServer();
  const user = new SendingUser();
  user.append("one", "two");
  await user.send(url);
  forgetRecords(user);
  user.append("three");
  await user.send(url);
  assert.deepEqual(await user.sent(url), user.bytes);
});

test("a file that was rewritten or cut is not sent, and the server keeps what it has", async () => {
  for (const isRecordLost of [false, true]) {
    for (const now of ['{"text":"other"}\n{"text":"two"}\n{"more":1}\n', '{"text":"one"}\n']) {
      const { url } = await startTestServer();
      const user = new SendingUser();
      user.append("one", "two");
      const sent = user.bytes;
      await user.send(url);
      writeFileSync(user.path, now);
      if (isRecordLost) forgetRecords(user);
      await assert.rejects(user.send(url), /not continued at byte/);
      assert.deepEqual(await user.sent(url), sent);
    }
  }
});

test("a file that is rewritten while its sender runs is not sent", async () => {
  const { url } = await startTestServer();
  const user = new SendingUser();
  user.append("one", "two");
  const sent = user.bytes;
  const sender = await user.sender(url);
  const release = await sender.follow(user.session, () => user.bytes.length);
  await sender.send([]);
  await settled(async () => (await user.sent(url)).equals(sent));
  writeFileSync(user.path, '{"text":"ONE"}\n{"text":"TWO"}\n{"text":"three"}\n');
  await settled(() => user.warnings.length > 0);
  release();
  assert.match(user.warnings.join(), /was rewritten since it was sent/);
  assert.deepEqual(await user.sent(url), sent);
});

test("a session that was deleted on the server is not sent again", async () => {
  const { url } = await startTestServer();
  const user = new SendingUser();
  user.append("one");
  await user.send(url);
  await fetch(`${url}/v1/stream${user.stream}`, { method: "DELETE" });
  await assert.rejects(user.send(url), /it was deleted there/);
  assert.equal(String(await user.sent(url)), "(no stream)");
});

test("another session with the same name is refused, and neither is changed", async () => {
  const { url } = await startTestServer();
  const [one, other] = [new SendingUser(), new SendingUser()];
  one.append("one");
  other.append("other", "more");
  await one.send(url);
  await assert.rejects(other.send(url), /the server has other bytes there/);
  assert.deepEqual(await one.sent(url), one.bytes);
});

test("answers that are lost cause no duplicate and no gap", async () => {
  // Method: every second request is done by the server, and its answer dropped.
  const { url } = await startTestServer();
  const user = new SendingUser();
  let count = 0;
  const fetchLosing: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    if (++count % 2 === 0) throw new TypeError("the connection broke");
    return response;
  };
  for (let round = 0; round < 30; round++) {
    user.append(`line ${round}`);
    await user.send(url, { fetch: fetchLosing }).catch(() => {});
  }
  await user.send(url);
  assert.deepEqual(await user.sent(url), user.bytes);
});

test("a request that arrives late, after its sender gave it up, is refused", async () => {
  const { url } = await startTestServer();
  const user = new SendingUser();
  user.append("one");
  let late: (() => Promise<Response>) | null = null;
  const holding: typeof fetch = async (input, init) => {
    if (init?.method !== "POST") return fetch(input, init);
    late = () => fetch(input, { ...init, signal: null });
    throw new TypeError("the connection broke");
  };
  await assert.rejects(user.send(url, { fetch: holding }));
  user.append("two");
  await user.send(url);
  const answer = await (late as (() => Promise<Response>) | null)?.();
  assert.equal(answer?.ok, false);
  assert.deepEqual(await user.sent(url), user.bytes);
});

test("two machines that send copies of one growing log never duplicate a byte", async () => {
  const { url } = await startTestServer();
  const one = new SendingUser();
  const other = new SendingUser({ root: one.root });
  for (let round = 0; round < 40; round++) {
    one.append(`line ${round}`, "x".repeat(round * 100));
    await Promise.all([one.send(url).catch(() => {}), other.send(url).catch(() => {})]);
  }
  await one.send(url);
  assert.deepEqual(await one.sent(url), one.bytes);
});

test("a server that was set back to a backup gets the rest again, from a running sender", async () => {
  const backup = tempDirectory();
  const first = await startTestServer();
  const user = new SendingUser();
  user.append("one");
  let { url } = first;
  // The sender's process keeps running while another server takes the place of the first.
  const moving: typeof fetch = (input, init) => fetch(String(input).replace(first.url, url), init);
  const sender = await user.sender(first.url, { fetch: moving });
  const release = await sender.follow(user.session, () => user.bytes.length);
  await settled(async () => (await user.sent(url)).equals(user.bytes));
  await first.running.close();
  cpSync(first.directory, backup, { recursive: true });
  const second = await startTestServer({ dataDirectory: first.directory });
  url = second.url;
  user.append("two");
  await settled(async () => (await user.sent(url)).equals(user.bytes));
  const third = await startTestServer({ dataDirectory: backup });
  url = third.url;
  user.append("three");
  await settled(async () => (await user.sent(url)).equals(user.bytes));
  release();
  assert.deepEqual(await user.sent(url), user.bytes);
});

function noting(requests: string[]): typeof fetch {
  return (input, init) => {
    requests.push(init?.method ?? "GET");
    return fetch(input, init);
  };
}

function forgetRecords({ state }: SendingUser): void {
  const [remote = ""] = readdirSync(join(state, "remote"));
  for (const name of readdirSync(join(state, "remote", remote))) {
    if (name.endsWith(".json")) rmSync(join(state, "remote", remote, name));
  }
}
