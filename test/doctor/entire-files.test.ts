import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { ROW_BYTES_MAX } from "../../src/dialects/entire/spill.ts";
import { LIVE_MS } from "../../src/evidence/doctor/examine-session.ts";
import { SessionTranscript } from "../../src/integrations/entire/transcripts.ts";
import { Store } from "../../src/sessions/store/store.ts";
import { ENTIRE_CHECKPOINTS } from "../support/entire-checkpoints.ts";
import {
  codes,
  findingsIn,
  findingsOf,
  nodeDoctor,
  repairIn,
  sessionAt,
  summaries,
} from "../support/examining.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { treeAt } from "../support/tree.ts";

const CALL = { type: "tool_use", id: "t1", name: "Read", input: { path: "a" } };
const RESULT = { type: "tool_result", tool_use_id: "t1", content: "text" };

/** A session of ours, and its directory. */
async function written(content = "Read a."): Promise<{ cwd: string; directory: string }> {
  const cwd = tempDirectory();
  const session = await SessionTranscript.open({ cwd, model: "m" });
  await session.user(content);
  await session.assistant({ id: "m1", content: [CALL] });
  await session.toolResults([RESULT]);
  await session.end();
  return { cwd, directory: dirname(session.path) };
}

test("a session that ended normally is clean", async () => {
  const { cwd } = await written();
  assert.deepEqual(await findingsIn(cwd, "entire"), []);
});

test("a session that died gets its context.md and prompt.txt from repair", async () => {
  const { cwd, directory } = await written();
  const names = ["context.md", "prompt.txt"];
  const before = names.map((name) => readFileSync(join(directory, name), "utf8"));
  for (const name of names) rmSync(join(directory, name));
  assert.deepEqual(summaries(await findingsIn(cwd, "entire")), [
    "DERIVED_MISSING prompt.txt is missing",
    "DERIVED_MISSING context.md is missing: the session died",
  ]);
  await repairIn(cwd, "entire");
  assert.deepEqual(
    names.map((name) => readFileSync(join(directory, name), "utf8")),
    before,
  );
  assert.deepEqual(await findingsIn(cwd, "entire"), []);
  const tree = treeAt(cwd);
  assert.deepEqual(await repairIn(cwd, "entire"), []);
  assert.deepEqual(treeAt(cwd), tree);
});

test("our own context.md is stale if the log has grown since, another program's is not", async () => {
  const { cwd, directory } = await written();
  const context = join(directory, "context.md");
  const stale = readFileSync(context, "utf8").replace("Read", "Write");
  writeFileSync(context, stale);
  assert.deepEqual(codes(await findingsIn(cwd, "entire")), ["DERIVED_STALE"]);
  await repairIn(cwd, "entire");
  assert.equal(readFileSync(`${context}.before-repair-0`, "utf8"), stale);
  assert.deepEqual(await findingsIn(cwd, "entire"), []);
  writeFileSync(context, "# Session Context\n\n## User Prompts\n");
  assert.deepEqual(await findingsIn(cwd, "entire"), []);
});

test("a shared session has no context.md while it may still be written", async () => {
  const root = tempDirectory();
  const store = new Store(nodeHost, { dialect: "entire", root, mode: "shared", model: "m" });
  const session = store.session("2026-02-10-a");
  await session.appendNative({ type: "user", message: { content: "hi" } });
  const found = await sessionAt(root, "2026-02-10-a", "entire");
  assert.deepEqual(await findingsOf(found), []);
  const later = { ...nodeDoctor, nowMs: () => Date.now() + LIVE_MS };
  assert.deepEqual(codes(await findingsOf(found, later)), ["DERIVED_MISSING"]);
  await store.close();
  assert.deepEqual(await findingsOf(found, later), []);
});

test("spill files are checked only against what their line recorded", async () => {
  const { cwd, directory } = await written("x".repeat(ROW_BYTES_MAX));
  const [spill = ""] = readdirSync(directory).filter((name) => name.endsWith(".spill"));
  const path = join(directory, spill);
  assert.deepEqual(await findingsIn(cwd, "entire"), []);
  const content = readFileSync(path);

  content[9] = (content[9] ?? 0) ^ 1;
  writeFileSync(path, content);
  expect(await findingsIn(cwd, "entire")).toMatchObject([
    { code: "SPILL_CHANGED", line: 1, path, mends: false, severity: "error" },
  ]);
  appendFileSync(path, "x");
  assert.match(summaries(await findingsIn(cwd, "entire"))[0] ?? "", /has \d+ bytes, not the \d+/);
  rmSync(path);
  assert.deepEqual(codes(await findingsIn(cwd, "entire")), ["SPILL_MISSING"]);
  symlinkSync("/etc/hostname", path);
  assert.ok(codes(await findingsIn(cwd, "entire")).includes("SYMLINK_REFUSED"));
  // Repair cannot restore it.
  expect(await repairIn(cwd, "entire")).toMatchObject([{ kind: "left" }]);
});

test("a spill file that no line refers to is a note", async () => {
  const { cwd, directory } = await written();
  writeFileSync(join(directory, "abc.0.spill"), '"left"', { mode: 0o600 });
  expect(await findingsIn(cwd, "entire")).toMatchObject([
    { code: "SPILL_UNUSED", severity: "note", path: join(directory, "abc.0.spill") },
  ]);
});

test("a torn tail and wrong permissions of ours are repaired; the rest of .entire is not examined", async () => {
  const { cwd, directory } = await written();
  appendFileSync(join(directory, "full.jsonl"), '{"type":"us');
  chmodSync(join(directory, "prompt.txt"), 0o644);
  chmodSync(directory, 0o755);
  mkdirSync(join(cwd, ".entire/tmp"), { mode: 0o777 });
  writeFileSync(join(cwd, ".entire/settings.json"), "{", { mode: 0o666 });
  writeFileSync(join(directory, "summary.txt"), "", { mode: 0o644 });
  const before = treeAt(join(cwd, ".entire/tmp"));
  assert.deepEqual(codes(await findingsIn(cwd, "entire")), [
    "WRONG_MODE",
    "WRONG_MODE",
    "TORN_TAIL",
  ]);
  await repairIn(cwd, "entire");
  assert.deepEqual(await findingsIn(cwd, "entire"), []);
  assert.deepEqual(treeAt(join(cwd, ".entire/tmp")), before);
});

test("a session of another program is read, and neither checked by our rules nor repaired", async () => {
  const { cwd, directory } = await written();
  for (const name of ["context.md", "full.jsonl.lock"]) rmSync(join(directory, name));
  chmodSync(join(directory, "full.jsonl"), 0o644);
  const log = readFileSync(join(directory, "full.jsonl"));
  writeFileSync(join(directory, "full.jsonl"), log.subarray(0, -1));
  assert.deepEqual(await findingsIn(cwd, "entire"), []);
  writeFileSync(join(directory, "full.jsonl"), Buffer.concat([log, Buffer.from('no json\n{"ty')]));
  expect(await findingsIn(cwd, "entire")).toMatchObject([
    { code: "BAD_LINE", line: 4 },
    { code: "TORN_TAIL", mends: false },
  ]);
  const before = treeAt(cwd);
  expect(await repairIn(cwd, "entire")).toMatchObject([{ kind: "left" }, { kind: "left" }]);
  assert.deepEqual(treeAt(cwd), before);
});

test.each(ENTIRE_CHECKPOINTS)("the session of %s has no finding", async (_, path) => {
  const cwd = tempDirectory();
  const directory = join(cwd, ".entire/metadata/2026-01-01-real");
  mkdirSync(directory, { recursive: true });
  for (const name of ["full.jsonl", "prompt.txt", "context.md"]) {
    copyFileSync(join(path, name), join(directory, name));
  }
  assert.deepEqual(summaries(await findingsIn(cwd, "entire")), []);
});
