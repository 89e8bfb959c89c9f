import assert from "node:assert/strict";
import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { nodeSurroundings } from "./node-surroundings.ts";

function modeOf(path: string): number {
  return statSync(path).mode & 0o7777;
}

test("a listing names kinds and permissions, and follows no link", () => {
  const directory = tempDirectory();
  mkdirSync(join(directory, "b"));
  chmodSync(join(directory, "b"), 0o2750);
  writeFileSync(join(directory, "a"), "");
  chmodSync(join(directory, "a"), 0o640);
  symlinkSync("b", join(directory, "c"));
  const found = nodeSurroundings.list(directory).map(({ name, kind, mode }) => [name, kind, mode]);
  assert.deepEqual(found, [
    ["a", "file", 0o640],
    ["b", "directory", 0o750],
    ["c", "link", 0o777],
  ]);
  assert.equal(nodeSurroundings.look(join(directory, "none")), null);
  assert.throws(() => nodeSurroundings.list(join(directory, "none")), { code: "ENOENT" });
});

test("setting permissions of files and directories keeps the bits above the nine", () => {
  const root = tempDirectory();
  const path = join(root, "inner");
  mkdirSync(path);
  chmodSync(path, 0o2755);
  nodeSurroundings.setMode(path, root, 0o700);
  assert.equal(modeOf(path), 0o2700);
  const file = join(path, "file");
  writeFileSync(file, "");
  chmodSync(file, 0o666);
  nodeSurroundings.setMode(file, root, 0o600);
  assert.equal(modeOf(file), 0o600);
});

test("a root that is itself behind a link is the caller's choice", () => {
  const root = tempDirectory();
  writeFileSync(join(root, "file"), "");
  chmodSync(join(root, "file"), 0o644);
  const link = join(tempDirectory(), "link");
  symlinkSync(root, link);
  nodeSurroundings.setMode(join(link, "file"), link, 0o600);
  assert.equal(modeOf(join(root, "file")), 0o600);
});

test("permissions of a link's target are never changed (NS1)", () => {
  const root = tempDirectory();
  const outside = tempDirectory();
  writeFileSync(join(outside, "file"), "");
  chmodSync(join(outside, "file"), 0o644);
  symlinkSync(join(outside, "file"), join(root, "file"));
  assert.throws(() => nodeSurroundings.setMode(join(root, "file"), root, 0o600), { code: "ELOOP" });

  mkdirSync(join(root, "inner"));
  renameSync(join(root, "inner"), join(root, "moved"));
  symlinkSync(outside, join(root, "inner"));
  const behind = join(root, "inner", "file");
  thrownRefusal(() => nodeSurroundings.setMode(behind, root, 0o600), "UNSAFE_PATH");
  assert.equal(modeOf(join(outside, "file")), 0o644);
  rmSync(join(root, "inner"));
});
