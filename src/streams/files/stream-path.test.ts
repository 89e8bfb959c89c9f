/** Names: every legal path has its own file, and no illegal path has one (S3-3). */

import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { tempDirectory } from "../../../test/support/temp-directory.ts";
import { STREAM_PATH_BYTES_MAX } from "../../core/base/limits.ts";
import { checkStreamPath, logFileName, streamPathToFilename } from "./stream-path.ts";

/** Few characters, so that generated paths nearly collide; and any others. */
const awkward = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom("/", "_", "__", "a", "A", "%", "~", ".", "5F", "1") },
    { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom("x".repeat(100), "é".repeat(60), "_".repeat(90)) },
  ),
  { minLength: 1, maxLength: 9 },
);
const legalPath = awkward.map((parts) => `/${parts.join("")}`).filter(isLegal);

test("S3-3 slashes become two underscores: the document's example", () => {
  assert.equal(streamPathToFilename("/chat/session-1"), "chat__session-1.jsonl");
  assert.equal(logFileName("/chat/session-1", 0, false), "chat__session-1.bin");
  assert.equal(logFileName("/chat/session-1", 2, true), "chat__session-1~2.jsonl");
  assert.equal(streamPathToFilename("/Chat/my_log.v1"), "Chat__my_log.v1.jsonl");
});

test("S3-3 a name encodes its path: underscores that are not slashes, and our own signs, are escaped", () => {
  assert.equal(streamPathToFilename("/a__b"), "a%5F%5Fb.jsonl");
  assert.equal(streamPathToFilename("/a_/b"), "a%5F__b.jsonl");
  assert.equal(streamPathToFilename("/a/_b"), "a__%5Fb.jsonl");
  assert.equal(streamPathToFilename("/_a"), "%5Fa.jsonl");
  assert.equal(streamPathToFilename("/100%~1"), "100%25%7E1.jsonl");
  assert.equal(streamPathToFilename("/.hidden"), "%2Ehidden.jsonl");
  assert.equal(streamPathToFilename("/a//b/"), "a____b__.jsonl");
});

test("S3-3 names are one-to-one over all legal paths, incarnations and kinds", () => {
  // Method: a parser written from the format page alone turns a name back into its path.
  fc.assert(
    fc.property(legalPath, fc.nat({ max: 12 }), fc.boolean(), (path, incarnation, isJson) => {
      const name = logFileName(path, incarnation, isJson);
      const [, stem, again, ending] = /^(.*?)(?:~(\d+))?(\.jsonl|\.bin)$/s.exec(name) ?? [];
      assert.ok(stem);
      assert.equal(Number(again ?? 0), incarnation);
      assert.equal(ending, isJson ? ".jsonl" : ".bin");
      if (!stem.includes("~~")) assert.equal(readBack(stem), path);
    }),
    { numRuns: 3000 },
  );
});

test("S3-3 two legal paths never share a name, even if they are too long to be spelled out", () => {
  fc.assert(
    fc.property(fc.uniqueArray(legalPath, { minLength: 2, maxLength: 20 }), (paths) => {
      const names = new Set(paths.map((path) => logFileName(path, 0, true)));
      assert.equal(names.size, paths.length);
    }),
    { numRuns: 1000 },
  );
});

test("S3-3 names beyond the file system's limit work, and never end inside a character", () => {
  const directory = tempDirectory();
  const paths = new Set<string>();
  for (let length = 200; length < 300; length++) {
    for (const unit of ["x", "é", "💥", "_/"]) paths.add(`/${unit.repeat(length)}`);
  }
  paths.add(`/${"x".repeat(STREAM_PATH_BYTES_MAX - 1)}`);
  for (const path of paths) {
    const name = logFileName(path, Number.MAX_SAFE_INTEGER, true);
    assert.ok(Buffer.byteLength(name) <= 255, name);
    assert.ok(name.isWellFormed());
    writeFileSync(join(directory, name), path, { flag: "wx" });
    assert.ok(existsSync(join(directory, name)));
  }
  assert.equal(readdirSync(directory).length, paths.size);
});

test('S3-3 a path is refused for a NUL, .., :, \\, <, >, |, ", ? or any control character', () => {
  const refused = [...'\0:\\<>|"?', "..", "/../", "\n", "\r", "\t", "\u007f", "\u0080", "\u009f"];
  for (let code = 0; code < 0x20; code++) refused.push(String.fromCharCode(code));
  for (const part of refused) {
    for (const path of [`/${part}`, `/a${part}b`, `/a/${part}`]) {
      const { details } = thrownRefusal(() => checkStreamPath(path), "BAD_STREAM_PATH");
      assert.equal(details.stream, path);
      thrownRefusal(() => streamPathToFilename(path), "BAD_STREAM_PATH");
      thrownRefusal(() => logFileName(path, 1, false), "BAD_STREAM_PATH");
    }
  }
});

test("a path begins with a slash, is not empty, is valid Unicode, and is not below /__ds", () => {
  for (const path of ["", "a", "chat/1", "/", "/\ud800", "/__ds", "/__ds/jwks.json"]) {
    thrownRefusal(() => checkStreamPath(path), "BAD_STREAM_PATH");
  }
  for (const path of ["/__dsx", "/a/__ds", "/_", "/ ", "/*", "/a.b", "/-", "/日本"]) {
    checkStreamPath(path);
  }
});

test("a path has no segment that is a dot: as a URL it would name another stream", () => {
  for (const path of ["/.", "/./a", "/a/.", "/a/./b"]) {
    const { details } = thrownRefusal(() => checkStreamPath(path), "BAD_STREAM_PATH");
    assert.equal(details.reason, "a segment of it is .");
    logFileName(path, 0, true); // Existing stores may have such a stream.
  }
  for (const path of ["/.a", "/a.", "/a/.b", "/a./b", "/ ./b"]) checkStreamPath(path);
});

test("a path of the maximum length is accepted, and one byte more is refused", () => {
  checkStreamPath(`/${"x".repeat(STREAM_PATH_BYTES_MAX - 1)}`);
  checkStreamPath(`/${"é".repeat((STREAM_PATH_BYTES_MAX - 2) / 2)}x`);
  for (const path of [`/${"x".repeat(STREAM_PATH_BYTES_MAX)}`, `/${"é".repeat(2048)}`]) {
    thrownRefusal(() => checkStreamPath(path), "BAD_STREAM_PATH");
  }
});

function isLegal(path: string): boolean {
  try {
    checkStreamPath(path);
    return true;
  } catch {
    return false;
  }
}

/** `__` is a slash, `%XX` is an escape, everything else is literal. */
function readBack(stem: string): string {
  const slashes = stem.replaceAll("__", "/");
  return `/${slashes.replace(/%([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number(`0x${hex}`)))}`;
}
