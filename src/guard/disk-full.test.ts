import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { test } from "vitest";
import { GuardedUser } from "../../test/support/guarding.ts";
import { WatchedFiles } from "../../test/support/watched-files.ts";
import type { Directory, OpenFile } from "../core/base/files.ts";
import type { Host } from "../core/base/host.ts";
import { nodeHost } from "../core/base/node-host.ts";
import { JOURNAL } from "../dialects/files/guard-store.ts";

const PATH = "projects/-app/one.jsonl";

/** The real disk, with room for so many bytes of copies. */
class SmallDisk {
  room = Number.POSITIVE_INFINITY;
  isSyncFailing = false;

  get host(): Host {
    const { files } = nodeHost;
    const openDirectory: typeof files.openDirectory = async (path, options) =>
      this.#directory(await files.openDirectory(path, options));
    return { ...nodeHost, files: { ...files, openDirectory } };
  }

  #directory(directory: Directory): Directory {
    return new Proxy(directory, {
      get: (target, key) => {
        if (key === "open") {
          return (name: string, mode: "read") => {
            const file = target.open(name, mode);
            return name.startsWith("one.jsonl.") ? this.#file(file) : file;
          };
        }
        const value = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  #file(file: OpenFile): OpenFile {
    return new Proxy(file, {
      get: (target, key) => {
        if (key === "write") {
          return (bytes: Uint8Array) => {
            const taken = Math.min(bytes.length, this.room);
            if (taken === 0) throw Object.assign(new Error("full"), { code: "ENOSPC" });
            this.room -= taken;
            return target.write(bytes.subarray(0, taken));
          };
        }
        if (key === "sync" && this.isSyncFailing) {
          return () => Promise.reject(Object.assign(new Error("broken"), { code: "EIO" }));
        }
        const value = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }
}

test("a full disk loses nothing: it is reported, and the copy continues when there is room", async () => {
  const disk = new SmallDisk();
  const user = new GuardedUser({ host: disk.host });
  user.write(PATH, "0123456789\n".repeat(100));
  disk.room = 500;
  const guard = await user.open();
  user.directory = guard.directory;
  assert.equal((await guard.scan()).failed, 1);
  assert.equal(user.copyOf(PATH)?.length, 500);
  assert.equal((await guard.scan()).failed, 1);
  assert.equal(user.warnings.length, 2, user.warnings.join("\n"));
  disk.room = Number.POSITIVE_INFINITY;
  assert.equal((await guard.scan()).failed, 0);
  assert.equal(user.copyOf(PATH), user.sourceOf(PATH));
  assert.deepEqual(user.happened(), ["began"]);
});

test("bytes that could not be synced are copied again", async () => {
  const disk = new SmallDisk();
  const user = new GuardedUser({ host: disk.host });
  user.write(PATH, "first\n");
  const guard = await user.open();
  user.directory = guard.directory;
  await guard.scan();
  appendFileSync(user.pathOf(PATH), "second\n");
  disk.isSyncFailing = true;
  assert.equal((await guard.scan()).failed, 1);
  assert.equal(user.copyOf(PATH), "first\n");
  disk.isSyncFailing = false;
  await guard.scan();
  assert.equal(user.copyOf(PATH), "first\nsecond\n");
});

test("a new copy and its directory are durable before the journal says that it began", async () => {
  const files = new WatchedFiles();
  const user = new GuardedUser({ host: files.host });
  user.write(PATH, "first\n");
  const guard = await user.open();
  files.calls.length = 0;
  await guard.scan();
  const at = (call: string, isIt: (name: string) => boolean) =>
    files.calls.findIndex((made) => made.call === call && isIt(made.name));
  const order = [
    at("write", (name) => name.startsWith("one.jsonl.")),
    at("sync", (name) => name.startsWith("one.jsonl.")),
    at("syncDirectory", (name) => name === "-app"),
    at("write", (name) => name === JOURNAL),
  ];
  assert.ok(!order.includes(-1), order.join());
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  );
});
