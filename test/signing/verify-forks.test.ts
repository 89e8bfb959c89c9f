/** Forks, ends, closings and deletions: `meta.jsonl` is checked against the signed streams. */

import assert from "node:assert/strict";
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { verify } from "../../src/doors/signing.ts";
import { examineData } from "../../src/evidence/doctor/check-directory.ts";
import { formatOffset } from "../../src/streams/files/offset-token.ts";
import { editMeta, type MetaState } from "../support/edit-meta.ts";
import {
  JSON_STREAM,
  message,
  NEVER,
  RAW_STREAM,
  SignedStreams,
} from "../support/signed-streams.ts";
import { tempDirectory } from "../support/temp-directory.ts";
import { until } from "../support/until.ts";

/** Two sources, a fork of the first, a fork of that one, and one of the first without bytes. */
async function forked(): Promise<SignedStreams> {
  const streams = new SignedStreams();
  const store = await streams.open({ signingCadence: NEVER });
  for (const path of ["/a", "/b"]) {
    await store.create(path, JSON_STREAM);
    await store.append(path, message({ in: path, n: 1 }));
    await store.append(path, message({ in: path, n: 2 }));
  }
  await store.create("/fork", { ...JSON_STREAM, fork: { source: "/a" } });
  await store.create("/bare", { ...JSON_STREAM, fork: { source: "/a" } });
  await store.append("/a", message({ in: "/a", n: 3 }));
  await store.append("/fork", message({ in: "/fork", n: 3 }));
  const at = formatOffset(0, '{"in":"/a","n":1}\n'.length);
  await store.create("/deep", { ...JSON_STREAM, fork: { source: "/fork", at } });
  await store.append("/deep", { ...message({ in: "/deep", n: 2 }), close: true });
  await store.close();
  assert.deepEqual(streams.warnings, []);
  return streams;
}

const SOUND = {
  "/a": "verified",
  "/b": "verified",
  "/bare": "verified",
  "/deep": "verified",
  "/fork": "verified",
};

async function damages(directory: string): Promise<string[]> {
  const found: string[] = [];
  for await (const step of examineData(nodeHost, directory)) {
    if (!("finding" in step)) continue;
    const { session, code, severity } = step.finding;
    if (severity === "error") found.push(`${session} ${code}`);
  }
  return found;
}

test("the genesis of a fork names the head of its source, also before its first byte", async () => {
  const streams = await forked();
  const reports = await streams.reports();
  assert.deepEqual(await streams.verdicts(), SOUND);
  assert.deepEqual(await damages(streams.directory), []);
  const base = '{"in":"/a","n":1}\n'.length;
  for (const [path, source, at] of [
    ["/fork", "/a", 2 * base],
    ["/bare", "/a", 2 * base],
    ["/deep", "/fork", base],
  ] as const) {
    const from = reports.get(path)?.from;
    assert.equal(from?.log, reports.get(source)?.log, path);
    assert.equal(from?.at, at, path);
  }
  assert.equal(reports.get("/a")?.from, null);
  assert.deepEqual(streams.kinds("bare.jsonl"), ["genesis"]);
  assert.ok(!streams.files().includes("bare.jsonl"));
});

const EDITS: readonly [
  string,
  string,
  (state: MetaState) => void,
  Record<string, string>,
  RegExp,
][] = [
  [
    "another source",
    "/fork",
    (state) => (state.fork = state.fork && { ...state.fork, source: "/b" }),
    { "/fork": "rollback SOURCE_NOT_VERIFIED", "/deep": "rollback SOURCE_NOT_VERIFIED" },
    /^\/fork SIGNED_OTHERWISE$/m,
  ],
  [
    "another source, of one without a byte",
    "/bare",
    (state) => (state.fork = state.fork && { ...state.fork, source: "/b" }),
    { "/bare": "rollback SOURCE_NOT_VERIFIED" },
    /^\/bare SIGNED_OTHERWISE$/m,
  ],
  [
    "another base",
    "/bare",
    (state) => {
      state.base = state.end = state.blockStart = '{"in":"/a","n":1}\n'.length;
    },
    { "/bare": "tampered FORK_MISMATCH" },
    /^\/bare SIGNED_OTHERWISE$/m,
  ],
  [
    "another base, and a longer past",
    "/fork",
    (state) => {
      state.base += '{"in":"/a","n":3}\n'.length;
      state.end += '{"in":"/a","n":3}\n'.length;
    },
    { "/fork": "tampered FORK_MISMATCH", "/deep": "tampered SOURCE_NOT_VERIFIED" },
    /^\/fork SIGNED_OTHERWISE$/m,
  ],
  [
    "a fork that is said to be none",
    "/fork",
    (state) => {
      state.end -= state.base;
      state.base = 0;
      state.fork = null;
    },
    { "/fork": "tampered FORK_MISMATCH", "/deep": "tampered SOURCE_NOT_VERIFIED" },
    /^\/fork SIGNED_OTHERWISE$/m,
  ],
  [
    "a stream that is said to be a fork",
    "/b",
    (state) => {
      state.base = '{"in":"/a","n":1}\n'.length;
      state.end += state.base;
      state.fork = { source: "/a", at: formatOffset(0, state.base), subOffset: 0 };
    },
    { "/b": "tampered FORK_MISMATCH" },
    /^\/b SIGNED_OTHERWISE$/m,
  ],
  [
    "a fork of itself",
    "/fork",
    (state) => (state.fork = state.fork && { ...state.fork, source: "/fork" }),
    { "/fork": "rollback SOURCE_NOT_VERIFIED", "/deep": "rollback SOURCE_NOT_VERIFIED" },
    /^\/fork SIGNED_OTHERWISE$/m,
  ],
  [
    "an earlier end",
    "/a",
    (state) => (state.end -= '{"in":"/a","n":3}\n'.length),
    { "/a": "rollback END_MISMATCH" },
    /^\/a SIGNED_OTHERWISE$/m,
  ],
  [
    "a later end",
    "/a",
    (state) => (state.end += 1),
    { "/a": "rollback END_MISMATCH" },
    /^\/a FILE_TOO_SHORT$/m,
  ],
  [
    "a stream that is open again",
    "/deep",
    (state) => (state.isClosed = false),
    { "/deep": "tampered CLOSURE_MISMATCH" },
    /^\/deep SIGNED_OTHERWISE$/m,
  ],
  [
    "a stream that was never closed",
    "/b",
    (state) => (state.isClosed = true),
    { "/b": "incomplete CLOSURE_UNSIGNED" },
    /^$/,
  ],
  [
    "a stream that was never deleted",
    "/b",
    (state) => (state.status = "deleted"),
    { "/b": "rollback BEHIND" },
    /ORPHAN/,
  ],
  [
    "a source that was never deleted",
    "/a",
    (state) => (state.status = "deleted"),
    {
      "/a": "rollback BEHIND",
      "/bare": "rollback SOURCE_NOT_VERIFIED",
      "/deep": "rollback SOURCE_NOT_VERIFIED",
      "/fork": "rollback SOURCE_NOT_VERIFIED",
    },
    /^\/fork SOURCE_MISSING$/m,
  ],
];

test.each(EDITS)("a meta.jsonl that has %s does not verify, and is damage", async (...edited) => {
  const [, path, change, expected, finding] = edited;
  const streams = await forked();
  editMeta(streams.directory, path, () => {});
  assert.deepEqual(await streams.verdicts(), SOUND, "rewritten as it was");
  editMeta(streams.directory, path, change);
  const verdicts = await streams.verdicts();
  for (const [id, verdict] of Object.entries({ ...SOUND, ...expected })) {
    assert.equal(verdicts[id] ?? "verified", verdict, id);
  }
  assert.match((await damages(streams.directory)).join("\n"), finding);
});

test("without pins, a deletion that was not signed is detected by the file that is left", async () => {
  const streams = await forked();
  editMeta(streams.directory, "/b", (state) => (state.status = "deleted"));
  await streams.user.heads.forget({ place: `streams:${streams.directory}`, id: "/b" });
  assert.equal((await streams.verdicts())["/b"], "rollback DELETION_MISMATCH");
});

test("a deleted stream is not a rollback, and one that is restored is tampered", async () => {
  const streams = await forked();
  const store = await streams.open();
  await store.remove("/b");
  await store.remove("/bare");
  await store.close();
  const { "/b": _b, "/bare": _bare, ...rest } = SOUND;
  assert.deepEqual(await streams.verdicts(), rest);
  editMeta(streams.directory, "/b", (state) => (state.status = "live"));
  assert.equal((await streams.verdicts())["/b"], "tampered DELETION_MISMATCH");
});

test("altered bytes or checkpoints of a source invalidate its forks, but not for changes after the fork", async () => {
  const streams = await forked();
  const { directory } = streams;
  const log = join(directory, "logs/a.jsonl");
  const original = readFileSync(log);
  const write = (text: string) => writeFileSync(log, text);
  write(original.toString().replace('"n":2', '"n":7'));
  const bad = await streams.verdicts();
  for (const id of ["/a", "/fork", "/bare", "/deep"]) assert.match(bad[id] ?? "", /^tampered/, id);
  write(original.toString().replace('"n":3', '"n":7'));
  const later = await streams.verdicts();
  assert.match(later["/a"] ?? "", /^tampered/);
  for (const id of ["/fork", "/bare", "/deep"]) assert.equal(later[id], "verified", id);
  writeFileSync(log, original);
  // Swapped with another that verifies under its own name, or stripped.
  for (const ending of ["", ".checkpoints"]) {
    renameSync(`${log}${ending}`, join(directory, `logs/x${ending}`));
    cpSync(join(directory, `logs/b.jsonl${ending}`), `${log}${ending}`);
  }
  assert.match((await streams.verdicts())["/fork"] ?? "", /^(?:tampered|rollback) /);
  for (const ending of ["", ".checkpoints"]) {
    renameSync(join(directory, `logs/x${ending}`), `${log}${ending}`);
  }
  rmSync(`${log}.checkpoints`);
  for (const id of ["/a", "/bare", "/deep", "/fork"]) {
    await streams.user.heads.forget({ place: `streams:${directory}`, id });
  }
  const stripped = await streams.verdicts();
  assert.equal(stripped["/a"], "unsigned UNSIGNED");
  assert.equal(stripped["/fork"], "rollback SOURCE_NOT_VERIFIED");
});

test("content of an unsigned source is recorded as found, and its fork is incomplete until vouched for", async () => {
  const streams = new SignedStreams();
  const unsigned = await streams.open({ signing: undefined });
  await unsigned.create("/a", RAW_STREAM);
  await unsigned.append("/a", {
    body: Buffer.from("by a server that does not sign"),
    close: false,
  });
  await unsigned.create("/late", { ...RAW_STREAM, fork: { source: "/a" } });
  await unsigned.close();
  const before = await streams.verdicts();
  assert.deepEqual(before, { "/a": "unsigned UNSIGNED", "/late": "unsigned UNSIGNED" });
  const store = await streams.open({ signingCadence: NEVER });
  await store.create("/fork", { ...RAW_STREAM, fork: { source: "/a" } });
  await store.close();
  const incomplete = {
    "/a": "incomplete FOUND_UNSIGNED",
    "/fork": "incomplete SOURCE_NOT_VERIFIED",
  };
  assert.deepEqual(await streams.verdicts(), { ...incomplete, "/late": "unsigned UNSIGNED" });
  const vouching = await streams.open({ signingCadence: NEVER });
  const length = "by a server that does not sign".length;
  await vouching.vouch("/a", async () => [[0, length]]);
  await vouching.close();
  assert.deepEqual(await streams.verdicts(), {
    "/a": "verified",
    "/fork": "verified",
    "/late": "unsigned UNSIGNED",
  });
});

test("a source that does not verify is not signed, and neither is a fork of it", async () => {
  const streams = await forked();
  const log = join(streams.directory, "logs/b.jsonl.checkpoints");
  writeFileSync(log, readFileSync(log, "utf8").replace('"turn":0', '"turn":1'));
  const store = await streams.open({ signingCadence: NEVER });
  await store.create("/of-b", { ...JSON_STREAM, fork: { source: "/b" } });
  await until(() => streams.warnings.length > 0);
  await store.append("/of-b", message("taken all the same"));
  await store.close();
  assert.match(streams.warnings.join("\n"), /\/of-b is not signed any further/);
  assert.equal((await streams.verdicts())["/of-b"], "unsigned UNSIGNED");
});

test("a fork and a closing that a killed server did not sign are signed by the next one", async () => {
  const streams = new SignedStreams();
  const store = await streams.open({ signingCadence: NEVER });
  await store.create("/a", JSON_STREAM);
  await store.append("/a", message(1));
  await store.close();
  const killed = await streams.open({ signing: undefined, writeBackMs: 1e9 });
  await killed.create("/fork", { ...JSON_STREAM, fork: { source: "/a" } });
  await killed.append("/a", { body: new Uint8Array(0), close: true });
  const asKilled = join(tempDirectory(), "copy");
  cpSync(streams.directory, asKilled, { recursive: true });
  await killed.close();
  rmSync(streams.directory, { recursive: true });
  cpSync(asKilled, streams.directory, { recursive: true });
  for (const _ of [1, 2]) {
    const next = await streams.open({ signingCadence: NEVER });
    await next.close();
    assert.deepEqual(await streams.verdicts(), { "/a": "verified", "/fork": "verified" });
    assert.deepEqual(streams.kinds("a.jsonl"), ["genesis", "batch", "final"]);
  }
});

test("the library's verify accepts a data directory, with the same verdicts", async () => {
  const streams = await forked();
  const verdicts = async () =>
    (await verify([streams.directory], { requirePin: true })).map(({ session, verdict }) => [
      session,
      verdict,
    ]);
  assert.deepEqual(Object.fromEntries(await verdicts()), SOUND);
  editMeta(streams.directory, "/fork", (state) => {
    state.fork = state.fork && { ...state.fork, source: "/b" };
  });
  const edited = { ...SOUND, "/deep": "rollback", "/fork": "rollback" };
  assert.deepEqual(Object.fromEntries(await verdicts()), edited);
});
