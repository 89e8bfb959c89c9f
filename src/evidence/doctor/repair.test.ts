import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { makeSickStore } from "../../../test/doctor/sick-store.ts";
import { startChild } from "../../../test/support/child.ts";
import {
  codes,
  findingsIn,
  nodeDoctor,
  repairIn,
  repairOf,
  sessionAt,
  WHOLE_THREAD,
  writeThread,
} from "../../../test/support/examining.ts";
import { expectedEnd } from "../../../test/support/tail-oracle.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { contentsAt, treeAt } from "../../../test/support/tree.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { dialectNamed } from "../../dialects/all.ts";
import { findLogs } from "../../dialects/find.ts";
import { Store } from "../../sessions/store/store.ts";

/** What repair reports as not repairable in the damaged store. */
const LEFT = [
  "BAD_LINE",
  "DANGLING_CALL",
  "DUPLICATE_RESULT",
  "LOG_MISSING",
  "NUL_LINE",
  "SYMLINK_REFUSED",
  "UNKNOWN_CALL_RESULT",
];

async function thread(): Promise<{ project: string; path: string }> {
  const project = tempDirectory();
  return { project, path: await writeThread(project, "hello-1", WHOLE_THREAD) };
}

test("in a store with every fault, everything repairable is repaired, and the rest is reported", async () => {
  const project = tempDirectory();
  await makeSickStore(project);
  const steps = await repairIn(project);
  const left = steps.flatMap((step) => (step.kind === "left" ? [step.finding.code] : []));
  assert.deepEqual([...new Set(left)].sort(), LEFT);
  assert.deepEqual(
    steps.filter(({ kind }) => kind === "failed"),
    [],
  );
  const worries = (await findingsIn(project)).filter(({ severity }) => severity !== "note");
  assert.deepEqual([...new Set(codes(worries))].sort(), LEFT);
});

test("a second repair changes nothing, and reports that there is nothing to repair", async () => {
  const project = tempDirectory();
  await makeSickStore(project);
  await repairIn(project);
  const before = await contentsAt(project);
  const steps = await repairIn(project);
  assert.deepEqual([...new Set(steps.map(({ kind }) => kind))], ["left"]);
  assert.deepEqual(await contentsAt(project), before);
});

test("a log keeps its bytes: only a torn tail is removed, into its own file", async () => {
  const project = tempDirectory();
  await makeSickStore(project);
  const logs = () => {
    const found = readdirSync(project, { recursive: true, encoding: "utf8" });
    return found.filter((name) => name.endsWith("transcript.jsonl") && !name.includes("links"));
  };
  const before = new Map(logs().map((name) => [name, readFileSync(join(project, name))]));
  await repairIn(project);
  for (const [name, bytes] of before) {
    const { repaired, cut } = expectedEnd(bytes);
    const path = join(project, name);
    assert.deepEqual(readFileSync(path), repaired, name);
    if (cut.length > 0) assert.deepEqual(readFileSync(`${path}.torn-0`), cut, name);
  }
});

test("an intact log is not touched when one of its derived files is repaired", async () => {
  const { project, path } = await thread();
  const before = statSync(path);
  rmSync(join(dirname(path), "transcript.md"));
  await repairOf(await sessionAt(project, "hello-1"));
  const after = statSync(path);
  assert.deepEqual(
    [after.mtimeMs, after.ino, after.size],
    [before.mtimeMs, before.ino, before.size],
  );
});

test("permissions are corrected, and nothing else is changed", async () => {
  const { project, path } = await thread();
  const contents = await contentsAt(project);
  chmodSync(path, 0o666);
  chmodSync(join(dirname(path), "transcript.md"), 0o444);
  chmodSync(dirname(path), 0o777);
  const steps = await repairIn(project);
  assert.deepEqual(
    steps.map((step) => step.kind === "mended" && step.finding.code),
    ["WRONG_MODE", "WRONG_MODE", "WRONG_MODE"],
  );
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
  assert.deepEqual(await contentsAt(project), contents);
});

test("a session held by another process is refused, and the others are repaired", async () => {
  const { project, path } = await thread();
  rmSync(join(dirname(path), "transcript.md"));
  const other = await writeThread(project, "other-2", WHOLE_THREAD);
  rmSync(join(dirname(other), "transcript.md"));
  const holder = startChild("test/support/lock-holder.ts", `${path}.lock`);
  assert.equal(await holder.line(), "held");
  expect(await repairIn(project)).toMatchObject([
    { kind: "failed", code: "LOG_LOCKED", session: "hello-1", path },
    { kind: "mended", finding: { session: "other-2" } },
  ]);
  await holder.kill();
  expect(await repairIn(project)).toMatchObject([
    { kind: "mended", finding: { session: "hello-1" } },
  ]);
});

test("a writer that starts between examination and repair is not disturbed", async () => {
  const { project, path } = await thread();
  rmSync(join(dirname(path), "thread.json"));
  // Method: another process takes the lock when repair, after examining, opens the lock file.
  const directory = await nodeHost.files.openDirectory(dirname(path), { create: false });
  const theirs = directory.open("transcript.jsonl.lock", "update");
  const files = new WatchedFiles();
  files.before = ({ call, name, mode }) => {
    if (call === "open" && name === "transcript.jsonl.lock" && mode === "update") {
      assert.equal(theirs.tryLock("exclusive"), true);
    }
    return undefined;
  };
  const doctor = { ...nodeDoctor, host: { ...nodeDoctor.host, files } };
  const steps = await repairOf(await sessionAt(project, "hello-1"), doctor);
  expect(steps).toMatchObject([{ kind: "failed", code: "LOG_LOCKED" }]);
  assert.equal(existsSync(join(dirname(path), "thread.json")), false);
  theirs.close();
  directory.close();
});

test("a dry run reports what a repair then does", async () => {
  const project = tempDirectory();
  await makeSickStore(project);
  const would = (await repairIn(project, "rye", true)).flatMap((step) =>
    step.kind === "would" ? [`${step.finding.code} ${step.finding.path}`] : [],
  );
  const did = (await repairIn(project)).flatMap((step) =>
    step.kind === "mended" ? [`${step.finding.code} ${step.finding.path}`] : [],
  );
  // Whether the registry is correct is known only after the threads are repaired.
  const isOwn = (each: string) => !each.endsWith("registry.db");
  assert.deepEqual(would.filter(isOwn).sort(), did.filter(isOwn).sort());
});

test("HomeAgent's sessions and their shared directory are repaired", async () => {
  const base = tempDirectory();
  const store = new Store(nodeHost, { dialect: "homeagent", root: base });
  await store.session("cook/a").appendNative({ turnId: "1", role: "user", ts: 1, content: "hi" });
  await store.close();
  const sessions = join(base, "agents/cook/sessions");
  appendFileSync(join(sessions, "a.jsonl"), '{"turnId":"2"');
  chmodSync(sessions, 0o750);
  expect(await repairIn(base, "homeagent")).toMatchObject([
    { kind: "mended", finding: { code: "WRONG_MODE", session: null, path: sessions } },
    { kind: "mended", finding: { code: "TORN_TAIL" } },
  ]);
  assert.deepEqual(await findingsIn(base, "homeagent"), []);
});

test("a log outside any store is repaired by itself", async () => {
  const directory = tempDirectory();
  const path = join(directory, "copy.jsonl");
  const { path: whole } = await thread();
  writeFileSync(path, `${readFileSync(whole, "utf8")}{"torn`, { mode: 0o644 });
  const steps = await repairOf(await sessionAt(directory, path));
  assert.deepEqual(
    steps.map((step) => step.kind === "mended" && step.finding.code),
    ["WRONG_MODE", "TORN_TAIL"],
  );
  assert.equal(readFileSync(path, "utf8"), readFileSync(whole, "utf8"));
});

test("a repair that was killed is completed by the next one", async () => {
  const { project, path } = await thread();
  const directory = dirname(path);
  const before = readFileSync(join(directory, "transcript.md"));
  // As a crash leaves it after the copy and half of the new file.
  writeFileSync(join(directory, "transcript.md"), "stale", { mode: 0o600 });
  writeFileSync(join(directory, "transcript.md.before-repair-0"), "sta", { mode: 0o600 });
  writeFileSync(join(directory, "transcript.md.tmp"), "# he", { mode: 0o600 });
  await repairIn(project);
  assert.deepEqual(readFileSync(join(directory, "transcript.md")), before);
  assert.equal(readFileSync(join(directory, "transcript.md.before-repair-1"), "utf8"), "stale");
  assert.equal(readFileSync(join(directory, "transcript.md.tmp.before-repair-0"), "utf8"), "# he");
  assert.deepEqual(await findingsIn(project), []);
});

test("a copy kept by a repair is never mistaken for a session", async () => {
  const project = tempDirectory();
  await makeSickStore(project);
  const ids = () => findLogs(project, dialectNamed("rye").naming.layout).map(({ id }) => id);
  const before = ids();
  await repairIn(project);
  assert.ok(Object.keys(treeAt(project)).some((name) => /\.before-repair-\d+$/.test(name)));
  assert.deepEqual(ids(), before);
});
