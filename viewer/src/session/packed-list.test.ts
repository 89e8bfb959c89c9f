import assert from "node:assert/strict";
import { test } from "vitest";
import { PackedList } from "./packed-list.ts";

interface Item {
  readonly start: number | null;
  readonly text: string;
  readonly size: number;
}

const item = (start: number | null, text = `é${start} 💡`): Item => ({ start, text, size: 2 });
const empty = PackedList.of<Item, "size">({ size: ({ size }) => size });

test("items come back as they were, whatever their order of fields", () => {
  const other = { size: 5, text: "\u0000\ud800 lone", start: 30 };
  const list = empty.with([item(null), item(10)]).with([other]);
  assert.deepEqual(list.slice(), [item(null), item(10), { ...other, text: "\u0000\ud800 lone" }]);
  assert.deepEqual([list.number("size", 2), list.sum("size"), list.startOf(0)], [5, 9, -1]);
  assert.deepEqual([list.at(3), list.at(-1), list.number("size", 9)], [null, null, 0]);
});

test("items of numbers come back with null where there is none", () => {
  const columns = { cost: ({ cost }: { cost: number | null }) => cost ?? Number.NaN };
  const list = PackedList.of<{ start: number; cost: number | null }, "cost">(columns, true);
  const items = [
    { start: 1, cost: 0.5 },
    { start: 2, cost: null },
  ];
  assert.deepEqual(list.with(items).slice(), items);
});

test("items are found by their offsets", () => {
  const list = PackedList.of<Item, "size">({ size: () => 0 }).with(
    [10, 20, 20, 40].map((n) => item(n)),
  );
  assert.deepEqual([list.firstFrom(0), list.firstFrom(20), list.firstFrom(41)], [0, 1, 4]);
  assert.deepEqual([list.lastUntil(9), list.lastUntil(20), list.lastUntil(99)], [-1, 2, 3]);
  assert.deepEqual(list.startingAt(20), [item(20), item(20)]);
  assert.deepEqual(list.startingAt(30), []);
});

test("what is cut off and added again replaces the old items", () => {
  let list = PackedList.of<Item, "size">({ size: ({ text }) => text.length });
  for (let n = 0; n < 1_000; n++) list = list.with([item(n)]);
  const cut = list.before(990).with([item(990, "new"), item(5_000, "x".repeat(10_000))]);
  assert.equal(cut.length, 992);
  assert.deepEqual([cut.at(989), cut.at(990)], [item(989), item(990, "new")]);
  assert.equal(cut.at(991)?.text.length, 10_000);
  assert.equal(cut.number("size", 991), 10_000);
});
