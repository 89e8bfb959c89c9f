/**
 * A parent that is a symbolic link only while a file is opened, and a directory before and after.
 * Method: Node's own calls run with the swap around them, because no race reliably hits that moment
 * (swapped-parent.test.ts tries).
 */

import assert from "node:assert/strict";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { onTestFinished, test, vi } from "vitest";
import { openDescriptorsBelow } from "../../../test/support/open-descriptors.ts";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import type { Directory } from "./files.ts";
import { createNodeFiles } from "./node-files.ts";

/** Hooks around a call; `lstats`: around how many of the checks after opening, too. */
const around = vi.hoisted(() => ({ before: () => {}, after: () => {}, lstats: 0 }));

vi.mock("node:fs", async (importOriginal) => {
  const fs = await importOriginal<typeof import("node:fs")>();
  const within = <T>(call: () => T): T => {
    around.before();
    try {
      return call();
    } finally {
      around.after();
    }
  };
  const openSync: typeof fs.openSync = (path, flags, mode) =>
    within(() => fs.openSync(path, flags, mode));
  const lstatSync = (path: string): unknown =>
    around.lstats-- > 0 ? within(() => fs.lstatSync(path)) : fs.lstatSync(path);
  return { ...fs, openSync, lstatSync };
});

test("by descriptor, a parent that is a link while a file is opened is not followed", async () => {
  const { directory, victim, parent } = await scene(true);
  swapped(parent, victim, () => {
    const file = directory.open("log", "append");
    file.write(Buffer.from("mine\n"));
    file.close();
    assert.throws(() => directory.open("secret", "read"), { code: "ENOENT" });
  });
  assert.deepEqual(readdirSync(victim), ["secret"]);
  assert.equal(readFileSync(join(parent, "log"), "utf8"), "mine\n");
});

test("by path, a parent that is a link while a file is opened is noticed, and the file closed", async () => {
  const { directory, victim, parent } = await scene(false);
  // A file of the same name inside: the opened file must not be confused with this one.
  writeFileSync(join(parent, "secret"), "");
  const held = openDescriptorsBelow(victim);
  swapped(parent, victim, () => {
    thrownRefusal(() => directory.open("secret", "read"), "UNSAFE_PATH");
    thrownRefusal(() => directory.open("secret", "append"), "UNSAFE_PATH");
    assert.throws(() => directory.open("log", "append"));
  });
  assert.deepEqual(openDescriptorsBelow(victim), held);
  assert.equal(readFileSync(join(victim, "secret"), "utf8"), "secret");
});

test("by path, a parent that is a link again during the first checks after opening is noticed", async () => {
  const { directory, victim, parent } = await scene(false);
  writeFileSync(join(parent, "secret"), "");
  const held = openDescriptorsBelow(victim);
  for (const lstats of [1, 2, 3, 4, 5]) {
    swapped(parent, victim, () => {
      around.lstats = lstats;
      thrownRefusal(() => directory.open("secret", "read"), "UNSAFE_PATH");
    });
  }
  assert.deepEqual(openDescriptorsBelow(victim), held);
});

async function scene(
  byDescriptor: boolean,
): Promise<{ directory: Directory; victim: string; parent: string }> {
  const [root, victim] = [tempDirectory(), tempDirectory()];
  const parent = join(root, "parent");
  mkdirSync(parent);
  writeFileSync(join(victim, "secret"), "secret");
  const files = createNodeFiles({ byDescriptor });
  const directory = await files.openDirectory(parent, { create: false, root });
  onTestFinished(() => directory.close());
  return { directory, victim, parent };
}

/** Runs `open` with `parent` replaced by a link to `victim` during each opening. */
function swapped(parent: string, victim: string, open: () => void): void {
  around.before = () => {
    renameSync(parent, `${parent}.away`);
    symlinkSync(victim, parent);
  };
  around.after = () => {
    unlinkSync(parent);
    renameSync(`${parent}.away`, parent);
  };
  try {
    open();
  } finally {
    around.before = around.after = () => {};
    around.lstats = 0;
  }
}
