import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { idSegments } from "../../core/base/ids.ts";
import { idIfValid, pathIds } from "./path-ids.ts";

test("an id by its path is valid exactly if it is accepted as an id", () => {
  const pieces = [".", "..", "/", "\\", "a", "-", "_", "Z9", "é", " ", "\n", "x".repeat(150)];
  const id = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((each) => each.join(""));
  fc.assert(
    fc.property(id, (each) => {
      let accepted: string | null = each;
      try {
        idSegments(each);
      } catch {
        accepted = null;
      }
      assert.equal(idIfValid(each), accepted);
    }),
    { numRuns: 2000 },
  );
});

test("a path has an id only at its depth, in the named directories, with the ending", () => {
  const { idAt, logPath } = pathIds({
    under: ["projects"],
    levels: [null, "chats"],
    ending: ".jsonl",
    isName: (name) => name !== "index",
  });
  const path = ["projects", "-home-me", "chats", "one.jsonl"];
  assert.equal(idAt(path), "-home-me/chats/one");
  assert.deepEqual(logPath("-home-me/chats/one"), path);
  for (const other of [
    ["projects", "-home-me", "one.jsonl"],
    ["projects", "-home-me", "chats", "more", "one.jsonl"],
    ["others", "-home-me", "chats", "one.jsonl"],
    ["projects", "-home-me", "talks", "one.jsonl"],
    ["projects", "-home-me", "chats", "one.json"],
    ["projects", "-home-me", "chats", "index.jsonl"],
    ["projects", "a\nb", "chats", "one.jsonl"],
    ["projects"],
    [],
  ]) {
    assert.equal(idAt(other), null, other.join("/"));
  }
});
