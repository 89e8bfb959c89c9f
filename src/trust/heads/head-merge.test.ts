import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { pinOf } from "../../../test/support/pins.ts";
import type { Pin } from "../proof/pin.ts";
import { PinBook } from "../proof/pins.ts";
import { merge } from "./head-merge.ts";

const ELSEWHERE = { place: "rye:/elsewhere" };

function mergeInto(ours: readonly Pin[], ...theirs: readonly Pin[]) {
  const book = new PinBook();
  for (const pin of ours) book.add(pin);
  const { added, known, conflicts } = merge(book, theirs);
  return { added, known, conflicts: conflicts.map(({ why }) => why), book };
}

test("a pin that is ahead of ours, or of an unknown session, is added unchanged", () => {
  const theirs = [pinOf("a", 5), pinOf("b", 0, { log: 2 }, "verified")];
  const { added, known, conflicts } = mergeInto([pinOf("a", 4)], ...theirs);
  assert.deepEqual({ added, known, conflicts }, { added: theirs, known: 0, conflicts: [] });
});

test("a pin that is equal to ours or behind it is known, even if ours is of a moved copy", () => {
  for (const ours of [pinOf("a", 5), pinOf("a", 5, ELSEWHERE), pinOf("renamed", 5)]) {
    const { added, known, conflicts } = mergeInto([ours], pinOf("a", 5), pinOf("a", 3));
    assert.deepEqual({ added, known, conflicts }, { added: [], known: 2, conflicts: [] });
  }
});

test("a pin with another log, or another line at our position, is a conflict and changes nothing", () => {
  const ours = [pinOf("a", 5)];
  assert.deepEqual(mergeInto(ours, pinOf("a", 9, { log: 2 })).conflicts, ["REPLACED"]);
  assert.deepEqual(mergeInto(ours, pinOf("a", 5, { line: 77 })).conflicts, ["FORK"]);
  const moved = pinOf("a", 5, { line: 77, ...ELSEWHERE });
  const { conflicts, added, book } = mergeInto(ours, moved);
  assert.deepEqual([conflicts, added], [["FORK"], []]);
  assert.deepEqual(book.pins(), ours);
});

test("a session forgotten on another machine is not forgotten here", () => {
  const { added, known, book } = mergeInto([pinOf("a", 5)], pinOf("a", 5, {}, "forgotten"));
  assert.deepEqual([added, known], [[], 1]);
  assert.deepEqual(book.pins(), [pinOf("a", 5)]);
});

test("an accepted pin of another machine does not count as a loss here, and does not move ours back", () => {
  const theirs = pinOf("a", 5, {}, "accepted");
  assert.deepEqual(mergeInto([], theirs).added, [pinOf("a", 5, {}, "verified")]);
  assert.deepEqual(mergeInto([pinOf("a", 4)], theirs).book.lookup(theirs), {
    pin: pinOf("a", 5, {}, "verified"),
    lost: null,
  });
  assert.deepEqual(mergeInto([pinOf("a", 9)], theirs).added, []);
});

test("if a session's log was replaced, both logs are imported, and known when imported again", () => {
  const theirs = [pinOf("a", 5), pinOf("a", 3, { log: 2 }, "accepted")];
  const { added, conflicts, book } = mergeInto([], ...theirs);
  assert.deepEqual([added.length, conflicts], [2, []]);
  const replaced = pinOf("a", 3, { log: 2 }, "verified");
  assert.deepEqual(book.lookup(replaced)?.pin, replaced);
  assert.deepEqual(mergeInto(theirs, ...theirs).known, 2);
  assert.deepEqual(
    mergeInto(theirs, pinOf("a", 6)).conflicts,
    ["REPLACED"],
    "the old log continued there",
  );
});

test("whatever is merged, no session's pin moves back or disappears, and merging again adds nothing", () => {
  const pins = fc.array(
    fc
      .record({ id: fc.nat(2), log: fc.nat(2), seq: fc.nat(5), line: fc.nat(8), place: fc.nat(1) })
      .map(({ id, seq, place, ...rest }) =>
        pinOf(`s${id}`, seq, { ...rest, place: `rye:/${place}` }),
      ),
  );
  fc.assert(
    fc.property(pins, pins, (ours, theirs) => {
      const before = mergeInto(ours).book;
      const { book, added, known, conflicts } = mergeInto(ours, ...theirs);
      assert.equal(added.length + known + conflicts.length, theirs.length);
      for (const { pin } of before.current()) {
        const after = book.lookup(pin)?.pin;
        assert.ok(after && after.log === pin.log && after.seq >= pin.seq);
      }
      assert.deepEqual(merge(book, added).added, []);
    }),
  );
});
