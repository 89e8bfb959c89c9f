import assert from "node:assert/strict";
import { test } from "vitest";
import { EventText, type TextEvent } from "./follow.ts";

const TEXT =
  ':\n\nid: 7\n\nid: 9\nevent: entry\ndata: {"a":1}\n\nevent: two\r\ndata: x\r\ndata:  y\r\nid: 10\r\n\r\n' +
  "data\n\nevent: none\n\nid: 12\ndata: é😀\rretry: 5\r\runknown: z\nid: 99\ndata: cut off";

const EVENTS: TextEvent[] = [
  { type: "entry", data: '{"a":1}' },
  { type: "two", data: "x\n y" },
  { type: "message", data: "" },
  { type: "message", data: "é😀" },
];

test("events are the same in any chunks, and half an event is not returned", () => {
  for (let first = 0; first <= TEXT.length; first++) {
    for (let second = first; second <= TEXT.length; second += 7) {
      const events = new EventText();
      const pieces = [TEXT.slice(0, first), TEXT.slice(first, second), TEXT.slice(second)];
      const seen = pieces.flatMap((piece) => events.take(piece));
      assert.deepEqual(seen, EVENTS, `cut at ${first} and ${second}`);
      assert.equal(events.lastId, "12", "the id of an incomplete event does not count");
    }
  }
});

test("an id alone is not an event, but moves the position to resume from", () => {
  const events = new EventText();
  assert.deepEqual(events.take("id: 7\n"), []);
  assert.equal(events.lastId, "");
  assert.deepEqual(events.take("\n"), []);
  assert.equal(events.lastId, "7");
});
