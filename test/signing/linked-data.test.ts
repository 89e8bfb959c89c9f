/** A linked data directory: pins of streams apply under every name of the directory. */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { verify } from "../../src/doors/signing.ts";
import { JSON_STREAM, message, SignedStreams } from "../support/signed-streams.ts";
import { tempDirectory } from "../support/temp-directory.ts";

/** Two data directories next to each other, each with a signed and pinned stream. */
async function twoDirectories(otherPath = "/theirs") {
  const above = tempDirectory();
  const [one, other] = [join(above, "one"), join(above, "other")];
  for (const root of [one, other]) mkdirSync(root);
  const streams = new SignedStreams(one);
  await write(streams, one, "/ours");
  await write(streams, other, otherPath);
  return { streams, above, one, other };
}

async function write(streams: SignedStreams, dataDirectory: string, path: string) {
  const store = await streams.open({ dataDirectory });
  await store.create(path, JSON_STREAM);
  await store.append(path, message({ in: path }));
  await store.close();
}

/** The verdict on each stream of a data directory, with its finding codes. */
async function verdictsIn(directory: string) {
  const reports = await verify([directory], { onWarning: () => {} });
  return Object.fromEntries(
    reports.map(({ session, verdict, findings }) => {
      return [session, [verdict, ...findings.map(({ code }) => code)].join(" ")];
    }),
  );
}

test("a pinned stream is reported as missing when its data directory is replaced by a link to another", async () => {
  const { above, one, other } = await twoDirectories();
  assert.deepEqual(await verdictsIn(one), { "/ours": "verified" });
  renameSync(one, join(above, ".hidden"));
  symlinkSync(other, one);
  assert.deepEqual(await verdictsIn(one), {
    "/ours": "rollback BEHIND ROOT_IS_LINK",
    "/theirs": "verified ROOT_IS_LINK",
  });
  assert.deepEqual(await verdictsIn(other), { "/theirs": "verified" });
});

test("a stream of the same path behind a linked data directory is a different one", async () => {
  const { above, one, other } = await twoDirectories("/ours");
  renameSync(one, join(above, ".hidden"));
  symlinkSync(other, one);
  assert.deepEqual(await verdictsIn(one), { "/ours": "rollback REPLACED ROOT_IS_LINK" });
});

test("a data directory that was moved and replaced by a link verifies under both names", async () => {
  const { above, one } = await twoDirectories();
  const moved = join(above, "moved");
  renameSync(one, moved);
  symlinkSync(moved, one);
  assert.deepEqual(await verdictsIn(one), { "/ours": "verified ROOT_IS_LINK" });
  assert.deepEqual(await verdictsIn(moved), { "/ours": "verified" });
});

test("the pinned streams of a data directory that is a dangling link are reported as gone", async () => {
  const { streams, above, one } = await twoDirectories();
  const gone = { "/ours": "rollback BEHIND ROOT_IS_LINK" };
  renameSync(one, join(above, ".hidden"));
  symlinkSync(join(above, "nowhere"), one);
  assert.deepEqual(await verdictsIn(one), gone);
  // Also pinned under the name of the link's target.
  rmSync(one);
  const moved = join(above, "moved");
  mkdirSync(moved);
  symlinkSync(moved, one);
  await streams.user.heads.forget({ place: `streams:${one}`, id: "/ours" });
  await write(streams, one, "/ours");
  rmSync(moved, { recursive: true });
  assert.deepEqual(await verdictsIn(one), gone);
});

/** The checkpoints of the only stream in a data directory. */
function checkpointsIn(directory: string): string {
  const file = new SignedStreams(directory).files().find((each) => each.endsWith(".checkpoints"));
  return readFileSync(join(directory, "logs", file ?? ""), "utf8");
}

test("a server on a linked data directory does not sign a stream that replaces a pinned one", async () => {
  const { streams, above, one, other } = await twoDirectories("/ours");
  renameSync(one, join(above, ".hidden"));
  symlinkSync(other, one);
  const before = checkpointsIn(other);
  const store = await streams.open({ dataDirectory: one });
  await store.append("/ours", message(2));
  await store.close();
  assert.match(streams.warnings.join(), /\/ours is not signed any further/);
  assert.equal(checkpointsIn(other), before);
});

test("a server on a linked data directory does not sign a stream that was rolled back", async () => {
  const { streams, above, one } = await twoDirectories();
  const old = join(above, "old");
  cpSync(one, old, { recursive: true });
  const store = await streams.open();
  await store.append("/ours", message(2));
  await store.close();
  renameSync(one, join(above, ".hidden"));
  symlinkSync(old, one);
  const before = checkpointsIn(old);
  const again = await streams.open({ dataDirectory: one });
  await again.append("/ours", message(3));
  await again.close();
  assert.match(streams.warnings.join(), /\/ours is not signed any further/);
  assert.equal(checkpointsIn(old), before);
});

test("a server on a data directory that was moved and replaced by a link continues to sign", async () => {
  const { streams, above, one } = await twoDirectories();
  const moved = join(above, "moved");
  renameSync(one, moved);
  symlinkSync(moved, one);
  const store = await streams.open();
  await store.append("/ours", message(2));
  await store.close();
  assert.deepEqual(streams.warnings, []);
  assert.deepEqual(await verdictsIn(one), { "/ours": "verified ROOT_IS_LINK" });
  // After it is deleted through the link, it is not missing under either name, and the path can be
  // used again.
  const again = await streams.open();
  await again.remove("/ours");
  await again.close();
  assert.deepEqual(await verdictsIn(one), {});
  await write(streams, one, "/ours");
  assert.deepEqual(streams.warnings, []);
  assert.deepEqual(await verdictsIn(one), { "/ours": "verified ROOT_IS_LINK" });
});
