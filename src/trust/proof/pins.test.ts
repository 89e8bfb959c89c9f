import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { pinOf } from "../../../test/support/pins.ts";
import type { Pin } from "./pin.ts";
import { concerns, judgePin, PinBook, type PinLookup, type SessionPin } from "./pins.ts";

function bookOf(...pins: readonly Pin[]): PinBook {
  const book = new PinBook();
  for (const pin of pins) book.add(pin);
  return book;
}

/** The session "a" at the usual place, with its log's id. */
const A: PinLookup = { place: "rye:/project", id: "a", log: pinOf("a", 0).log };
const MOVED: PinLookup = { ...A, place: "rye:/elsewhere" };
const L2 = { log: 2 };

test("the newest line of a session is its pin, whatever id its log states", () => {
  const newest = pinOf("a", 0, L2);
  const book = bookOf(pinOf("a", 1), pinOf("b", 7), pinOf("a", 2), newest);
  for (const log of [null, A.log, newest.log, "f".repeat(32)]) {
    assert.deepEqual(book.lookup({ ...A, log }), { pin: newest, lost: null });
  }
  assert.equal(book.lookup({ ...A, id: "c", log: null }), null);
});

test("a session that was moved or copied is found by its log, the newest line first", () => {
  const book = bookOf(pinOf("a", 1), pinOf("a", 5, { place: "rye:/third" }), pinOf("a", 2));
  assert.equal(book.lookup(MOVED)?.pin.seq, 2);
  assert.equal(book.lookup({ ...MOVED, id: "renamed" })?.pin.seq, 2);
  assert.equal(book.lookup({ ...MOVED, log: pinOf("a", 0, L2).log }), null);
  assert.equal(book.lookup({ ...MOVED, log: null }), null);
});

test("a replaced log is still found elsewhere by its id", () => {
  const book = bookOf(pinOf("a", 4), pinOf("a", 0, L2));
  assert.equal(book.lookup(A)?.pin.log, pinOf("a", 0, L2).log);
  assert.equal(book.lookup(MOVED)?.pin.seq, 4);
});

test("a pin moves forward by itself and never back, in whatever order processes write", () => {
  for (const why of ["signed", "verified"] as const) {
    const book = bookOf(pinOf("a", 3), pinOf("a", 5, {}, why), pinOf("a", 4, {}, why));
    assert.equal(book.lookup(A)?.pin.seq, 5);
    book.add(pinOf("a", 5, { line: 99 }, why));
    assert.deepEqual(book.lookup(A)?.pin, pinOf("a", 5, {}, why), "another line at the same place");
    book.add(pinOf("a", 0, L2, why));
    book.add(pinOf("a", 4, {}, why));
    assert.equal(book.lookup(A)?.pin.log, pinOf("a", 0, L2).log, "and not by way of another log");
  }
});

test("an accepted pin moves back, and the lost head is known until signing continues", () => {
  const [accepted, again] = [pinOf("a", 3, {}, "accepted"), pinOf("a", 2, {}, "accepted")];
  const book = bookOf(pinOf("a", 9), accepted);
  assert.deepEqual(book.lookup(A), { pin: accepted, lost: pinOf("a", 9) });
  book.add(again);
  assert.deepEqual(book.lookup(A), { pin: again, lost: pinOf("a", 9) }, "the furthest of them");
  book.add(pinOf("a", 3, { line: 33 }));
  assert.deepEqual(book.lookup(A), { pin: pinOf("a", 3, { line: 33 }), lost: null });
});

test("accepting the pinned head loses nothing, and so does accepting without a pin", () => {
  assert.equal(bookOf(pinOf("a", 3), pinOf("a", 3, {}, "accepted")).lookup(A)?.lost, null);
  assert.equal(bookOf(pinOf("a", 3, {}, "accepted")).lookup(A)?.lost, null);
  const forgotten = bookOf(pinOf("a", 9), pinOf("a", 9, {}, "forgotten"));
  forgotten.add(pinOf("a", 3, {}, "accepted"));
  assert.equal(forgotten.lookup(A)?.lost, null);
});

test("a forgotten session has no pin at its place, and its log none elsewhere", () => {
  const book = bookOf(pinOf("a", 4), pinOf("a", 0, L2), pinOf("a", 0, L2, "forgotten"));
  assert.equal(book.lookup(A), null);
  assert.equal(book.lookup(MOVED), null);
  assert.deepEqual(book.current(), []);
  book.add(pinOf("a", 1));
  assert.equal(book.lookup(A)?.pin.seq, 1, "signed again");
});

test("forgetting a session in one place leaves its copy elsewhere pinned", () => {
  const copy = pinOf("a", 4, { place: "rye:/copy" });
  const book = bookOf(pinOf("a", 4), copy, pinOf("a", 4, {}, "forgotten"));
  assert.deepEqual(book.lookup(MOVED)?.pin, copy);
  assert.deepEqual(book.lookup(A)?.pin, copy, "and the old place has the copy's pin");
});

test("ids that are names special to JavaScript are ordinary ids", () => {
  const book = bookOf(...["__proto__", "constructor", "a"].map((id) => pinOf(id, 1)));
  for (const id of ["__proto__", "constructor"]) {
    assert.equal(book.lookup({ ...A, id, log: null })?.pin.id, id);
  }
  assert.equal(book.lookup({ ...A, id: "toString", log: null }), null);
});

const PLACES = ["rye:/1", "rye:/2"] as const;
const IDS = ["a", "b"] as const;
const LOGS = [1, 2] as const;

const anyPins = fc.array(
  fc
    .record({
      id: fc.constantFrom(...IDS),
      place: fc.constantFrom(...PLACES),
      log: fc.constantFrom(...LOGS),
      seq: fc.nat(4),
      line: fc.nat(1),
      why: fc.constantFrom<Pin["why"][]>("signed", "signed", "verified", "accepted", "forgotten"),
    })
    .map(({ id, seq, line, why, ...of }) => pinOf(id, seq, { ...of, line: 10 * seq + line }, why)),
  { maxLength: 40 },
);

function everyWhose(): PinLookup[] {
  const logs = [null, ...LOGS.map((log) => pinOf("a", 0, { log }).log)];
  return [...PLACES, "rye:/3"].flatMap((place) =>
    [...IDS, "c"].flatMap((id) => logs.map((log) => ({ place, id, log }))),
  );
}

test("the needed lines give the same state as all lines, also with later lines (PB3)", () => {
  fc.assert(
    fc.property(anyPins, anyPins, (pins, later) => {
      const whole = bookOf(...pins);
      const needed = whole.needed();
      const compact = bookOf(...needed);
      assert.deepEqual(compact.needed(), needed, "once more changes nothing");
      for (const more of [[], later]) {
        for (const pin of more) whole.add(pin);
        for (const pin of more) compact.add(pin);
        for (const whose of everyWhose()) {
          assert.deepEqual(compact.lookup(whose), whole.lookup(whose));
        }
        assert.deepEqual(compact.current(), whole.current());
        assert.deepEqual(compact.pins(), whole.pins());
      }
    }),
    { numRuns: 500 },
  );
});

test("a lookup needs only the lines that concern it", () => {
  fc.assert(
    fc.property(anyPins, (pins) => {
      for (const whose of everyWhose()) {
        const some = bookOf(...pins.filter((pin) => concerns(pin, whose)));
        assert.deepEqual(some.lookup(whose), bookOf(...pins).lookup(whose));
      }
    }),
  );
});

test("lookups agree with a plain reading of all lines", () => {
  fc.assert(
    fc.property(anyPins, (pins) => {
      for (const whose of everyWhose()) {
        assert.deepEqual(bookOf(...pins).lookup(whose)?.pin ?? null, plainly(pins, whose));
      }
    }),
    { numRuns: 500 },
  );
});

/** From the format page, without regard for speed. */
function plainly(pins: readonly Pin[], { place, id, log }: PinLookup): Pin | null {
  const counting = pins.filter((pin, at) => {
    const earlier = pins.slice(0, at).filter((other) => isSameSession(other, pin));
    const since = earlier.slice(earlier.findLastIndex(({ why }) => why === "forgotten") + 1);
    if (pin.why === "accepted" || pin.why === "forgotten") return true;
    return pin.seq > (reachOf(since.filter((other) => other.log === pin.log)) ?? -1);
  });
  const own = counting.findLast((pin) => pin.place === place && pin.id === id);
  if (own && own.why !== "forgotten") return own;
  const kept = counting.filter(
    (pin, at) =>
      pin.log === log &&
      pin.why !== "forgotten" &&
      !counting.slice(at).some((other) => isSameSession(other, pin) && other.why === "forgotten"),
  );
  return kept.at(-1) ?? null;
}

/** The highest number in the lines of one session and log. */
function reachOf(pins: readonly Pin[]): number | null {
  return pins.reduce<number | null>(
    (so, { seq, why }) => (so === null || why === "accepted" ? seq : Math.max(so, seq)),
    null,
  );
}

function isSameSession(one: Pin, other: Pin): boolean {
  return one.place === other.place && one.id === other.id;
}

test("current lists the pin of each session, and no forgotten one", () => {
  const book = bookOf(pinOf("a", 1), pinOf("b", 1), pinOf("a", 2), pinOf("c", 0));
  book.add(pinOf("c", 0, {}, "forgotten"));
  const named = ({ pin }: SessionPin) => `${pin.id} ${pin.seq}`;
  assert.deepEqual(book.current().map(named), ["b 1", "a 2"]);
});

const LINES = ["0", "1", "2", "3"].map((digit) => digit.padStart(64, "0"));

function logWith(seq: number, log: string | null = A.log) {
  return { log, seq, lineAt: (at: number) => (at <= seq ? (LINES[at] ?? null) : null) };
}

test("a log is judged by its pin: match, ahead, behind, forked, replaced", () => {
  const pin = pinOf("a", 1);
  assert.deepEqual(judgePin(null, logWith(2)), { freshness: "none", rollback: null });
  assert.deepEqual(judgePin(null, logWith(-1, null)), { freshness: "none", rollback: null });
  assert.deepEqual(judgePin(pin, logWith(1)), { freshness: "match", rollback: null });
  assert.deepEqual(judgePin(pin, logWith(2)), { freshness: "ahead", rollback: null });
  assert.deepEqual(judgePin(pin, logWith(0)), { freshness: null, rollback: "BEHIND" });
  assert.deepEqual(judgePin(pin, logWith(-1, null)), { freshness: null, rollback: "BEHIND" });
  const forked = pinOf("a", 1, { line: 77 });
  assert.deepEqual(judgePin(forked, logWith(3)), { freshness: null, rollback: "FORK" });
  const other = logWith(3, "e".repeat(32));
  assert.deepEqual(judgePin(pin, other), { freshness: null, rollback: "REPLACED" });
});
