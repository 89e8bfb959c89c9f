/** What every reader of another program's sessions has in common. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import type { Native } from "../core/model/entry.ts";
import { emptyEntry } from "../core/model/entry.ts";
import { timestampOf } from "./entire/decode.ts";
import { readerDialect } from "./reader.ts";

test("a line is decoded once for its entry and its turn, and again if asked for another", () => {
  let decoded = 0;
  const reader = readerDialect("droid", {
    naming: {
      layout: { under: [], levels: [], isLog: () => false, idAt: () => null },
      logPath: () => [],
      idAt: () => null,
    },
    reading: {
      decode(value) {
        decoded++;
        const native = value as Native;
        const role = native.role === "user" ? "user" : "assistant";
        return { entry: { ...emptyEntry(native), kind: "message", role }, fault: null };
      },
    },
  });
  const [one, other] = [{ role: "user" }, { role: "assistant" }];
  reader.reading.decode(one);
  assert.equal(reader.turns.turnMark(one, null), "opens");
  assert.equal(decoded, 1);
  assert.equal(reader.turns.turnMark(other, null), "works");
  assert.equal(reader.turns.turnMark(one, null), "opens");
  assert.equal(decoded, 2);
});

test("a time is what JavaScript makes of it, however it is written", () => {
  const slow = (text: string) => {
    const ms = Date.parse(text);
    const time = Number.isNaN(ms) ? "" : new Date(ms).toISOString();
    return time.length === 24 ? time : null;
  };
  const odd = ["2026-02-30T00:00:00.000Z", "2026-02-28T24:00:00.000Z", "0000-01-01T00:00:00.000Z"];
  for (const text of [...odd, "2026-01-01T00:00:00Z", "droid", ""])
    assert.equal(timestampOf(text), slow(text));
  const number = fc.integer({ min: 0, max: 99 });
  fc.assert(
    fc.property(fc.tuple(number, number, number, number, number, number), (numbers) => {
      const [y, mo, d, h, mi, s] = numbers.map((each) => String(each).padStart(2, "0"));
      const text = `20${y}-${mo}-${d}T${h}:${mi}:${s}.007Z`;
      assert.equal(timestampOf(text), slow(text));
    }),
    { numRuns: 5_000 },
  );
});
