/** The pool keeps few files open, and closes none that is in use (S3-9). */

import assert from "node:assert/strict";
import { existsSync, readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { onTestFinished, test } from "vitest";
import { Gate, isPending } from "../../../../test/support/gate.ts";
import { openDescriptorsBelow } from "../../../../test/support/open-descriptors.ts";
import { bytesOf } from "../../../../test/support/open-log.ts";
import { refusal, thrownRefusal } from "../../../../test/support/refusal.ts";
import { tempDirectory } from "../../../../test/support/temp-directory.ts";
import { WatchedFiles } from "../../../../test/support/watched-files.ts";
import { HandlePool } from "./handle-pool.ts";

test("S3-9 a file that is used again is not opened again", async () => {
  const { pool, disk } = await poolOf(2);
  for (let n = 0; n < 5; n++) pool.useNow("a", (log) => log.append(bytesOf("x")));
  assert.equal((await pool.use("a", (log) => log.readFrom(0))).toString(), "xxxxx");
  assert.equal(disk.made("open", "a").length, 1);
});

test("S3-9 at the limit the least recently used file is closed for the next, and reopened later", async () => {
  const { pool, disk, path } = await poolOf(2);
  for (const name of ["a", "b", "a", "c"]) pool.useNow(name, (log) => log.append(bytesOf(name)));
  await new Promise(setImmediate);
  assert.deepEqual(
    openDescriptorsBelow(path).map((target) => target.slice(path.length)),
    ["", "/a", "/c"],
  );
  pool.useNow("b", (log) => assert.deepEqual(log.append(bytesOf("b")), { bytePos: 1, length: 1 }));
  assert.equal(disk.made("open", "b").length, 2);
  assert.equal(pool.openCount, 2);
});

test("S3-9 no file is closed in use: readers past the limit wait, a writer does not", async () => {
  const { pool } = await poolOf(2);
  for (const name of ["a", "b", "c"]) pool.useNow(name, (log) => log.append(bytesOf(name)));
  const gate = new Gate();
  const held = ["a", "b"].map((name) =>
    pool.use(name, async (log) => {
      await gate.pass();
      return (await log.readFrom(0)).toString();
    }),
  );
  const third = pool.use("c", async (log) => (await log.readFrom(0)).toString());
  assert.ok(await isPending(third));
  // The same file needs no other handle.
  assert.equal((await pool.use("a", (log) => log.readFrom(0))).toString(), "a");
  pool.useNow("d", (log) => log.append(bytesOf("d")));
  assert.equal(pool.openCount, 2);
  gate.open();
  assert.deepEqual(await Promise.all([...held, third]), ["a", "b", "c"]);
});

test("S3-9 a file is closed on delete: at once when idle, else with its last use", async () => {
  const { pool, path } = await poolOf(4);
  pool.useNow("a", (log) => log.append(bytesOf("old")));
  const gate = new Gate();
  const reading = pool.use("a", async (log) => {
    await gate.pass();
    return (await log.readFrom(0)).toString();
  });
  await gate.reached;
  pool.close("a");
  unlinkSync(join(path, "a"));
  pool.useNow("a", (log) => log.append(bytesOf("new")));
  gate.open();
  assert.equal(await reading, "old");
  assert.equal(readFileSync(join(path, "a"), "utf8"), "new");
  pool.close("a");
  pool.close("never opened");
  await new Promise(setImmediate);
  assert.deepEqual(openDescriptorsBelow(join(path, "a")), []);
});

test("reading creates no file, and a file opened to read can be written later", async () => {
  const { pool, path } = await poolOf(4);
  await refusal(
    pool.use("a", (log) => log.readFrom(0)),
    "IO_ERROR",
  );
  assert.ok(!existsSync(join(path, "a")));
  pool.useNow("a", (log) => log.append(bytesOf("1")));
  pool.close("a");
  assert.equal((await pool.use("a", (log) => log.readFrom(0))).toString(), "1");
  pool.useNow("a", (log) => log.append(bytesOf("2")));
  assert.equal((await pool.use("a", (log) => log.readFrom(0))).toString(), "12");
  assert.equal(pool.openCount, 1);
});

test("closing all waits for files in use, and leaves nothing open", async () => {
  const { pool, path } = await poolOf(4);
  const gate = new Gate();
  pool.useNow("a", (log) => log.append(bytesOf("a")));
  pool.useNow("b", (log) => log.append(bytesOf("b")));
  const reading = pool.use("a", async (log) => {
    await gate.pass();
    return (await log.readFrom(0)).toString();
  });
  const closing = pool.closeAll();
  assert.ok(await isPending(closing));
  gate.open();
  assert.equal(await reading, "a");
  await closing;
  assert.equal(pool.openCount, 0);
  assert.deepEqual(openDescriptorsBelow(`${path}/`), []);
});

test("reads that wait or begin while all files are closed are refused and open none", async () => {
  const { pool, path } = await poolOf(1);
  pool.useNow("a", (log) => log.append(bytesOf("a")));
  const gate = new Gate();
  const reading = pool.use("a", async () => gate.pass());
  const waiting = ["b", "c"].map((name) =>
    refusal(
      pool.use(name, (log) => log.sync()),
      "LOG_CLOSED",
    ),
  );
  assert.ok(await isPending(Promise.race(waiting)));
  const closing = pool.closeAll();
  await Promise.all(waiting);
  gate.open();
  await Promise.all([reading, closing]);
  thrownRefusal(() => pool.useNow("a", (log) => log.size), "LOG_CLOSED");
  assert.deepEqual(openDescriptorsBelow(`${path}/`), []);
});

test("S3-9 under any concurrent requests, every read gets its own file's bytes and all are answered", async () => {
  const names = ["a", "b", "c", "d", "e", "f", "g"];
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.tuple(fc.constantFrom(...names), fc.constantFrom("read", "append", "close")), {
        maxLength: 60,
      }),
      async (handlesMax, steps) => {
        const { pool } = await poolOf(handlesMax);
        for (const name of names) pool.useNow(name, (log) => log.append(bytesOf(name)));
        const work = steps.map(async ([name, step]) => {
          if (step === "close") return pool.close(name);
          if (step === "append") return pool.useNow(name, (log) => log.append(bytesOf(name)));
          const bytes = await pool.use(name, (log) => log.readFrom(0));
          assert.ok(bytes.length > 0 && bytes.toString().replaceAll(name, "") === "");
          return undefined;
        });
        await Promise.all(work);
        assert.ok(pool.openCount <= handlesMax);
        await pool.closeAll();
      },
    ),
    { numRuns: 100 },
  );
});

async function poolOf(handlesMax: number) {
  const path = tempDirectory();
  const disk = new WatchedFiles();
  const directory = await disk.openDirectory(path, { create: false });
  const pool = new HandlePool(directory, handlesMax);
  onTestFinished(async () => {
    await pool.closeAll();
    directory.close();
  });
  return { pool, disk, path };
}
