import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import {
  codes,
  findingsIn,
  findingsOf,
  nodeDoctor,
  sessionAt,
  summaries,
  WHOLE_THREAD,
  writeThread,
} from "../../../test/support/examining.ts";
import { expectedEnd } from "../../../test/support/tail-oracle.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { Store } from "../../sessions/store/store.ts";
import { LIVE_MS } from "./examine-session.ts";

const CALL = { type: "tool_call_start", tool: "t", call_id: "c9", input: {} };

async function wholeThread(id = "hello-1"): Promise<{ project: string; path: string }> {
  const project = tempDirectory();
  return { project, path: await writeThread(project, id, WHOLE_THREAD) };
}

test("a session as the store leaves it is clean, whether it ended or was only closed", async () => {
  const { project } = await wholeThread();
  await writeThread(project, "test/tools/put-down-2", WHOLE_THREAD.slice(0, 2));
  assert.deepEqual(await findingsIn(project), []);
});

test("a thread cut at any byte is torn, lacks its LF or is whole, in agreement with the log's reader", async () => {
  // Method: every cut. The derived files are then stale, which is not checked here.
  const { project, path } = await wholeThread();
  const log = readFileSync(path);
  const session = await sessionAt(project, "hello-1");
  for (let cut = 0; cut <= log.length; cut++) {
    writeFileSync(path, log.subarray(0, cut));
    const expected = expectedEnd(log.subarray(0, cut));
    const found = (await findingsOf(session)).filter(({ code }) => /TAIL|LF/.test(code));
    const [first] = found;
    const at = `cut at ${cut}`;
    if (expected.addedLf) assert.equal(first?.code, "MISSING_LF", at);
    else if (expected.cut.length > 0) assert.equal(first?.bytes, expected.cut.length, at);
    else assert.deepEqual(found, [], at);
  }
});

test("bad lines are reported one by one, with line, offset and reason", async () => {
  const { project, path } = await wholeThread();
  const lines = readFileSync(path, "utf8").split("\n");
  const [start = ""] = lines;
  lines.splice(1, 0, "not json", "\0\0\0", "", '{"ts":1,"no":"type"}');
  writeFileSync(path, lines.join("\n"));
  const findings = await findingsOf(await sessionAt(project, "hello-1"));
  const offset = Buffer.byteLength(start) + 1;
  expect(findings).toMatchObject([
    { code: "BAD_LINE", severity: "error", line: 2, offset, bytes: 8, detail: "not JSON" },
    { code: "NUL_LINE", severity: "error", line: 3, offset: offset + 9, mends: false },
    { code: "BLANK_LINE", severity: "note", line: 4 },
    { code: "BAD_LINE", line: 5, detail: "missing ts/type" },
  ]);
  assert.ok(findings.every(({ session, path: at }) => session === "hello-1" && at === path));
});

test("a log without any message is reported; one with only checkpoints is not", async () => {
  const project = tempDirectory();
  const place = join(project, ".entire/metadata/s1");
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const path = join(place, "full.jsonl");
  const codesOf = async (...rows: readonly object[]) => {
    writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""), { mode: 0o600 });
    const session = { dialect: "entire", root: project, id: "s1", path } as const;
    return codes(await findingsOf(session));
  };
  const item = { type: "response_item", payload: {} };
  const checkpoint = { type: "checkpoint", uuid: "c" };
  const said = { type: "user", uuid: "u", sessionId: "s1", message: { content: "Go." } };
  assert.ok((await codesOf(item, checkpoint, item)).includes("NOTHING_UNDERSTOOD"));
  for (const rows of [[item, said], [checkpoint], []]) {
    assert.ok(!(await codesOf(...rows)).includes("NOTHING_UNDERSTOOD"));
  }
});

test("a call without a result is dangling once no writer has its session open", async () => {
  const project = tempDirectory();
  const path = await writeThread(project, "a-1", [...WHOLE_THREAD.slice(0, 2), CALL]);
  const session = await sessionAt(project, "a-1");
  expect(await findingsOf(session)).toMatchObject([
    { code: "DANGLING_CALL", severity: "warning", line: 3, mends: false },
  ]);
  // Without the lock file nothing hints at a writer of ours.
  rmSync(`${path}.lock`);
  assert.deepEqual(codes(await findingsOf(session)), ["DANGLING_CALL"]);
});

test("a call that the provider answers, or that was not allowed, is not dangling", async () => {
  const root = tempDirectory();
  const store = new Store(nodeHost, { dialect: "sdk", root });
  const hosted = { type: "hosted_tool_call", id: "ws_1", name: "web_search_call" };
  await store.session("openai-agents/a").appendNative({ type: "item", item: hosted });
  const approval = { id: "p" };
  const drop = { type: "tool-drop", toolCallId: "c1", input: {}, approval };
  const parts = [{ ...drop, state: "approval-requested" }];
  const message = { id: "m1", role: "assistant", parts };
  await store.session("ai-sdk/b").appendNative({ type: "message", message });
  await store.close();
  assert.deepEqual(await findingsIn(root, "sdk"), []);
});

test("a call may still be open while a writer can append its result: held, or shared a moment ago", async () => {
  const project = tempDirectory();
  const store = new Store(nodeHost, { dialect: "rye", root: project, agent: "a", mode: "shared" });
  const thread = store.session("a-1");
  for (const event of [...WHOLE_THREAD.slice(0, 2), CALL]) await thread.appendNative(event);
  const session = await sessionAt(project, "a-1");
  assert.deepEqual(codes(await findingsOf(session)), ["OPEN_CALL"]);
  const later = { ...nodeDoctor, nowMs: () => Date.now() + LIVE_MS };
  assert.deepEqual(codes(await findingsOf(session, later)), ["DANGLING_CALL"]);
  await store.close();
  assert.deepEqual(codes(await findingsOf(session)), ["DANGLING_CALL"]);

  const alone = new Store(nodeHost, { dialect: "rye", root: project, agent: "a" });
  await alone.session("a-1").appendNative({ type: "assistant_text", text: "wait" });
  assert.deepEqual(codes(await findingsOf(session)), ["BEING_WRITTEN", "OPEN_CALL"]);
  await alone.close();
});

test("results without a call are reported with their lines", async () => {
  const project = tempDirectory();
  const result = (call_id: string) => ({ type: "tool_call_result", call_id, output: "" });
  await writeThread(project, "a-1", [...WHOLE_THREAD, result("c1"), result("c7")]);
  expect(await findingsIn(project)).toMatchObject([
    { code: "DUPLICATE_RESULT", line: 6, detail: "a second result of call c1" },
    { code: "UNKNOWN_CALL_RESULT", line: 7 },
  ]);
});

test("files that are not 0600, and a log's directory that is not 0700, are reported", async () => {
  const { project, path } = await wholeThread();
  chmodSync(path, 0o640);
  chmodSync(dirname(path), 0o755);
  chmodSync(join(dirname(path), "thread.json"), 0o400);
  chmodSync(join(project, ".ai/threads/registry.db"), 0o644);
  expect(summaries(await findingsIn(project))).toEqual([
    "WRONG_MODE the directory is 0755, not 0700: others get at it",
    "WRONG_MODE thread.json is 0400, not 0600: its owner cannot use it",
    "WRONG_MODE transcript.jsonl is 0640, not 0600: others get at it",
    "WRONG_MODE registry.db is 0644, not 0600: others get at it",
  ]);
});

test("links are reported and never followed: logs, derived files, threads, a store's directory", async () => {
  const { project, path } = await wholeThread();
  const threads = join(project, ".ai/threads");
  const elsewhere = tempDirectory();
  await writeThread(elsewhere, "other-1", WHOLE_THREAD);
  const outside = join(elsewhere, ".ai/threads/other-1");
  symlinkSync(outside, join(threads, "away-1"));
  // A second name for a session in the same store.
  symlinkSync("hello-1", join(threads, "latest"));
  mkdirSync(join(threads, "linked-1"), { mode: 0o700 });
  symlinkSync(join(outside, "transcript.jsonl"), join(threads, "linked-1/transcript.jsonl"));
  renameSync(join(dirname(path), "transcript.md"), join(project, "moved.md"));
  symlinkSync(join(project, "moved.md"), join(dirname(path), "transcript.md"));
  const refused = (await findingsIn(project)).filter(({ code }) => code === "SYMLINK_REFUSED");
  assert.deepEqual(
    refused.map(({ path: at }) => at),
    [
      join(threads, "away-1"),
      join(dirname(path), "transcript.md"),
      join(threads, "linked-1/transcript.jsonl"),
    ],
  );

  const behind = tempDirectory();
  symlinkSync(join(project, ".ai"), join(behind, ".ai"));
  assert.deepEqual(codes(await findingsIn(behind)), ["SYMLINK_REFUSED"]);
});

test("an unreadable log is reported, and the rest is examined", async () => {
  const { project, path } = await wholeThread();
  const later = await writeThread(project, "later-2", [...WHOLE_THREAD.slice(0, 2), CALL]);
  const files = new WatchedFiles();
  let isFirst = true;
  files.before = ({ call, name, at }) => {
    if (call !== "read" || name !== "transcript.jsonl" || !isFirst || at !== 0) return undefined;
    isFirst = false;
    throw Object.assign(new Error("made up"), { code: "EIO" });
  };
  const doctor = { ...nodeDoctor, host: { ...nodeDoctor.host, files } };
  const findings = await findingsIn(project, "rye", doctor);
  expect(findings).toMatchObject([
    { code: "UNREADABLE", path, severity: "error", detail: "it cannot be read: EIO" },
    { code: "DANGLING_CALL", path: later },
  ]);
});

test("a thread.json without its log is reported; a reserved id without files is not", async () => {
  const { project, path } = await wholeThread();
  rmSync(path);
  mkdirSync(join(project, ".ai/threads/won-2"), { mode: 0o700 });
  expect(await findingsIn(project)).toMatchObject([
    { code: "LOG_MISSING", session: "hello-1", path, severity: "warning" },
  ]);
});

test("a temporary file of a killed process is reported; one of an active writer is not", async () => {
  const { project, path } = await wholeThread();
  const left = join(dirname(path), "thread.json.tmp");
  writeFileSync(left, "{", { mode: 0o600 });
  expect(await findingsIn(project)).toMatchObject([
    { code: "TEMP_LEFT", path: left, severity: "note", mends: true },
  ]);
  const store = new Store(nodeHost, { dialect: "rye", root: project, agent: "a" });
  await store.session("hello-1").openToAppend();
  assert.deepEqual(codes(await findingsIn(project)), ["BEING_WRITTEN"]);
  await store.close();
});

test("on a network file system, a note says that durability depends on the server", async () => {
  const { project } = await wholeThread();
  const files = new WatchedFiles();
  files.networkFileSystem = "NFS";
  const doctor = { ...nodeDoctor, host: { ...nodeDoctor.host, files } };
  expect(await findingsIn(project, "rye", doctor)).toMatchObject([
    {
      code: "NETWORK_FILE_SYSTEM",
      severity: "note",
      session: null,
      path: project,
      detail: "it is on NFS: durability depends on the file server",
    },
  ]);
  const [ofSession] = await findingsOf(await sessionAt(project, "hello-1"), doctor);
  assert.equal(ofSession?.code, "NETWORK_FILE_SYSTEM");
});

test("HomeAgent's sessions share a directory, and each has its own findings", async () => {
  const base = tempDirectory();
  const store = new Store(nodeHost, { dialect: "homeagent", root: base });
  for (const id of ["cook/a", "cook/b"]) {
    await store.session(id).appendNative({ turnId: "1", role: "user", ts: 1, content: "hi" });
  }
  await store.close();
  assert.deepEqual(await findingsIn(base, "homeagent"), []);
  const sessions = join(base, "agents/cook/sessions");
  appendFileSync(join(sessions, "a.jsonl"), '{"turnId"');
  chmodSync(join(sessions, "b.jsonl.lock"), 0o644);
  chmodSync(sessions, 0o750);
  writeFileSync(join(sessions, "notes.txt"), "another program's");
  expect(await findingsIn(base, "homeagent")).toMatchObject([
    { code: "WRONG_MODE", session: null, path: sessions },
    { code: "TORN_TAIL", session: "cook/a", bytes: 9 },
    { code: "WRONG_MODE", session: "cook/b" },
  ]);
});

test("a log outside any store is examined by itself", async () => {
  const { path } = await wholeThread();
  const elsewhere = join(tempDirectory(), "copy.jsonl");
  writeFileSync(elsewhere, readFileSync(path), { mode: 0o600 });
  truncateSync(elsewhere, readFileSync(path).length - 1);
  const session = await sessionAt(dirname(elsewhere), elsewhere);
  assert.equal(session.id, null);
  expect(await findingsOf(session)).toMatchObject([{ code: "MISSING_LF", session: null }]);
});

test("a session that is deleted while it is examined is not a finding", async () => {
  const { project, path } = await wholeThread();
  const session = await sessionAt(project, "hello-1");
  rmSync(dirname(path), { recursive: true });
  assert.deepEqual(await findingsOf(session), []);
});

test("file times do not matter for a session that ended", async () => {
  const { project, path } = await wholeThread();
  utimesSync(path, 0, 0);
  assert.deepEqual(await findingsIn(project), []);
});
