import assert from "node:assert/strict";
import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { onTestFinished, test, vi } from "vitest";
import { startChild } from "../../../test/support/child.ts";
import {
  bytesOf,
  contentOf,
  logHolding,
  newLogPath,
  openWriter,
} from "../../../test/support/open-log.ts";
import { refusal } from "../../../test/support/refusal.ts";
import { WatchedFiles } from "../../../test/support/watched-files.ts";
import type { Clock } from "../base/host.ts";
import { nodeHost } from "../base/node-host.ts";
import { LogReader } from "./reader.ts";

test("a second opener is refused at once, with the holder's pid", async () => {
  const path = newLogPath();
  await openWriter(path);
  for (const mode of ["exclusive", "shared"] as const) {
    const { details } = await refusal(openWriter(path, { mode, lockWaitMs: 0 }), "LOG_LOCKED");
    assert.deepEqual(details, { path, holder: nodeHost.process });
  }
  assert.equal(nodeHost.process.pid, process.pid);
});

test("an opener in another process is refused, with this one's pid", async () => {
  const path = newLogPath();
  const child = startChild("test/crash/writer-child.ts", JSON.stringify({ path }));
  child.say("go");
  assert.equal(await child.line(), "opening");
  assert.equal(await child.line(), "opened");

  const { details } = await refusal(openWriter(path), "LOG_LOCKED");
  assert.ok(details.holder !== "unknown");
  assert.equal(details.holder.pid, child.pid);
  assert.ok(Date.parse(details.holder.started) <= Date.now());
});

test("killing the holder with -9 frees the log at once, with all it acknowledged", async () => {
  const path = newLogPath();
  const child = startChild("test/crash/writer-child.ts", JSON.stringify({ path, lines: 3 }));
  child.say("go");
  let line = await child.line();
  while (line !== null && !line.startsWith("done")) line = await child.line();
  await child.kill();

  const log = await openWriter(path, { lockWaitMs: 0 });
  assert.equal(contentOf(path).split("\n").length, 4);
  assert.equal(log.recovery.cutBytes, 0);
});

test("a holder whose lock file is garbage is reported as unknown", async () => {
  const path = newLogPath();
  await openWriter(path);
  for (const garbage of [
    "",
    "garbage",
    "{}",
    '{"pid":"1"}',
    '{"pid":1}',
    "null",
    "\0".repeat(60),
  ]) {
    writeFileSync(`${path}.lock`, garbage);
    const { details } = await refusal(openWriter(path), "LOG_LOCKED");
    assert.deepEqual(details, { path, holder: "unknown" });
  }
});

test("an opener that waits gets the log after its holder has closed it", async () => {
  const path = newLogPath();
  for (const mode of ["exclusive", "shared"] as const) {
    const first = await openWriter(path);
    await first.append(bytesOf("1"));
    const { host, slept } = hostWhoseWaitsAreSeen();
    const waiting = openWriter(path, { mode, lockWaitMs: 60_000 }, host);
    await slept;
    await first.append(bytesOf("2"));
    await first.close();

    const second = await waiting;
    assert.equal(second.end, contentOf(path).length);
    await second.close();
  }
});

test("an opener is refused when its wait time is over", async () => {
  // Method: a fake clock, so that a minute takes no time.
  const path = newLogPath();
  await openWriter(path);
  let now = 0;
  const clock: Clock = {
    sleep: async (ms) => {
      now += ms;
    },
    monotonicMs: () => now,
  };
  await refusal(openWriter(path, { lockWaitMs: 60_000 }, { ...nodeHost, clock }), "LOG_LOCKED");
  assert.ok(now >= 60_000 && now < 61_000, `waited ${now} ms`);
});

test("an opener that waits can be aborted, with the signal's reason", async () => {
  const path = newLogPath();
  await openWriter(path);
  const { host, slept } = hostWhoseWaitsAreSeen();
  const stop = new AbortController();
  const waiting = openWriter(path, { lockWaitMs: 60_000, signal: stop.signal }, host);
  await slept;
  const reason = new Error("enough");
  stop.abort(reason);

  await assert.rejects(waiting, (error) => error === reason);
  await assert.rejects(openWriter(path, { signal: AbortSignal.abort(reason) }), reason);
});

test("deleting the lock file of an exclusive writer lets no other writer in", async () => {
  const path = newLogPath();
  const log = await openWriter(path);
  for (const mode of ["exclusive", "shared"] as const) {
    rmSync(`${path}.lock`, { force: true });
    const { details } = await refusal(openWriter(path, { mode, lockWaitMs: 0 }), "LOG_LOCKED");
    assert.equal(details.path, path);
  }
  await log.append(bytesOf("1"));
  assert.equal(contentOf(path), "1\n");
});

test("two shared writers still take turns after their lock file was deleted", async () => {
  // Neither may write during the other's turn: lock, catch up, write, sync.
  const path = newLogPath();
  const disk = new WatchedFiles();
  const first = await openWriter(path, { mode: "shared" }, disk.host);
  rmSync(`${path}.lock`);
  const second = await openWriter(path, { mode: "shared", lockWaitMs: 0 });
  let outcome: PromiseSettledResult<unknown> | undefined;
  disk.before = ({ call, name }) =>
    call === "sync" && name === "log.jsonl" && outcome === undefined
      ? Promise.allSettled([second.append(bytesOf("2"))]).then(([settled]) => {
          outcome = settled;
        })
      : undefined;
  await first.append(bytesOf("1"));

  assert.equal(outcome?.status, "rejected", "the second wrote while it was the first one's turn");
});

test("once an exclusive writer has written, writers that shared a deleted lock file are kept out", async () => {
  for (const durability of ["disk", "os"] as const) {
    const path = newLogPath();
    const shared = await openWriter(path, { durability, mode: "shared", lockWaitMs: 0 });
    await shared.append(bytesOf("1"));
    rmSync(`${path}.lock`);
    const exclusive = await openWriter(path, { durability: "os" });

    assert.equal(await exclusive.append(bytesOf("2")), 4);
    await refusal(shared.append(bytesOf("3")), "LOG_LOCKED");
    assert.equal(contentOf(path), "1\n2\n");
  }
});

test("readers and writers do not block each other", async () => {
  const path = logHolding("1\n{torn");
  const log = await openWriter(path);
  appendFileSync(path, "{unfinished");
  for (let n = 0; n < 20; n++)
    assert.equal((await new LogReader(nodeHost, path).last(5)).length, 1);
  await log.close();
});

test("opening does not fail because a reader probes for a writer", async () => {
  // The probe is a brief shared lock. Here it lasts until the first refusal.
  const path = logHolding("1\n");
  writeFileSync(`${path}.lock`, "");
  const directory = await nodeHost.files.openDirectory(path.slice(0, path.lastIndexOf("/")), {
    create: false,
  });
  onTestFinished(() => directory.close());
  const look = directory.open("log.jsonl.lock", "read");
  assert.equal(look.tryLock("shared"), true);
  const clock: Clock = {
    ...nodeHost.clock,
    sleep: async () => look.unlock(),
  };
  await openWriter(path, { lockWaitMs: 0 }, { ...nodeHost, clock });
  look.close();
});

test("over a network file system sharing is refused, and exclusive writing is not", async () => {
  for (const fileSystem of ["NFS", "SMB", "9p", "FUSE or virtiofs", "Ceph", "Lustre"]) {
    const path = newLogPath();
    const disk = new WatchedFiles();
    disk.networkFileSystem = fileSystem;
    const { details } = await refusal(
      openWriter(path, { mode: "shared" }, disk.host),
      "UNSUPPORTED_FILE_SYSTEM",
    );
    assert.deepEqual(details, { path, fileSystem });

    const log = await openWriter(path, { mode: "exclusive" }, disk.host);
    await log.append(bytesOf("1"));
    assert.equal(contentOf(path), "1\n");
  }
});

test("who says that the locks of a network file system reach everyone may share a log there", async () => {
  const disk = new WatchedFiles();
  disk.networkFileSystem = "Ceph";
  const path = newLogPath();
  const log = await openWriter(path, { mode: "shared", trustsLocks: true }, disk.host);
  await log.append(bytesOf("1"));
  vi.stubEnv("VERBATIM_TRUST_LOCKS", "1");
  onTestFinished(() => void vi.unstubAllEnvs());
  const other = await openWriter(path, { mode: "shared" }, disk.host);
  await other.append(bytesOf("2"));
  assert.equal(contentOf(path), "1\n2\n");
  await refusal(
    openWriter(path, { mode: "shared", trustsLocks: false }, disk.host),
    "UNSUPPORTED_FILE_SYSTEM",
  );
});

/** The real host, and a promise that resolves when an opener begins to wait. */
function hostWhoseWaitsAreSeen() {
  let see = () => {};
  const slept = new Promise<void>((resolve) => {
    see = resolve;
  });
  const clock: Clock = {
    ...nodeHost.clock,
    sleep: (ms, signal) => {
      see();
      return nodeHost.clock.sleep(ms, signal);
    },
  };
  return { host: { ...nodeHost, clock }, slept };
}
