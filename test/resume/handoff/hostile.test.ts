/**
 * Hostile bundles: whatever a file holds, it is refused with a code, and nothing is written.
 *
 * Method: a small honest bundle, cut and altered at every byte, judged in memory; and bundles that a
 * trusted but hostile colleague signs, unpacked on a real disk.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { VerbatimError } from "../../../src/core/base/errors.ts";
import { nodeHost } from "../../../src/core/base/node-host.ts";
import { UserJudging } from "../../../src/evidence/verify/user-judging.ts";
import {
  type Member,
  memberHeader,
  paddingAfter,
  readMembers,
} from "../../../src/resume/handoff/bundle-archive.ts";
import { judgeBundle } from "../../../src/resume/handoff/judge-bundle.ts";
import {
  type BundleManifest,
  readManifest,
  signManifest,
} from "../../../src/resume/handoff/manifest.ts";
import { loadSigner } from "../../../src/trust/keys/keys.ts";
import { memoryHost } from "../../support/memory-files.ts";
import { refusal } from "../../support/refusal.ts";
import { isTried, runs } from "../../support/seed.ts";
import { said } from "../../support/signing-user.ts";
import { tempDirectory } from "../../support/temp-directory.ts";
import { settledTreeAt, treeAt } from "../../support/tree.ts";
import { HandingUser } from "./handing.ts";

const REFUSALS: readonly string[] = ["BAD_BUNDLE", "NOT_VERIFIED"];

/** The code of a refusal; null when the bytes are accepted. Any other error is thrown. */
async function judged(bytes: Uint8Array, judging: UserJudging): Promise<string | null> {
  const path = "/memory/a.vbx";
  const directory = await memoryHost(new Map([[path, bytes]])).files.openDirectory("/memory", {
    create: false,
  });
  const bundle = { file: directory.open("a.vbx", "read"), path };
  try {
    await judgeBundle(bundle, { host: nodeHost, judging, rootFor: () => "/nowhere" });
    return null;
  } catch (error) {
    if (!(error instanceof VerbatimError)) throw error;
    assert.ok(REFUSALS.includes(error.code), `${error.code}: ${error.message}`);
    return error.code;
  }
}

/** A user, and the smallest bundle of theirs in a dialect. */
async function small(dialect: "rye" | "homeagent") {
  const ada = new HandingUser();
  const written = await ada.write({ dialect }, [{ kind: "start" }, said("go")]);
  const { path } = await ada.handoff(written);
  const judging = await UserJudging.load(nodeHost, { onWarning: () => {} });
  return { ada, path, judging, bytes: readFileSync(path), written };
}

test("a bundle that is cut at any byte, or has bytes after its end, is refused", async () => {
  const { bytes, judging } = await small("rye");
  assert.equal(await judged(bytes, judging), null, "the honest one is taken");
  for (let cut = 0; cut < bytes.length; cut++) {
    if (cut % 512 > 1 && !isTried(cut, 5)) continue;
    assert.ok(await judged(bytes.subarray(0, cut), judging), `cut at ${cut}`);
  }
  for (const more of [Buffer.alloc(1), Buffer.alloc(512), Buffer.from("x"), bytes]) {
    assert.ok(await judged(Buffer.concat([bytes, more]), judging));
  }
});

test.each(["rye", "homeagent"] as const)(
  "a %s bundle with any byte changed is refused",
  async (dialect) => {
    const { bytes, judging } = await small(dialect);
    for (let at = 0; at < bytes.length; at++) {
      if (!isTried(at, 9)) continue;
      const altered = Buffer.from(bytes);
      altered[at] = (altered[at] ?? 0) ^ (1 << (at % 8));
      assert.ok(await judged(altered, judging), `byte ${at} of ${bytes.length}`);
    }
  },
);

test("any bytes that are not a bundle are refused with a code", async () => {
  const { bytes, judging } = await small("homeagent");
  const pieces = fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 700 }),
      fc.tuple(fc.nat(bytes.length), fc.nat(2048)).map(([at, n]) => bytes.subarray(at, at + n)),
      fc.constantFrom("log.jsonl", "manifest.json", "../x").map((name) => memberHeader(name, 0)),
    ),
    { maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(pieces, async (made) => {
      assert.ok(await judged(Buffer.concat(made), judging));
    }),
    { numRuns: runs(300) },
  );
});

interface Made {
  readonly name: string;
  readonly content: Uint8Array;
  /** The bytes before it, when that is not its proper header. */
  readonly header?: Uint8Array;
}

function tarOf(members: readonly Made[]): Buffer {
  const blocks = members.flatMap(({ name, content, header }) => [
    header ?? memberHeader(name, content.length),
    content,
    Buffer.alloc(paddingAfter(content.length)),
  ]);
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** The members of an honest bundle, and how its own signer would sign others. */
async function forger(dialect: "rye" | "homeagent" = "rye") {
  const { ada, path, bytes, written } = await small(dialect);
  const directory = await memoryHost(new Map([["/m/a", bytes]])).files.openDirectory("/m", {
    create: false,
  });
  const bundle = { file: directory.open("a", "read"), path };
  const found = await readMembers(bundle);
  const content = ({ start, bytes: length }: Member) => bytes.subarray(start, start + length);
  const manifest = readManifest(content(found.manifest))?.manifest ?? assert.fail("a manifest");
  const members = [...found.members.values()].map((member): Made => {
    return { name: member.name, content: content(member) };
  });
  const signed = async (made: readonly Made[], more: Partial<BundleManifest> = {}) => {
    const signer = await loadSigner(nodeHost, ada.places);
    const listed = made.map(({ name, content }) => ({
      name,
      bytes: content.length,
      sha256: createHash("sha256").update(content).digest("hex"),
      derived: name.startsWith("derived/"),
    }));
    const whole = { ...manifest, members: listed, ...more };
    const text = await signManifest(whole, (message) => signer.sign(message));
    return [...made, { name: "manifest.json", content: Buffer.from(text) }];
  };
  const tryOut = async (bytes: Uint8Array) => {
    const root = tempDirectory();
    const file = join(tempDirectory(), "hostile.vbx");
    writeFileSync(file, bytes);
    const before = await settledTreeAt(root);
    const error = await ada.unpack(file, { root }).then(
      () => assert.fail("was taken"),
      (error: unknown) => error,
    );
    assert.deepEqual(treeAt(root), before, "nothing is written");
    if (!(error instanceof VerbatimError)) throw error;
    const { verdict } = error.details as { verdict?: string };
    return verdict === undefined ? error.code : `${error.code} ${verdict}`;
  };
  return { ada, members, manifest, signed, tryOut, written };
}

test("the honest members, signed again, are accepted: the next ones are refused for their change", async () => {
  const { ada, members, signed } = await forger();
  const file = join(tempDirectory(), "honest.vbx");
  writeFileSync(file, tarOf(await signed(members)));
  assert.equal((await ada.unpack(file, { root: tempDirectory() })).verdict, "verified");
});

test.each([
  ["an absolute path", "/etc/cron.d/x"],
  ["a way up", "../../.ssh/authorized_keys"],
  ["a way up inside", "spill/../../x"],
  ["a way up that ends like ours", "../a.0.spill"],
  ["a key with an invalid name", "keys/../../a.pem"],
  ["another case", "LOG.jsonl"],
  ["an unknown name", "transcript.jsonl"],
  ["a directory", "spill/"],
  ["a hidden file", ".bashrc"],
])("a member with %s is refused, even if signed by a trusted key", async (_what, name) => {
  const { members, signed, tryOut } = await forger();
  const made = [...members, { name, content: Buffer.from("x") }];
  assert.equal(await tryOut(tarOf(await signed(made))), "BAD_BUNDLE");
});

/** A header with one field changed, and the right sum over it. */
function changedHeader(name: string, bytes: number, at: number, value: string): Uint8Array {
  const header = Buffer.from(memberHeader(name, bytes));
  header.write(value, at, "latin1");
  header.write("        ", 148, "latin1");
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

test.each([
  ["a symbolic link", 156, "2"],
  ["a hard link", 156, "1"],
  ["a character device", 156, "3"],
  ["a block device", 156, "4"],
  ["a directory", 156, "5"],
  ["a pipe", 156, "6"],
  ["GNU's sparse file", 156, "S"],
  ["GNU's long name", 156, "L"],
  ["a pax header", 156, "x"],
  ["a target of a link", 157, "/etc/passwd"],
  ["a prefix before its name", 345, "../.."],
  ["an owner", 108, "0001750"],
  ["another mode", 100, "0004755"],
  ["a time", 136, "00000000001"],
  ["a length in binary", 124, "\x80"],
  ["a length of the whole disk", 124, "77777777777"],
  ["a length below zero", 124, "-0000000001"],
])("a member that is %s is refused, even if signed by a trusted key", async (_what, at, value) => {
  const { members, signed, tryOut } = await forger();
  const [log, ...rest] = await signed(members);
  if (!log) assert.fail("a log");
  const header = changedHeader(log.name, log.content.length, at, value);
  assert.equal(await tryOut(tarOf([{ ...log, header }, ...rest])), "BAD_BUNDLE");
});

test("members that are there twice, or in another order, are refused", async () => {
  const { members, signed, tryOut } = await forger();
  const again = members[1] ?? assert.fail("a second member");
  assert.equal(await tryOut(tarOf(await signed([...members, again]))), "BAD_BUNDLE");
  const spill = (name: string) => ({ name: `spill/${name}.0.spill`, content: Buffer.from('""') });
  const twins = [...members, spill("a"), spill("A")];
  assert.equal(await tryOut(tarOf(await signed(twins))), "BAD_BUNDLE");
  assert.equal(await tryOut(tarOf(await signed([...members].reverse()))), "BAD_BUNDLE");
  const whole = await signed(members);
  assert.equal(await tryOut(tarOf([...whole.slice(-1), ...whole.slice(0, -1)])), "BAD_BUNDLE");
  assert.equal(await tryOut(tarOf([...whole, ...whole.slice(-1)])), "BAD_BUNDLE");
});

test("a manifest that lists other members, or another session, is refused", async () => {
  const { members, signed, tryOut, manifest } = await forger();
  const [log, ...rest] = members;
  if (!log) assert.fail("a log");
  const tampered = "NOT_VERIFIED tampered";
  const whole = await signed(members);
  const last = whole.at(-1) ?? assert.fail("a manifest");
  assert.equal(await tryOut(tarOf([...members.slice(0, -1), last])), tampered);
  const swapped = { ...log, content: Buffer.from(log.content.toString().replace("go", "no")) };
  assert.equal(await tryOut(tarOf([swapped, ...rest, last])), tampered, "a swapped log");
  // Signed again by a trusted key, the log still proves itself.
  assert.equal(await tryOut(tarOf(await signed([swapped, ...rest]))), tampered);
  assert.equal(await tryOut(tarOf(await signed(members, { session: "other-1" }))), tampered);
  const head = { ...manifest.head, seq: manifest.head.seq + 1 };
  assert.equal(await tryOut(tarOf(await signed(members, { head }))), tampered);
  const nowhere = await signed(members, { session: "../../x" });
  assert.equal(await tryOut(tarOf(nowhere)), "BAD_BUNDLE");
  const foreign = await signed(members, { dialect: "entire" });
  assert.equal(await tryOut(tarOf(foreign)), "BAD_BUNDLE", "thread.json is nothing of Entire's");
  const other = await signed([...members, { name: "checkpoints.jsonl", content: Buffer.from("") }]);
  assert.equal(await tryOut(tarOf(other)), "BAD_BUNDLE");
});

test("a log without its checkpoints, or cut back, is refused with its verdict", async () => {
  const { members, signed, tryOut } = await forger("homeagent");
  const bare = members.filter(({ name }) => name !== "checkpoints.jsonl");
  assert.equal(await tryOut(tarOf(await signed(bare))), "NOT_VERIFIED unsigned");
  const cut = members.map((member) =>
    member.name === "log.jsonl" ? { ...member, content: Buffer.alloc(0) } : member,
  );
  expect(await tryOut(tarOf(await signed(cut)))).toMatch(/^NOT_VERIFIED (rollback|tampered)$/);
});

test("a thread.json that was altered, or is another thread's, is refused", async () => {
  const { members, signed, tryOut } = await forger();
  const altered = members.map(({ name, content }) => {
    if (name !== "thread.json") return { name, content };
    return { name, content: Buffer.from(content.toString().replace("hello", "jello")) };
  });
  assert.equal(await tryOut(tarOf(await signed(altered))), "NOT_VERIFIED tampered");
});

test("a manifest has one spelling", async () => {
  const { members, signed, tryOut } = await forger();
  const whole = await signed(members);
  const last = whole.at(-1) ?? assert.fail("a manifest");
  const text = last.content.toString();
  for (const other of [
    text.replace('"session":', '"session" :'),
    text.replace("{", '{"schema":"verbatim.bundle/1",'),
    text.replace(/"kid":"(.)/, '"kid":"G'),
    text.trimEnd(),
    `${text}\n`,
    "{}\n",
    "",
  ]) {
    const made = [...members, { name: "manifest.json", content: Buffer.from(other) }];
    assert.equal(await tryOut(tarOf(made)), "BAD_BUNDLE", other.slice(0, 60));
  }
});

const COMMIT = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const REMOTE = "https://example.org/ada/oven.git";

test("a manifest whose fields no writer writes is refused, even if signed by a trusted key", async () => {
  const { ada, members, signed, tryOut, manifest } = await forger();
  const remotes = [
    "ext::sh -c id",
    "/etc/passwd",
    "--x",
    "file:///etc/passwd",
    "",
    "C:/git",

    "ssh://-oProxyCommand=id/x",
    "https://ada:s3cret@example.org/a",
    "https://ada@example.org/a",
    "git@example.org:a/b.git",
    "https://example.org/a?b",
    "https://example.org/a#b",
    "https://example.org/a b",
    "https://example.org/$(id)",
    "https://example.org/a;id",
    "http://example.org/a",
    "javascript:alert(1)",
    "https:///a",
    "HTTPS://example.org/a",
    "https://example.org/a\n",
    "\u001b]0;x\u0007",
    `https://example.org/${"a".repeat(2048)}`,
  ];
  const commits = ["--x", "HEAD", "", "4b825dc", COMMIT.toUpperCase(), `${COMMIT}\n`, `${COMMIT}0`];
  const hostile: Partial<BundleManifest>[] = [
    ...remotes.map((remote) => ({ git: { remote, commit: COMMIT } })),
    ...commits.map((commit) => ({ git: { remote: REMOTE, commit } })),
    ...["", "\u001b[2J", "x".repeat(101)].map((by) => ({ by })),
    ...["yesterday", "2026-11-15", "2026-11-15T06:00:00Z", "1"].map((made) => ({ made })),
    { head: { ...manifest.head, log: "x" } },
    { head: { ...manifest.head, line: "--x" } },
  ];
  for (const more of hostile) {
    const bytes = tarOf(await signed(members, more));
    assert.equal(await tryOut(bytes), "BAD_BUNDLE", JSON.stringify(more));
  }
  const file = join(tempDirectory(), "honest.vbx");
  for (const remote of [null, REMOTE, "ssh://example.org:2222/a/b.git", "git://[::1]/a.git"]) {
    const git = { remote, commit: COMMIT };
    writeFileSync(file, tarOf(await signed(members, { git })));
    assert.deepEqual((await ada.unpack(file, { root: tempDirectory() })).from.git, git);
  }
});

test("bombs are refused: compressed files, holes, false lengths", async () => {
  const { tryOut } = await forger();
  assert.equal(await tryOut(gzipSync(Buffer.alloc(64 * 1024 * 1024))), "BAD_BUNDLE");
  assert.equal(await tryOut(Buffer.alloc(4 * 1024 * 1024)), "BAD_BUNDLE");
  const path = join(tempDirectory(), "sparse.vbx");
  writeFileSync(path, memberHeader("log.jsonl", 0o77777777777));
  truncateSync(path, 8 * 1024 ** 3 + 1024); // A hole: 8 GiB that take no room.
  await refusal(new HandingUser().unpack(path), "BAD_BUNDLE");
});
