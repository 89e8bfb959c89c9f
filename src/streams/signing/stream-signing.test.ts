/** Signed streams: when checkpoints are made, what they cover, and what is not signed. */

import assert from "node:assert/strict";
import { appendFileSync, cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { refusal } from "../../../test/support/refusal.ts";
import {
  JSON_STREAM,
  message,
  NEVER,
  RAW_STREAM,
  SignedStreams,
} from "../../../test/support/signed-streams.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { until } from "../../../test/support/until.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { DisplayedLog, unsignedIn } from "../../trust/judge/displayed-log.ts";
import { signedLogOf } from "./stream-files.ts";

test("closing a store signs all unsigned bytes: JSON and raw streams verify, and their heads match", async () => {
  const streams = new SignedStreams();
  const store = await streams.open({ signingCadence: NEVER });
  await store.create("/chat/1", JSON_STREAM);
  await store.create("/raw", RAW_STREAM);
  await store.create("/empty", JSON_STREAM);
  for (let n = 0; n < 10; n++) {
    await store.append("/chat/1", message({ n, type: "checkpoint" }));
    await store.append("/raw", { body: Buffer.from([0, 10, 255, n]), close: false });
  }
  await store.close();
  const reports = await streams.reports();
  assert.deepEqual([...reports.keys()], ["/chat/1", "/raw"], "an empty stream has nothing to sign");
  for (const report of reports.values()) {
    assert.equal(report.verdict, "verified", JSON.stringify(report.findings));
    assert.equal(report.freshness, "match");
    assert.equal(report.checkpoints.total, 2);
    assert.equal(report.tail.bytes, 0);
  }
  assert.deepEqual(streams.kinds("chat__1.jsonl"), ["genesis", "batch"]);
  assert.deepEqual(streams.warnings, []);
});

test("a checkpoint is made after a number of appends, a number of bytes, an idle time, and at close", async () => {
  const streams = new SignedStreams();
  const cadence = { bytesMax: 1000, appendsMax: 3, idleMs: 40 };
  const store = await streams.open({ signingCadence: { ...NEVER, ...cadence, idleMs: 1e9 } });
  const count = (file: string) => {
    return streams.files().includes(`${file}.checkpoints`) ? streams.kinds(file).length : 0;
  };
  await store.create("/a", JSON_STREAM);
  for (let n = 0; n < 2; n++) await store.append("/a", message({ n }));
  await store.create("/later", JSON_STREAM);
  for (let n = 0; n < 3; n++) await store.append("/later", message({ n }));
  await until(() => count("later.jsonl") === 2);
  assert.equal(count("a.jsonl"), 1, "two appends are not enough");
  await store.append("/a", message({ n: 2 }));
  await until(() => count("a.jsonl") === 2);
  await store.append("/a", message("x".repeat(990)));
  await store.append("/a", message("x".repeat(9)));
  await until(() => count("a.jsonl") === 3);
  await store.append("/a", { body: Buffer.from('"the last"'), close: true });
  await until(() => count("a.jsonl") === 4);
  assert.deepEqual(streams.kinds("a.jsonl"), ["genesis", "batch", "batch", "final"]);
  await store.create("/b", { ...JSON_STREAM, body: Buffer.from('["whole"]'), isClosed: true });
  await until(() => count("b.jsonl") === 2);
  assert.deepEqual(streams.kinds("b.jsonl"), ["genesis", "final"]);
  await store.close();

  const again = await streams.open({ signingCadence: { ...NEVER, idleMs: 40 } });
  await again.create("/idle", RAW_STREAM);
  await again.append("/idle", { body: Buffer.from("one"), close: false });
  await until(() => count("idle.bin") === 2);
  await again.append("/idle", { body: Buffer.from("two"), close: false });
  await until(() => count("idle.bin") === 3);
  await again.close();
  assert.deepEqual(await streams.verdicts(), {
    "/a": "verified",
    "/b": "verified",
    "/idle": "verified",
    "/later": "verified",
  });
});

test("a reopened store continues signing, and reports bytes it found unsigned", async () => {
  const streams = new SignedStreams();
  for (const round of [1, 2, 3]) {
    const store = await streams.open({ signingCadence: NEVER });
    if (round === 1) await store.create("/s", JSON_STREAM);
    await store.append("/s", message({ round }));
    await store.close();
  }
  assert.deepEqual(streams.kinds("s.jsonl"), ["genesis", "batch", "batch", "batch"]);
  assert.deepEqual(await streams.verdicts(), { "/s": "verified" });

  const unsigned = await streams.open({ signing: undefined });
  await unsigned.append("/s", message("by a server that does not sign"));
  await unsigned.close();
  assert.deepEqual(await streams.verdicts(), { "/s": "incomplete UNSIGNED_TAIL" });
  const store = await streams.open();
  await store.append("/s", message("on"));
  await store.close();
  assert.deepEqual(streams.kinds("s.jsonl").at(-1), "recovery");
  assert.deepEqual(await streams.verdicts(), { "/s": "incomplete FOUND_UNSIGNED" });
});

test("a fork is signed in its own file, and a stream that is created again has its own checkpoints", async () => {
  const streams = new SignedStreams();
  let now = 1_763_200_000_000;
  const store = await streams.open({ signingCadence: NEVER, keepDeletedMs: 0, now: () => now++ });
  await store.create("/a", JSON_STREAM);
  await store.append("/a", message(1));
  await store.create("/fork", { ...JSON_STREAM, fork: { source: "/a" } });
  await store.append("/fork", message(2));
  await store.create("/b", JSON_STREAM);
  await store.append("/b", { body: Buffer.from("1"), close: true });
  await until(() => streams.files().includes("b.jsonl.checkpoints"));
  await store.remove("/b");
  await store.create("/b", JSON_STREAM);
  await store.append("/b", message("again"));
  await store.remove("/a");
  await store.close();
  assert.deepEqual(await streams.verdicts(), {
    "/a": "verified", // Held by its fork.
    "/b": "verified",
    "/fork": "verified",
  });
  const again = await streams.open({ keepDeletedMs: 0, now: () => now++ });
  await again.remove("/fork");
  await again.close();
  const last = await streams.open({ keepDeletedMs: 0, now: () => now++ });
  await last.sweep();
  await last.close();
  assert.deepEqual(streams.files(), ["b~1.jsonl", "b~1.jsonl.checkpoints"]);
  assert.deepEqual(await streams.verdicts(), { "/b": "verified" });
  assert.deepEqual(streams.warnings, []);
});

test("altered bytes are not signed, and signing does not continue on a log that fails verification", async () => {
  const streams = new SignedStreams();
  const store = await streams.open({ signingCadence: { ...NEVER, idleMs: 100 } });
  for (const path of ["/altered", "/foreign"]) {
    await store.create(path, JSON_STREAM);
    await store.append(path, message("original"));
  }
  const log = join(streams.directory, "logs/altered.jsonl");
  writeFileSync(log, readFileSync(log, "utf8").replace("original", "altered!"));
  await until(() => streams.warnings.length === 1);
  assert.match(streams.warnings[0] ?? "", /altered.*not those that were appended/);
  await until(() => streams.kinds("foreign.jsonl").length === 2);
  appendFileSync(join(streams.directory, "logs/foreign.jsonl.checkpoints"), "foreign\n");
  await store.append("/altered", message("is still accepted"));
  await store.close();
  assert.equal(streams.warnings.length, 1, "the warning appears once");
  assert.deepEqual(await streams.verdicts(), {
    "/altered": "incomplete UNSIGNED_TAIL",
    "/foreign": "tampered SIDECAR_FOREIGN_BYTES",
  });
  const again = await streams.open();
  await again.append("/foreign", message("again"));
  await again.close();
  assert.match(streams.warnings[1] ?? "", /foreign.*tampered and is not signed any further/);
});

test("signing does not continue after a lost head, nor under keys that are not trusted", async () => {
  const streams = new SignedStreams();
  for (const text of ["one", "two"]) {
    const store = await streams.open();
    if (text === "one") await store.create("/s", JSON_STREAM);
    await store.append("/s", message(text));
    await store.close();
  }
  const sidecar = join(streams.directory, "logs/s.jsonl.checkpoints");
  truncateSync(sidecar, readFileSync(sidecar).length - 10);
  assert.deepEqual(await streams.verdicts(), { "/s": "rollback BEHIND" });

  const other = new SignedStreams(streams.directory); // A user without the pin and the key.
  const store = await other.open();
  await store.append("/s", message("three"));
  await store.close();
  assert.equal(streams.files().at(-1), "s.jsonl.checkpoints.torn-0", "the torn bytes are kept");
  assert.match(other.warnings[0] ?? "", /untrusted and is not signed any further/);
});

test("signing continues on a restored copy only after its lost head was forgotten", async () => {
  const streams = new SignedStreams();
  const copy = tempDirectory();
  for (const round of [1, 2]) {
    const store = await streams.open();
    if (round === 1) await store.create("/s", JSON_STREAM);
    await store.append("/s", message({ round }));
    await store.close();
    if (round === 1) cpSync(streams.directory, copy, { recursive: true });
  }
  rmSync(streams.directory, { recursive: true });
  cpSync(copy, streams.directory, { recursive: true });
  const appendOnce = async () => {
    const store = await streams.open();
    await store.append("/s", message("on"));
    await store.close();
  };
  await appendOnce();
  assert.match(streams.warnings[0] ?? "", /rollback and is not signed any further/);
  assert.deepEqual(await streams.verdicts(), { "/s": "rollback BEHIND" });
  await streams.user.heads.forget({ place: `streams:${streams.directory}`, id: "/s" });
  await appendOnce();
  assert.equal(streams.warnings.length, 1);
  assert.deepEqual(await streams.verdicts(), { "/s": "incomplete FOUND_UNSIGNED" });
});

/** Shows the unsigned bytes of a stream, and returns what was shown. */
async function show(streams: SignedStreams, path: string, file: string) {
  const report = (await streams.reports()).get(path) ?? assert.fail(`no report on ${path}`);
  const log = signedLogOf(streams.directory, { path, file, isJson: file.endsWith(".jsonl") });
  const shown = new DisplayedLog(nodeHost, log, unsignedIn(report));
  const pieces: string[] = [];
  for await (const { bytes } of shown.lines()) pieces.push(Buffer.from(bytes).toString("latin1"));
  return { shown, pieces };
}

test.each([
  ["/s", "s.jsonl", JSON_STREAM, ["1", "2", "4"]],
  ["/raw", "raw.bin", RAW_STREAM, ["12", "4"]],
] as const)(
  "unsigned bytes found in %s count as signed once a user who saw them vouches",
  async (path, file, type, expected) => {
    const streams = new SignedStreams();
    const append = async (texts: readonly string[], options = {}) => {
      const store = await streams.open(options);
      if (texts.includes("1")) await store.create(path, type);
      for (const text of texts) await store.append(path, { body: Buffer.from(text), close: false });
      await store.close();
    };
    await append(["1", "2"], { signing: undefined });
    await append(["3"]);
    await append(["4"], { signing: undefined });
    const { shown, pieces } = await show(streams, path, file);
    assert.deepEqual(pieces, expected, "signed bytes are not shown");
    const store = await streams.open();
    await store.vouch(path, (opened) => shown.agreed(opened));
    await store.close();
    const before = readFileSync(join(streams.directory, `logs/${file}.checkpoints`));
    assert.deepEqual(await streams.verdicts(), { [path]: "verified" });
    assert.equal((await streams.reports()).get(path)?.freshness, "match", "its head is pinned");
    await append(["5"]);
    assert.deepEqual(await streams.verdicts(), { [path]: "verified" });
    const after = readFileSync(join(streams.directory, `logs/${file}.checkpoints`));
    assert.ok(after.subarray(0, before.length).equals(before));
  },
);

test("bytes that are swapped only while the log is opened to sign are not vouched for", async () => {
  const streams = new SignedStreams();
  const store = await streams.open({ signing: undefined });
  await store.create("/s", JSON_STREAM);
  await store.append("/s", message("seen"));
  await store.close();
  const log = join(streams.directory, "logs/s.jsonl");
  const honest = readFileSync(log, "utf8");
  const { shown } = await show(streams, "/s", "s.jsonl");
  writeFileSync(log, honest.replace("seen", "evil"));
  const again = await streams.open();
  const vouching = again.vouch("/s", (opened) => {
    writeFileSync(log, honest); // As it was shown; the signer has read the altered bytes.
    return shown.agreed(opened);
  });
  await refusal(vouching, "CHANGED_WHILE_READ");
  await again.close();
  assert.deepEqual(streams.files(), ["s.jsonl"], "there is no checkpoint");
});

test("bytes that changed since they were shown are not signed", async () => {
  const streams = new SignedStreams();
  const store = await streams.open({ signing: undefined });
  await store.create("/s", JSON_STREAM);
  await store.append("/s", message("seen"));
  await store.close();
  const log = join(streams.directory, "logs/s.jsonl");
  const vouchAfter = async (change: () => Promise<void>) => {
    const { shown } = await show(streams, "/s", "s.jsonl");
    await change();
    const again = await streams.open();
    const vouching = again.vouch("/s", (opened) => shown.agreed(opened));
    await refusal(vouching, "CHANGED_WHILE_READ");
    await again.close();
    assert.deepEqual(streams.files(), ["s.jsonl"], "there is no checkpoint");
  };
  await vouchAfter(async () => {
    const other = await streams.open({ signing: undefined });
    await other.append("/s", message("not seen"));
    await other.close();
  });
  await vouchAfter(async () => {
    writeFileSync(log, readFileSync(log, "utf8").replace("not seen", "swapped!"));
  });
});
