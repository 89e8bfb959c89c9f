/** A linked root: pins apply under every name of a store. */

import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { findSessionPins } from "../../src/cli/prove/pinned.ts";
import { nodeHost } from "../../src/core/base/node-host.ts";
import { SessionVerifier } from "../../src/evidence/verify/session-verifier.ts";
import { refusal } from "../support/refusal.ts";
import { SigningUser, said } from "../support/signing-user.ts";
import { tempDirectory } from "../support/temp-directory.ts";

const RYE = { dialect: "rye" } as const;

/** Two stores next to each other, with a signed and pinned session in each. */
async function twoStores({ oneId = "ours-1", otherId = "theirs-1" } = {}) {
  const user = new SigningUser();
  const above = tempDirectory();
  const [one, other] = [join(above, "one"), join(above, "other")];
  for (const root of [one, other]) mkdirSync(root);
  await user.writeTurns(RYE, 2, { root: one, id: oneId });
  await user.writeTurns(RYE, 2, { root: other, id: otherId });
  return { user, above, one, other };
}

/** The verdict on each session that is found in a root, with its finding codes. */
async function verdictsIn(root: string) {
  const where = { cwd: "/", root, dialect: "rye" as const };
  const verifier = await SessionVerifier.open(nodeHost, { where, onWarning: () => {} });
  const verdicts = new Map<string, string>();
  for (const target of await verifier.find([])) {
    const { verdict, findings } = await verifier.verify(target);
    verdicts.set(String(target.id), [verdict, ...findings.map(({ code }) => code)].join(" "));
  }
  return Object.fromEntries(verdicts);
}

test("a pinned session is reported as missing when its root is replaced by a link to another store", async () => {
  const { one, other, above } = await twoStores();
  assert.deepEqual(await verdictsIn(one), { "ours-1": "verified" });
  renameSync(one, join(above, ".hidden"));
  symlinkSync(other, one);
  assert.deepEqual(await verdictsIn(one), {
    "ours-1": "rollback BEHIND ROOT_IS_LINK",
    "theirs-1": "verified ROOT_IS_LINK",
  });
  assert.deepEqual(await verdictsIn(other), { "theirs-1": "verified" });
});

test("a session of the same id behind a linked root is a different one, pinned there or not", async () => {
  const { user, one, other, above } = await twoStores({ otherId: "ours-1" });
  renameSync(one, join(above, ".hidden"));
  symlinkSync(other, one);
  assert.deepEqual(await verdictsIn(one), { "ours-1": "rollback REPLACED ROOT_IS_LINK" });
  // And nothing is signed on top of it through the link.
  const store = await user.store({ ...RYE, root: one });
  await refusal(store.session("ours-1").append(said("more")), "CHECKPOINT_MISMATCH");
  await store.close();
  await user.heads.forget({ place: `rye:${other}`, id: "ours-1" });
  assert.deepEqual(await verdictsIn(one), { "ours-1": "rollback REPLACED ROOT_IS_LINK" });
});

test("a link above the root hides nothing, and is not a finding by itself", async () => {
  const { one, other, above } = await twoStores();
  const way = join(above, "way");
  symlinkSync(above, way);
  assert.deepEqual(await verdictsIn(join(way, "one")), { "ours-1": "verified" });
  renameSync(one, join(above, ".hidden"));
  symlinkSync(other, one);
  assert.deepEqual(await verdictsIn(join(way, "one")), {
    "ours-1": "rollback BEHIND ROOT_IS_LINK",
    "theirs-1": "verified ROOT_IS_LINK",
  });
});

test("a root that was moved and replaced by a link verifies under both names", async () => {
  const { user, one, above } = await twoStores();
  const moved = join(above, "moved");
  renameSync(one, moved);
  symlinkSync(moved, one);
  assert.deepEqual(await verdictsIn(one), { "ours-1": "verified ROOT_IS_LINK" });
  const store = await user.store({ ...RYE, root: one });
  await store.session("ours-1").append(said("more"));
  await store.close();
  assert.deepEqual(await verdictsIn(one), { "ours-1": "verified ROOT_IS_LINK" });
  assert.deepEqual(await verdictsIn(moved), { "ours-1": "verified" });
  // Forgetting it by one of its names forgets it by all.
  const pins = (await user.heads.read()).found.current();
  const where = { cwd: "/", root: one };
  const named = await findSessionPins(nodeHost, pins, "ours-1", where);
  assert.deepEqual(named.map(({ pin }) => pin.place).sort(), [`rye:${moved}`, `rye:${one}`]);
});

test("verifying from inside a linked root reports what was pinned under its name", async () => {
  const { one, other, above } = await twoStores();
  renameSync(one, join(above, ".hidden"));
  symlinkSync(other, one);
  const before = { cwd: process.cwd(), shell: process.env.PWD };
  try {
    process.chdir(one);
    process.env.PWD = one; // As a shell does.
    const { "ours-1": ours } = await verdictsIn(process.cwd());
    assert.equal(ours, "rollback BEHIND ROOT_IS_LINK");
  } finally {
    process.chdir(before.cwd);
    if (before.shell === undefined) delete process.env.PWD;
    else process.env.PWD = before.shell;
  }
});

test("a pinned session is reported as missing when its root, or its root's target, is a dangling link", async () => {
  const { user, one, above } = await twoStores();
  const moved = join(above, "moved");
  renameSync(one, moved);
  symlinkSync(moved, one);
  const store = await user.store({ ...RYE, root: one });
  await store.session("ours-1").append(said("more"));
  await store.close(); // Now also pinned by the real path.
  await user.heads.forget({ place: `rye:${one}`, id: "ours-1" });
  rmSync(moved, { recursive: true });
  assert.deepEqual(await verdictsIn(one), { "ours-1": "rollback BEHIND ROOT_IS_LINK" });
});
