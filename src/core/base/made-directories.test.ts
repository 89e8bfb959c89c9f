/**
 * New directories are durable: each is synced in its parent before anything is made in it. Method:
 * Node's own `mkdirSync` and `fsync` run and are recorded, because short of a power cut a sync
 * leaves no other trace.
 */

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { onTestFinished, test, vi } from "vitest";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { createNodeFiles } from "./node-files.ts";

const steps = vi.hoisted(() => [] as { call: "make" | "sync"; reached: string }[]);

vi.mock("node:fs", async (importOriginal) => {
  const fs = await importOriginal<typeof import("node:fs")>();
  const pathOf = (descriptor: number) => fs.readlinkSync(`/proc/self/fd/${descriptor}`);
  const mkdirSync: typeof fs.mkdirSync = (path, options) => {
    const made = fs.mkdirSync(path, options);
    steps.push({ call: "make", reached: fs.realpathSync(path) });
    return made;
  };
  const fsync = (descriptor: number, done: (error: Error | null) => void): void => {
    const reached = pathOf(descriptor);
    fs.fsync(descriptor, (error) => {
      steps.push({ call: "sync", reached });
      done(error);
    });
  };
  return { ...fs, mkdirSync, fsync };
});

test.for([true, false])(
  "each directory that is made is synced in its parent before the next (by descriptor: %s)",
  async (byDescriptor) => {
    const files = createNodeFiles({ byDescriptor });
    const top = tempDirectory();
    for (const [name, root] of [
      ["below a root", top],
      ["with its root", join(top, "with its root/a")],
      ["without one", undefined],
    ] as const) {
      const path = join(top, name, "a/b/c");
      steps.length = 0;
      const directory = await files.openDirectory(path, { create: true, root });
      onTestFinished(() => directory.close());

      const made = [join(top, name), join(top, name, "a"), join(top, name, "a/b"), path];
      assert.deepEqual(
        steps,
        made.flatMap((reached) => [
          { call: "make", reached },
          { call: "sync", reached: dirname(reached) },
        ]),
      );
    }
  },
);

test("the directories above one can be synced too, up to the top", async () => {
  const path = join(tempDirectory(), "a/b");
  const directory = await createNodeFiles().openDirectory(path, { create: true });
  onTestFinished(() => directory.close());
  steps.length = 0;
  await directory.syncAncestors();
  const above: string[] = [];
  for (let at = path; at !== dirname(at); at = dirname(at)) above.push(dirname(at));
  assert.deepEqual(
    steps,
    above.map((reached) => ({ call: "sync", reached })),
  );
});
