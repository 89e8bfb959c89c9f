import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { readUserFile, type UserFileRules, userDirectoryFault } from "./node-user-files.ts";

const ANYONE: UserFileRules = { bytesMax: 100, access: "anyone" };
const OWN: UserFileRules = { bytesMax: 100, access: "own" };
const SECRET: UserFileRules = { bytesMax: 100, access: "secret" };

const isRoot = process.geteuid?.() === 0;

function fileWith(contents: string | Uint8Array, mode = 0o600): string {
  const path = join(tempDirectory(), "file");
  writeFileSync(path, contents);
  chmodSync(path, mode);
  return path;
}

function faultOf(path: string, rules: UserFileRules): string {
  const file = readUserFile(path, rules);
  assert.ok(file, "the file exists");
  assert.ok(file.fault !== null, "the file was accepted");
  return file.fault;
}

test("a file's text is read, and a missing file is null", () => {
  for (const text of ["", "short", "ä€😀\n"]) {
    assert.deepEqual(readUserFile(fileWith(text), SECRET), { text, fault: null });
  }
  const directory = tempDirectory();
  assert.equal(readUserFile(join(directory, "none"), SECRET), null);
  assert.equal(readUserFile(join(fileWith("x"), "below-a-file"), SECRET), null);
});

test("a file may be as large as its limit, and not a byte larger", () => {
  const text = "x".repeat(100);
  assert.equal(readUserFile(fileWith(text), ANYONE)?.text, text);
  assert.match(faultOf(fileWith(`${text}x`), ANYONE), /larger than 100 bytes/);
  assert.match(faultOf("/proc/self/environ", { bytesMax: 1, access: "anyone" }), /larger than 1/);
});

test("a file of any size up to its limit is read whole", () => {
  for (const length of [0, 1, 4095, 4096, 4097, 8191, 8192, 8193, 20_000]) {
    const text = Array.from({ length }, (_, at) => at % 10).join("");
    for (const bytesMax of [length, length + 1, 1024 * 1024]) {
      const file = readUserFile(fileWith(text), { bytesMax, access: "anyone" });
      assert.equal(file?.text, text, `${length} bytes, at most ${bytesMax}`);
    }
    const bytesMax = Math.max(0, length - 1);
    if (length > 0) assert.match(faultOf(fileWith(text), { bytesMax, access: "anyone" }), /larger/);
  }
});

test("a file that is not UTF-8 is refused", () => {
  assert.match(faultOf(fileWith(Uint8Array.of(0x61, 0xff)), ANYONE), /not UTF-8/);
  assert.match(faultOf(fileWith(Uint8Array.of(0xc3)), ANYONE), /not UTF-8/);
});

test("links, directories, pipes and devices are refused without waiting for them", () => {
  const directory = tempDirectory();
  const target = fileWith("the target");
  symlinkSync(target, join(directory, "link"));
  symlinkSync(join(directory, "nowhere"), join(directory, "dangling"));
  mkdirSync(join(directory, "directory"));
  execFileSync("mkfifo", [join(directory, "pipe")]);
  assert.match(faultOf(join(directory, "link"), ANYONE), /symbolic link/);
  assert.match(faultOf(join(directory, "dangling"), ANYONE), /symbolic link/);
  assert.match(faultOf(join(directory, "directory"), ANYONE), /not a regular file/);
  assert.match(faultOf(join(directory, "pipe"), ANYONE), /not a regular file/);
  assert.match(faultOf("/dev/null", ANYONE), /not a regular file/);
});

test("a secret file must be private to its user, and an own file writable by its user only", () => {
  const path = fileWith("text");
  for (let others = 0; others <= 0o77; others++) {
    chmodSync(path, 0o600 | others);
    assert.equal(readUserFile(path, ANYONE)?.text, "text");
    const isWritable = (others & 0o22) !== 0;
    if (isWritable) assert.match(faultOf(path, OWN), /can change it .*chmod 600/);
    else assert.equal(readUserFile(path, OWN)?.text, "text");
    if (others !== 0) assert.match(faultOf(path, SECRET), /chmod 600 '.*file'/);
    else assert.equal(readUserFile(path, SECRET)?.text, "text");
  }
});

test("a directory that others can write to is refused; one that others can read is accepted", () => {
  const path = tempDirectory();
  for (let others = 0; others <= 0o77; others++) {
    chmodSync(path, 0o700 | others);
    const fault = userDirectoryFault(path);
    if ((others & 0o22) !== 0) assert.match(fault ?? "", /can change it .*chmod 700/);
    else assert.equal(fault, null);
  }
  assert.equal(userDirectoryFault(join(path, "none")), null);
  assert.match(userDirectoryFault(fileWith("x")) ?? "", /not a directory/);
});

// Only root can give files away.
if (isRoot) {
  test("a file of another user is refused, unless access is anyone", () => {
    const path = fileWith("text");
    chownSync(path, 12345, 12345);
    assert.match(faultOf(path, OWN), /belongs to another user \(12345\)/);
    assert.match(faultOf(path, SECRET), /belongs to another user/);
    assert.equal(readUserFile(path, ANYONE)?.text, "text");
  });
}

test("an error of the disk is an IO_ERROR", () => {
  const name = "x".repeat(300);
  const { details } = thrownRefusal(() => readUserFile(`/tmp/${name}`, OWN), "IO_ERROR");
  assert.equal(details.errno, "ENAMETOOLONG");
});

test("a file over the limit is refused without reading it", () => {
  const path = join(tempDirectory(), "large");
  writeFileSync(path, "");
  truncateSync(path, 2 ** 30); // Sparse.
  const before = process.memoryUsage().arrayBuffers;
  const file = readUserFile(path, { bytesMax: 2 ** 26, access: "anyone" });
  assert.match(file?.fault ?? "", /larger than/);
  assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 25);
});
