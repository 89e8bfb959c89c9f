import assert from "node:assert/strict";
import { join, resolve, sep } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { idSegments, logSegments } from "./ids.ts";
import { ID_SEGMENT_BYTES_MAX } from "./limits.ts";

/** Asserts that the id is refused, and that the error has the id and the reason. */
function isRefused(id: string, reason: RegExp): void {
  const { details } = thrownRefusal(() => idSegments(id), "BAD_ID");
  assert.equal(details.id, id);
  assert.match(details.reason, reason);
}

/** The part at the start, in the middle and at the end of an id. */
function around(part: string): string[] {
  return [part, `${part}a`, `a${part}b`, `a${part}`, `a/${part}b/c`, `a/b${part}`];
}

test("an id of plain segments becomes those segments", () => {
  assert.deepEqual(idSegments("session"), ["session"]);
  assert.deepEqual(idSegments("test/tools/write-177.jsonl"), ["test", "tools", "write-177.jsonl"]);
  assert.deepEqual(idSegments(".hidden/Ünï 日本😀"), [".hidden", "Ünï 日本😀"]);
});

test("an id that holds any control character is refused", () => {
  // Method: every C0 character, DEL and every C1 character, everywhere in an id.
  const ranges = [
    [0x00, 0x1f],
    [0x7f, 0x9f],
  ] as const;
  for (const [first, last] of ranges) {
    for (let code = first; code <= last; code++) {
      for (const id of around(String.fromCharCode(code))) isRefused(id, /control/);
    }
  }
  assert.deepEqual(idSegments("\u0020~\u00a0"), ["\u0020~\u00a0"]);
});

test("an id that holds a backslash is refused", () => {
  for (const id of around("\\")) isRefused(id, /backslash/);
});

test("an id with two dots in a row anywhere is refused", () => {
  for (const id of [...around(".."), "../a", "a/..", "a/../b", "...", "a...b"]) {
    isRefused(id, /\.\./);
  }
});

test("an id that is empty, or has an empty segment, is refused", () => {
  isRefused("", /empty/);
  for (const id of ["/", "/a", "a/", "a//b", "//a", "/etc/passwd"]) isRefused(id, /empty segment/);
});

test("an id with a segment that is only a dot is refused, and one that merely has dots is not", () => {
  for (const id of [".", "./a", "a/.", "a/./b"]) isRefused(id, /only a dot/);
  assert.deepEqual(idSegments("a.b/.c/d."), ["a.b", ".c", "d."]);
});

test("an id with half of a surrogate pair is refused, because no file name can hold it", () => {
  for (const half of ["\ud83d", "\ude00", "\ude00\ud83d"]) {
    for (const id of around(half)) isRefused(id, /Unicode/);
  }
});

test("a segment of 200 bytes of UTF-8 is accepted and one of 201 is refused, whatever its characters", () => {
  for (const character of ["a", "é", "日", "😀"]) {
    const bytes = Buffer.byteLength(character);
    const whole = Math.floor(ID_SEGMENT_BYTES_MAX / bytes);
    const longest = character.repeat(whole) + "a".repeat(ID_SEGMENT_BYTES_MAX - whole * bytes);

    assert.equal(Buffer.byteLength(longest), 200);
    assert.deepEqual(idSegments(`x/${longest}/y`), ["x", longest, "y"]);
    isRefused(`x/${longest}a/y`, /over 200 bytes/);
  }
});

test("a segment of a log's path may have 200 bytes before its ending, and not 201", () => {
  const longest = "x".repeat(ID_SEGMENT_BYTES_MAX);
  for (const ending of [".jsonl", ".jsonl.checkpoints"]) {
    assert.deepEqual(logSegments(`a/${longest}${ending}`), ["a", longest + ending]);
    assert.throws(() => logSegments(`a/${longest}x${ending}`), /over 200 bytes/);
    isRefused(`a/${longest}${ending}`, /over 200 bytes/);
  }
  assert.throws(() => logSegments(`${longest}.torn-1`), /over 200 bytes/);
});

test("an accepted id stays below its root and is read back unchanged", () => {
  // Method: ids put together from the pieces that have broken path checks before.
  const pieces = [".", "..", "/", "\\", "\0", "\n", "a", "é", "\ud83d", "😀", "~", "-", " ", "C:"];
  const hostile = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((p) => p.join(""));
  const id = fc.oneof(hostile, fc.string({ unit: "binary" }), fc.webPath());
  const root = resolve("/srv/root");

  fc.assert(
    fc.property(id, (id) => {
      let segments: readonly string[];
      try {
        segments = idSegments(id);
      } catch {
        return; // Refusals have their own tests.
      }
      assert.equal(segments.join("/"), id);
      assert.ok(join(root, ...segments).startsWith(root + sep));
      assert.equal(resolve(root, ...segments), join(root, id));
    }),
    { numRuns: 1000 },
  );
});
