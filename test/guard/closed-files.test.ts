/** Files that the user may not read: they are reported, and all others are guarded. */

import assert from "node:assert/strict";
import { chmodSync, chownSync } from "node:fs";
import { expect, test } from "vitest";
import { GuardedUser } from "../support/guarding.ts";

const PATH = "projects/-app/one.jsonl";
const OTHER_USER = 65534;

test("a file or directory without permission is reported once, by its path", async () => {
  const user = new GuardedUser();
  for (const path of [PATH, "projects/-app/two.jsonl", "projects/-closed/three.jsonl"]) {
    user.write(path, '{"a":1}\n');
  }
  const isRoot = process.geteuid?.() === 0;
  for (const place of [user.root, user.store]) {
    if (isRoot) chownSync(place, OTHER_USER, OTHER_USER);
  }
  chmodSync(user.pathOf("projects/-app/two.jsonl"), 0);
  chmodSync(user.pathOf("projects/-closed"), 0);
  if (isRoot) process.seteuid?.(OTHER_USER);
  try {
    await user.pass();
    assert.equal(user.copyOf(PATH), '{"a":1}\n');
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(user.pathOf("projects/-closed"), 0o700);
  }
  assert.deepEqual(user.happened(), ["began"]);
  expect(user.warnings).toEqual([
    expect.stringContaining(`${user.root}/projects/-closed; check who owns it`),
    expect.stringContaining(`${user.root}/projects/-app/two.jsonl; check who owns it`),
  ]);
});
