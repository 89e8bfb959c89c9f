import assert from "node:assert/strict";
import { test } from "vitest";
import { refusal, thrownRefusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { BUNDLE_LIMITS } from "../../core/base/limits.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { UserJudging } from "../../evidence/verify/user-judging.ts";
import {
  BundleWriter,
  chunksOf,
  END_BYTES,
  memberHeader,
  readMembers,
  sha256Of,
} from "./bundle-archive.ts";
import { judgeBundle } from "./judge-bundle.ts";
import { keyMember, LOG, MANIFEST } from "./member-names.ts";

const { membersMax, manifestBytesMax } = BUNDLE_LIMITS;

async function newBundle() {
  const directory = await nodeHost.files.openDirectory(tempDirectory(), { create: false });
  const file = directory.open("a.vbx", "update");
  directory.close();
  return { writer: new BundleWriter(file), bundle: { file, path: "a.vbx" } };
}

test("a member written whole or in pieces is found with its hash", async () => {
  const { writer, bundle } = await newBundle();
  const log = Buffer.alloc(600_000, "line\n");
  const member = writer.begin(LOG);
  for (let at = 0; at < log.length; at += 7001) member.write(log.subarray(at, at + 7001));
  member.end();
  writer.add(keyMember("0".repeat(64)), "");
  writer.add(MANIFEST, "x");
  writer.finish();
  const { members, manifest } = await readMembers(bundle);
  assert.deepEqual([...members.keys()], [LOG, keyMember("0".repeat(64))]);
  assert.deepEqual([manifest.bytes, writer.end], [1, bundle.file.size()]);
  const found = members.get(LOG) ?? assert.fail("the log");
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf(bundle, found)) chunks.push(chunk);
  assert.ok(log.equals(Buffer.concat(chunks)));
  assert.equal(await sha256Of(bundle, found), writer.members[0]?.sha256);
  bundle.file.close();
});

test("a bundle has at most the limit of members, and one more is refused by reader and writer", async () => {
  const { writer, bundle } = await newBundle();
  writer.add(LOG, "");
  const name = (at: number) => keyMember(at.toString(16).padStart(64, "0"));
  for (let at = 1; at < membersMax; at++) writer.add(name(at), "");
  thrownRefusal(() => writer.add(name(membersMax), ""), "BUNDLE_TOO_LARGE");
  writer.add(MANIFEST, "");
  writer.finish();
  assert.equal((await readMembers(bundle)).members.size, membersMax);
  bundle.file.close();

  // Our writer never makes one too many.
  const longer = await newBundle();
  const headers = [LOG, ...Array.from({ length: membersMax }, (_, at) => name(at)), MANIFEST];
  const blocks = headers.map((each) => memberHeader(each, 0));
  longer.bundle.file.writeAt(Buffer.concat([...blocks, Buffer.alloc(END_BYTES)]), 0);
  const { details } = await refusal(readMembers(longer.bundle), "BAD_BUNDLE");
  assert.equal(details.reason, "it has too many members");
  longer.bundle.file.close();
});

test("a manifest may be as long as its limit, and not longer", async () => {
  const judging = await UserJudging.load(nodeHost, { onWarning: () => {} });
  for (const [bytes, reason] of [
    [manifestBytesMax, "its manifest cannot be read"],
    [manifestBytesMax + 1, "its manifest is too long"],
  ] as const) {
    const { writer, bundle } = await newBundle();
    writer.add(LOG, "");
    writer.add(MANIFEST, Buffer.alloc(bytes, "x"));
    writer.finish();
    const judge = { host: nodeHost, judging, rootFor: () => null };
    assert.equal((await refusal(judgeBundle(bundle, judge), "BAD_BUNDLE")).details.reason, reason);
    bundle.file.close();
  }
});
