import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import { thrownRefusal } from "../../../test/support/refusal.ts";
import { StreamShares } from "./stream-shares.ts";

const LIMITS = { streamAppendsMax: 3, streamBytesMax: 100 };

test("a stream's share is used up to the limit, and one past it is refused", () => {
  const shares = new StreamShares(LIMITS);
  shares.take("/a", 40);
  shares.take("/a", 60);
  const bytes = thrownRefusal(() => shares.take("/a", 1), "STREAM_BUSY");
  assert.deepEqual(bytes.details, { stream: "/a", limit: "streamBytesMax", max: 100 });
  shares.take("/a", 0);
  const appends = thrownRefusal(() => shares.take("/a", 0), "STREAM_BUSY");
  assert.deepEqual(appends.details, { stream: "/a", limit: "streamAppendsMax", max: 3 });
  shares.take("/b", 1_000_000); // Another stream's first append always fits.
  shares.giveBack("/a", 60);
  shares.take("/a", 60);
});

test("released shares leave nothing behind, in any order", () => {
  const step = fc.record({ path: fc.constantFrom("/a", "/b"), bytes: fc.nat(60) });
  fc.assert(
    fc.property(fc.array(step), fc.infiniteStream(fc.nat()), (steps, chance) => {
      const shares = new StreamShares(LIMITS);
      const held: { path: string; bytes: number }[] = [];
      for (const { path, bytes } of steps) {
        const own = held.filter((each) => each.path === path);
        const sum = own.reduce((total, each) => total + each.bytes, bytes);
        const fits = own.length === 0 || (own.length < 3 && sum <= 100);
        if (fits) {
          shares.take(path, bytes);
          held.push({ path, bytes });
        } else {
          thrownRefusal(() => shares.take(path, bytes), "STREAM_BUSY");
        }
        const [leaving] = chance.next().value % 2 ? held.splice(0, 1) : [];
        if (leaving) shares.giveBack(leaving.path, leaving.bytes);
      }
      for (const { path, bytes } of held) shares.giveBack(path, bytes);
      assert.equal(shares.count, 0);
    }),
  );
});
