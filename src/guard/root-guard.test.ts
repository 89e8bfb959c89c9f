import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { GuardedUser } from "../../test/support/guarding.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { COMPARED_BYTES } from "./compare.ts";

const PATH = "projects/-app/one.jsonl";
const LINES = ['{"a":1}\n', '{"a":2}\n', '{"a":3}\n'];
const ALL = LINES.join("");

test("a copy has the bytes and the time of its source, and is private", async () => {
  const user = new GuardedUser();
  user.write(PATH, ALL);
  await user.pass();
  assert.equal(user.copyOf(PATH), ALL);
  const copy = lstatSync(join(user.directory, `${PATH}.1`));
  assert.equal(copy.mode & 0o777, 0o600);
  assert.equal(lstatSync(join(user.directory, "projects")).mode & 0o777, 0o700);
  assert.ok(Math.abs(copy.mtimeMs - lstatSync(user.pathOf(PATH)).mtimeMs) < 1);
  assert.deepEqual(user.happened(), ["began"]);
});

test("only what grew is copied, also of an incomplete line", async () => {
  const user = new GuardedUser();
  user.write(PATH, `${ALL}{"hal`);
  const guard = await user.open();
  user.directory = guard.directory;
  assert.equal((await guard.scan()).bytes, ALL.length + 5);
  appendFileSync(user.pathOf(PATH), 'f":1}\n');
  assert.equal((await guard.scan()).bytes, 6);
  assert.equal((await guard.scan()).bytes, 0);
  assert.equal(user.copyOf(PATH), user.sourceOf(PATH));
  assert.deepEqual(user.happened(), ["began"]);
});

test("a file that grows while it is read is copied to its end, without gap or repeat", async () => {
  const user = new GuardedUser();
  user.write(PATH, "");
  const guard = await user.open();
  user.directory = guard.directory;
  for (let line = 0; line < 300; line++) {
    appendFileSync(user.pathOf(PATH), `${JSON.stringify({ line, x: "y".repeat(3000) })}\n`);
    if (line % 10 === 0) void guard.scan();
  }
  await guard.scan();
  await guard.scan();
  assert.equal(user.copyOf(PATH), user.sourceOf(PATH));
  assert.deepEqual(user.happened(), ["began"]);
});

test("of a deleted session everything is kept; when it is back, its copy continues", async () => {
  const user = new GuardedUser();
  user.write(PATH, ALL);
  await user.pass();
  rmSync(user.pathOf(PATH));
  await user.pass();
  assert.deepEqual(user.happened(), ["began", "source_deleted"]);
  assert.equal(user.copyOf(PATH), ALL);
  assert.notEqual(user.kept(PATH).deletedAt, null);
  user.write(PATH, `${ALL}{"a":4}\n`);
  await user.pass();
  assert.deepEqual(user.happened(), ["source_back"]);
  assert.equal(user.copyOf(PATH), user.sourceOf(PATH));
});

test("all sessions of a deleted directory are kept", async () => {
  const user = new GuardedUser();
  user.write(PATH, ALL);
  user.write("projects/-app/two.jsonl", ALL);
  await user.pass();
  rmSync(user.pathOf("projects"), { recursive: true });
  await user.pass();
  const expected = ["began", "began", "source_deleted", "source_deleted"];
  assert.deepEqual(user.happened(), expected);
});

test("a truncated file begins a new generation, and the event says what was lost", async () => {
  const user = new GuardedUser();
  user.write(PATH, ALL);
  await user.pass();
  truncateSync(user.pathOf(PATH), 8);
  await user.pass();
  const { common, lost, bytes } = user.events[1] ?? {};
  assert.deepEqual({ common, lost, bytes }, { common: 8, lost: 2, bytes: ALL.length });
  assert.deepEqual(user.happened(), ["began", "source_rewritten", "began"]);
  assert.equal(user.copyOf(PATH, 1), ALL);
  assert.equal(user.copyOf(PATH, 2), LINES[0]);
});

test("a file rewritten in place and longer begins a new generation, which is followed", async () => {
  const user = new GuardedUser();
  user.write(PATH, ALL);
  await user.pass();
  user.write(PATH, `{"summary":1}\n${LINES[2]}${ALL}`, Date.now() - 9000);
  await user.pass();
  assert.deepEqual(user.happened(), ["began", "source_rewritten", "began"]);
  assert.equal(user.kept(PATH).losses[0]?.lost, 0);
  appendFileSync(user.pathOf(PATH), LINES[0] ?? "");
  await user.pass();
  assert.deepEqual(user.happened(), []);
  assert.equal(user.copyOf(PATH, 1), ALL);
  assert.equal(user.copyOf(PATH, 2), user.sourceOf(PATH));
});

test("other bytes of the same size begin a new generation", async () => {
  const user = new GuardedUser();
  user.write(PATH, ALL);
  const guard = await user.open();
  user.directory = guard.directory;
  await guard.scan();
  user.write(PATH, ALL.replace("2", "7"), Date.now() - 5000);
  await guard.scan();
  assert.deepEqual(user.happened(), ["began", "source_rewritten", "began"]);
  assert.equal(user.copyOf(PATH, 1), ALL);
  assert.equal(user.copyOf(PATH, 2), user.sourceOf(PATH));
});

test("the same size in the same moment is seen at the next look", async () => {
  const user = new GuardedUser();
  const written = Math.floor(Date.now() / 1000) * 1000;
  user.write(PATH, ALL, written);
  user.nowMs = () => written + 10;
  const guard = await user.open();
  user.directory = guard.directory;
  await guard.scan();
  user.write(PATH, ALL.replace("2", "7"), written);
  await guard.scan();
  assert.equal(user.copyOf(PATH, 2), user.sourceOf(PATH));
});

test("a middle byte of a large file that changed is found when the file rests", async () => {
  const user = new GuardedUser();
  const large = Buffer.alloc(COMPARED_BYTES + 100_000, "x");
  user.write(PATH, large, Date.now() - 9000);
  const guard = await user.open();
  user.directory = guard.directory;
  await guard.scan();
  large[1_100_003] = 121;
  user.write(PATH, Buffer.concat([large, Buffer.from("more\n")]), Date.now() - 8000);
  await guard.scan();
  assert.deepEqual(user.happened(), ["began"], "its marks are the same");
  user.nowMs = () => Date.now() + 61_000;
  await guard.scan();
  assert.deepEqual(user.happened(), ["source_rewritten", "began"]);
  assert.equal(user.copyOf(PATH, 2), user.sourceOf(PATH));
});

test("a renamed session is kept under both names", async () => {
  const user = new GuardedUser();
  user.write(PATH, ALL);
  await user.pass();
  mkdirSync(user.pathOf("projects/-new"));
  renameSync(user.pathOf(PATH), user.pathOf("projects/-new/one.jsonl"));
  await user.pass();
  assert.deepEqual(user.happened(), ["began", "began", "source_deleted"]);
  assert.equal(user.copyOf("projects/-new/one.jsonl"), ALL);
  assert.equal(user.copyOf(PATH), ALL);
});

test("a link or a pipe in a session's place is refused, and the others are guarded", async () => {
  const user = new GuardedUser();
  const secret = join(tempDirectory(), "secret.jsonl");
  writeFileSync(secret, "secret\n");
  user.write(PATH, ALL);
  symlinkSync(secret, user.pathOf("projects/-app/link.jsonl"));
  execFileSync("mkfifo", [user.pathOf("projects/-app/pipe.jsonl")]);
  symlinkSync(tempDirectory(), user.pathOf("projects/-linked"));
  await user.pass();
  assert.equal(user.copyOf(PATH), ALL);
  assert.deepEqual(readdirSync(join(user.directory, "projects/-app")), ["one.jsonl.1"]);
  assert.equal(user.warnings.length, 3, user.warnings.join("\n"));
});

test("a link in the place of a copy is not followed", async () => {
  const user = new GuardedUser();
  const victim = join(tempDirectory(), "victim");
  writeFileSync(victim, "untouched");
  user.write(PATH, ALL);
  await user.pass();
  rmSync(join(user.directory, `${PATH}.1`));
  symlinkSync(victim, join(user.directory, `${PATH}.1`));
  user.write(PATH, `${ALL}more\n`);
  await user.pass();
  assert.equal(lstatSync(victim).size, "untouched".length);
  assert.equal(user.warnings.length, 1);
});

test("a second guard of the same directory is refused", async () => {
  const user = new GuardedUser();
  await user.open();
  await assert.rejects(user.open(), { code: "LOG_LOCKED" });
});

test("a copy that the guard did not write for 7 days is compressed, and continues when it grows", async () => {
  const user = new GuardedUser();
  user.write(PATH, ALL.repeat(500));
  const guard = await user.open();
  user.directory = guard.directory;
  await guard.scan();
  await guard.compressCold();
  const names = () => readdirSync(join(user.directory, "projects/-app"));
  assert.deepEqual(names(), ["one.jsonl.1"]);
  user.nowMs = () => Date.now() + 8 * 86_400_000;
  await guard.compressCold();
  assert.deepEqual(names(), ["one.jsonl.1.gz"]);
  assert.equal(user.copyOf(PATH), user.sourceOf(PATH));
  await guard.close();
  await user.pass();
  assert.deepEqual(names(), ["one.jsonl.1.gz"], "it is unchanged");
  appendFileSync(user.pathOf(PATH), ALL);
  await user.pass();
  assert.equal(user.copyOf(PATH), user.sourceOf(PATH));
  assert.deepEqual(user.happened(), ["began"]);
});
