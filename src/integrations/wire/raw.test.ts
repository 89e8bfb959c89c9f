/** Requests in pieces. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import "../../../test/support/property-seed.ts";
import { hashOf, listMark, piecesOf, RawPieces, withPieces } from "./raw.ts";

test("the pieces of any JSON object make its text again, with each element of its lists as one", () => {
  const values = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(values, fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const pieces = piecesOf(text);
      assert.equal(pieces.join(""), text);
      const lists = Object.values(value).filter((each) => Array.isArray(each));
      for (const element of lists.flat() as unknown[]) {
        const json = JSON.stringify(element);
        const isPiece = (piece: string) => {
          const [, only = ""] = /^,?\s*(.*?)\s*$/s.exec(piece) ?? [];
          return only !== "" && JSON.stringify(parsed(only)) === json;
        };
        assert.ok(pieces.some(isPiece), json);
      }
    }),
  );
});

test("a request names the pieces that it has in common with the one before it by their number", () => {
  const raw = new RawPieces();
  const fresh: string[] = [];
  const first = raw.take(["a", "b", "z"], fresh);
  assert.deepEqual(raw.after(first), { request: first });
  const second = raw.take(["a", "b", "c", "z"], fresh);
  const after = raw.after(second);
  assert.deepEqual(after, { after: [listMark(first), 2], request: [hashOf("c"), hashOf("z")] });
  assert.deepEqual(fresh, ["a", "b", "z", "c"]);
});

test("pieces of an earlier run are not stored again", () => {
  const raw = new RawPieces();
  raw.restore(["a"]);
  const fresh: string[] = [];
  raw.take(["a", "b"], fresh);
  assert.deepEqual(fresh, ["b"]);
});

test("many long pieces are in entries of their own, before the last", () => {
  const pieces = ["a", "b", "c"].map((letter) => letter.repeat(700_000));
  const entries = withPieces([{ kind: "other", metadata: { wire: { status: 200 } } }], pieces);
  const kept = entries.map(({ metadata }) => metadata?.wire as { pieces: string[] });
  assert.deepEqual(
    kept.map(({ pieces }) => pieces.map(([letter]) => letter)),
    [["a"], ["b"], ["c"]],
  );
  assert.equal((kept[2] as unknown as { status: number }).status, 200);
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
