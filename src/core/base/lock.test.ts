import assert from "node:assert/strict";
import { basename, dirname, join } from "node:path";
import { onTestFinished, test } from "vitest";
import { startChild } from "../../../test/support/child.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import type { OpenFile, OpenMode } from "./files.ts";
import { createNodeFiles } from "./node-files.ts";

const KINDS = ["exclusive", "shared"] as const;

test("two handles of one process exclude each other, unless both only share", async () => {
  const open = await opener();
  for (const held of KINDS) {
    for (const wanted of KINDS) {
      const [first, second] = [open("update"), open("update")];
      const both = held === "shared" && wanted === "shared";

      assert.equal(first.tryLock(held), true);
      assert.equal(second.tryLock(wanted), both, `${wanted} while ${held} is held`);
      first.close();
      assert.equal(second.tryLock(wanted), true, "closing a handle frees its lock");
      second.close();
    }
  }
});

test("a lock is freed by unlocking, and not by closing another handle", async () => {
  const open = await opener();
  const [holder, other] = [open("append"), open("append")];
  assert.equal(holder.tryLock("exclusive"), true);

  // This would drop a POSIX process lock.
  open("read").close();
  open("update").close();
  assert.equal(other.tryLock("exclusive"), false);

  holder.unlock();
  assert.equal(other.tryLock("exclusive"), true);
});

test("a read-only handle can take a shared lock, but not while an exclusive one is held", async () => {
  const open = await opener();
  const holder = open("update");
  const reader = open("read");
  assert.equal(reader.tryLock("shared"), true);
  reader.unlock();

  assert.equal(holder.tryLock("exclusive"), true);
  assert.equal(reader.tryLock("shared"), false);
});

test("killing the holder with -9 frees its lock at once", async () => {
  const path = join(tempDirectory(), "lock");
  const file = (await opener(path))("update");
  for (const kind of KINDS) {
    const holder = startChild("test/support/lock-holder.ts", path, kind);
    assert.equal(await holder.line(), "held");
    assert.equal(file.tryLock("exclusive"), false);

    await holder.kill();
    assert.equal(file.tryLock("exclusive"), true);
    file.unlock();
  }
});

/** Opens further handles of one file. */
async function opener(path = join(tempDirectory(), "lock")): Promise<(mode: OpenMode) => OpenFile> {
  const directory = await createNodeFiles().openDirectory(dirname(path), { create: false });
  onTestFinished(() => directory.close());
  return (mode) => directory.open(basename(path), mode);
}
