/** When the writer syncs, and what callers learn before and after. */

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "vitest";
import { Gate, isPending } from "../../../test/support/gate.ts";
import {
  bytesOf,
  contentOf,
  logHolding,
  newLogPath,
  openWriter,
} from "../../../test/support/open-log.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import type { LogMode } from "./log-options.ts";

const MODES: readonly LogMode[] = ["exclusive", "shared"];
const LOG = "log.jsonl";

test.for(MODES)(
  "with disk, an append resolves only after a sync that began after its write (%s)",
  async (mode) => {
    const path = newLogPath();
    const disk = new WatchedFiles();
    const log = await openWriter(path, { mode }, disk.host);
    disk.calls.length = 0;
    const gate = new Gate();
    disk.before = ({ call }) => (call === "sync" ? gate.pass() : undefined);

    const appended = log.append(bytesOf("1"));
    await gate.reached;
    assert.deepEqual(ofLog(disk), ["write", "sync"]);
    assert.ok(await isPending(appended), "acknowledged before the sync was done");
    assert.equal(log.end, 0, "an end was reported that is not on the disk yet");

    gate.open();
    assert.equal(await appended, 2);
    assert.equal(log.end, 2);
  },
);

test.for(MODES)(
  "with disk, appends during a sync are written after it: at most one batch is unsynced (%s)",
  async (mode) => {
    const path = newLogPath();
    const disk = new WatchedFiles();
    const log = await openWriter(path, { mode }, disk.host);
    disk.calls.length = 0;
    const gate = new Gate();
    disk.before = ({ call }) => (call === "sync" ? gate.pass() : undefined);

    const first = log.append(bytesOf("1"));
    await gate.reached;
    const later = Array.from({ length: 30 }, (_, n) => log.append(bytesOf(`${n}`)));
    assert.ok(await isPending(Promise.race([first, ...later])));
    assert.deepEqual(ofLog(disk), ["write", "sync"]);

    gate.open();
    await Promise.all([first, ...later]);
    assert.deepEqual(ofLog(disk), ["write", "sync", "write", "sync"]);
  },
);

test.for(MODES)("64 callers that append again and again share each sync (%s)", async (mode) => {
  const path = newLogPath();
  const disk = new WatchedFiles();
  const log = await openWriter(path, { mode }, disk.host);
  const [callers, rounds] = [64, 10];
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let n = 0; n < rounds; n++) await log.append(bytesOf("1"));
    }),
  );

  assert.equal(contentOf(path), "1\n".repeat(callers * rounds));
  // One round, one sync; the opening syncs once too.
  assert.equal(disk.made("sync", LOG).length, rounds + 1);
});

test.for(MODES)(
  "with os, an append resolves without a sync, and flush and close sync (%s)",
  async (mode) => {
    const path = newLogPath();
    const disk = new WatchedFiles();
    const log = await openWriter(path, { mode, durability: "os" }, disk.host);
    disk.calls.length = 0;

    await Promise.all([log.append(bytesOf("1")), log.append(bytesOf("2"))]);
    await log.append(bytesOf("3"));
    assert.equal(contentOf(path), "1\n2\n3\n");
    assert.equal(log.end, 6);
    assert.equal(disk.made("sync", LOG).length, 0);

    await log.flush();
    assert.equal(disk.made("sync", LOG).length, 1);
    await log.flush();
    assert.equal(disk.made("sync", LOG).length, 1, "there was nothing to sync");
    await log.append(bytesOf("4"));
    await log.close();
    assert.equal(disk.made("sync", LOG).length, 2);
  },
);

test("with os, an append after another writer's line does not sync either", async () => {
  const path = newLogPath();
  const disk = new WatchedFiles();
  const log = await openWriter(path, { mode: "shared", durability: "os" }, disk.host);
  disk.calls.length = 0;
  appendFileSync(path, "1\n");
  assert.equal(await log.append(bytesOf("2")), 4);

  assert.deepEqual(disk.made("sync", LOG), []);
});

test.for(MODES)("with os, flush resolves only after the sync (%s)", async (mode) => {
  const disk = new WatchedFiles();
  const log = await openWriter(newLogPath(), { mode, durability: "os" }, disk.host);
  await log.append(bytesOf("1"));
  const gate = new Gate();
  disk.before = ({ call }) => (call === "sync" ? gate.pass() : undefined);

  const flushed = log.flush();
  await gate.reached;
  assert.ok(await isPending(flushed));
  gate.open();
  await flushed;
});

test.for(MODES)("with disk, flush waits for everything accepted before it (%s)", async (mode) => {
  const disk = new WatchedFiles();
  const log = await openWriter(newLogPath(), { mode }, disk.host);
  let isAcknowledged = false;
  void log.append(bytesOf("1")).then(() => {
    isAcknowledged = true;
  });
  await log.flush();
  assert.ok(isAcknowledged);
});

test("with disk, opening syncs the log's directory, whether the log is new or not", async () => {
  for (const path of [newLogPath(), logHolding("1\n")]) {
    const disk = new WatchedFiles();
    const gate = new Gate();
    disk.before = ({ call }) => (call === "syncDirectory" ? gate.pass() : undefined);
    const opening = openWriter(path, {}, disk.host);
    await gate.reached;
    assert.ok(await isPending(opening), "opened before the directory was synced");

    gate.open();
    const log = await opening;
    assert.equal(disk.made("syncDirectory", basename(dirname(path))).length, 1);
    // The name must be there before its sync can keep it.
    const steps = disk.calls.map(({ call, name, mode }) => `${call} ${name} ${mode}`);
    const made = steps.indexOf(`open ${LOG} append`);
    assert.ok(made >= 0 && made < steps.findIndex((step) => step.startsWith("syncDirectory")));
    await log.close();
  }
});

test("with os, the directory of a new log is synced by the first flush or by close", async () => {
  for (const finish of ["flush", "close"] as const) {
    const path = newLogPath();
    const disk = new WatchedFiles();
    const log = await openWriter(path, { durability: "os" }, disk.host);
    await log.append(bytesOf("1"));
    const directory = basename(dirname(path));
    assert.equal(disk.made("syncDirectory", directory).length, 0);

    await log[finish]();
    assert.equal(disk.made("syncDirectory", directory).length, 1);
    await log.close();
    assert.equal(disk.made("syncDirectory", directory).length, 1);
  }
});

test("an opening syncs the log before it reports an end, with either durability", async () => {
  for (const durability of ["disk", "os"] as const) {
    const disk = new WatchedFiles();
    const gate = new Gate();
    disk.before = ({ call, name }) => (call === "sync" && name === LOG ? gate.pass() : undefined);
    const opening = openWriter(logHolding("1\n"), { durability }, disk.host);
    await gate.reached;
    assert.ok(await isPending(opening));
    gate.open();
    assert.equal((await opening).end, 2);
  }
});

test("one write carries the lines and their LFs", async () => {
  for (const durability of ["disk", "os"] as const) {
    const disk = new WatchedFiles();
    const log = await openWriter(newLogPath(), { durability }, disk.host);
    disk.calls.length = 0;
    await log.append(bytesOf("12345"));
    await log.appendLines(bytesOf("1\n2\n"));

    assert.deepEqual(
      disk.made("write", LOG).map(({ bytes }) => bytes),
      [6, 4],
    );
  }
});

test("missing directories of a log are created", async () => {
  const root = tempDirectory();
  mkdirSync(join(root, "a"));
  const path = join(root, "a/b/c", LOG);
  const log = await openWriter(path);
  await log.append(bytesOf("1"));
  assert.equal(contentOf(path), "1\n");
});

function ofLog(disk: WatchedFiles): string[] {
  return disk.calls.filter(({ name }) => name === LOG).map(({ call }) => call);
}

test("the directories above a new log are synced once, before an append is acknowledged", async () => {
  // The process that made them may have been killed before it synced them.
  const synced = (disk: WatchedFiles, path: string) =>
    disk.made("syncAncestors", basename(dirname(path))).length;

  const onDisk = newLogPath();
  const disk = new WatchedFiles();
  const log = await openWriter(onDisk, {}, disk.host);
  assert.equal(synced(disk, onDisk), 1);
  await log.append(bytesOf("1"));
  await log.close();
  await openWriter(onDisk, {}, disk.host);
  assert.equal(synced(disk, onDisk), 1);

  const withOs = newLogPath();
  const late = await openWriter(withOs, { durability: "os" }, disk.host);
  await late.append(bytesOf("1"));
  assert.equal(synced(disk, withOs), 0);
  await late.flush();
  assert.equal(synced(disk, withOs), 1);
});
